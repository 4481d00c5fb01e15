package clock

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
)

// timer is something due at an instant: the end of a Sleep, or a function that becomes an actor.
type timer struct {
	at       int64 // nanoseconds since Virtual.start
	order    uint64
	first    bool // before all others of its instant
	f        func()
	deadline error // the cause of a WithTimeout

	sleeper *actor // of a Sleep, which its timer or its context ends, whichever comes first
	over    bool
	cause   error // of the context's end
}

// laterFirst is the order of Virtual.timers: the next one is the last. At one instant those that ask for it come
// first, then the one registered first.
func laterFirst(a, b *timer) int {
	if a.at == b.at && a.first != b.first {
		if a.first {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.order, a.order))
}

// addTimer sets t to go off after d. mu is held.
func (v *Virtual) addTimer(d time.Duration, t *timer) {
	now := v.now.Load()
	t.at = now + max(int64(d), 0)
	if t.at < now {
		t.at = math.MaxInt64
	}
	v.timerCount++
	t.order = v.timerCount
	if v.closed {
		return
	}
	i, _ := slices.BinarySearchFunc(v.timers, t, laterFirst)
	v.timers = slices.Insert(v.timers, i, t)
}

// removeTimer reports whether t had yet to go off. mu is held.
func (v *Virtual) removeTimer(t *timer) bool {
	i, found := slices.BinarySearchFunc(v.timers, t, laterFirst)
	if found {
		v.timers = slices.Delete(v.timers, i, i+1)
	}
	return found
}

// nextTimer is the earliest timer, or nil.
func (v *Virtual) nextTimer() *timer {
	if len(v.timers) == 0 {
		return nil
	}
	return v.timers[len(v.timers)-1]
}

// due reports whether a timer of this very instant may go off.
func (v *Virtual) due() bool {
	t := v.nextTimer()
	return t != nil && t.at <= v.now.Load() && len(v.parked) == 0
}

// fire takes the earliest timer and returns the actor that it makes ready.
func (v *Virtual) fire() *actor {
	t := v.nextTimer()
	last := len(v.timers) - 1
	v.timers[last] = nil
	v.timers = v.timers[:last]
	switch {
	case t.sleeper != nil:
		t.over = true
		t.sleeper.waits = ""
		return t.sleeper
	case t.deadline != nil:
		return v.newActor("deadline", t.f)
	}
	return v.newActor("timer", t.f)
}

// AfterFunc runs f as an actor after d.
func (v *Virtual) AfterFunc(d time.Duration, f func()) (stop func() bool) { return v.after(d, nil, f) }

func (v *Virtual) after(d time.Duration, deadline error, f func()) (stop func() bool) {
	t := &timer{f: f, deadline: deadline}
	v.change(func() { v.addTimer(d, t) })
	return func() (stopped bool) {
		v.change(func() { stopped = v.removeTimer(t) })
		return stopped
	}
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
	t := &timer{first: first}
	defer v.OnCancel(ctx, func(cause error) { v.interrupt(t, cause) })()
	v.mu.Lock()
	if t.over { // a goroutine that is no actor cancelled ctx just now
		v.unlock()
		return t.cause
	}
	a := v.current("Sleep")
	if v.closed {
		v.ready = append(v.ready, a)
		v.block(a)
		return ErrClosed
	}
	t.sleeper = a
	a.waits, a.err = "a time", nil
	v.addTimer(d, t)
	v.block(a)
	return a.err
}

// interrupt ends a Sleep before its time.
func (v *Virtual) interrupt(t *timer, cause error) {
	v.change(func() {
		if t.over {
			return
		}
		t.over, t.cause = true, cause
		if t.sleeper != nil && v.removeTimer(t) {
			t.sleeper.err = cause
			v.wake(t.sleeper)
		}
	})
}

// EndOfInstant lets the calling actor go on once everything else of this instant is over: nobody is ready, no byte
// moves, and the next thing is due later or never. Those who wait so come back one after the other, in the order of going.
func (v *Virtual) EndOfInstant() {
	v.mu.Lock()
	a := v.current("EndOfInstant")
	if v.closed {
		v.ready = append(v.ready, a)
	} else {
		a.waits = "the end of this instant"
		v.last = append(v.last, a)
	}
	v.block(a)
}

// Advance lets the calling actor sleep d: time goes on by d, and all that is due happens.
func (v *Virtual) Advance(d time.Duration) { _ = v.Sleep(context.Background(), d) }

// NextDeadline is when the earliest timer goes off.
func (v *Virtual) NextDeadline() (time.Time, bool) {
	v.mu.Lock()
	defer v.unlock()
	t := v.nextTimer()
	if t == nil {
		return time.Time{}, false
	}
	return v.start.Add(time.Duration(t.at)), true
}

// Coincidence is an instant at which a deadline and another timer, a reply or a commit, fell together: which of
// them came first was decided by the order in which they were registered, and in the world it would be chance.
type Coincidence struct {
	At       time.Time
	Deadline string // the text of the deadline's cause
}

// maxCoincidences bounds how many are kept.
const maxCoincidences = 100

// Coincidences lists the latest of them, 100 at most, in order of time.
func (v *Virtual) Coincidences() []Coincidence {
	v.mu.Lock()
	defer v.unlock()
	return slices.Clone(v.together)
}

// noteCoincidences looks at the timers of the instant that begins. mu is held.
func (v *Virtual) noteCoincidences() {
	var deadlines []Coincidence
	others := false
	for i := len(v.timers) - 1; i >= 0 && v.timers[i].at == v.now.Load(); i-- {
		if t := v.timers[i]; t.deadline != nil {
			deadlines = append(deadlines, Coincidence{v.Now(), t.deadline.Error()})
		} else if !t.first { // what comes first by rule is no chance
			others = true
		}
	}
	if others {
		v.together = append(v.together, deadlines...)
		v.together = v.together[max(0, len(v.together)-maxCoincidences):]
	}
}
