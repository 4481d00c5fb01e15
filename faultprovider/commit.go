package faultprovider

import (
	"bytes"
	"time"

	"faultlab/engine/clock"
)

// commit puts the effect into the ledger: at once, or as an actor of its own when its time has come. Whether the caller
// is still there does not matter to it.
func (s *session) commit() {
	d := s.x.at.Sub(s.p.now())
	switch {
	case !s.x.after:
		s.p.clk.AfterFunc(d, s.put)
	case d > 0:
		done := s.p.clk.NewEvent("the commit of " + s.name())
		s.waiting, s.commits = true, done
		s.p.clk.AfterFunc(d, func() { s.put(); done.Set() })
	default:
		s.put()
	}
}

// put commits the effect, together with what the key keeps of it.
func (s *session) put() {
	p, x := s.p, &s.x
	p.clk.Gate(clock.AtCommit, s.r.ID)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.epoch != p.epoch {
		return
	}
	defer s.land()
	if p.err != nil {
		return
	}
	e := *x.makes
	e.CommittedAt, e.Fingerprint = p.now(), x.print.hex()
	b := s.keeps(e.CommittedAt, true)
	place := p.records.put(e, x.scope, b)
	places := []int{place}
	if e.Of != "" {
		if of := p.records.owner(e.Collection, e.Of); of >= 0 {
			p.records.undo(of, place, e.Operation == Delete)
			places = append(places, of)
		}
	}
	entry := s.entry(e.CommittedAt, &Entry{Kind: Commit, Collection: e.Collection, Key: e.Key, EffectID: e.ID})
	p.emit(entry, places, s.keyRecords(b))
	if x.after {
		s.durable, x.effectID = p.last, e.ID
	}
}

// complete ends a request that commits nothing: its key keeps the result, or is free again.
func (s *session) complete() {
	if s.x.kind != NewOperation {
		return
	}
	p := s.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.epoch != p.epoch {
		return
	}
	defer s.land()
	b := s.keeps(p.now(), false)
	if b == nil {
		return
	}
	p.records.bind(s.x.scope, *b)
	if p.ledger != nil {
		p.append(Change{Keys: s.keyRecords(b)})
		s.durable = p.last
	}
}

// keeps is what the contract lets the key keep of the result, or nil. The place of the effect is yet to be set.
func (s *session) keeps(now time.Time, committed bool) *binding {
	p, x := s.p, &s.x
	if x.scope.zero() {
		return nil
	}
	b := &binding{effect: -1, print: x.print, first: now.UnixNano(), completed: now.UnixNano()}
	if s.flight != nil {
		b.first = s.flight.since.UnixNano()
	}
	switch keyOutcomeOf(&p.contract, x.result.status, committed) {
	case forgets:
		return nil
	case locks:
		b.locked = true
	case stores:
		b.status, b.body = x.result.status, x.result.body
		if committed && bytes.Equal(b.body, x.answer.body) {
			b.body = nil
		}
	case binds:
		b.status = x.answer.status
	}
	if old, ok := p.records.known(x.scope); ok && !expired(now, &old, &p.contract, x.to.collection) && (old.effect >= 0 || old.status != 0) {
		return nil // another request under the key was faster, and executed too
	}
	return b
}

// keyRecords is a binding as the ledger keeps it.
func (s *session) keyRecords(b *binding) []KeyRecord {
	if b == nil || s.p.ledger == nil {
		return nil
	}
	k := KeyRecord{
		Scope: s.x.scope.hex(), Key: s.x.key, Fingerprint: b.print.hex(), Status: b.status, Body: b.body, Locked: b.locked,
		FirstSeen: time.Unix(0, b.first).UTC(), Completed: time.Unix(0, b.completed).UTC(),
	}
	if b.effect >= 0 {
		e := s.p.records.at(b.effect)
		k.EffectID, k.Collection = e.ID, e.Collection
	}
	return []KeyRecord{k}
}

// decision logs what the request is and what it gets.
func (s *session) decision(now time.Time) {
	m, fault := &s.x.match, s.x.fault
	if m.kind != NewOperation && fault == "none" {
		fault = ""
	}
	e := &Entry{Kind: m.kind, Collection: m.to.collection, Key: m.key, Fault: fault, EffectID: m.effectID, Note: m.note, Took: s.x.took}
	if m.kind == NewOperation {
		e.Cause, e.Scope = m.cause, m.within
	}
	s.note(now, e)
}

// note logs an entry about the request.
func (s *session) note(now time.Time, e *Entry) { s.p.emit(s.entry(now, e), nil, nil) }

// entry fills in what all entries of the request have in common.
func (s *session) entry(now time.Time, e *Entry) *Entry {
	e.At, e.Request, e.RequestID, e.Method, e.Path = now, s.n, s.r.ID, s.r.Method, s.r.Path
	if s.r.RawQuery != "" {
		e.Path += "?" + s.r.RawQuery
	}
	return e
}

// emit logs an entry and hands it to the ledger with what it is about.
func (p *Provider) emit(e *Entry, places []int, keys []KeyRecord) {
	p.log.add(e)
	if p.observe != nil {
		p.observe(*e)
	}
	if p.ledger == nil {
		return
	}
	c := Change{Keys: keys, Entries: []Entry{*e}}
	for _, place := range places {
		c.Effects = append(c.Effects, p.records.effect(place))
	}
	p.append(c)
}

// append hands a change to the ledger.
func (p *Provider) append(c Change) {
	t := p.ledger.Append(c)
	if len(c.Effects)+len(c.Keys) > 0 {
		p.last = t
	}
}
