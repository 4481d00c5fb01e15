package script

import (
	"math"
	"time"

	"github.com/dop251/goja"
)

// setTimeout and setInterval take what the HTML standard gives them: a function, milliseconds (at least one here, so
// that an interval cannot stand still in time) and the function's arguments. They give the ticket.

func (rl *realm) setTimeout(c goja.FunctionCall) goja.Value {
	return rl.vm.ToValue(rl.arm(rl.callback(c), delay(c)))
}

func (rl *realm) setInterval(c goja.FunctionCall) goja.Value {
	run, every := rl.callback(c), delay(c)
	var id int
	var again func() error
	again = func() error {
		err := run()
		if _, on := rl.intervals[id]; on && err == nil {
			rl.intervals[id] = rl.arm(again, every)
		}
		return err
	}
	id = rl.arm(again, every)
	rl.intervals[id] = id
	return rl.vm.ToValue(id)
}

func (rl *realm) clearTimer(c goja.FunctionCall) goja.Value {
	if !goja.IsNumber(c.Argument(0)) {
		return goja.Undefined()
	}
	id := int(c.Argument(0).ToInteger())
	if present, ok := rl.intervals[id]; ok {
		delete(rl.intervals, id)
		id = present
	}
	if rl.pending[id] == nil {
		return goja.Undefined()
	}
	rl.ask(func(r *runner) {
		if _, isTimer := r.due[id]; isTimer {
			r.withdraw(id)
			delete(rl.pending, id)
		}
	})
	return goja.Undefined()
}

// arm sets a timer. Of a settled script the runner withdraws it.
func (rl *realm) arm(run func() error, d time.Duration) int {
	id := rl.ticket()
	rl.pending[id] = func(Completion) error { return run() }
	rl.ask(func(r *runner) {
		r.due[id] = r.host.Now().Add(d)
		r.host.Timer(id, d)
	})
	return id
}

// callback is the function to run when the timer is due. What it throws ends the script: nobody could catch it.
func (rl *realm) callback(c goja.FunctionCall) func() error {
	f, ok := goja.AssertFunction(c.Argument(0))
	if !ok {
		rl.typeError("a timer takes a function first")
	}
	var args []goja.Value
	if len(c.Arguments) > 2 {
		args = append(args, c.Arguments[2:]...)
	}
	return func() error {
		_, err := f(goja.Undefined(), args...)
		if thrown, ok := err.(*goja.Exception); ok {
			rl.fail(thrown.Value())
			return nil
		}
		return err
	}
}

func delay(c goja.FunctionCall) time.Duration {
	ms := c.Argument(1).ToFloat()
	if math.IsNaN(ms) || ms < 1 {
		ms = 1
	}
	return time.Duration(min(ms, math.MaxInt32)) * time.Millisecond
}
