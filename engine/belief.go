package engine

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"faultlab/engine/assume"
)

// An ambiguous or unproven write is settled when an attempt of its step, before it or
// after, gets an accepted 2xx reply to a call of the same operation under the same key,
// which the provider enforces, or to a read of that origin whose URL contains the key,
// by itself (order-4 is not in /jobs/order-42), that table d calls found and that does not
// contradict what was sent. Nothing else settles it.

// settle is told of a call that has just ended: it settles others, or others have settled it.
func (s *Step) settle(c *Call) {
	for _, a := range s.Attempts {
		for _, o := range a.Calls {
			switch {
			case o.Unsettled() && proves(c, o):
				o.SettledBy = c.Pos
			case c.Unsettled() && proves(o, c):
				c.SettledBy = o.Pos
			}
		}
	}
}

// proves reports whether the reply that a call got says that a write happened.
func proves(by, write *Call) bool {
	if by.Effect == Read {
		return by.origin() == write.origin() && slices.ContainsFunc(by.Readings, func(g Reading) bool { return g.Read == Pos{} && g.says(write) }) ||
			slices.ContainsFunc(write.Readings, func(g Reading) bool { return g.Read == by.Pos && g.says(write) })
	}
	if by == write || by.How != HowAccepted || by.Status/100 != 2 {
		return false
	}
	return by.Write == write.Write && by.Effect == write.Effect && (len(by.Requests) == 0 || by.origin() == write.origin()) &&
		(by.Effect == IdempotentWrite || by.Effect == KeyedWrite && by.Key == write.Key)
}

// N is the call's number within its attempt.
func (c *Call) N() int { return c.Call }

// Unsettled reports whether the call is a write of which nobody can say whether it happened, as far as its step saw.
func (c *Call) Unsettled() bool {
	return (c.Finding == FoundAmbiguous || c.Finding == FoundUnproven) && c.SettledBy == Pos{}
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
	keys := []string{write.Key}
	if text, ok := assume.Unquoted(write.Key); ok && write.Requests[0].Header != "" {
		keys = append(keys, text)
	}
	return slices.ContainsFunc(keys, func(key string) bool {
		return containsName(r, key) || containsName(path, key) || containsName(query, key)
	})
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
			if len(d.Result) > 0 && c.knownNotDone() {
				return FoundNotDone
			}
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
	case c.SettledBy != Pos{}:
		return FoundDone
	}
	return c.Finding
}

// knownNotDone reports whether the call was known not to be done before its last decision.
// A result given by hand then ends a step of which nothing is unknown, and says nothing about its writes.
func (c *Call) knownNotDone() bool {
	before := *c
	before.Decisions = c.Decisions[:len(c.Decisions)-1]
	return before.proof() == FoundNotDone
}

// BeliefOf is table c for one operation: a fold of its own calls in the history alone.
// A step that succeeded without a write stands for no operation: its belief is empty.
func (r *Run) BeliefOf(o *Operation) Belief { return r.belief(o, r.Status.Ended()) }

// belief is BeliefOf; ended says that nothing of the run is open any more.
func (r *Run) belief(o *Operation, ended bool) Belief {
	s := r.StepAt(o.Step, o.Undo)
	doubt, done := false, len(o.Calls) == 0 && s.ByRecord
	for _, c := range o.Calls {
		switch c.proof() {
		case FoundDone:
			done = true
		case FoundAmbiguous, FoundUnproven:
			doubt = doubt || !o.decided(c)
		}
	}
	switch {
	case done && !s.Undo && r.undone(s):
		return BeliefCompensated
	case done:
		return BeliefDone
	case !ended && s.open():
		return BeliefOpen
	case doubt:
		return BeliefUnknown
	case len(o.Calls) == 0 && (s.Done || s.someCall((*Call).unanswered)): // what a child did, and may yet do, counts in its own run
		return ""
	}
	return BeliefNotDone
}

// StepBelief is the belief about the operation of a step that is farthest from done.
func (r *Run) StepBelief(s *Step) Belief { return r.stepBelief(s, r.Status.Ended()) }

func (r *Run) stepBelief(s *Step, ended bool) Belief {
	worst := Belief("")
	for _, o := range r.Operations(s) {
		if b := r.belief(o, ended); slices.Index(fromWorst, b) < slices.Index(fromWorst, worst) {
			worst = b
		}
	}
	return worst
}

var fromWorst = []Belief{BeliefUnknown, BeliefOpen, BeliefNotDone, BeliefDone, BeliefCompensated, ""}

// undone reports whether the step was compensated: by writes, or by a child that succeeded.
func (r *Run) undone(s *Step) bool {
	u := r.StepAt(s.ID, true)
	if u == nil {
		return false
	}
	switch r.StepBelief(u) {
	case BeliefDone:
		return true
	case "":
		return u.someCall(func(c *Call) bool { return c.Child != "" && c.How == HowAccepted })
	}
	return false
}

// decided reports whether a person took a decision about the call, or about another call
// of the operation under its key, that settles it: the decision is about the key, not about one request.
func (o *Operation) decided(c *Call) bool {
	return slices.ContainsFunc(o.Calls, func(other *Call) bool {
		d := other.Decision()
		return (other == c || sameKey(other, c)) && d != nil && (d.Decision == Record || d.abandons(c))
	})
}

// abandons reports whether the decision gives up what the call sent: not what was sent after it.
func (d *DecidedAt) abandons(c *Call) bool {
	return d.Decision == Abandon && !slices.ContainsFunc(c.Requests, func(q *Request) bool { return q.Seq > d.Seq })
}

func (s *Step) open() bool {
	a := s.Last()
	return a != nil && (a.Outcome == "" || a.Next == NextRetry || s.Pending != "")
}

// Doubts are the calls of the step that must be settled before anybody knows: those of each of its operations.
func (r *Run) Doubts(s *Step) (out []*Call) {
	for _, o := range r.Operations(s) {
		out = append(out, r.DoubtsOf(o)...)
	}
	return out
}

// DoubtsOf are the calls of an operation that must be settled before anybody knows: the
// newest one of each key, and every one without a key.
func (r *Run) DoubtsOf(o *Operation) []*Call { return r.doubts(o, r.Status.Ended()) }

func (r *Run) doubts(o *Operation, ended bool) (out []*Call) {
	from := 0
	switch r.belief(o, ended) {
	case BeliefUnknown:
	case BeliefDone: // under one key: another one of the newest attempt may be in doubt
		s := r.StepAt(o.Step, o.Undo)
		if a := s.Last(); s.Done || a == nil || a.Outcome != Unknown {
			return nil
		}
		from = s.Last().N
	default:
		return nil
	}
	for _, c := range slices.Backward(o.Calls) {
		p := c.proof()
		seen := slices.ContainsFunc(out, func(newer *Call) bool { return sameKey(newer, c) })
		if p != FoundAmbiguous && (p != FoundUnproven || c.Attempt < from) || seen || o.decided(c) {
			continue
		}
		out = append(out, c)
	}
	return out
}
