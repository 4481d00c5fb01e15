package clock

import (
	"cmp"
	"slices"
)

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

// SetGate sets who is asked at every Gate; nil lets everybody pass. f runs in the actor that is at the gate and may
// do what an actor may: cancel the context of a worker that is to crash there, say. Who is parked stays so.
func (v *Virtual) SetGate(f func(p Point, subject string) Verdict) {
	if f == nil {
		v.gate.Store(nil)
		return
	}
	v.gate.Store(&f)
}

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
	v.parked[v.parks] = parking{a, Parked{v.parks, p, subject, a.name}}
	a.waits = "release at gate " + string(p)
	v.news = true
	v.block(a)
}

// parking is a parked actor as the clock knows it.
type parking struct {
	a *actor
	Parked
}

// Parked lists who is held at gates, in the order of coming.
func (v *Virtual) Parked() []Parked {
	v.mu.Lock()
	defer v.unlock()
	out := make([]Parked, 0, len(v.parked))
	for _, p := range v.parked {
		out = append(out, p.Parked)
	}
	slices.SortFunc(out, func(a, b Parked) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Release lets a parked actor go on, after all that are ready now. Of an id that is not parked nothing is released.
func (v *Virtual) Release(id int) {
	v.mu.Lock()
	if p, ok := v.parked[id]; ok {
		delete(v.parked, id)
		v.news = true
		v.wake(p.a)
		v.schedule()
	}
	v.unlock()
}
