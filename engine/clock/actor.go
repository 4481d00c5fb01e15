package clock

import "slices"

// actor is one strand of the program. Its fields are guarded by Virtual.mu.
type actor struct {
	id    int
	name  string
	start func()        // not started yet
	turn  chan struct{} // receives the baton
	done  chan struct{} // of Do

	waits string // what it waits for, while it waits: an event, a time, a gate
	err   error  // what its Sleep returns

	entered bool // by Enter: a foreign goroutine
	away    bool // outside
	held    bool // in one of Virtual's two queues of that name
	back    bool // held, and wants to go on
	ended   bool
	wire    *wire // whose provider's end it is
}

func (v *Virtual) newActor(name string, start func()) *actor {
	v.actors++
	a := &actor{id: v.actors, name: name, start: start, turn: make(chan struct{}, 1)}
	v.live[a.id] = a
	return a
}

// current is the calling actor, as far as can be told.
func (v *Virtual) current(doing string) *actor {
	if v.cur == nil {
		v.mu.Unlock()
		panic("clock: " + doing + " by a goroutine that is no actor; start it with Go or Do, or Enter first")
	}
	return v.cur
}

// block gives the baton on, gives mu back and waits for the next turn of a.
func (v *Virtual) block(a *actor) {
	v.cur = nil
	v.schedule()
	v.unlock()
	<-a.turn
}

// wake makes a waiting actor ready.
func (v *Virtual) wake(a *actor) {
	a.waits = ""
	v.ready = append(v.ready, a)
}

// pop takes the oldest of a queue.
func pop(queue *[]*actor) *actor {
	a := (*queue)[0]
	*queue = slices.Delete(*queue, 0, 1)
	return a
}

// schedule gives the baton to whoever is next, if nobody has it.
func (v *Virtual) schedule() {
	if a := v.dispatch(); a != nil {
		go v.run(a)
	}
}

// dispatch gives the baton on; it returns an actor that has it but needs a goroutine to start in.
func (v *Virtual) dispatch() *actor {
	if v.cur != nil {
		return nil
	}
	a := v.next()
	if a == nil {
		a = v.jump()
	}
	if a == nil {
		return nil
	}
	v.settle()
	v.cur = a
	if a.start != nil {
		return a
	}
	a.turn <- struct{}{}
	return nil
}

// next takes the actor whose turn it is at this instant. First come, first served, in four classes:
//
//  1. who comes in from outside: it carries on what moved on a socket;
//  2. who is ready, unless bytes are under way: then their other end comes next, whenever it does;
//  3. timers of this instant, the first registered first, unless an actor is parked;
//  4. who comes back from Hold, in the order of going; those who entered before the others, who may be waiting for them.
//
// Only then time may jump. On a closed clock, where nobody is held up by anything, class 4 comes before class 2: who
// waits for it there in a loop is always ready.
func (v *Virtual) next() *actor {
	switch {
	case v.paused:
		return nil
	case len(v.entries) > 0:
		return pop(&v.entries)
	case v.underWay() && !v.closed:
		return nil
	}
	if v.closed {
		if a := v.back(); a != nil {
			return a
		}
	}
	switch {
	case len(v.ready) > 0:
		return pop(&v.ready)
	case v.due():
		return v.fire()
	}
	return v.back()
}

// back takes the actor that has been held longest, once it wants to go on.
func (v *Virtual) back() *actor {
	held := &v.held
	if len(v.heldEntered) > 0 && (!v.closed || v.heldEntered[0].back) {
		held = &v.heldEntered
	}
	if len(*held) == 0 || !(*held)[0].back {
		return nil
	}
	a := pop(held)
	a.held, a.back, a.away = false, false, false
	return a
}

// jump takes the earliest timer and makes its time the present, unless something holds time or the pacer has yet to
// sleep on it. Before that comes who waits for the end of this instant.
func (v *Virtual) jump() *actor {
	if v.paused || len(v.heldEntered)+len(v.held)+v.moving()+len(v.parked) > 0 {
		v.settle()
		return nil
	}
	if len(v.last) > 0 {
		a := pop(&v.last)
		a.waits = ""
		return a
	}
	t := v.nextTimer()
	if t == nil {
		v.settle()
		return nil
	}
	if !v.reached(t.at) {
		return nil
	}
	v.now.Store(t.at)
	v.noteCoincidences()
	return v.fire()
}

// hold makes a, which is in Hold or outside, come back in its order.
func (v *Virtual) hold(a *actor) {
	a.held = true
	if a.entered {
		v.heldEntered = append(v.heldEntered, a)
	} else {
		v.held = append(v.held, a)
	}
}

// run is the goroutine of an actor; it goes on with the next one if that has yet to start.
func (v *Virtual) run(a *actor) {
	for a != nil {
		a = v.runOne(a)
	}
}

// runOne runs a to its end, whichever way it ends, and gives the baton on.
func (v *Virtual) runOne(a *actor) (next *actor) {
	over := false // not so after a panic that nobody is told of, and runtime.Goexit
	defer func() {
		v.mu.Lock()
		v.retire(a)
		n := v.dispatch()
		if !over && n != nil {
			go v.run(n)
			n = nil
		}
		v.unlock()
		next = n
	}()
	f := a.start
	a.start = nil
	v.guard(a.name, f)
	over = true
	return nil
}

// retire takes an actor off, and the baton from it.
func (v *Virtual) retire(a *actor) {
	if a.ended {
		return
	}
	a.ended = true
	delete(v.live, a.id)
	if w := a.wire; w != nil && w.owner == a {
		w.close()
	}
	if a.done != nil {
		close(a.done)
	}
	if v.cur == a {
		v.cur = nil
	}
}

// Enter makes the calling goroutine an actor, before all that are ready now.
func (v *Virtual) Enter(name string) (leave func()) {
	var a *actor
	v.change(func() {
		a = v.newActor(name, nil)
		a.entered = true
		v.entries = append(v.entries, a)
	})
	<-a.turn
	return func() { v.change(func() { v.retire(a) }) }
}

// Outside runs f without the baton.
func (v *Virtual) Outside(f func()) {
	v.mu.Lock()
	a := v.cur
	if a == nil { // no actor: there is no baton to give on
		v.mu.Unlock()
		f()
		return
	}
	a.away = true
	v.leave(a, f)
}

// Hold runs f without the baton and with time held still.
func (v *Virtual) Hold(f func()) {
	v.mu.Lock()
	a := v.cur
	if a == nil {
		v.holds++
		v.schedule() // the pacer stops
		v.unlock()
		defer v.change(func() { v.holds-- })
		f()
		return
	}
	v.hold(a)
	v.leave(a, f)
}

// leave gives the baton of a on, gives mu back and runs f, and comes back whichever way f ends.
func (v *Virtual) leave(a *actor, f func()) {
	v.cur = nil
	v.schedule()
	v.unlock()
	defer v.comeBack(a)
	f()
}

// comeBack waits until the actor has the baton again.
func (v *Virtual) comeBack(a *actor) {
	v.change(func() {
		if a.held {
			a.back = true
		} else {
			a.away = false
			v.entries = append(v.entries, a)
		}
	})
	<-a.turn
}
