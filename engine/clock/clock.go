// Package clock is the only place that knows what time it is and the only one,
// beside the store's writer and the screen's pump, that starts goroutines.
//
// There are two clocks. Wall is the machine's time. Virtual runs one actor at a
// time and, when all of them wait and no byte moves on a socket, jumps to the
// earliest deadline: a retention of 24 hours costs nothing and, given a seed, two
// runs are the same to the nanosecond. Code written against Clock runs on either.
//
// Rules for actors: block only through the Clock (Event.Wait, Sleep, Outside), and
// never hold a mutex over such a wait. Who is not an actor (a test, a screen, an HTTP
// server's goroutine before Enter) may call Now, Go, AfterFunc, NewEvent, Event.Set,
// Event.IsSet and the stop functions, and nothing that waits.
//
// The package never opens a socket or a file, and knows no other package of the program.
package clock

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Clock is time and concurrency as the rest of the program sees them.
type Clock interface {
	// Now is the current time of this clock.
	Now() time.Time
	// Go starts an actor. The name appears in deadlock and panic reports.
	Go(name string, f func())
	// NewEvent makes a one-shot signal; what it stands for appears in deadlock reports.
	NewEvent(what string) Event
	// AfterFunc runs f as an actor after d, unless stop is called before. stop reports whether it prevented the call.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
	// Sleep waits for d, or for ctx, whose cause it then returns.
	Sleep(ctx context.Context, d time.Duration) error
	// WithCancel is context.WithCancelCause, with the OnCancel callbacks run by this clock.
	WithCancel(parent context.Context) (context.Context, context.CancelCauseFunc)
	// WithTimeout cancels with cause after d. Call the cancel function when done with the context.
	// Read context.Cause: Err is always context.Canceled. The context has no Deadline, for a dialer
	// would take a virtual one for real time.
	WithTimeout(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelCauseFunc)
	// OnCancel runs f once with the cause when ctx, made by this clock or below one that was, is cancelled;
	// at once if it already is. It runs in the cancelling actor, before the context's Done channel closes.
	// For a context that somebody else cancels, it runs as an actor of its own.
	OnCancel(ctx context.Context, f func(cause error)) (stop func())
	// Outside runs f, which may block on real I/O, without keeping other actors from running.
	// Time may jump meanwhile; what must hold time holds a Wire or uses Hold. f is no actor: it must not wait by this clock.
	Outside(f func())
	// Hold is Outside with time held still: for a disk write, say. Actors come back from Hold in the order in which
	// they went, once nobody else is ready: so f must not depend on an actor that has yet to come back from its own.
	Hold(f func())
	// Enter makes the calling goroutine, started by somebody else (an HTTP server), an actor until leave is called.
	// A goroutine that is an actor already must not enter.
	Enter(name string) (leave func())
	// Wire is the state of one request on a real socket, shared by both of its ends by id (its X-Request-Id).
	// It starts moving: time stands still until Still is called. The caller, an actor, asks before it sends, and the
	// provider after Enter. An id that no actor asked for is that of a foreign client: its wire ends at leave.
	Wire(id string) Wire
	// Gate is a place where an actor can be held, to pause, to step or to crash there. It returns when the actor may go on.
	Gate(p Point, subject string)
}

// Event is a one-shot signal. What was written before Set is visible after Wait.
type Event interface {
	Set()        // the first call counts
	IsSet() bool // without waiting
	Wait()       // blocks the calling actor until Set; several actors may wait
}

// Wire holds time while bytes of one request move over a real socket. On the wall clock it does nothing.
//
// The caller sends and reads the whole answer in one Outside, then calls Close. The provider calls Still before it
// waits and Move before it writes, and does not wait between Move and the end of its answer. While bytes move and the
// caller is outside, no other actor runs: two requests sent at one instant arrive in the order in which they were sent.
type Wire interface {
	Move()             // bytes move: time stands still
	Still()            // both ends wait: time may jump
	OnGiveUp(f func()) // f runs when the caller gave up; at once if it already did. The provider's end.
	GiveUp()           // the caller gave up: bytes move again until Close
	Close()            // the request is over at the caller's end
}

// Point names a place where an actor can be held.
type Point string

// The points, in the order in which one request passes them.
const (
	AtSend   Point = "send"   // the caller, its intent on disk, before the first byte
	AtCommit Point = "commit" // the provider, before the effect is in its ledger
	AtReply  Point = "reply"  // the provider, before the first byte of its answer
	AtRecord Point = "record" // the caller, the answer in hand, before it is on disk
)

// panics holds who is told of panics in actors. While nobody is, one ends the program as any other does.
type panics struct {
	f atomic.Pointer[func(name string, value any, stack []byte)]
}

// OnPanic sets who is told of a panic in an actor: its name, the value, and the stack; nil lets it end the program.
func (p *panics) OnPanic(f func(name string, value any, stack []byte)) { store(&p.f, f, f == nil) }

// guard runs f and tells of its panic. It does not return from one that nobody is told of, nor from runtime.Goexit.
func (p *panics) guard(name string, f func()) {
	returned := false
	defer func() {
		told := p.f.Load()
		if returned || told == nil {
			return
		}
		if value := recover(); value != nil {
			(*told)(name, value, debug.Stack())
		}
	}()
	f()
	returned = true
}

// store keeps a function where it can be read without a lock.
func store[F any](to *atomic.Pointer[F], f F, none bool) {
	if none {
		to.Store(nil)
		return
	}
	to.Store(&f)
}
