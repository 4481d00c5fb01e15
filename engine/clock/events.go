package clock

import (
	"slices"
	"sync/atomic"
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
	e.v.change(func() {
		e.set.Store(true)
		for _, a := range e.waiters {
			if a.waits != "" { // Close may have let go of it
				e.v.wake(a)
			}
		}
		e.waiters = nil
	})
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
		v.ready = append(v.ready, a)
	} else {
		a.waits = e.what
		e.waiters = append(e.waiters, a)
	}
	v.block(a)
}

// Verdict is what becomes of an actor at a gate.
type Verdict int

// The verdicts.
const (
	Pass Verdict = iota // it goes on
	Park                // it is held until Release; while anybody is, time stands still and nobody times out
)

// Parked is an actor that is held at a gate.
type Parked struct {
	ID      int // for Release
	Point   Point
	Subject string
	Name    string // the actor's
}

// parking is a parked actor as the clock knows it.
type parking struct {
	Parked
	a *actor
}

// SetGate sets who is asked at every Gate; nil lets everybody pass. f runs in the actor that is at the gate and may
// do what an actor may: cancel the context of a worker that is to crash there, say. Who is parked stays so.
func (v *Virtual) SetGate(f func(p Point, subject string) Verdict) { store(&v.gate, f, f == nil) }

// Gate asks what SetGate set, and holds the calling actor if it says so.
func (v *Virtual) Gate(p Point, subject string) {
	f := v.gate.Load()
	if f == nil || (*f)(p, subject) != Park {
		return
	}
	v.mu.Lock()
	a := v.current("Gate")
	if v.closed {
		v.unlock()
		return
	}
	v.parks++
	v.parked = append(v.parked, parking{Parked{v.parks, p, subject, a.name}, a})
	a.waits = "release at gate " + string(p)
	v.news = true
	v.block(a)
}

// Parked lists who is held at gates, in the order of coming.
func (v *Virtual) Parked() []Parked {
	v.mu.Lock()
	defer v.unlock()
	out := make([]Parked, 0, len(v.parked))
	for _, p := range v.parked {
		out = append(out, p.Parked)
	}
	return out
}

// Release lets a parked actor go on, after all that are ready now. Of an id that is not parked nothing is released.
func (v *Virtual) Release(id int) {
	v.change(func() {
		if i := slices.IndexFunc(v.parked, func(p parking) bool { return p.ID == id }); i >= 0 {
			v.wake(v.parked[i].a)
			v.parked = slices.Delete(v.parked, i, i+1)
			v.news = true
		}
	})
}
