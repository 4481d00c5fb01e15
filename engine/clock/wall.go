package clock

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Wall is the machine's time. Its actors are goroutines like any other; nothing holds time.
type Wall struct {
	panics
	contexts
	gate atomic.Pointer[func(p Point, subject string)]
}

// NewWall makes a wall clock. It owns nothing that would have to be closed.
func NewWall() *Wall {
	w := &Wall{}
	w.contexts = contexts{w.Go, func(d time.Duration, _ error, f func()) (stop func() bool) { return w.AfterFunc(d, f) }}
	return w
}

var _ Clock = (*Wall)(nil)

// Now is the machine's time, with its monotonic reading.
func (w *Wall) Now() time.Time { return time.Now() }

// Go starts f in a goroutine of its own.
func (w *Wall) Go(name string, f func()) { go w.guard(name, f) }

// AfterFunc runs f in a goroutine of its own after d.
func (w *Wall) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, func() { w.guard("timer", f) }).Stop
}

// Sleep waits for d, or for ctx, whose cause it then returns.
func (w *Wall) Sleep(ctx context.Context, d time.Duration) error {
	if cause := cancelled(ctx); cause != nil {
		return cause
	}
	if d <= 0 {
		runtime.Gosched()
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Outside runs f.
func (w *Wall) Outside(f func()) { f() }

// Hold runs f.
func (w *Wall) Hold(f func()) { f() }

// Enter does nothing: every goroutine is an actor here.
func (w *Wall) Enter(string) (leave func()) { return func() {} }

// Wire does nothing: time cannot be held. That the caller gave up is told by the context of the HTTP request.
func (w *Wall) Wire(string) Wire { return noWire{} }

// SetGate sets what is called at every Gate, in the actor that is there; it may block. nil takes it away.
func (w *Wall) SetGate(f func(p Point, subject string)) { store(&w.gate, f, f == nil) }

// Gate calls what SetGate set.
func (w *Wall) Gate(p Point, subject string) {
	if f := w.gate.Load(); f != nil {
		(*f)(p, subject)
	}
}

// NewEvent makes a one-shot signal.
func (w *Wall) NewEvent(string) Event { return &wallEvent{set: make(chan struct{})} }

type wallEvent struct {
	once sync.Once
	set  chan struct{}
}

func (e *wallEvent) Set()  { e.once.Do(func() { close(e.set) }) }
func (e *wallEvent) Wait() { <-e.set }
func (e *wallEvent) IsSet() bool {
	select {
	case <-e.set:
		return true
	default:
		return false
	}
}

// noWire is the wire of a clock that cannot hold time.
type noWire struct{}

func (noWire) Move()           {}
func (noWire) Still()          {}
func (noWire) OnGiveUp(func()) {}
func (noWire) GiveUp()         {}
func (noWire) Close()          {}
