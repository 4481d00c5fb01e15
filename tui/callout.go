package tui

import (
	"slices"
	"strconv"
	"strings"

	"faultlab/engine"
	"faultlab/scenarios"
)

// callOut is the loudest thing on the screen: what nobody knows, and the key that asks.
func (b beliefPane) callOut(r *engine.Run, s *engine.Step, width int, dense bool) []spans {
	bar := func(text spans) spans { return append(say(inkAlarm, b.glyphs.callout+" "), text...) }
	what, may := b.doubt(r, s)
	key := append(say(inkCap, " "+b.look+" "), span{inkText, " " + b.offer(r, s)})
	if dense {
		return []spans{bar(say(inkUnknown, what)), bar(key)}
	}
	var out []spans
	for _, l := range b.wrap(what, width-3, 3) {
		out = append(out, bar(say(inkUnknown, l)))
	}
	for _, l := range b.wrap(may, width-3, 5) {
		out = append(out, bar(say(inkText, l)))
	}
	return append(out, bar(nil), bar(key))
}

// doubt says what is not known and what that means.
func (b beliefPane) doubt(r *engine.Run, s *engine.Step) (what, may string) {
	c := doubtful(r, s)
	if c == nil {
		return "Nobody knows.", ""
	}
	noun := nounOf(c)
	if e := lastEvidence(c); e != nil {
		return b.evidenceSentence(e, noun)
	}
	status := strconv.Itoa(c.Status)
	switch {
	case !c.Ended, c.Code == "WOML_CAPABILITY_INTERRUPTED":
		what = "Begun, and then the worker died."
	case c.How == engine.HowUnreadable:
		what = "Answered " + status + ", but the answer cannot be read."
	case c.How == engine.HowUnexpected:
		what = "Answered " + status + ", which is neither yes nor no."
	case c.How == engine.HowServer:
		what = "Answered " + status + " to the end: that proves nothing."
	case c.How == engine.HowConflict || c.How == engine.HowInFlight:
		what = "Answered 409: it may exist already."
	case lastEnd(c) == engine.GaveUpCancel:
		what = "Sent, then cancelled before the answer."
	case lastEnd(c) == engine.GaveUpScript:
		what = "Sent, then aborted by the script before the answer."
	default:
		what = "Sent, and nobody answered."
	}
	return what, "The " + noun + " may exist. Sending again is a decision, not a retry."
}

func (b beliefPane) evidenceSentence(e *engine.EvidenceAt, noun string) (what, may string) {
	at := moment(e.At.Sub(b.view.Start)) + "s"
	switch e.Found {
	case engine.FoundRecord:
		if e.Match == engine.Contradicts {
			return "Looked up at " + at + ": found, and it contradicts what was sent.", "It may belong to somebody else."
		}
		return "Looked up at " + at + ": the " + noun + " is there.", "Record it: then nothing is sent again."
	case engine.FoundSeveral:
		return "Looked up at " + at + ": several records.", "Which of them was meant is not known."
	case engine.FoundNoRecord:
		if e.Unproven {
			return "Looked up at " + at + ": no record, unproven.", "The address is only assumed: perhaps nothing can be looked up there."
		}
		return "Looked up at " + at + ": no record.", "That is not the same as did not happen: a late request can still arrive."
	}
	return "Looked up at " + at + ": no answer.", "Nobody knows more than before."
}

// offer is what the key in the call-out does next.
func (b beliefPane) offer(r *engine.Run, s *engine.Step) string {
	if c := doubtful(r, s); c != nil && (lastEvidence(c) != nil || b.unaskable(c)) {
		return "decide"
	}
	return "look the key up"
}

// unaskable reports whether a doubt is of an operation that cannot be looked up by a key.
func (b beliefPane) unaskable(c *engine.Call) bool {
	return slices.ContainsFunc(b.view.Operations, func(o scenarios.Operation) bool { return o.Unaskable && slices.Contains(o.Doubts, c) })
}

// doubtful is the newest call of the step that nobody can answer for.
func doubtful(r *engine.Run, s *engine.Step) *engine.Call {
	if d := r.Doubts(s); len(d) > 0 {
		return d[0]
	}
	return nil
}

// lastEnd is why the caller stopped waiting for the newest request of a call; empty where it did not.
func lastEnd(c *engine.Call) engine.GaveUp {
	if n := len(c.Requests); n > 0 {
		return c.Requests[n-1].GaveUp
	}
	return ""
}

func lastEvidence(c *engine.Call) *engine.EvidenceAt {
	if n := len(c.Evidence); n > 0 {
		return &c.Evidence[n-1]
	}
	return nil
}

// nounOf is what a call makes, by the last word of its path: "job" of /jobs.
func nounOf(c *engine.Call) string {
	if len(c.Requests) == 0 {
		return "effect"
	}
	path, _, _ := strings.Cut(c.Requests[0].URL, "?")
	if _, rest, ok := strings.Cut(path, "://"); ok {
		_, path, _ = strings.Cut(rest, "/")
	}
	path, _, _ = strings.Cut(strings.Trim(path, "/"), "/")
	path = strings.TrimSuffix(path, "s")
	if path == "" || len(path) > 20 {
		return "effect"
	}
	return path
}

// telling is the call that an attempt's end is about: of an unknown one the write that nobody can answer for.
func telling(a *engine.Attempt) *engine.Call {
	if a.Outcome == engine.Unknown {
		for i := len(a.Calls) - 1; i >= 0; i-- {
			if c := a.Calls[i]; c.Effect != engine.Read && c.Unsettled() {
				return c
			}
		}
	}
	return lastWrite(a)
}

// unsure reports whether something of an operation has to be looked up: nobody knows
// whether it happened, or one write of it is settled and another one is not.
func unsure(op *scenarios.Operation) bool {
	return op != nil && (op.Belief == engine.BeliefUnknown || len(op.Doubts) > 0)
}

// unknownIn is the newest run of the view with an unknown operation; -1 if there is none.
func unknownIn(v *scenarios.View) int {
	for i := len(v.Runs) - 1; i >= 0; i-- {
		if v.Runs[i].Reconcile {
			return i
		}
	}
	return -1
}
