package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// unsent says why a request that was due is not sent after all.
type unsent struct{ code, why string }

func (u *unsent) Error() string { return u.why }

// mayGo looks at the clock when a request is about to leave: since it was scheduled it
// may have waited for a slot, or the process may have been stopped. Past the run's timeout
// nothing is sent, and nothing under a key that the provider may have forgotten: there it
// would be a new operation.
func (t *hops) mayGo(sent RequestSent) error {
	h := t.h
	now := h.e.clk.Now()
	if !h.part.undo {
		var deadline time.Time
		h.rt.read(func(r *Run) { deadline = h.rt.deadline(r) })
		if !deadline.IsZero() && now.After(deadline) {
			return errRunTimeout
		}
	}
	if t.effect != KeyedWrite || sent.Key == "" || t.retention == 0 {
		return nil
	}
	born, err := h.keyBorn(sent, t.retention)
	if err != nil {
		return err
	}
	age := now.Sub(born)
	if born.IsZero() || age < t.retention || h.knownOld(sent.Key, born, t.retention) {
		return nil
	}
	return &unsent{codeKeyExpired, fmt.Sprintf("the key is %v old and the provider keeps keys for %v: under it the request would be a new operation",
		age.Round(time.Second), t.retention)}
}

// deadline is when the run's timeout is over; zero where it has none.
func (rt *running) deadline(r *Run) time.Time {
	limit := rt.doc.Workflow.Config.Timeout
	if limit == 0 || r.StartedAt.IsZero() {
		return time.Time{}
	}
	if r.ResumedAt.After(r.StartedAt) {
		return r.ResumedAt.Add(limit)
	}
	return r.StartedAt.Add(limit)
}

// keyBorn is when the provider first saw the key, as it remembers it: it forgets a key
// after its retention, and the next request makes it a new one. Zero where the run sent
// no such request before: then this one is meant to be the first.
func (h *host) keyBorn(sent RequestSent, retention time.Duration) (time.Time, error) {
	key := sent.Key
	var own []time.Time
	h.rt.read(func(r *Run) { own = r.sentAt(sent) })
	if len(own) < 2 { // the request that is about to leave is one of them
		return time.Time{}, nil
	}
	uses := own
	if sent.Shared {
		ids, err := h.e.o.History.KeyRuns(key)
		if err != nil {
			return time.Time{}, fmt.Errorf("find the runs that sent the key %s: %w", key, err)
		}
		for _, id := range ids {
			if id == h.rt.id {
				continue
			}
			other, err := h.e.Get(id)
			if errors.Is(err, ErrNoRun) {
				continue
			}
			if err != nil {
				return time.Time{}, err
			}
			uses = append(uses, other.sentAt(sent)...)
		}
	}
	return bornBefore(uses, own[0], retention), nil
}

// bornBefore is when the key that a request met was born, among all requests under it.
func bornBefore(uses []time.Time, met time.Time, retention time.Duration) (born time.Time) {
	uses = slices.Clone(uses)
	slices.SortFunc(uses, time.Time.Compare)
	for _, at := range uses {
		if born.IsZero() || at.Sub(born) >= retention && !at.After(met) {
			born = at
		}
	}
	return born
}

// sentAt are the times at which the run sent such a request: its method, address and key, the oldest first.
func (r *Run) sentAt(sent RequestSent) (times []time.Time) {
	r.eachRequest(func(_ *Call, q *Request) {
		if q.Key == sent.Key && q.Method == sent.Method && q.URL == sent.URL && !q.NotSent {
			times = append(times, q.SentAt)
		}
	})
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// knownOld reports whether the attempt resubmits this key, decided when it was past its retention already.
func (h *host) knownOld(key string, born time.Time, retention time.Duration) (known bool) {
	h.rt.read(func(r *Run) {
		a := r.attempt(h.pos)
		if a == nil || a.Decided == nil || a.Decided.Key != key {
			return
		}
		newest := DecidedAt{}
		for _, d := range r.StepAt(h.pos.Step, h.pos.Undo).decisions() {
			if d.Decision == Resubmit && d.Key == key && d.Seq > newest.Seq {
				newest = d
			}
		}
		known = newest.Seq > 0 && newest.At.Sub(born) >= retention
	})
	return known
}

func (s *Step) decisions() (all []DecidedAt) {
	for _, a := range s.Attempts {
		for _, c := range a.Calls {
			all = append(all, c.Decisions...)
		}
	}
	return all
}
