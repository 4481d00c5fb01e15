package scenarios

import (
	"fmt"
	"slices"

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
	recorded bool   // a person recorded evidence
	resent   bool   // a person sent it again
	gaveUp   bool   // a person abandoned it
	forced   bool
	last     *engine.EvidenceAt
	status   int // of the newest reply to a write; 0 if there was none
}

// telling is one row of the table of explanations: the first one that fits is told.
type telling struct {
	verdict engine.Verdict
	when    func(story) bool
	text    func(story) string
}

func always(story) bool { return true }

func say(text string) func(story) string { return func(story) string { return text } }

// sayf fills %[1]s with the noun and %[2]s with its count.
func sayf(text string) func(story) string {
	return func(s story) string { return fmt.Sprintf(text, s.noun, count(len(s.Effects), s.noun)) }
}

var tellings = []telling{
	{engine.OneEffect, func(s story) bool { return s.recorded && s.resent }, sayf("It was sent again under the same key, and the look-up found one %[1]s, which was recorded. The key made one operation of all requests.")},
	{engine.OneEffect, func(s story) bool { return s.recorded && s.status != 0 }, sayf("The answers proved nothing, but the look-up found the %[1]s, and that was recorded. Nothing was sent again.")},
	{engine.OneEffect, func(s story) bool { return s.recorded }, sayf("Nobody answered, but the look-up found the %[1]s, and that was recorded. Nothing was sent again.")},
	{engine.OneEffect, func(s story) bool { return s.resent }, sayf("The look-up found nothing, so it was sent again under the same key, and there is one %[1]s. Had the first request arrived late, the key would have kept it from making another.")},
	{engine.OneEffect, func(s story) bool { return s.hidden > 0 }, sayf("The script made one call, and the transport sent it again by itself. Only the key kept it one %[1]s, and nobody asked whether it would.")},
	{engine.OneEffect, func(s story) bool { return len(s.Runs) > 1 && s.replayed }, sayf("Several runs asked for it under one key. One of them made the %[1]s, the others were told of it.")},
	{engine.OneEffect, func(s story) bool { return s.replayed }, sayf("The first attempt made the %[1]s. Only the shared key kept the second from making another.")},
	{engine.OneEffect, func(s story) bool { return s.broke }, sayf("The %[1]s is made, and the run failed afterwards. What happened does not unhappen: trying again would make another.")},
	{engine.OneEffect, func(s story) bool { return s.failed && s.harmless }, sayf("What failed had provably done nothing, and a later attempt made the %[1]s.")},
	{engine.OneEffect, func(s story) bool { return s.failed && len(s.Keys) > 0 }, sayf("An attempt failed and a later one made the %[1]s. The same key is what made trying again safe, without knowing what the first had done.")},
	{engine.OneEffect, func(s story) bool { return s.failed }, sayf("It was sent more than once, and what it says makes it one %[1]s however often it comes.")},
	{engine.OneEffect, always, sayf("Asked for once, answered, and the ledger holds one %[1]s.")},

	{engine.CleanFailure, func(s story) bool { return s.gaveUp }, sayf("It was looked up, was not there, and was given up. The ledger holds no %[1]s of it.")},
	{engine.CleanFailure, func(s story) bool { return s.requests == 0 }, say("Nothing was ever sent. It did not happen, and both sides agree.")},
	{engine.CleanFailure, always, sayf("The provider refused it and made no %[1]s: both sides agree. Asking the same again would meet the same answer.")},

	{engine.PhantomSuccess, func(s story) bool { return s.recorded }, sayf("What was recorded is not of this operation: the ledger holds no %[1]s that it asked for.")},
	{engine.PhantomSuccess, func(s story) bool { return s.replayed }, sayf("The reply was an earlier answer, to another operation under the same key. This one never made its %[1]s, and the caller believes that it did.")},
	{engine.PhantomSuccess, always, sayf("The reply said yes and the ledger holds no %[1]s. The caller has no reason to look again.")},

	{engine.FalseFailure, func(s story) bool { return s.gaveUp }, sayf("It was given up after a look-up found nothing, and then the late request arrived: %[2]s. No record is not the same as did not happen.")},
	{engine.FalseFailure, always, sayf("The caller believes that it failed, and the ledger holds %[2]s. Whoever starts it again under a new key makes a second one.")},

	{engine.Unresolved, lateCommit, sayf("The look-up found nothing, and then the late request arrived: %[2]s. No record is not the same as did not happen. Look it up again.")},
	{engine.Unresolved, escalated, say("Nobody here can prove it. It waits for a person who can find out by other means.")},
	{engine.Unresolved, contradicted, sayf("The look-up found another operation's %[1]s under this key. It proves nothing about this one: do not record it.")},
	{engine.Unresolved, found, sayf("The look-up found the %[1]s. Record it: the run goes on, and nothing is sent again.")},
	{engine.Unresolved, noAnswer, say("The look-up got no answer, so nobody knows more than before. Ask again later, or escalate.")},
	{engine.Unresolved, noRecord, say("The look-up found no record. The same key may be sent again, as long as the provider still remembers it.")},
	{engine.Unresolved, func(s story) bool { return len(s.Effects) == 1 }, sayf("Look it up, then record it: the %[1]s is already there.")},
	{engine.Unresolved, func(s story) bool { return s.status != 0 }, sayf("The answers say neither that it happened nor that it did not; the ledger holds no %[1]s. Look it up before anything is sent again.")},
	{engine.Unresolved, always, sayf("Sent, and nobody answered. The ledger holds no %[1]s yet, which the caller cannot see: look it up before anything is sent again.")},

	{engine.Duplicate, func(s story) bool { return len(s.Keys) > 1 }, sayf("Two keys for one operation: the provider could not know that they mean the same %[1]s, and made %[2]s.")},
	{engine.Duplicate, func(s story) bool { return len(s.Keys) == 0 }, sayf("Sent without a key, so each request was a new operation to the provider: %[2]s.")},
	{engine.Duplicate, func(s story) bool { return s.forced }, sayf("It was forced under a key that the provider had forgotten. To the provider that was a new operation: %[2]s.")},
	{engine.Duplicate, keyNotSeen, sayf("A key was sent and the provider read none, so each request was a new operation to it: %[2]s.")},
	{engine.Duplicate, always, sayf("The key was the same each time, and the provider made %[2]s: it does not keep the promise that the caller relied on, or no longer remembers the key.")},

	{engine.Compensated, always, sayf("The %[1]s and its inverse are both in the ledger. Undone is not unhappened: both stay visible.")},
	{engine.Uncompensated, always, sayf("The %[1]s is there and its inverse is missing. The caller believes that it was undone.")},
}

// why tells a verdict in one or two sentences; while belief is open there is nothing to tell.
func why(o Operation, runs []*engine.Run, seen *seenThere) string {
	if o.Verdict == "" {
		return ""
	}
	s := tell(o, runs, seen)
	text := tellings[tellingOf(s)].text(s)
	if o.Belief != engine.BeliefUnknown && len(o.Doubts) > 0 {
		text += " " + stillOpen(o.Doubts[0])
	}
	return text
}

// stillOpen tells of a write that nobody knows about although its operation is done: by another key, or another run.
func stillOpen(c *engine.Call) string {
	what := "A write without a key"
	if c.Key != "" {
		what = "What was sent under " + ShortKey(c.Key)
	}
	s := story{Operation: Operation{Doubts: []*engine.Call{c}}}
	if n := len(c.Evidence); n > 0 {
		s.last = &c.Evidence[n-1]
	}
	switch {
	case escalated(s):
		return what + " is left to a person who can find out by other means."
	case contradicted(s):
		return what + " is not settled: the look-up found something else there, so do not record it."
	case found(s):
		return what + " happened too, says the look-up: record it, and the run is settled."
	case noAnswer(s):
		return what + " is not settled: the look-up got no answer. Ask again later, or escalate."
	case noRecord(s):
		return what + " is not there, says the look-up: abandon it, unless it can still arrive."
	}
	return what + " is not settled: look it up."
}

// tellingOf is the row of the table that a story meets; the last row of each verdict always holds.
func tellingOf(s story) int {
	return slices.IndexFunc(tellings, func(t telling) bool { return t.verdict == s.Verdict && t.when(s) })
}

func tell(o Operation, runs []*engine.Run, seen *seenThere) story {
	s := story{Operation: o, noun: "record", harmless: true, broke: true}
	if len(o.Effects) > 0 {
		s.noun = singular(o.Effects[0].Collection)
	}
	for _, r := range runs {
		step := r.StepAt(o.Step, o.Undo)
		s.broke = s.broke && !step.Done && r.Status.Ended()
		for i, a := range step.Attempts {
			failed := a.Outcome == engine.Failed && i < len(step.Attempts)-1
			s.failed = s.failed || failed
			s.resent = s.resent || a.By == "resubmit"
			for _, c := range a.Calls {
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
	for i := range c.Evidence {
		s.last = &c.Evidence[i]
	}
	for _, d := range c.Decisions {
		s.recorded = s.recorded || d.Decision == engine.Record
		s.gaveUp = s.gaveUp || d.Decision == engine.Abandon
		s.forced = s.forced || d.Forced != ""
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
