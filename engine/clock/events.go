package clock

import (
	"context"
	"sync/atomic"
	"time"
)

// event is a one-shot signal of a virtual clock.
type event struct {
	v       *Virtual
	what    string
	set     atomic.Bool // written under mu
	waiters []*actor
}

// NewEvent makes a one-shot signal.
func (v *Virtual) NewEvent(what string) Event {
	if what == "" {
		what = "an event"
	}
	return &event{v: v, what: what}
}

func (e *event) IsSet() bool { return e.set.Load() }

// Set makes all that wait ready, in the order in which they came.
func (e *event) Set() {
	if e.set.Load() {
		return
	}
	v := e.v
	v.mu.Lock()
	if !e.set.Load() {
		e.set.Store(true)
		for _, a := range e.waiters {
			if a.waits != "" { // Close may have let go of it
				v.wake(a)
			}
		}
		e.waiters = nil
		v.schedule()
	}
	v.unlock()
}

func (e *event) Wait() {
	if e.set.Load() {
		return
	}
	v := e.v
	v.mu.Lock()
	if e.set.Load() {
		v.unlock()
		return
	}
	a := v.current("Event.Wait")
	if v.closed {
		v.ready.push(a)
	} else {
		a.waits = e.what
		e.waiters = append(e.waiters, a)
	}
	v.block(a)
}

// sleeper is one Sleep: a timer and a context, of which the first counts. Guarded by Virtual.mu.
type sleeper struct {
	a     *actor
	timer *timer
	over  bool
	cause error
}

// Sleep waits for d, or for ctx, whose cause it then returns. On a closed clock it returns ErrClosed.
func (v *Virtual) Sleep(ctx context.Context, d time.Duration) error { return v.sleep(ctx, d, false) }

// SleepFirst is a Sleep that ends before everything else that is due at its instant, whenever that was registered: who
// says "after 3 s" from outside acts on what is due at 3 s.
func (v *Virtual) SleepFirst(ctx context.Context, d time.Duration) error {
	return v.sleep(ctx, d, true)
}

func (v *Virtual) sleep(ctx context.Context, d time.Duration, first bool) error {
	if cause := cancelled(ctx); cause != nil {
		return cause
	}
	s := &sleeper{}
	defer v.OnCancel(ctx, func(cause error) { v.interrupt(s, cause) })()
	v.mu.Lock()
	if s.over { // a goroutine that is no actor cancelled ctx just now
		v.unlock()
		return s.cause
	}
	a := v.current("Sleep")
	if v.closed {
		v.ready.push(a)
		v.block(a)
		return ErrClosed
	}
	s.a = a
	a.waits, a.err = "a time", nil
	s.timer = v.addTimer(d, &timer{sleeper: s, first: first})
	v.block(a)
	return a.err
}

// interrupt ends a Sleep before its time.
func (v *Virtual) interrupt(s *sleeper, cause error) {
	v.mu.Lock()
	if !s.over {
		s.over, s.cause = true, cause
		if s.a != nil && v.removeTimer(s.timer) {
			s.a.err = cause
			v.wake(s.a)
			v.schedule()
		}
	}
	v.unlock()
}

// EndOfInstant lets the calling actor go on once everything else of this instant is over: nobody is ready, no byte
// moves, and the next thing is due later or never. Those who wait so come back one after the other, in the order of going.
func (v *Virtual) EndOfInstant() {
	v.mu.Lock()
	a := v.current("EndOfInstant")
	if v.closed {
		v.ready.push(a)
	} else {
		a.waits = "the end of this instant"
		v.last.push(a)
	}
	v.block(a)
}

// Advance lets the calling actor sleep d: time goes on by d, and all that is due happens.
func (v *Virtual) Advance(d time.Duration) { _ = v.Sleep(context.Background(), d) }
