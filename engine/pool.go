package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

// maxQueue is how many runs of one workflow may wait.
const maxQueue = 10_000

// pool is the policy of one workflow: how many of its runs are at work at the same
// time, how many may start in a window, and who is next. The queue that a document
// names is a name and no more: workflows share no capacity, so nobody waits for a
// run of another one. Engine.mu guards it.
type pool struct {
	limit   int // 0: no limit
	rate    woml.Rate
	active  int
	waiting []*waiter
	starts  []time.Time // of first starts within the window, the oldest first
	warm    bool        // starts holds those of earlier workers too
	alarm   time.Time   // when the oldest start leaves the window, if somebody waits for that
}

// waiter is a run that wants a slot.
type waiter struct {
	rt    *running
	first bool // its first start: the rate counts it
	go_   clock.Event
	ok    bool
}

// pool is the one of the document's workflow. The document that is loaded now says
// its limits; runs of a former one share them. e.mu is held.
func (e *Engine) pool(d *woml.Document) *pool {
	p := e.pools[d.Workflow.ID]
	if p == nil {
		p = &pool{}
		e.pools[d.Workflow.ID] = p
	}
	if now := e.docs[d.Workflow.ID]; now != nil {
		d = now
	}
	p.limit, p.rate = d.Workflow.Config.Concurrency, d.Workflow.Config.Rate
	return p
}

// recall lets the window of a workflow's rate begin with the starts that earlier
// workers made.
func (e *Engine) recall(d *woml.Document) error {
	e.mu.Lock()
	p := e.pool(d)
	rate, known := p.rate, p.warm
	e.mu.Unlock()
	if known || rate.Count == 0 {
		return nil
	}
	starts, err := e.startsSince(d.Workflow.ID, e.clk.Now().Add(-rate.Per), rate.Count)
	if err != nil {
		return fmt.Errorf("read when runs of %s started: %w", d.Workflow.ID, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !p.warm {
		p.warm, p.starts = true, append(starts, p.starts...)
	}
	return nil
}

// startsSince are the newest first starts after a time, at most n of them, the
// oldest first. Runs start in the order of their admission.
func (e *Engine) startsSince(workflow string, since time.Time, n int) (starts []time.Time, err error) {
	const page = 200
	for q := (Query{Workflow: workflow, Limit: page}); ; {
		runs, err := e.o.History.Runs(q)
		if err != nil {
			return nil, err
		}
		for _, s := range runs {
			r, err := e.Get(s.Run)
			if err != nil {
				return nil, err
			}
			switch {
			case r.StartedAt.IsZero():
				continue
			case !r.StartedAt.After(since) || len(starts) == n:
				slices.Reverse(starts)
				return starts, nil
			}
			starts = append(starts, r.StartedAt)
		}
		if len(runs) < page {
			slices.Reverse(starts)
			return starts, nil
		}
		q.Before = runs[len(runs)-1].Run
	}
}

func (p *pool) room() bool { return len(p.waiting) < maxQueue }

// enqueue keeps the run's place in the order of admission, before its actor asks for the slot.
func (e *Engine) enqueue(p *pool, rt *running) {
	rt.place = &waiter{rt: rt, first: true, go_: e.clk.NewEvent("a slot for " + rt.id)}
	p.waiting = append(p.waiting, rt.place)
	e.admitNext(p)
}

// drop takes a waiter out of the queue. e.mu is held.
func (p *pool) drop(w *waiter) {
	p.waiting = slices.DeleteFunc(p.waiting, func(o *waiter) bool { return o == w })
}

// acquire waits for a slot. It returns the context's cause when the run is cancelled first.
func (rt *running) acquire(ctx context.Context, first bool) error {
	e := rt.e
	e.mu.Lock()
	p := e.pool(rt.doc)
	w := rt.place
	rt.place = nil
	if w == nil {
		w = &waiter{rt: rt, first: first, go_: e.clk.NewEvent("a slot for " + rt.id)}
		p.waiting = append(p.waiting, w)
	}
	e.admitNext(p)
	e.mu.Unlock()
	waits, done := e.untilRest(ctx)
	defer done()
	stop := e.clk.OnCancel(waits, func(error) { w.go_.Set() })
	w.go_.Wait()
	stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.ok {
		rt.slot = true
		return nil
	}
	p.drop(w)
	e.admitNext(p)
	return context.Cause(waits)
}

// ensureSlot waits for a slot unless the run has one.
func (rt *running) ensureSlot(ctx context.Context) error {
	rt.e.mu.Lock()
	has := rt.slot
	rt.e.mu.Unlock()
	if has {
		return nil
	}
	return rt.acquire(ctx, false)
}

// release gives the slot back, or the place of a run that never asked for one.
func (rt *running) release() {
	e := rt.e
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.pool(rt.doc)
	if w := rt.place; w != nil {
		rt.place, rt.slot = nil, w.ok
		p.drop(w)
	}
	if !rt.slot {
		return
	}
	rt.slot = false
	p.active--
	e.admitNext(p)
}

// admitNext hands free slots to those who wait, in order. A run that only goes on
// does not wait behind one that the rate holds back. e.mu is held.
func (e *Engine) admitNext(p *pool) {
	if e.dead != nil || p.limit > 0 && p.active >= p.limit {
		return
	}
	kept := p.waiting[:0]
	held := false
	for _, w := range p.waiting {
		if p.limit > 0 && p.active >= p.limit || w.first && (held || !e.rateAllows(p)) {
			held = held || w.first
			kept = append(kept, w)
			continue
		}
		if w.first && p.rate.Count > 0 {
			p.starts = append(p.starts, e.clk.Now())
		}
		p.active++
		w.ok = true
		w.go_.Set()
	}
	for i := len(kept); i < len(p.waiting); i++ {
		p.waiting[i] = nil
	}
	p.waiting = kept
}

// rateAllows looks at the rolling window, and comes back when its oldest start leaves it.
func (e *Engine) rateAllows(p *pool) bool {
	if p.rate.Count == 0 {
		return true
	}
	now := e.clk.Now()
	for len(p.starts) > 0 && !p.starts[0].Add(p.rate.Per).After(now) {
		p.starts = p.starts[1:]
	}
	if len(p.starts) < p.rate.Count {
		return true
	}
	if at := p.starts[0].Add(p.rate.Per); p.alarm != at {
		p.alarm = at
		e.clk.AfterFunc(at.Sub(now), func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			p.alarm = time.Time{}
			e.admitNext(p)
		})
	}
	return false
}
