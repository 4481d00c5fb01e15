package timeline

import (
	"slices"
	"time"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/faultprovider"
)

// facts are what the explanation of a verdict looks at.
type facts struct {
	Operation
	next     *engine.Situation // of the doubt that something is advised about; nil where nothing can be advised
	noun     string            // of one effect: "job"
	requests int               // that went out, as far as the caller knows
	hidden   int               // more of them, which the transport sent by itself
	replayed bool              // a reply was an earlier answer
	failed   bool              // an attempt failed before the one that made the effect
	harmless bool              // and what failed had provably done nothing
	late     bool              // an attempt failed after the one that made the effect
	lateRun  bool              // it was of a later run
	broke    bool              // no run of it has the step's result
	recorded bool              // a person recorded evidence, or a result
	byHand   bool              // a result that was given by hand
	resent   bool              // a person sent it again
	resentAt time.Time
	looked   bool // after a look-up that found no record
	gaveUp   bool // a person abandoned it
	forced   bool // it was sent again although that was refused
	last     *engine.EvidenceAt
	status   int           // of the newest reply to a write; 0 if there was none
	killed   bool          // the worker was killed with a write begun
	stopped  engine.GaveUp // why the caller stopped waiting for the newest write
	garbled  bool          // a reply could not be read
	plain    bool          // a key was in a plain header: it is no idempotency option
	child    string        // the workflow that the step called
	attempts int
	made     int // the attempt that made the effect; 0 where that is not known

	cause  faultprovider.Cause // why the provider took a known key for a new operation
	within []string            // what the key counts within, where that differed
}

// maker is the attempt that made the first effect, and when it began.
type maker struct {
	run     string
	attempt int
	at      time.Time
}

// factsOf collects the facts of an operation from its runs.
func factsOf(o Operation, runs []*engine.Run, seen *seenThere) facts {
	f := facts{Operation: o, noun: "record", harmless: true, broke: true}
	var by maker
	if len(o.Effects) > 0 {
		f.noun = plain.Singular(o.Effects[0].Collection)
		if id, ok := engine.ParseRequestID(o.Effects[0].RequestID); ok {
			f.made = id.Attempt
			by = makerOf(id, runs)
		}
	}
	for _, r := range runs {
		step := r.StepAt(o.Step, o.Undo)
		f.broke = f.broke && !step.Done && r.Status.Ended()
		f.attempts += len(step.Attempts)
		for i, a := range step.Attempts {
			before := a.Outcome == engine.Failed && i < len(step.Attempts)-1 && (by.at.IsZero() || a.StartedAt.Before(by.at))
			f.failed = f.failed || before
			if a.Outcome == engine.Failed && !by.at.IsZero() && a.StartedAt.After(by.at) {
				f.late, f.lateRun = true, f.lateRun || r.ID != by.run
			}
			if a.By == "resubmit" {
				f.resent, f.resentAt = true, a.StartedAt
			}
			for _, c := range a.Calls {
				if c.Service == "workflows" {
					f.child = c.Target
				}
				if c.Effect == engine.Read || c.Write != o.Write {
					continue
				}
				f.call(c, seen)
				f.harmless = f.harmless && !(before && c.Finding != engine.FoundNotDone)
			}
		}
	}
	f.cause, f.within = seen.causeOf(o)
	return f
}

func makerOf(id engine.RequestID, runs []*engine.Run) (m maker) {
	for _, r := range runs {
		if r.ID != id.Run {
			continue
		}
		if step := r.StepAt(id.Step, id.Undo); step != nil {
			for _, a := range step.Attempts {
				if a.N == id.Attempt {
					return maker{r.ID, a.N, a.StartedAt}
				}
			}
		}
	}
	return m
}

// call adds what one write of the operation says.
func (f *facts) call(c *engine.Call, seen *seenThere) {
	f.stopped = ""
	for _, q := range c.Requests {
		if !q.NotSent && (q.Began || q.Status != 0 || !q.Ended) {
			f.requests++
		}
		f.hidden += max(0, seen.of(q.ID).reached-1)
		f.replayed = f.replayed || c.How == engine.HowAccepted && seen.of(q.ID).replayed
		f.plain = f.plain || q.Plain != ""
		f.stopped = q.GaveUp
		if n := Noun(q.Method, q.URL, c.Key); len(f.Effects) == 0 && n != "" {
			f.noun = n
		}
	}
	if c.Ended {
		f.status = c.Status
	}
	f.killed = f.killed || !c.Ended || c.Code == "WOML_CAPABILITY_INTERRUPTED"
	f.garbled = f.garbled || c.How == engine.HowUnreadable
	for i := range c.Evidence {
		f.last = &c.Evidence[i]
	}
	for _, d := range c.Decisions {
		switch d.Decision {
		case engine.Record:
			f.recorded, f.byHand = true, f.byHand || len(d.Result) > 0
		case engine.Abandon:
			f.gaveUp = true
		case engine.Resubmit:
			f.forced = f.forced || d.Forced != ""
			f.looked = slices.ContainsFunc(c.Evidence, func(ev engine.EvidenceAt) bool { return ev.Seq == d.Evidence && ev.Found == engine.FoundNoRecord })
		}
	}
}

func lateCommit(f facts) bool {
	return noRecord(f) && slices.ContainsFunc(f.Effects, func(e faultprovider.Effect) bool { return e.CommittedAt.After(f.last.At) })
}

func noRecord(f facts) bool { return f.last != nil && f.last.Found == engine.FoundNoRecord }

func escalated(f facts) bool {
	return slices.ContainsFunc(f.Doubts, func(c *engine.Call) bool {
		d := c.Decision()
		return d != nil && d.Decision == engine.Escalate
	})
}

// proof is what the evidence about the doubt proves, by table e.
func (f facts) proof() engine.Proof {
	if f.next == nil {
		return engine.ProofNone
	}
	return f.next.Proof
}

// keyNotSeen: the caller sent a key and the provider read none.
func keyNotSeen(f facts) bool {
	return (len(f.Keys) > 0 || f.plain) && slices.ContainsFunc(f.Effects, func(e faultprovider.Effect) bool { return e.Key == "" })
}

// causeOf tells why the provider made a second effect under a key: its own reason, or what the key counts within, where
// that was not the same.
func (s *seenThere) causeOf(o Operation) (cause faultprovider.Cause, within []string) {
	if len(o.Effects) < 2 || o.Effects[0].Key == "" {
		return "", nil
	}
	first := s.of(o.Effects[0].RequestID).decided
	for _, e := range o.Effects[1:] {
		again := s.of(e.RequestID).decided
		switch {
		case again == nil || e.Key != o.Effects[0].Key:
		case again.Cause != "":
			return again.Cause, nil
		case first != nil && again.Scope != nil && first.Scope != nil && *again.Scope != *first.Scope:
			return "", differing(*first.Scope, *again.Scope)
		}
	}
	return "", nil
}

// differing names the parts of what a key counts within that are not the same.
func differing(a, b faultprovider.KeyScope) (parts []string) {
	for _, p := range []struct {
		differs bool
		name    string
	}{
		{a.Account != b.Account, "account (the Authorization header)"}, {a.Route != b.Route, "endpoint (/" + a.Route + " and /" + b.Route + ")"},
		{a.Method != b.Method, "method (" + a.Method + " and " + b.Method + ")"}, {a.Fields != b.Fields, "scoping field of the body (as a zone)"},
	} {
		if p.differs {
			parts = append(parts, p.name)
		}
	}
	return parts
}
