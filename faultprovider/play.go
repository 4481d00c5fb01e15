package faultprovider

import (
	"net/http"
	"sync/atomic"
	"time"

	"faultlab/engine/clock"
)

// caller is the other end of one request, as a shell sees it.
type caller interface {
	still()                        // the provider waits: time may pass
	move()                         // the provider goes on
	onGone(f func()) (stop func()) // f runs once the caller has given up; at once if it already has
}

// flying is a flight, and who waits for its end.
type flying struct {
	flight
	waiters []clock.Event
}

// over lets those who wait go on.
func (f *flying) over() {
	for _, w := range f.waiters {
		w.Set()
	}
	f.waiters = nil
}

// session is one request on its way through the provider.
type session struct {
	p       *Provider
	r       *Request
	c       caller
	n       int64 // ordinal of the request
	epoch   int
	x       exchange
	flight  *flying
	waiting bool        // the reply waits for a commit that is yet to come
	commits clock.Event // which says that it has come
	durable Ticket      // what must be on disk before an answer
}

// play takes a request through the provider and returns what its caller gets, at the moment it gets it; nil if the
// caller gave up before.
func (p *Provider) play(r *Request, c caller) *reply {
	s := &session{p: p, r: r, c: c}
	s.x.way = p.latency
	defer p.track(s)()
	s.travel()
	if !s.arrive() {
		return nil
	}
	if s.x.commits {
		s.commit()
	}
	gone := s.waitForReply()
	if !s.x.commits && !s.x.stuck {
		s.complete()
	}
	return s.end(gone)
}

// travel is the way to the provider. What is on its way arrives, whether or not its caller gives up meanwhile.
func (s *session) travel() {
	if s.x.way <= 0 {
		return
	}
	turn := s.p.clk.NewEvent("the arrival of " + s.name())
	defer s.p.clk.AfterFunc(s.x.way, turn.Set)()
	s.await(turn)
}

// arrive matches the request, once its key is free where the contract lets it wait, gives it its fault and reserves its
// key. It reports false if the caller gave up waiting.
func (s *session) arrive() bool {
	p := s.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	s.n, s.epoch = p.requests, p.epoch
	now := p.now()
	s.note(now, &Entry{Kind: Received})
	s.x.decide(now, s.r, p.records, &p.queue, &p.contract)
	for waited := false; s.x.waits; waited = true {
		if !waited {
			s.decision(now)
		}
		gone := s.waitForFlight()
		now = p.now()
		if gone {
			s.note(now, &Entry{Kind: GaveUp, Collection: s.x.to.collection, Key: s.x.key})
			return false
		}
		s.epoch = p.epoch
		s.x.decide(now, s.r, p.records, &p.queue, &p.contract)
	}
	s.decision(now)
	s.reserve(now)
	s.durable = p.last
	return true
}

// waitForFlight waits until the flight under a key is over, or its lease. The lock is given back meanwhile.
func (s *session) waitForFlight() (gone bool) {
	p := s.p
	f := p.flights[s.x.scope]
	turn := p.clk.NewEvent("the request in flight under the same key as " + s.name())
	f.waiters = append(f.waiters, turn)
	lease := p.contract.InFlight.Lease
	left := f.since.Add(lease).Sub(p.now())
	p.mu.Unlock()
	defer p.mu.Lock()
	if lease > 0 {
		defer p.clk.AfterFunc(left, turn.Set)()
	}
	return s.await(turn)
}

// await waits for an event or for the caller to give up.
func (s *session) await(turn clock.Event) bool {
	var gone atomic.Bool
	defer s.c.onGone(func() { gone.Store(true); turn.Set() })()
	s.c.still()
	turn.Wait()
	s.c.move()
	return gone.Load()
}

// reserve puts the key of a new operation in flight.
func (s *session) reserve(now time.Time) {
	if s.x.kind != NewOperation {
		return
	}
	if e := s.x.makes; e != nil {
		s.p.records.pending[recordID{e.Collection, e.ID}] = true
	}
	if s.x.scope.zero() {
		return
	}
	s.flight = &flying{flight: flight{print: s.x.print, since: now}}
	if before := s.p.flights[s.x.scope]; before != nil { // it executes too, or the lease of the first is over
		s.flight.waiters = before.waiters
	}
	s.p.flights[s.x.scope] = s.flight
}

// land takes the key out of flight.
func (s *session) land() {
	if e := s.x.makes; e != nil {
		delete(s.p.records.pending, recordID{e.Collection, e.ID})
	}
	if s.flight == nil {
		return
	}
	if s.p.flights[s.x.scope] == s.flight {
		delete(s.p.flights, s.x.scope)
	}
	s.flight.over()
}

// waitForReply waits until the answer is due; it reports true if the caller gave up before.
func (s *session) waitForReply() (gone bool) {
	if s.waiting && s.await(s.commits) {
		return true
	}
	clk := s.p.clk
	if s.x.reply.how == nothing {
		return s.await(clk.NewEvent("the caller of " + s.name() + " to give up"))
	}
	d := s.x.reply.at.Sub(s.p.now())
	if d <= 0 {
		return false
	}
	turn := clk.NewEvent("the answer to " + s.name())
	defer clk.AfterFunc(d, turn.Set)()
	return s.await(turn)
}

// end says how the request ended, and returns its reply, if there is somebody to get it.
func (s *session) end(gone bool) *reply {
	p, x := s.p, &s.x
	var err error
	if s.durable != nil && !gone {
		p.clk.Hold(func() { err = s.durable.Wait() })
	}
	if !gone {
		p.clk.Gate(clock.AtReply, s.r.ID)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil && p.err == nil {
		p.err = err
	}
	e := Entry{Kind: Replied, Collection: x.to.collection, Key: x.key, EffectID: x.effectID, Status: x.reply.status}
	switch {
	case gone:
		e.Kind, e.Status = GaveUp, 0
	case p.err != nil:
		e.Kind, e.Status, e.Note = Failed, http.StatusInternalServerError, p.err.Error()
		x.reply.fail()
	case x.reply.how == resets:
		e.Kind, e.Status = Reset, 0
	case x.reply.cut():
		e.Kind = Cut
	}
	s.note(p.now(), &e)
	if gone {
		return nil
	}
	return &x.reply
}

// name is what the clock's reports call the request.
func (s *session) name() string {
	if s.r.ID != "" {
		return s.r.ID
	}
	return s.r.Method + " " + s.r.Path
}
