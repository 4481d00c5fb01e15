package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"faultlab/engine"
	"faultlab/scenarios/explore"
)

// state returns the digest of everything that follows a choice depends on.
func (e *explorer) state(kind explore.Kind, alt string, provider func([]byte) []byte) explore.State {
	e.buf = e.state0(e.buf[:0], kind.String(), provider)
	if kind == explore.Crash {
		e.buf = append(e.buf, alt...)
	}
	return explore.StateOf(e.buf)
}

// state0 describes everything that what follows depends on.
func (e *explorer) state0(b []byte, where string, provider func([]byte) []byte) []byte {
	b = fmt.Appendf(b, "%s|%s|%d|%t|%d|%v|%d|", where, e.phase, e.rounds, e.b.down(), len(e.late), e.b.order, len(e.b.pending))
	if e.x.ages {
		b = fmt.Append(b, e.b.sinceStart(e.b.clk.Now()))
	}
	for _, id := range e.order {
		b = e.appendRun(b, e.runs[id])
	}
	if !e.b.down() {
		for _, id := range slices.Sorted(maps.Keys(e.inHand)) {
			b = fmt.Appendf(b, "\nin hand %s %s", id, e.inHand[id])
		}
	}
	b = provider(b)
	return e.b.virtual.AppendState(b)
}

// appendRun describes a run as far as the engine's rules look at it: without times, and with the ids of effects by their places.
func (e *explorer) appendRun(b []byte, r *engine.Run) []byte {
	b = fmt.Appendf(b, "\nrun %s %t %t %t %t %s", r.Status, r.Reconcile, r.CancelAsked, r.Keep, r.Resumed, r.FailedAt)
	if r.Waits != nil {
		b = fmt.Appendf(b, " waits %v", *r.Waits)
	}
	for _, s := range r.Steps {
		b = fmt.Appendf(b, "\n step %s %t %t %s %s %t %d", s.ID, s.Undo, s.Done, e.plain(s.Result), s.Pending, s.ByRecord, len(s.Attempts))
		for _, a := range s.Attempts {
			b = fmt.Appendf(b, "\n  attempt %s %s %s %s", a.Outcome, a.Next, a.Key, a.By)
			if a.Outcome == engine.Failed {
				b = append(b, a.Code...)
			}
			for _, c := range a.Calls {
				b = e.appendCall(b, r, a, c)
			}
		}
	}
	return b
}

func (e *explorer) appendCall(b []byte, r *engine.Run, a *engine.Attempt, c *engine.Call) []byte {
	b = fmt.Appendf(b, "\n   call %d %t %s %s %s %v %d %s %s %d", c.N(), c.Ended, c.Finding, c.Next, c.Key, c.SettledBy, len(c.Requests), c.Child, c.Write, c.Rows)
	if c.Ended && (a.Outcome == "" || c.Finding == engine.FoundDone) {
		b = fmt.Appendf(b, " %s %d %s", c.How, c.Status, e.plain(c.Reply))
	}
	for _, q := range c.Requests {
		b = fmt.Appendf(b, " %t%t%t%s", q.Ended, q.NotSent, q.Began, q.GaveUp)
	}
	if n := len(c.Requests); n > 0 && c.Requests[n-1].Ended {
		b = fmt.Append(b, c.Requests[n-1].Status == 409)
	}
	for _, d := range c.Decisions {
		b = fmt.Appendf(b, " %s", d.Decision)
	}
	if n := len(c.Evidence); n > 0 {
		last := c.Evidence[n-1]
		found, _ := json.Marshal(last.Evidence)
		use := engine.UseOf(c, e.all()...)
		b = fmt.Appendf(b, " evidence %d %s %t", n, e.plain(found), last.Seq > use.End)
	}
	return b
}

func (e *explorer) all() []*engine.Run {
	out := make([]*engine.Run, len(e.order))
	for i, id := range e.order {
		out[i] = e.runs[id]
	}
	return out
}

// plain is a text in which effects are named by their places.
func (e *explorer) plain(text []byte) []byte {
	for i, id := range e.effects {
		if strings.Contains(string(text), id) {
			text = []byte(strings.ReplaceAll(string(text), id, fmt.Sprint("#", i)))
		}
	}
	return text
}
