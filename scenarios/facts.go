package scenarios

import (
	"errors"
	"slices"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/faultprovider"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios/lang"
)

// Facts are a view as expectations read it. Rows counts the rows of a table of a script's database.
type Facts struct {
	View  *View
	Timed bool // time is virtual: delays compare exactly
	Crash lang.CrashesFact
	Count func(database, table string) (int, error)
}

var _ lang.Facts = Facts{}

// Crashes implements lang.Facts.
func (f Facts) Crashes() lang.CrashesFact { return f.Crash }

// Exact implements lang.Facts.
func (f Facts) Exact() bool { return f.Timed }

// Rows implements lang.Facts.
func (f Facts) Rows(database, table string) (int, error) {
	if f.Count == nil {
		return 0, errors.New("the databases are gone with the bench")
	}
	return f.Count(database, table)
}

// Runs implements lang.Facts.
func (f Facts) Runs() []lang.RunFact {
	out := make([]lang.RunFact, len(f.View.Runs))
	for i, r := range f.View.Runs {
		out[i] = lang.RunFact{ID: r.ID, Status: string(r.Status), Code: r.Code, Reconcile: r.Reconcile, Verdict: string(f.View.RunVerdicts[i].RunVerdict)}
		for _, s := range r.Steps {
			out[i].Steps = append(out[i].Steps, f.step(r, s))
		}
	}
	return out
}

func (f Facts) step(r *engine.Run, s *engine.Step) lang.StepFact {
	out := lang.StepFact{ID: s.ID, Undo: s.Undo, Status: stepStatus(r, s), Result: s.Result}
	for _, a := range s.Attempts {
		fact := lang.AttemptFact{N: a.N, Outcome: string(a.Outcome), Code: a.Code, Started: f.View.Since(a.StartedAt)}
		if !a.EndedAt.IsZero() {
			fact.Ended = f.View.Since(a.EndedAt)
		}
		for _, c := range a.Calls {
			fact.Calls = append(fact.Calls, lang.CallFact{Status: c.Status, Code: c.Code, Key: c.Key, Write: c.Write, Target: c.Route()})
		}
		out.Attempts = append(out.Attempts, fact)
	}
	return out
}

// stepStatus is where a step stands: running, waiting, succeeded, failed, unknown or cancelled.
func stepStatus(r *engine.Run, s *engine.Step) string {
	a := s.Last()
	switch {
	case s.Done:
		return "succeeded"
	case a == nil || a.Outcome == "":
		if r.Status == engine.StatusCancelled {
			return "cancelled"
		}
		return "running"
	case a.Outcome == engine.Unknown:
		return "unknown"
	case r.Status == engine.StatusCancelled:
		return "cancelled"
	case a.Next == engine.NextRetry && !r.Status.Ended():
		return "waiting"
	}
	return "failed"
}

// Operations implements lang.Facts.
func (f Facts) Operations() []lang.OperationFact {
	out := make([]lang.OperationFact, len(f.View.Operations))
	for i, o := range f.View.Operations {
		out[i] = lang.OperationFact{Step: engine.StepName(o.Step, o.Undo), Write: o.Write, Target: o.Route, Subject: o.Subject, Keys: o.Keys, Belief: string(o.Belief), Verdict: string(o.Verdict)}
		var evidence []engine.EvidenceAt
		runs := map[int64]int{}
		for _, id := range o.Runs {
			n := f.number(id)
			out[i].Runs = append(out[i].Runs, n)
			for _, ev := range evidenceOf(f.View.Runs[n-1], &o) {
				evidence = append(evidence, ev)
				runs[ev.Seq] = n
			}
		}
		slices.SortFunc(evidence, func(a, b engine.EvidenceAt) int { return int(a.Seq - b.Seq) })
		for _, ev := range evidence {
			out[i].Evidence = append(out[i].Evidence, lang.EvidenceFact{Run: runs[ev.Seq], Found: string(ev.Found), Match: string(ev.Match), Unproven: ev.Unproven})
		}
	}
	return out
}

func evidenceOf(r *engine.Run, o *Operation) []engine.EvidenceAt {
	s := r.StepAt(o.Step, o.Undo)
	if s == nil {
		return nil
	}
	var out []engine.EvidenceAt
	for _, a := range s.Attempts {
		for _, c := range a.Calls {
			if c.Write == o.Write {
				out = append(out, c.Evidence...)
			}
		}
	}
	return out
}

// number is a run's place in the order of admission, from 1; 0 if there is no such run.
func (f Facts) number(run string) int {
	return 1 + slices.IndexFunc(f.View.Runs, func(r *engine.Run) bool { return r.ID == run })
}

// Requests implements lang.Facts: what reached the provider, hidden repeats included.
func (f Facts) Requests() []lang.RequestFact {
	var out []lang.RequestFact
	at := map[int64]int{} // by ordinal at the provider
	for _, e := range f.View.Log {
		if i, ok := at[e.Request]; ok && out[i].Key == "" {
			out[i].Key = e.Key // the provider reads it when it decides
		}
		if e.Kind != faultprovider.Received {
			continue
		}
		at[e.Request] = len(out)
		path, query, _ := strings.Cut(e.Path, "?")
		r := lang.RequestFact{Method: e.Method, Path: path, Query: query, Key: e.Key, At: f.View.Since(e.At)}
		if id, ok := engine.ParseRequestID(e.RequestID); ok {
			r.Run, r.Step, r.Undo, r.Attempt, r.Lookup = f.number(id.Run), id.Step, id.Undo, id.Attempt, id.Lookup
		}
		out = append(out, r)
	}
	return out
}

// Effects implements lang.Facts.
func (f Facts) Effects() []lang.EffectFact {
	out := make([]lang.EffectFact, len(f.View.Effects))
	for i, e := range f.View.Effects {
		out[i] = lang.EffectFact{Collection: e.Collection, ID: e.ID, Key: e.Key, Body: e.Body}
		if c := f.askedBy(e.RequestID); c != nil {
			out[i].Step, out[i].Write, out[i].Target = engine.StepName(c.Step, c.Undo), c.Write, c.Route()
		}
	}
	return out
}

// Untaken implements lang.Facts: what is left of the queue. A fault that stays for ever is taken once one request has met it.
func (f Facts) Untaken() []string {
	var out []string
	for _, text := range f.View.Faults {
		q, err := fault.Parse(text)
		met := func(e faultprovider.Entry) bool { return e.Fault == q.String() }
		if err == nil && q.On.Times == fault.Always && slices.ContainsFunc(f.View.Log, met) {
			continue
		}
		out = append(out, text)
	}
	return out
}

// Log implements lang.Facts.
func (f Facts) Log() []string { return f.View.LogLines() }

// Deliveries implements lang.Facts.
func (f Facts) Deliveries() []lang.DeliveryFact {
	out := make([]lang.DeliveryFact, len(f.View.Deliveries))
	for i, d := range f.View.Deliveries {
		out[i] = lang.DeliveryFact{Status: d.Status, Code: d.Code, Duplicate: d.Duplicate}
	}
	return out
}

// Replies implements lang.Facts.
func (f Facts) Replies() []lang.ReplyFact {
	out := make([]lang.ReplyFact, len(f.View.Replies))
	for i, r := range f.View.Replies {
		out[i] = lang.ReplyFact{Status: r.Status, Body: r.Body}
	}
	return out
}

// Refusals implements lang.Facts.
func (f Facts) Refusals() []lang.RefusalFact {
	out := make([]lang.RefusalFact, len(f.View.Refusals))
	for i, r := range f.View.Refusals {
		out[i] = lang.RefusalFact{Verb: r.Verb, Reason: r.Why}
	}
	return out
}

// facts are the bench as it is now.
func (b *Bench) facts() Facts {
	return Facts{View: b.line.Latest(), Timed: b.virtual != nil, Crash: b.crashesFact(), Count: b.countRows}
}

// sinceStart is how long the bench's clock had gone at a moment.
func (b *Bench) sinceStart(at time.Time) time.Duration { return at.Sub(b.opened) }

// askedBy is the call that sent a request; nil for a request of nobody's.
func (f Facts) askedBy(requestID string) *engine.Call {
	id, ok := engine.ParseRequestID(requestID)
	n := f.number(id.Run)
	if !ok || n == 0 {
		return nil
	}
	s := f.View.Runs[n-1].StepAt(id.Step, id.Undo)
	if s == nil || id.Attempt > len(s.Attempts) || id.Attempt < 1 {
		return nil
	}
	for _, c := range s.Attempts[id.Attempt-1].Calls {
		if slices.ContainsFunc(c.Requests, func(q *engine.Request) bool { return q.ID == requestID }) {
			return c
		}
	}
	return nil
}
