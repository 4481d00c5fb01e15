package scenarios

import (
	"slices"
	"time"

	"faultlab/engine"
	"faultlab/faultprovider"
)

// story is what a verdict's explanation looks at.
type story struct {
	Operation
	noun     string // of one effect: "job"
	requests int    // that went out, as far as the caller knows
	hidden   int    // more of them, which the transport sent by itself
	replayed bool   // a reply was an earlier answer
	failed   bool   // an attempt before the last one failed
	harmless bool   // and what failed had provably done nothing
	broke    bool   // no run of it has the step's result
	recorded bool   // a person recorded evidence, or a result
	byHand   bool   // a result that was given by hand
	resent   bool   // a person sent it again
	resentAt time.Time
	looked   bool // after a look-up that found no record
	gaveUp   bool // a person abandoned it
	forced   bool // it was sent again although that was refused
	last     *engine.EvidenceAt
	status   int  // of the newest reply to a write; 0 if there was none
	killed   bool // the worker was killed with a write begun
	hungUp   bool // a write was cancelled
	garbled  bool // a reply could not be read
	attempts int
	made     int // the attempt that made the effect; 0 where that is not known
}

func tell(o Operation, runs []*engine.Run, seen *seenThere) story {
	s := story{Operation: o, noun: "record", harmless: true, broke: true}
	if len(o.Effects) > 0 {
		s.noun = singular(o.Effects[0].Collection)
	}
	if len(o.Effects) > 0 {
		if id, ok := engine.ParseRequestID(o.Effects[0].RequestID); ok {
			s.made = id.Attempt
		}
	}
	for _, r := range runs {
		step := r.StepAt(o.Step, o.Undo)
		s.broke = s.broke && !step.Done && r.Status.Ended()
		s.attempts += len(step.Attempts)
		for i, a := range step.Attempts {
			failed := a.Outcome == engine.Failed && i < len(step.Attempts)-1
			s.failed = s.failed || failed
			if a.By == "resubmit" {
				s.resent, s.resentAt = true, a.StartedAt
			}
			for _, c := range a.Calls {
				if c.Effect == engine.Read || c.Write != o.Write {
					continue
				}
				s.call(c, seen)
				s.harmless = s.harmless && !(failed && c.Effect != engine.Read && c.Finding != engine.FoundNotDone)
			}
		}
	}
	return s
}

func (s *story) call(c *engine.Call, seen *seenThere) {
	if c.Effect == engine.Read {
		return
	}
	for _, q := range c.Requests {
		if !q.NotSent && (q.Began || q.Status != 0 || !q.Ended) {
			s.requests++
		}
		s.hidden += max(0, seen.reached[q.ID]-1)
		s.replayed = s.replayed || c.How == engine.HowAccepted && seen.replayed[q.ID]
		if n := nounOf(q.URL); len(s.Effects) == 0 && n != "" {
			s.noun = n
		}
	}
	if c.Ended {
		s.status = c.Status
	}
	s.killed = s.killed || !c.Ended || c.Code == "WOML_CAPABILITY_INTERRUPTED"
	s.hungUp = s.hungUp || c.Code == "WOML_HTTP_CANCELLED"
	s.garbled = s.garbled || c.How == engine.HowUnreadable
	for i := range c.Evidence {
		s.last = &c.Evidence[i]
	}
	for _, d := range c.Decisions {
		switch d.Decision {
		case engine.Record:
			s.recorded, s.byHand = true, s.byHand || len(d.Result) > 0
		case engine.Abandon:
			s.gaveUp = true
		case engine.Resubmit:
			s.forced = s.forced || d.Forced != ""
			s.looked = slices.ContainsFunc(c.Evidence, func(ev engine.EvidenceAt) bool { return ev.Seq == d.Evidence && ev.Found == engine.FoundNoRecord })
		}
	}
}

func lateCommit(s story) bool {
	return noRecord(s) && slices.ContainsFunc(s.Effects, func(e faultprovider.Effect) bool { return e.CommittedAt.After(s.last.At) })
}

func noRecord(s story) bool { return s.last != nil && s.last.Found == engine.FoundNoRecord }
func noAnswer(s story) bool { return s.last != nil && s.last.Found == engine.FoundNoAnswer }
func found(s story) bool    { return s.last != nil && s.last.Found == engine.FoundRecord }
func contradicted(s story) bool {
	return found(s) && s.last.Match == engine.Contradicts
}

func escalated(s story) bool {
	return slices.ContainsFunc(s.Doubts, func(c *engine.Call) bool {
		d := c.Decision()
		return d != nil && d.Decision == engine.Escalate
	})
}

// keyNotSeen: the caller sent a key and the provider read none.
func keyNotSeen(s story) bool {
	return len(s.Keys) > 0 && slices.ContainsFunc(s.Effects, func(e faultprovider.Effect) bool { return e.Key == "" })
}
