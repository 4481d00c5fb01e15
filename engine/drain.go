package engine

import (
	"context"
	"fmt"
	"time"

	"faultlab/engine/plain"
	"faultlab/engine/script"
)

// errDraining ends what would begin something new while the engine drains. The history
// then says of the run what it says after a crash between two calls: it goes on from there.
var errDraining = fmt.Errorf("%w: it begins nothing new", ErrKilled)

// codeDraining refuses a run that would be admitted meanwhile.
const codeDraining = "WOML_RUNTIME_NOT_READY"

// Outstanding is a call that has begun and not ended.
type Outstanding struct {
	Run    string
	Pos    Pos
	Target string
	Since  time.Time
}

// Drain begins nothing new and waits until what is out has ended, or until ctx ends. It
// reports whether all has. What the runs have still to do goes on after Recover.
func (e *Engine) Drain(ctx context.Context) (whole bool) {
	over := e.clk.NewEvent("the end of what is out")
	e.mu.Lock()
	e.draining = true
	if e.actors == 0 {
		over.Set()
	}
	e.idle = append(e.idle, over)
	e.mu.Unlock()
	e.restNow(errDraining)
	stop := e.clk.OnCancel(ctx, func(error) { over.Set() })
	over.Wait()
	stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.actors == 0
}

// Out lists what Drain waits for, by run.
func (e *Engine) Out() (out []Outstanding) {
	e.mu.Lock()
	var open []*running
	for _, id := range plain.SortedKeys(e.open) {
		open = append(open, e.open[id])
	}
	e.mu.Unlock()
	for _, rt := range open {
		rt.read(func(r *Run) {
			for _, s := range r.Steps {
				if s.Last() == nil {
					continue
				}
				for _, c := range s.Last().Calls {
					if !c.Ended && c.Service != script.ServiceWorkflows {
						out = append(out, Outstanding{r.ID, c.Pos, c.Target, c.StartedAt})
					}
				}
			}
		})
	}
	return out
}

// resting reports whether the engine begins nothing new.
func (e *Engine) resting() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.draining
}

// untilRest is a context for a wait that ends when the engine drains.
func (e *Engine) untilRest(ctx context.Context) (context.Context, func()) {
	waits, end := e.clk.WithCancel(ctx)
	stop := e.clk.OnCancel(e.rest, func(cause error) { end(cause) })
	return waits, func() { stop(); end(nil) }
}

// rest leaves a call as a crash would: it has begun, or was to begin, and has no end.
func (h *host) rest(id int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, open := h.tickets[id]; open {
		h.open--
		delete(h.tickets, id)
	}
	h.awake()
}
