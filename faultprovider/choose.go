package faultprovider

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"
)

// track keeps a request among those that are on their way until done is called.
func (p *Provider) track(s *session) (done func()) {
	if p.queue.choose == nil {
		return func() {}
	}
	p.mu.Lock()
	p.open[s] = true
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		delete(p.open, s)
		p.mu.Unlock()
	}
}

// AppendState appends a description of everything that the provider's answers to come depend on, apart from faults that are queued
// with a probability: effects, keys, requests on their way with what they will commit and answer, and when. Times are
// relative to now, so that two providers that will behave alike have the same state. Whoever is called by
// Options.Choose must use AppendStateLocked.
func (p *Provider) AppendState(b []byte, ages bool) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.AppendStateLocked(b, ages)
}

// AppendStateLocked is AppendState for a function that Options.Choose called.
func (p *Provider) AppendStateLocked(b []byte, ages bool) []byte {
	now := p.now()
	b = append(append(b, p.contract.Name...), 0)
	for _, f := range p.queue.faults {
		b = append(append(b, f.String()...), 0)
	}
	b = p.records.appendState(b, now, ages)
	for _, scope := range slices.SortedFunc(maps.Keys(p.flights), func(a, b digest) int { return slices.Compare(a[:], b[:]) }) {
		b = append(append(b, "in flight "...), scope[:]...)
		if ages {
			b = appendAge(b, now.Sub(p.flights[scope].since))
		}
	}
	var open [][]byte
	for s := range p.open {
		open = append(open, s.appendState(nil, now))
	}
	slices.SortFunc(open, slices.Compare)
	for _, s := range open {
		b = append(append(b, s...), 0)
	}
	return b
}

func appendAge(b []byte, d time.Duration) []byte { return binary.AppendVarint(b, int64(d)) }

// appendState describes a request on its way.
func (s *session) appendState(b []byte, now time.Time) []byte {
	b = append(append(b, s.name()...), 0)
	if s.n == 0 {
		return b // it has not arrived; the clock knows when it does
	}
	x := &s.x
	b = append(append(b, x.kind...), 0)
	b = append(append(b, x.fault...), 0)
	if x.commits {
		b = appendAge(append(b, 'c'), max(0, x.at.Sub(now)))
	}
	b = binary.AppendVarint(b, int64(x.reply.status))
	return appendAge(append(b, byte(x.reply.how)), max(0, x.reply.at.Sub(now)))
}

// staleFor is how far the named faults look back: the age of an effect matters to a look-up while it is younger.
const staleFor = 30 * time.Second

// appendState describes effects and keys. An effect is named by its place: two of different ids that were committed alike are alike.
func (r *records) appendState(b []byte, now time.Time, ages bool) []byte {
	for _, s := range r.effects {
		e := s.now()
		for _, text := range []string{e.Collection, e.Key, e.Fingerprint, string(e.Operation)} {
			b = append(append(b, text...), 0)
		}
		age := now.Sub(e.CommittedAt)
		if !ages {
			age = min(age, staleFor)
		}
		b = binary.AppendVarint(appendAge(b, age), int64(s.undoneBy))
		b = binary.AppendVarint(b, int64(len(s.later)))
		if s.gone {
			b = append(b, 'g')
		}
	}
	scopes := slices.SortedFunc(maps.Keys(r.keys), func(a, b digest) int { return slices.Compare(a[:], b[:]) })
	for _, scope := range scopes {
		k := r.keys[scope]
		b = append(append(b, scope[:]...), k.print[:]...)
		b = binary.AppendVarint(b, int64(k.effect))
		b = binary.AppendVarint(b, int64(k.status))
		if k.effect < 0 {
			body := sum(k.body)
			b = append(b, body[:]...)
		}
		if k.locked {
			b = append(b, 'l')
		}
		if ages {
			b = appendAge(appendAge(b, now.Sub(time.Unix(0, k.first))), now.Sub(time.Unix(0, k.completed)))
		}
	}
	return append(b, 0)
}
