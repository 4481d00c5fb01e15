package clock

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
	serves  bool  // counted in Virtual.serving
	wire    *wire // whose provider's end it is
	opened  []*wire
}

func (v *Virtual) newActor(name string) *actor {
	v.actors++
	a := &actor{id: v.actors, name: name, turn: make(chan struct{}, 1)}
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
	v.ready.push(a)
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
	case v.entries.len() > 0:
		return v.entries.pop()
	case v.flying > v.serving && !v.closed:
		return nil
	case v.closed && wantsBack(&v.heldEntered):
		return v.backFrom(&v.heldEntered)
	case v.closed && wantsBack(&v.held):
		return v.backFrom(&v.held)
	case v.ready.len() > 0:
		return v.ready.pop()
	case v.due():
		return v.fire()
	case v.heldEntered.len() > 0:
		return v.backFrom(&v.heldEntered)
	case v.held.len() > 0:
		return v.backFrom(&v.held)
	}
	return nil
}

// jump takes the earliest timer and makes its time the present, unless something holds time or the pacer has yet to
// sleep on it. Before that comes who waits for the end of this instant.
func (v *Virtual) jump() *actor {
	still := !v.paused && v.heldEntered.len()+v.held.len()+v.moving+len(v.parked) == 0
	if still && v.last.len() > 0 {
		a := v.last.pop()
		a.waits = ""
		return a
	}
	if !still || len(v.timers) == 0 {
		v.settle()
		return nil
	}
	at := v.timers[0].at
	if !v.reached(at) {
		return nil
	}
	v.now.Store(at)
	v.noteCoincidences()
	return v.fire()
}

// hold makes a, which is in Hold or outside, come back in its order.
func (v *Virtual) hold(a *actor) {
	a.held = true
	if a.entered {
		v.heldEntered.push(a)
	} else {
		v.held.push(a)
	}
}

func wantsBack(held *fifo[*actor]) bool { return held.len() > 0 && held.first().back }

// backFrom takes the actor that has been held longest, once it wants to go on.
func (v *Virtual) backFrom(held *fifo[*actor]) *actor {
	a := held.first()
	if !a.back {
		return nil
	}
	a.held, a.back, a.away = false, false, false
	v.recountActor(a)
	return held.pop()
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
	v.dropWires(a)
	if a.done != nil {
		close(a.done)
	}
	if v.cur == a {
		v.cur = nil
	}
}

// Enter makes the calling goroutine an actor, before all that are ready now.
func (v *Virtual) Enter(name string) (leave func()) {
	v.mu.Lock()
	a := v.newActor(name)
	a.entered = true
	v.recountActor(a)
	v.entries.push(a)
	v.schedule()
	v.unlock()
	<-a.turn
	return func() {
		v.mu.Lock()
		v.retire(a)
		v.schedule()
		v.unlock()
	}
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
	v.recountActor(a)
	v.cur = nil
	v.schedule()
	v.unlock()
	defer v.comeBack(a)
	f()
}

// Hold runs f without the baton and with time held still.
func (v *Virtual) Hold(f func()) {
	v.mu.Lock()
	a := v.cur
	if a == nil {
		v.moving++
		v.schedule()
		v.unlock()
		defer func() {
			v.mu.Lock()
			v.moving--
			v.schedule()
			v.unlock()
		}()
		f()
		return
	}
	v.hold(a)
	v.cur = nil
	v.schedule()
	v.unlock()
	defer v.comeBack(a)
	f()
}

// comeBack waits until the actor has the baton again.
func (v *Virtual) comeBack(a *actor) {
	v.mu.Lock()
	if a.held {
		a.back = true
	} else {
		a.away = false
		v.recountActor(a)
		v.entries.push(a)
	}
	v.schedule()
	v.unlock()
	<-a.turn
}
