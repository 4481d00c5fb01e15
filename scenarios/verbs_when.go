package scenarios

import (
	"slices"
	"strconv"

	"faultlab/engine"
	"faultlab/scenarios/lang"
)

// pending is a delivery that waits for its moment.
type pending struct {
	when string // lang.WhenInFlight or lang.WhenAfterCrash
	do   func() error
	line lang.Line
}

// await keeps a delivery until its moment.
func (b *Bench) await(p pending) {
	b.note(Note{Verb: p.line.Verb, Text: "armed: " + p.line.Text})
	b.mu.Lock()
	b.pending = append(b.pending, p)
	b.mu.Unlock()
}

// due makes the deliveries that wait for a moment, each by an actor of its own: whoever tells of the moment may hold a lock.
func (b *Bench) due(when string) {
	b.mu.Lock()
	var now []pending
	b.pending = slices.DeleteFunc(b.pending, func(p pending) bool {
		if p.when == when {
			now = append(now, p)
		}
		return p.when == when
	})
	b.mu.Unlock()
	for _, p := range now {
		b.clk.Go("deliver", func() {
			if err := p.do(); err != nil && !b.isStopped() {
				b.note(Note{Verb: p.line.Verb, Text: err.Error(), Refused: true})
			}
		})
	}
}

// actOrder says which runs go first from now on.
func (b *Bench) actOrder(l lang.Line) error {
	order := make([]int, len(l.Args))
	for i, arg := range l.Args {
		order[i], _ = strconv.Atoi(arg)
	}
	b.mu.Lock()
	b.order = order
	b.mu.Unlock()
	b.note(Note{Verb: l.Verb, Text: l.Text})
	return nil
}

// inOrder holds a request back while one of a run that is to go first may still be sent at this instant.
func (b *Bench) inOrder(requestID string) {
	id, ok := engine.ParseRequestID(requestID)
	if !ok || b.virtual == nil {
		return
	}
	b.mu.Lock()
	run := b.numbers[id.Run]
	place := slices.Index(b.order, run)
	if place > 0 {
		b.waiting[run]++
	}
	b.mu.Unlock()
	for again := place > 0; again; {
		b.virtual.EndOfInstant()
		b.mu.Lock()
		again = slices.ContainsFunc(b.order[:min(place, len(b.order))], func(first int) bool { return b.waiting[first] > 0 })
		if !again {
			b.waiting[run]--
		}
		b.mu.Unlock()
	}
}
