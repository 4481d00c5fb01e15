package clock

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
	"time"
)

// timer is something due at an instant: the end of a Sleep, or a function that becomes an actor.
type timer struct {
	at      int64 // nanoseconds since Virtual.start
	order   uint64
	index   int // in the heap; -1 once it is out
	sleeper *sleeper
	f       func()
	cause   error // of a WithTimeout, which makes it a deadline
	first   bool  // before all others of its instant
}

// timerHeap has the earliest timer first; at one instant, those that ask for it, then the one registered first.
type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.first != b.first:
		return a.first
	}
	return a.order < b.order
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	t.index = -1
	return t
}

// first calls visit for each timer that is due at the instant of the earliest one.
func (h timerHeap) first(visit func(*timer)) {
	var walk func(i int)
	walk = func(i int) {
		if i < len(h) && h[i].at == h[0].at {
			visit(h[i])
			walk(2*i + 1)
			walk(2*i + 2)
		}
	}
	walk(0)
}

// addTimer sets t to go off after d. mu is held.
func (v *Virtual) addTimer(d time.Duration, t *timer) *timer {
	now := v.now.Load()
	t.at = now + max(int64(d), 0)
	if t.at < now {
		t.at = math.MaxInt64
	}
	v.timerCount++
	t.order = v.timerCount
	if v.closed {
		t.index = -1
		return t
	}
	heap.Push(&v.timers, t)
	return t
}

// removeTimer reports whether t had yet to go off. mu is held.
func (v *Virtual) removeTimer(t *timer) bool {
	if t.index < 0 {
		return false
	}
	heap.Remove(&v.timers, t.index)
	return true
}

// due reports whether a timer of this very instant may go off.
func (v *Virtual) due() bool {
	return len(v.timers) > 0 && v.timers[0].at <= v.now.Load() && len(v.parked) == 0
}

// fire takes the earliest timer and returns the actor that it makes ready.
func (v *Virtual) fire() *actor {
	t := heap.Pop(&v.timers).(*timer)
	if s := t.sleeper; s != nil {
		s.over = true
		s.a.waits = ""
		return s.a
	}
	name := "timer"
	if t.cause != nil {
		name = "deadline"
	}
	a := v.newActor(name)
	a.start = t.f
	return a
}

// AfterFunc runs f as an actor after d.
func (v *Virtual) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return v.after(d, &timer{f: f})
}

func (v *Virtual) after(d time.Duration, t *timer) (stop func() bool) {
	v.mu.Lock()
	v.addTimer(d, t)
	v.schedule()
	v.unlock()
	return func() bool {
		v.mu.Lock()
		defer v.unlock()
		stopped := v.removeTimer(t)
		v.schedule()
		return stopped
	}
}

// WithCancel makes a context whose OnCancel callbacks run in order, in the actor that cancels it.
func (v *Virtual) WithCancel(parent context.Context) (context.Context, context.CancelCauseFunc) {
	c := newContext(parent, v.Go)
	return c, c.node.cancel
}

// WithTimeout cancels with cause after d; at once if d is not above zero.
func (v *Virtual) WithTimeout(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelCauseFunc) {
	if cause == nil {
		cause = context.DeadlineExceeded
	}
	c := newContext(parent, v.Go)
	if d <= 0 {
		c.node.cancel(cause)
		return c, c.node.cancel
	}
	if c.Err() == nil {
		stop := v.after(d, &timer{f: func() { c.node.cancel(cause) }, cause: cause})
		c.node.onRelease(func() { stop() })
	}
	return c, c.node.cancel
}

// OnCancel runs f once when ctx is cancelled: see Clock.
func (v *Virtual) OnCancel(ctx context.Context, f func(cause error)) (stop func()) {
	return onCancel(ctx, v.Go, f)
}

// NextDeadline is when the earliest timer goes off.
func (v *Virtual) NextDeadline() (time.Time, bool) {
	v.mu.Lock()
	defer v.unlock()
	if len(v.timers) == 0 {
		return time.Time{}, false
	}
	return v.start.Add(time.Duration(v.timers[0].at)), true
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
	return append([]Coincidence(nil), v.together...)
}

// noteCoincidences looks at the timers of the instant that begins. mu is held.
func (v *Virtual) noteCoincidences() {
	var deadlines []*timer
	others := false
	v.timers.first(func(t *timer) {
		switch {
		case t.cause != nil:
			deadlines = append(deadlines, t)
		case !t.first: // what comes first by rule is no chance
			others = true
		}
	})
	if !others {
		return
	}
	slices.SortFunc(deadlines, func(a, b *timer) int { return cmp.Compare(a.order, b.order) })
	for _, t := range deadlines {
		if len(v.together) == maxCoincidences {
			v.together = v.together[1:]
		}
		v.together = append(v.together, Coincidence{v.Now(), t.cause.Error()})
	}
}
