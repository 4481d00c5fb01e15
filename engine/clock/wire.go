package clock

import "slices"

// wire is one request on a real socket. Guarded by Virtual.mu.
type wire struct {
	v      *Virtual
	id     string
	caller *actor   // who sent it; nil: a foreign client
	owner  *actor   // of a foreign client's wire: who serves it, and ends it by leaving
	ends   []*actor // entered actors that serve it: more than one if a transport sent it again

	moving, gaveUp, closed bool
	flying                 bool // counted in Virtual.flying
	onGiveUp               []func()
}

// maxGivenUp bounds for how many given up requests a provider that comes late is told so.
const maxGivenUp = 256

// Wire is the state of the request id. See Clock for who asks when; without an id, or asked for by somebody who is
// no actor and unknown, it holds nothing.
func (v *Virtual) Wire(id string) Wire {
	v.mu.Lock()
	defer v.unlock()
	w := v.wires[id]
	if w == nil {
		w = v.newWire(id)
	}
	switch a := v.cur; {
	case a == nil || a.wire == w:
	case a.entered && a.wire == nil:
		a.wire = w
		w.ends = append(w.ends, a)
	case !w.closed && w.caller == nil: // also a provider that has a request of its own to send
		w.caller, w.owner = a, nil
		a.opened = append(a.opened, w)
	}
	v.recount(w)
	return w
}

// newWire makes a wire that moves, or one that is over.
func (v *Virtual) newWire(id string) *wire {
	w := &wire{v: v, id: id}
	a := v.cur
	provider := a != nil && a.entered && a.wire == nil
	late := slices.Index(v.givenUp, id)
	switch {
	case id == "" || a == nil:
		w.closed = true
		return w
	case late >= 0 && provider:
		w.closed, w.gaveUp = true, true
		return w
	case late >= 0: // the id is used anew
		v.givenUp = slices.Delete(v.givenUp, late, late+1)
	case provider:
		w.owner = a
	}
	v.wires[id] = w
	w.setMoving(true)
	return w
}

func (w *wire) setMoving(moving bool) {
	if moving == w.moving {
		return
	}
	w.moving = moving
	if moving {
		w.v.moving++
	} else {
		w.v.moving--
	}
}

// recount brings the counts up to date with what has changed about w.
func (v *Virtual) recount(w *wire) {
	flying := w.moving && !w.gaveUp && w.caller != nil && w.caller.away
	if flying != w.flying {
		w.flying = flying
		v.flying += delta(flying)
	}
	for _, a := range w.ends {
		v.recountServing(a)
	}
}

// recountActor brings the counts up to date with what has changed about a.
func (v *Virtual) recountActor(a *actor) {
	for _, w := range a.opened {
		v.recount(w)
	}
	v.recountServing(a)
}

func (v *Virtual) recountServing(a *actor) {
	serves := a.entered && !a.ended && !a.away && (a.wire == nil || a.wire.flying)
	if serves != a.serves {
		a.serves = serves
		v.serving += delta(serves)
	}
}

func delta(more bool) int {
	if more {
		return 1
	}
	return -1
}

func (w *wire) Move() { w.move(true) }

func (w *wire) Still() { w.move(false) }

func (w *wire) move(moving bool) {
	v := w.v
	v.mu.Lock()
	if !w.closed && !w.gaveUp {
		w.setMoving(moving)
		v.recount(w)
		v.schedule()
	}
	v.unlock()
}

func (w *wire) OnGiveUp(f func()) {
	v := w.v
	v.mu.Lock()
	gaveUp := w.gaveUp
	if !gaveUp && !w.closed {
		w.onGiveUp = append(w.onGiveUp, f)
	}
	v.unlock()
	if gaveUp {
		f()
	}
}

// GiveUp tells the provider's end. From here on the caller comes back from outside as from a Hold: after the
// provider has seen that it is alone, as its connection may break at any moment.
func (w *wire) GiveUp() {
	v := w.v
	v.mu.Lock()
	if w.closed || w.gaveUp {
		v.unlock()
		return
	}
	w.gaveUp = true
	w.setMoving(true)
	if a := w.caller; a != nil && a.away && !a.held {
		v.hold(a)
	}
	v.recount(w)
	tell := w.onGiveUp
	w.onGiveUp = nil
	v.schedule()
	v.unlock()
	for _, f := range tell {
		f()
	}
}

func (w *wire) Close() {
	w.v.mu.Lock()
	w.close()
	w.v.schedule()
	w.v.unlock()
}

// close ends the wire. mu is held.
func (w *wire) close() {
	v := w.v
	if w.closed {
		return
	}
	w.closed, w.onGiveUp = true, nil
	w.setMoving(false)
	delete(v.wires, w.id)
	if w.gaveUp {
		if len(v.givenUp) == maxGivenUp {
			v.givenUp = v.givenUp[1:]
		}
		v.givenUp = append(v.givenUp, w.id)
	}
	if a := w.caller; a != nil {
		a.opened = remove(a.opened, w)
	}
	v.recount(w)
}

// dropWires takes a, which has ended, off the wire that it serves.
func (v *Virtual) dropWires(a *actor) {
	if w := a.wire; w != nil {
		a.wire = nil
		w.ends = remove(w.ends, a)
		if w.owner == a {
			w.close()
		}
	}
	v.recountServing(a)
}

// remove takes x out of s.
func remove[T comparable](s []T, x T) []T {
	if i := slices.Index(s, x); i >= 0 {
		return slices.Delete(s, i, i+1)
	}
	return s
}
