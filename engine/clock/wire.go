package clock

import "slices"

// wire is one request on a real socket. Guarded by Virtual.mu.
type wire struct {
	v      *Virtual
	id     string
	caller *actor // who sent it; nil: a foreign client
	owner  *actor // of a foreign client's wire: who serves it, and ends it by leaving

	moving, gaveUp, closed bool
	onGiveUp               []func()
}

// inFlight reports whether the bytes of w are under way, with its caller outside.
func (w *wire) inFlight() bool { return w.moving && !w.gaveUp && w.caller != nil && w.caller.away }

// moving counts what holds time: wires that move, and Holds of goroutines that are no actors.
func (v *Virtual) moving() int {
	n := v.holds
	for _, w := range v.wires {
		if w.moving {
			n++
		}
	}
	return n
}

// underWay reports whether more requests are in flight than entered actors run that may be their other end.
func (v *Virtual) underWay() bool {
	n := 0
	for _, w := range v.wires {
		if w.inFlight() {
			n++
		}
	}
	if n == 0 {
		return false
	}
	for _, a := range v.live {
		if a.entered && !a.away && (a.wire == nil || a.wire.inFlight()) {
			n--
		}
	}
	return n > 0
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
		a.wire = w // one of several, if a transport sent the request again
	case !w.closed && w.caller == nil: // also a provider that has a request of its own to send
		w.caller, w.owner = a, nil
	}
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
	w.moving = true
	return w
}

func (w *wire) Move()  { w.move(true) }
func (w *wire) Still() { w.move(false) }

func (w *wire) move(moving bool) {
	w.v.change(func() {
		if !w.closed && !w.gaveUp {
			w.moving = moving
		}
	})
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
	var tell []func()
	w.v.change(func() {
		if w.closed || w.gaveUp {
			return
		}
		w.gaveUp, w.moving = true, true
		if a := w.caller; a != nil && a.away && !a.held {
			w.v.hold(a)
		}
		tell, w.onGiveUp = w.onGiveUp, nil
	})
	for _, f := range tell {
		f()
	}
}

func (w *wire) Close() { w.v.change(w.close) }

// close ends the wire. mu is held.
func (w *wire) close() {
	v := w.v
	if w.closed {
		return
	}
	w.closed, w.moving, w.onGiveUp = true, false, nil
	delete(v.wires, w.id)
	if w.gaveUp {
		v.givenUp = append(v.givenUp, w.id)
		v.givenUp = v.givenUp[max(0, len(v.givenUp)-maxGivenUp):]
	}
}
