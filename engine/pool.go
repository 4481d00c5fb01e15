package engine

import (
	"context"
	"time"

	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

// maxQueue is how many runs may wait in one queue.
const maxQueue = 10_000

// pool is the policy of one queue: how many runs are at work at the same time,
// how many may start in a window, and who is next. Engine.mu guards it.
type pool struct {
	limit   int // 0: no limit
	rate    woml.Rate
	active  int
	waiting []*waiter
	starts  []time.Time // of first starts within the window, the oldest first
}

// waiter is a run that wants a slot.
type waiter struct {
	rt    *running
	first bool // its first start: the rate counts it
	go_   clock.Event
	ok    bool
}

// pool is the one of the document's queue: its own name, or the workflow's. e.mu is held.
func (e *Engine) pool(d *woml.Document) *pool {
	name := "workflow " + d.Workflow.ID
	if d.Workflow.Config.Queue != "" {
		name = "queue " + d.Workflow.Config.Queue + " " + d.Workflow.ID
	}
	p := e.pools[name]
	if p == nil {
		p = &pool{}
		e.pools[name] = p
	}
	p.limit, p.rate = d.Workflow.Config.Concurrency, d.Workflow.Config.Rate
	return p
}

func (p *pool) room() bool { return len(p.waiting) < maxQueue }

// enqueue keeps the run's place in the order of admission, before its actor asks for the slot.
func (p *pool) enqueue(rt *running) {
	rt.place = &waiter{rt: rt, first: true, go_: rt.e.clk.NewEvent("a slot for " + rt.id)}
	p.waiting = append(p.waiting, rt.place)
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
	stop := e.clk.OnCancel(ctx, func(error) { w.go_.Set() })
	w.go_.Wait()
	stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.ok {
		rt.slot = true
		return nil
	}
	for i, o := range p.waiting {
		if o == w {
			p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
			break
		}
	}
	e.admitNext(p)
	return context.Cause(ctx)
}

// release gives the slot back.
func (rt *running) release() {
	e := rt.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if !rt.slot {
		return
	}
	rt.slot = false
	p := e.pool(rt.doc)
	p.active--
	e.admitNext(p)
}

// admitNext hands free slots to those who wait, in order. A run that only goes on
// does not wait behind one that the rate holds back. e.mu is held.
func (e *Engine) admitNext(p *pool) {
	if e.dead != nil {
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
	e.clk.AfterFunc(p.starts[0].Add(p.rate.Per).Sub(now), func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.admitNext(p)
	})
	return false
}
