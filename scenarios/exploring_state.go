package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"faultlab/engine"
	"faultlab/scenarios/explore"
)

// state returns the digest of everything that the rest of a schedule depends on.
func (e *explorer) state(kind explore.Kind, alt string, provider func([]byte) []byte) explore.State {
	e.buf = e.state0(e.buf[:0], kind.String(), provider)
	if kind == explore.Crash {
		e.buf = append(e.buf, alt...)
	}
	return explore.StateOf(e.buf)
}

// state0 describes everything that what follows depends on.
func (e *explorer) state0(b []byte, where string, provider func([]byte) []byte) []byte {
	b = appendNumber(appendTexts(b, where, e.phase), e.rounds)
	b = appendNumber(appendNumber(appendFlags(b, e.b.down()), len(e.late)), len(e.b.pending))
	for _, n := range e.b.order {
		b = appendNumber(b, n)
	}
	b = append(b, '|')
	if e.x.ages {
		b = appendNumber(b, e.b.sinceStart(e.b.clk.Now()))
	}
	for _, id := range e.order {
		b = e.appendRun(b, e.runs[id])
	}
	if !e.b.down() {
		for _, id := range slices.Sorted(maps.Keys(e.inHand)) {
			b = appendTexts(append(b, "\nin hand"...), id, e.inHand[id])
		}
	}
	b = provider(b)
	return e.b.virtual.AppendState(b)
}

func appendTexts[T ~string](b []byte, texts ...T) []byte {
	for _, text := range texts {
		b = append(append(b, ' '), text...)
	}
	return b
}

func appendNumber[T ~int | ~int64](b []byte, n T) []byte {
	return strconv.AppendInt(append(b, ' '), int64(n), 10)
}

func appendFlags(b []byte, flags ...bool) []byte {
	b = append(b, ' ')
	for _, f := range flags {
		if f {
			b = append(b, '+')
		} else {
			b = append(b, '-')
		}
	}
	return b
}

// appendRun describes a run as far as the engine's rules look at it: without times, and with the ids of effects by their places.
func (e *explorer) appendRun(b []byte, r *engine.Run) []byte {
	b = appendTexts(append(b, "\nrun"...), string(r.Status), r.FailedAt)
	b = appendFlags(b, r.Reconcile, r.CancelAsked, r.Keep, r.Resumed)
	if r.Waits != nil {
		b = fmt.Appendf(b, " waits %v", *r.Waits)
	}
	for _, s := range r.Steps {
		b = appendTexts(append(b, "\n step"...), s.ID)
		b = appendFlags(b, s.Undo, s.Done, s.ByRecord)
		b = append(append(b, ' '), e.plain(s.Result)...)
		b = appendNumber(appendTexts(b, s.Pending), len(s.Attempts))
		for _, a := range s.Attempts {
			b = appendTexts(append(b, "\n  attempt"...), string(a.Outcome), string(a.Next), a.Key, string(a.By))
			if a.Outcome == engine.Failed {
				b = append(b, a.Code...)
			}
			for _, c := range a.Calls {
				b = e.appendCall(b, a, c)
			}
		}
	}
	return b
}

func (e *explorer) appendCall(b []byte, a *engine.Attempt, c *engine.Call) []byte {
	b = appendNumber(append(b, "\n   call"...), c.N())
	b = appendTexts(b, string(c.Finding), string(c.Next), c.Key, c.Child, c.Write)
	b = appendNumber(appendNumber(appendFlags(b, c.Ended), len(c.Requests)), c.Rows)
	if c.SettledBy != (engine.Pos{}) {
		b = fmt.Appendf(b, " settled %v", c.SettledBy)
	}
	if c.Ended && (a.Outcome == "" || c.Finding == engine.FoundDone) {
		b = appendNumber(appendTexts(b, c.How), c.Status)
		b = append(append(b, ' '), e.plain(c.Reply)...)
	}
	for _, q := range c.Requests {
		b = appendTexts(appendFlags(b, q.Ended, q.NotSent, q.Began), q.GaveUp)
	}
	if n := len(c.Requests); n > 0 && c.Requests[n-1].Ended {
		b = appendFlags(b, c.Requests[n-1].Status == 409)
	}
	for _, d := range c.Decisions {
		b = appendTexts(b, d.Decision)
	}
	if n := len(c.Evidence); n > 0 {
		last := c.Evidence[n-1]
		found, _ := json.Marshal(last.Evidence)
		use := engine.UseOf(c, e.all()...)
		b = appendNumber(append(b, " evidence"...), n)
		b = append(append(b, ' '), e.plain(found)...)
		b = appendFlags(b, last.Seq > use.End)
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
		if bytes.Contains(text, []byte(id)) {
			text = bytes.ReplaceAll(text, []byte(id), strconv.AppendInt([]byte("#"), int64(i), 10))
		}
	}
	return text
}
