package script

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// Run runs a script once and returns when it has settled and every call that it began has ended, or when it was
// stopped: by its limits, by ctx, or by an error from Next. See Result for what is left open then.
func Run(ctx context.Context, p *Program, in Input, h Host) Result {
	return runShown(ctx, p, in, h, func(*realm) {})
}

// runShown is Run. It shows the script's realm before anything is asked of the Host.
func runShown(ctx context.Context, p *Program, in Input, h Host, show func(*realm)) Result {
	limits := in.Limits.orDefaults()
	if size := in.size(); size > limits.Context {
		text := fmt.Sprintf("the script's context has %d bytes of JSON, more than the %d allowed; let earlier steps return less", size, limits.Context)
		return Result{Err: &Error{Code: CodeContextTooLarge, Message: text}}
	}
	if ctx.Err() != nil {
		return Result{Err: cancelled(context.Cause(ctx))}
	}
	r := &runner{
		ctx: ctx, host: h, limits: limits, watch: newWatchdog(limits.Time), due: map[int]time.Time{},
		turns: make(chan func() error), done: make(chan error, 1),
		asks: make(chan func(*runner)), answered: make(chan struct{}),
		gone: make(chan struct{}), exited: make(chan struct{}),
	}
	r.realm = newRealm(p, &in, limits, r.ask)
	show(r.realm)
	r.leave = sync.OnceFunc(func() { close(r.gone) })
	defer r.leave()
	go r.work()
	return r.run()
}

// runner is the side of a run that talks to the Host and watches the clock, on the goroutine that called Run. The
// script runs on the worker's goroutine, in turns: from its start or a completion to its next wait. What the script
// wants of the Host within a turn is handed over to the runner, so that the Host is never called concurrently, never
// after Run has returned, and never by a goroutine that its owner does not know.
type runner struct {
	ctx    context.Context
	host   Host
	limits Limits
	watch  *watchdog
	realm  *realm

	turns    chan func() error
	done     chan error // how the present turn ended
	asks     chan func(*runner)
	answered chan struct{}
	gone     chan struct{} // closed by leave: nobody answers any more
	leave    func()
	exited   chan struct{} // closed when the worker is over

	calls []int             // open calls, by ticket
	due   map[int]time.Time // open timers
	open  []int             // the calls that were open when the script settled

	// waited is how long the script has waited for timers alone, by the host's clock. It is counted apart from the
	// watchdog's wall time: on a virtual clock it must not depend on how fast the machine was.
	waited time.Duration
}

func (r *runner) run() Result {
	if err := r.turn(r.realm.start); err != nil {
		return r.stopped(err)
	}
	for {
		if r.realm.outcome != nil { // its timers are withdrawn, its calls awaited
			if r.open == nil {
				r.open = slices.Clone(r.calls)
			}
			r.withdrawAll()
			if len(r.calls) == 0 {
				return r.settled()
			}
		}
		c, err := r.next()
		if err != nil {
			return r.stopped(err)
		}
		if err := r.turn(func() error { return r.realm.deliver(c) }); err != nil {
			return r.stopped(err)
		}
	}
}

func (r *runner) withdrawAll() {
	for _, id := range sortedKeys(r.due) {
		r.withdraw(id)
	}
}

func (r *runner) withdraw(id int) {
	delete(r.due, id)
	r.host.Cancel(id)
}

func (r *runner) settled() Result {
	if len(r.realm.rejected) > 0 {
		if err := r.turn(r.realm.complain); err != nil {
			return r.stopped(err)
		}
	}
	o := r.realm.outcome
	return Result{Value: o.value, Err: o.err, Open: r.open, Unhandled: r.realm.unhandled()}
}

// stopped is the result of a script that did not come to its end. An abandoned script's realm is not looked at.
func (r *runner) stopped(err error) Result {
	e, ok := err.(*Error)
	var deep *goja.StackOverflowError
	switch {
	case ok:
	case errors.As(err, &deep):
		e = &Error{Code: CodeStackTooDeep, Message: "the script's function calls are nested too deep: a recursion without an end?"}
	default:
		e = &Error{Code: CodeCrashed, Message: cut("the script's runtime crashed: "+err.Error(), MaxMessage), cause: err}
	}
	res := Result{Err: e, Open: slices.Clone(r.calls)}
	r.leave()
	grace := time.NewTimer(r.limits.Grace)
	defer grace.Stop()
	select {
	case <-r.exited:
		res.Unhandled = r.realm.unhandled()
	case <-grace.C: // it is abandoned
	}
	return res
}

// turn hands f to the worker and answers what the script asks until f is done, or until the script must be stopped.
// The script's own time runs only while the script does.
func (r *runner) turn(f func() error) error {
	r.turns <- f
	r.watch.start()
	defer r.watch.stop()
	interrupt := func(why *Error) error {
		r.realm.vm.Interrupt(why)
		return why
	}
	for {
		select {
		case err := <-r.done:
			return err
		case ask := <-r.asks:
			r.watch.stop()
			ask(r)
			// A cancel that came while the Host was busy is seen here, and always here.
			if r.ctx.Err() != nil {
				return interrupt(cancelled(context.Cause(r.ctx)))
			}
			r.watch.start()
			r.answered <- struct{}{}
		case <-r.watch.timer.C:
			return interrupt(&Error{Code: CodeTimeout, Message: fmt.Sprintf("the script computed for more than %v, its own time; an endless loop?", r.limits.Time)})
		case <-r.ctx.Done():
			return interrupt(cancelled(context.Cause(r.ctx)))
		}
	}
}

func cancelled(cause error) *Error {
	return &Error{Code: CodeCancelled, Message: cut("the script was cancelled: "+cause.Error(), MaxMessage), cause: cause}
}

// limitTicket is Run's own timer: the end of the script's own time.
const limitTicket = 0

// next waits for a completion. Where no call is open the wait is for timers alone and counts as the script's own time.
func (r *runner) next() (Completion, error) {
	if len(r.calls) > 0 {
		return r.receive()
	}
	if len(r.due) == 0 {
		return Completion{}, &Error{Code: CodeTimeout, Message: "the script waits for something that cannot happen: no call and no timer is open, so its promise never settles"}
	}
	before, left := r.host.Now(), r.limits.Time-r.waited
	inVain := slices.MinFunc(slices.Collect(maps.Values(r.due)), time.Time.Compare).Sub(before) > left
	if inVain { // the end of the script's time comes before any of its timers
		r.withdrawAll()
		r.host.Timer(limitTicket, left)
	}
	c, err := r.receive()
	r.waited += r.host.Now().Sub(before)
	if err == nil && (inVain || r.waited > r.limits.Time) {
		err = &Error{Code: CodeTimeout, Message: fmt.Sprintf("the script waited for timers for more than %v, its own time; leave waiting to the step's retry-delay", r.limits.Time)}
	}
	return c, err
}

func (r *runner) receive() (Completion, error) {
	c, err := r.host.Next()
	if err != nil {
		return c, cancelled(err)
	}
	if i := slices.Index(r.calls, c.ID); i >= 0 {
		r.calls = slices.Delete(r.calls, i, i+1)
	}
	delete(r.due, c.ID)
	return c, nil
}

// ask has f carried out by the runner. The worker calls it within a turn.
func (r *runner) ask(f func(*runner)) {
	select {
	case r.asks <- f:
	case <-r.gone:
		runtime.Goexit()
	}
	select {
	case <-r.answered:
	case <-r.gone:
		runtime.Goexit()
	}
}

// work is the worker's goroutine: a script that hangs in a built-in function can be left behind only there. It ends
// when the runner leaves, or, abandoned, as soon as the runtime lets it.
func (r *runner) work() {
	defer close(r.exited)
	growStack(0)
	for {
		select {
		case f := <-r.turns:
			r.done <- guarded(f)
		case <-r.gone:
			return
		}
	}
}

// growStack makes the worker's stack as large as the runtime needs for a small script. Grown step by step, deep in
// its calls, it would be copied three times over.
//
//go:noinline
func growStack(i int) byte {
	var room [12 << 10]byte
	room[i] = 1 // else the compiler sees that nothing is needed
	return room[len(room)-1-i]
}

// guarded makes an error of a panic in the runtime.
func guarded(f func() error) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%v\n%s", x, debug.Stack())
		}
	}()
	return f()
}

// watchdog measures, by the wall clock, how long a script keeps its processor. It is the one place of the package
// that knows that clock.
type watchdog struct {
	left  time.Duration
	since time.Time   // zero while it stands
	timer *time.Timer // fires while it runs, when nothing is left
}

func newWatchdog(limit time.Duration) *watchdog {
	t := time.NewTimer(limit)
	t.Stop()
	return &watchdog{left: limit, timer: t}
}

func (w *watchdog) start() {
	w.since = time.Now()
	w.timer.Reset(w.left)
}

func (w *watchdog) stop() {
	if !w.since.IsZero() {
		w.timer.Stop()
		w.left -= time.Since(w.since)
		w.since = time.Time{}
	}
}
