package engine

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"faultlab/engine/assume"
)

// KeyUse is what a whole history says of one key at one origin: evidence counts only if
// it was asked for after the end of the last request under its key, by any run.
type KeyUse struct {
	End        int64     // the place where the last request ended; math.MaxInt64 while one is out or decided on, 0 without any
	First      time.Time // when the first request went out
	LastStatus int       // of the last reply
}

// UseOf is the use that these runs make of the call's key or, without a key, of the call itself.
func UseOf(c *Call, runs ...*Run) (u KeyUse) {
	last := int64(0)
	for _, r := range runs {
		r.eachRequest(func(o *Call, q *Request) {
			if !sameKey(o, c) || q.neverSent() {
				return
			}
			if u.First.IsZero() || q.SentAt.Before(u.First) {
				u.First = q.SentAt
			}
			end := q.end(o)
			u.End = max(u.End, end)
			if q.Status != 0 && end > last {
				last, u.LastStatus = end, q.Status
			}
		})
		if slices.ContainsFunc(r.Steps, func(s *Step) bool { return r.resubmits(s, c) }) {
			u.End = math.MaxInt64
		}
	}
	return u
}

// resubmits reports whether a decision lets the step send a request under the call's key
// that has not left yet. It counts as one that is out.
func (r *Run) resubmits(s *Step, c *Call) bool {
	a, d := s.Last(), s.resubmit
	switch {
	case c.Key == "" || d == nil:
		return false
	case s.Pending == Resubmit:
	case a.Outcome == "" && a.Decided == d:
		if slices.ContainsFunc(a.Calls, func(o *Call) bool { return sameKey(o, c) }) {
			return false // what it has sent says for itself when it ends
		}
	default:
		return false
	}
	about := r.callAt(d.Pos)
	return about != nil && sameKey(about, c)
}

// end is the place where the request ended: with a reply, a break, a timeout, or cut by a crash, when its call's end was written down.
func (q *Request) end(c *Call) int64 {
	switch {
	case q.Ended:
		return q.EndSeq
	case c.Ended:
		return c.EndSeq
	}
	return math.MaxInt64
}

// With is the use that both tell of together.
func (u KeyUse) With(o KeyUse) KeyUse {
	if o.End > u.End || o.End == u.End && o.LastStatus != 0 {
		u.LastStatus = o.LastStatus
	}
	u.End = max(u.End, o.End)
	if u.First.IsZero() || !o.First.IsZero() && o.First.Before(u.First) {
		u.First = o.First
	}
	return u
}

// KeyUse reads what the history says of the call's key, other runs included.
func (r *Run) KeyUse(h History, c *Call) (KeyUse, error) {
	runs, err := r.sharing(h, c)
	if err != nil {
		return KeyUse{}, err
	}
	return UseOf(c, runs...), nil
}

// sharing are the run itself and the others that sent a request under the call's key.
func (r *Run) sharing(h History, c *Call) ([]*Run, error) {
	runs := []*Run{r}
	if c.Key == "" {
		return runs, nil
	}
	ids, err := h.KeyRuns(c.Key)
	if err != nil {
		return nil, fmt.Errorf("find the runs that sent the key %s: %w", c.Key, err)
	}
	for _, id := range ids {
		if id == r.ID {
			continue
		}
		events, err := h.Events(id)
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", id, err)
		}
		runs = append(runs, Fold(events))
	}
	return runs, nil
}

// Situation is what table e looks at, for one call at one moment. A key's use may count other runs too.
func (r *Run) Situation(c *Call, use KeyUse, declared *assume.Set, now time.Time) Situation {
	assumed := assumedOf(c, r.Assumed(declared))
	s := Situation{
		Proof: ProofNone, Askable: askable(c, assumed), Sent: len(c.Requests) > 0, Answered: c.Finding == FoundDone,
		Wrote: c.Effect != Read, Keyed: c.Effect == KeyedWrite || c.Effect == IdempotentWrite || c.Key != "" && c.Effect != Read,
		Protected: c.Effect == KeyedWrite && assumed.Enforces || c.Effect == IdempotentWrite,
		Cancelled: r.CancelAsked && !c.Undo, Undone: !c.Undo && r.undoing(), Conflict: use.LastStatus == http.StatusConflict,
	}
	if c.Key != "" && !use.First.IsZero() {
		s.Retention, s.Age = assumed.Retention, now.Sub(use.First)
	}
	if step := r.StepAt(c.Step, c.Undo); step != nil {
		doubts := r.Doubts(step)
		s.Interrupted = len(doubts) == 0 && stuck(step) != nil
		a := step.Last()
		s.NewKey = a.Code == codeAnotherKey && a.Decided != nil && a.Decided.Key == c.Key
		for _, d := range doubts {
			s.OtherWrite = s.OtherWrite || d.Write != c.Write || !sameKey(d, c)
		}
	}
	if n := len(c.Evidence); n > 0 {
		ev := &c.Evidence[n-1]
		s.Proof, s.Conflicts = ev.proof(), ev.Conflicts
		if ev.asked() < use.End {
			s.Proof = ProofStale
		}
		if s.Proof == ProofMatches {
			s.Unfit = ev.Unfit
		}
		s.AskedAge = ev.At.Sub(use.First)
	}
	return s
}

// proof is the row of table e that fresh evidence meets.
func (ev *EvidenceAt) proof() Proof {
	switch {
	case ev.Found == FoundRecord && ev.Match == Matches:
		return ProofMatches
	case ev.Found == FoundRecord && ev.Match == Contradicts:
		return ProofContradicts
	case ev.Found == FoundRecord:
		return ProofIncomparable
	case ev.Found == FoundSeveral:
		return ProofSeveral
	case ev.Found == FoundNoRecord && ev.Unproven:
		return ProofUnproven
	case ev.Found == FoundNoRecord:
		return ProofNoRecord
	}
	return ProofNoAnswer
}

// asked is the place in the history when the look-up was sent. Histories of former
// versions tell only where its answer came.
func (ev *EvidenceAt) asked() int64 {
	if ev.Asked == 0 {
		return ev.Seq
	}
	return ev.Asked
}
