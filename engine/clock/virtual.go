package clock

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed is what Sleep and Run return on a closed virtual clock.
var ErrClosed = errors.New("the virtual clock is closed")

// Virtual is a clock whose time passes only when nobody has anything to do.
//
// One actor at a time holds the baton; it gives it on when it waits or ends. Who is next is a rule, not chance
// (see next), so a program whose actors wait by the clock alone runs the same every time.
//
// Run starts a program and waits for its end; Do and Idle are for a screen that goes on. Close it when done.
type Virtual struct {
	panics
	contexts
	start time.Time
	now   atomic.Int64 // nanoseconds since start; written under mu
	gate  atomic.Pointer[func(p Point, subject string) Verdict]

	mu          sync.Mutex
	cur         *actor   // holds the baton
	entries     []*actor // come in from outside: Enter, Do, the end of Outside
	ready       []*actor
	held        []*actor // in Hold, or outside by a wire that was given up; they come back in this order
	heldEntered []*actor // likewise, of those who entered
	last        []*actor // in EndOfInstant
	live        map[int]*actor
	actors      int // how many there ever were

	timers     []*timer // the next one last
	timerCount uint64
	together   []Coincidence

	wires   map[string]*wire
	givenUp []string // ids of the latest wires that closed after being given up
	holds   int      // Holds of goroutines that are no actors

	parked []parking
	parks  int // how many there ever were

	pace
	paused, closed bool
	rested         bool // as last told
	resters        chan struct{}
	news           bool // tell notify at the next unlock
	notify         func()
}

var _ Clock = (*Virtual)(nil)

// NewVirtual makes a virtual clock that stands at start, at speed 0: every wait is over at once.
func NewVirtual(start time.Time) *Virtual {
	v := &Virtual{start: start.Round(0), live: map[int]*actor{}, wires: map[string]*wire{}, rested: true}
	v.contexts = contexts{v.Go, v.after}
	return v
}

// Now is the time of the latest event. It never interpolates: see Shown.
func (v *Virtual) Now() time.Time { return v.start.Add(time.Duration(v.now.Load())) }

// Go starts f as an actor, after all that are ready now.
func (v *Virtual) Go(name string, f func()) {
	v.change(func() { v.ready = append(v.ready, v.newActor(name, f)) })
}

// Do runs f as an actor, before all that are ready now, and never blocks: it is for a screen or a test, which are
// no actors. done closes when f is over. While the clock is paused f waits like everybody else.
func (v *Virtual) Do(name string, f func()) (done <-chan struct{}) {
	over := make(chan struct{})
	v.change(func() {
		a := v.newActor(name, f)
		a.done = over
		v.entries = append(v.entries, a)
	})
	return over
}

// Run starts f as an actor and waits until nothing is left to do. It then returns a *Deadlock if actors still wait,
// ErrClosed if the clock was closed meanwhile, or an error that wraps ctx's cause if ctx, a real-time limit, was over
// before. Whoever calls it is no actor.
func (v *Virtual) Run(ctx context.Context, f func()) error {
	v.Go("main", f)
	return v.rest(ctx, func() error {
		if v.closed {
			return ErrClosed
		}
		d := &Deadlock{At: v.Now()}
		for _, a := range v.waiting() {
			d.Waiting = append(d.Waiting, Waiting{a.name, a.waits})
		}
		if len(d.Waiting) > 0 {
			return d
		}
		return nil
	})
}

// Idle waits until the clock is at rest, or returns an error that wraps ctx's cause. Whoever calls it is no actor.
func (v *Virtual) Idle(ctx context.Context) error {
	return v.rest(ctx, func() error { return nil })
}

// rest waits until the clock is at rest and returns what judge, called under mu, says of it.
func (v *Virtual) rest(ctx context.Context, judge func() error) error {
	for {
		v.mu.Lock()
		if v.resting() {
			err := judge()
			v.unlock()
			return err
		}
		if v.resters == nil {
			v.resters = make(chan struct{})
		}
		resting, at := v.resters, v.Now()
		v.unlock()
		select {
		case <-resting:
		case <-ctx.Done():
			return fmt.Errorf("the virtual clock, at %s, did not come to rest: %w", at.Format(time.RFC3339Nano), context.Cause(ctx))
		}
	}
}

// AtRest reports whether nothing goes on and nothing will by itself: no actor is ready or parked, no byte moves and
// no timer is set. Actors may still wait for an Event, or be outside.
func (v *Virtual) AtRest() bool {
	v.mu.Lock()
	defer v.unlock()
	return v.resting()
}

func (v *Virtual) resting() bool {
	return v.cur == nil && len(v.entries)+len(v.ready)+len(v.heldEntered)+len(v.held)+len(v.last) == 0 &&
		len(v.parked)+len(v.timers) == 0 && v.moving() == 0
}

// Notify sets what is called whenever AtRest or Parked has changed, so that a screen need not poll. f runs without
// the clock's lock, in whatever goroutine made the change: it must be quick, and must neither wait nor call Close.
func (v *Virtual) Notify(f func()) {
	v.mu.Lock()
	v.notify = f
	v.unlock()
}

// change has f change the clock under mu, and gives the baton on.
func (v *Virtual) change(f func()) {
	v.mu.Lock()
	f()
	v.schedule()
	v.unlock()
}

// unlock gives mu back and tells those who wait for a change.
func (v *Virtual) unlock() {
	rest := v.resting()
	changed := v.news || rest != v.rested
	v.rested, v.news = rest, false
	if rest && v.resters != nil {
		close(v.resters)
		v.resters = nil
	}
	f := v.notify
	v.mu.Unlock()
	if changed && f != nil {
		f()
	}
}

// Close ends the pacer, drops all timers and lets go of every actor that waits, one after the other: Sleep returns
// ErrClosed, Event.Wait and Gate return. What waits afterwards only lets the others go first. Close does not wait
// for the actors (Idle does), nor end what is outside. Further calls do nothing.
func (v *Virtual) Close() {
	v.change(func() {
		if v.closed {
			return
		}
		v.closed, v.paused, v.news = true, false, true
		v.timers, v.parked, v.last = nil, nil, nil
		for _, a := range v.waiting() {
			a.err = ErrClosed
			v.wake(a)
		}
	})
	v.stopPacer()
}

// Deadlock says that nothing will happen any more and yet actors wait: with no deadline, or they would not wait still.
type Deadlock struct {
	At      time.Time
	Waiting []Waiting // the oldest actor first
}

// Waiting is an actor and what it waits for.
type Waiting struct{ Actor, For string }

// maxNamed bounds how many actors the error's text names.
const maxNamed = 10

func (d *Deadlock) Error() string {
	var names []string
	for _, w := range d.Waiting[:min(maxNamed, len(d.Waiting))] {
		names = append(names, fmt.Sprintf("%q waits for %q", w.Actor, w.For))
	}
	if more := len(d.Waiting) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("deadlock at %s: nothing is left that could happen, and %s", d.At.Format(time.RFC3339Nano), strings.Join(names, ", "))
}

// waiting lists the live actors that wait, the oldest first.
func (v *Virtual) waiting() []*actor {
	var out []*actor
	for _, id := range slices.Sorted(maps.Keys(v.live)) {
		if a := v.live[id]; a.waits != "" {
			out = append(out, a)
		}
	}
	return out
}
