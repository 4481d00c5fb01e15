package engine

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"faultlab/engine/assume"
)

// A write that is ambiguous or unproven is settled when the same attempt later
// gets an accepted reply to a write under the same key, or to a read of that
// origin whose URL contains the key, by itself: order-4 is not in /jobs/order-42.
// Nothing else settles it.
func (a *Attempt) settle(by *Call) {
	for _, c := range a.Calls {
		if c.N() >= by.N() || !c.Unsettled() {
			continue
		}
		if by.Effect == Read && readsKey(by, c) || by.Effect != Read && by.Key != "" && by.Key == c.Key {
			c.SettledBy = by.N()
		}
	}
}

// N is the call's number within its attempt.
func (c *Call) N() int { return c.Call }

// Unsettled reports whether the call is a write of which nobody can say whether it happened, as far as its attempt saw.
func (c *Call) Unsettled() bool {
	return (c.Finding == FoundAmbiguous || c.Finding == FoundUnproven) && c.SettledBy == 0
}

func readsKey(read, write *Call) bool {
	if write.Key == "" || len(read.Requests) == 0 || len(write.Requests) == 0 {
		return false
	}
	r, w := read.Requests[0].URL, write.Requests[0].URL
	if assume.Origin(r) != assume.Origin(w) {
		return false
	}
	path, _ := url.PathUnescape(r) // empty if it cannot be decoded
	query, _ := url.QueryUnescape(r)
	return containsName(r, write.Key) || containsName(path, write.Key) || containsName(query, write.Key)
}

// containsName reports whether a text contains a name that is not part of a longer one.
func containsName(text, name string) bool {
	inName := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-._~", r) }
	for {
		before, after, found := strings.Cut(text, name)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !inName(last) && !inName(next) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[len(before):])
		text = text[len(before)+size:]
	}
}

// Decision is the last decision about the call, or nil.
func (c *Call) Decision() *DecidedAt {
	if len(c.Decisions) == 0 {
		return nil
	}
	return &c.Decisions[len(c.Decisions)-1]
}

// proof is what one call says about its operation, decisions included.
func (c *Call) proof() Finding {
	if d := c.Decision(); d != nil {
		switch d.Decision {
		case Record:
			return FoundDone
		case Abandon:
			return FoundNotDone
		}
	}
	switch {
	case c.Effect == Read:
		return FoundNothing
	case !c.Ended:
		return FoundAmbiguous
	case c.SettledBy != 0:
		return FoundDone
	}
	return c.Finding
}

// StepBelief is table c for the operation of one step: a fold of its calls in the
// history alone. A step that succeeded without a write stands for no operation:
// its belief is empty.
func (r *Run) StepBelief(s *Step) Belief { return r.belief(s, r.Status.Ended()) }

// belief is StepBelief; ended says that nothing of the run is open any more.
func (r *Run) belief(s *Step, ended bool) Belief {
	writes, doubt, done := 0, false, false
	for _, a := range s.Attempts {
		for _, c := range a.Calls {
			switch c.proof() {
			case FoundDone:
				writes, done = writes+1, true
			case FoundNotDone:
				writes++
			case FoundAmbiguous, FoundUnproven:
				writes, doubt = writes+1, doubt || !r.abandonedKey(s, c)
			}
		}
	}
	switch {
	case done && !s.Undo && r.undone(s):
		return BeliefCompensated
	case done || s.ByRecord:
		return BeliefDone
	case !ended && s.open():
		return BeliefOpen
	case doubt:
		return BeliefUnknown
	case writes == 0 && s.Done:
		return ""
	}
	return BeliefNotDone
}

func (r *Run) undone(s *Step) bool {
	u := r.StepAt(s.ID, true)
	return u != nil && r.StepBelief(u) == BeliefDone
}

// abandonedKey reports whether a later call under the same key was abandoned: the decision is about the key, not about one request of it.
func (r *Run) abandonedKey(s *Step, c *Call) bool {
	if c.Key == "" {
		return false
	}
	for _, a := range s.Attempts {
		for _, o := range a.Calls {
			if d := o.Decision(); o.Key == c.Key && d != nil && d.Decision == Abandon {
				return true
			}
		}
	}
	return false
}

func (s *Step) open() bool {
	a := s.Last()
	return a != nil && (a.Outcome == "" || a.Next == NextRetry || s.Pending != "")
}

// Doubts are the calls of the step that must be settled before anybody knows: the
// newest one of each key, and every one without a key.
func (r *Run) Doubts(s *Step) []*Call {
	if r.StepBelief(s) != BeliefUnknown && !r.halfKnown(s) {
		return nil
	}
	var out []*Call
	seen := map[string]bool{}
	for i := len(s.Attempts) - 1; i >= 0; i-- {
		calls := s.Attempts[i].Calls
		for j := len(calls) - 1; j >= 0; j-- {
			c := calls[j]
			p := c.proof()
			if p != FoundAmbiguous && p != FoundUnproven || c.Key != "" && seen[c.Key] || r.abandonedKey(s, c) {
				continue
			}
			seen[c.Key] = true
			out = append(out, c)
		}
	}
	return out
}

// VerdictOf compares a belief with the number of effects in the ledger, and with
// the number of inverses that the ledger pairs with them.
func VerdictOf(b Belief, effects, inverses int) Verdict {
	switch {
	case b == BeliefOpen || b == "":
		return ""
	case b == BeliefCompensated:
		switch left := effects - inverses; {
		case left == 0 && effects > 0:
			return Compensated
		case left > 1:
			return Duplicate
		}
		return Uncompensated
	case effects-inverses >= 2:
		return Duplicate
	case b == BeliefUnknown:
		return Unresolved
	case b == BeliefDone && effects == 0:
		return PhantomSuccess
	case b == BeliefDone:
		return OneEffect
	case effects == 0:
		return CleanFailure
	}
	return FalseFailure
}
