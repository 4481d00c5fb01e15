package engine

import (
	"context"
	"fmt"
	"slices"

	"faultlab/engine/script"
)

// answer is what is known of a call before it is sent, by the step's other calls and by
// the decisions about them. Nothing is known of most calls: they are sent.
type answer struct {
	write    string          // the operation that the call belongs to; empty for a read
	recorded bool            // a person has recorded that operation
	settled  map[string]bool // all operations of the step that are recorded
	record   *EvidenceAt     // the record that is the reply
	reply    *Call           // whose reply is the reply
	code     string          // with why: the call is refused
	why      string
}

// given reports whether the call is answered without being sent.
func (k answer) given() bool { return k.record != nil || k.reply != nil }

// known is what must be known of a call that a script makes in the attempt a, in which it
// has made the calls of made so far.
//
// A call of a recorded operation gets the evidence, whatever its key, and nothing goes out
// under a key that was abandoned. An attempt that carries a resubmit out sends that one
// key: what is done answers from the journal, as what was read does, and nothing goes out
// under a key that is undecided or of what is done without that key. What was never made
// before, or is proved not done, is sent.
func (s *Step) known(a *Attempt, c *Call) answer {
	if !s.someCall(func(c *Call) bool { return len(c.Decisions) > 0 }) && a.Decided == nil {
		return answer{}
	}
	k := answer{settled: map[string]bool{}}
	for _, o := range s.calls() {
		if o.recorded() && o.Write != "" {
			k.settled[o.Write] = true
		}
	}
	if c.Effect == Read {
		if a.Decided != nil {
			k.reply = s.readBefore(a, c)
		}
		return k
	}
	k.write = s.writeOf(a, c)
	k.recorded = k.settled[k.write]
	switch by := a.Decided; {
	case k.recorded:
		k.answerByRecord(s, c)
	case c.Effect == LocalWrite: // its own mark says whether it was made
	case by != nil && k.write == s.writeAt(by.Pos):
		k.resubmit(s, by, c)
	case by != nil && s.proved(k.write):
		k.answerByReply(s, c)
	}
	if !k.given() && k.code == "" {
		k.refuse(s, a, c)
	}
	return k
}

// answerByRecord takes the record of the call's own key, else that of the operation. A call
// that was answered and done needed none: then its reply counts.
func (k *answer) answerByRecord(s *Step, c *Call) {
	for _, o := range s.calls() {
		if o.Write != k.write || !o.recorded() {
			continue
		}
		own := o.Key == c.Key
		if ev := o.cited(); ev != nil && (k.record == nil || own) {
			k.record = ev
		} else if ev == nil && o.How == HowAccepted && (k.reply == nil || own) {
			k.reply = o
		}
	}
	if k.record == nil && k.reply == nil {
		k.code, k.why = codeNotRepeatable, "the record of this operation is no longer kept, use --result to give the step's result by hand"
	}
}

// resubmit lets the key go out that was decided about, and no other unless that was forced.
// Of what is done already, under whatever key, it takes the reply.
func (k *answer) resubmit(s *Step, by *Decided, c *Call) {
	doubted := s.someCall(func(o *Call) bool { return o.Write == k.write && o.Key == by.Key && s.undecided(o) })
	switch {
	case !doubted && s.proved(k.write):
		k.answerByReply(s, c)
	case c.Key != by.Key && !by.AnyKey:
		k.code = codeAnotherKey
		k.why = fmt.Sprintf("this script is not repeatable: it sends %s now, and the resubmit is about %s; use --result to give the step's result by hand, or force the resubmit",
			keyWords(c.Key), keyWords(by.Key))
	}
}

// answerByReply takes the reply of the operation, which is done, if it was the same call. A
// key that is done may go out again where its reply is no longer kept, as in a retry.
func (k *answer) answerByReply(s *Step, c *Call) {
	again := false
	for _, o := range s.calls() {
		if o.Write != k.write || o.proof() != FoundDone || o.content() != c.content() {
			continue
		}
		again = again || c.Effect == KeyedWrite && o.Key == c.Key || c.Effect == IdempotentWrite
		if o.How == HowAccepted && o.Reply != nil {
			k.reply = o
		}
	}
	if k.reply == nil && !again {
		k.code = codeNotRepeatable
		k.why = fmt.Sprintf("%s is done, and the script sends something else now or its reply is no longer kept; use --result to give the step's result by hand", k.write)
	}
}

// refuse stops a call under a key that was abandoned or, while another one is resubmitted, is undecided.
func (k *answer) refuse(s *Step, a *Attempt, c *Call) {
	resubmits := a.Decided != nil
	target := resubmits && k.write == s.writeAt(a.Decided.Pos)
	wanted := target && c.Key == a.Decided.Key
	for _, o := range s.calls() {
		sameKey := o.Key == c.Key && (c.Key != "" || o.Write == k.write)
		d := o.Decision()
		switch {
		case sameKey && d != nil && d.Decision == Abandon && !(wanted && d.Seq < s.resubmittedAt(a.Decided.Pos)):
			k.code, k.why = codeAbandoned, keyWords(o.Key)+" was abandoned: nothing is sent under it"
			return
		case wanted:
		case resubmits && !target && (sameKey || o.Write == k.write) && o.Attempt < a.N && s.undecided(o):
			k.code = codeUndecided
			k.why = fmt.Sprintf("%s of %s is unknown, and this attempt resubmits %s: look it up and decide about it", keyWords(o.Key), k.write, keyWords(a.Decided.Key))
			return
		}
	}
}

// resubmittedAt is the place in the history of the last decision to resubmit the call at a place.
func (s *Step) resubmittedAt(p Pos) (seq int64) {
	for _, o := range s.calls() {
		for _, d := range o.Decisions {
			if o.Pos == p && d.Decided.Decision == Resubmit {
				seq = d.Seq
			}
		}
	}
	return seq
}

func keyWords(key string) string {
	if key == "" {
		return "the write without a key"
	}
	return "the key " + key
}

// undecided reports whether nobody knows whether a write happened, and nobody has decided about its key.
func (s *Step) undecided(c *Call) bool {
	p := c.proof()
	return (p == FoundAmbiguous || p == FoundUnproven) && !s.someCall(func(o *Call) bool {
		d := o.Decision()
		return (o == c || o.Write == c.Write && sameKey(o, c)) && d != nil && (d.Decision == Record || d.abandons(c))
	})
}

// calls are those of all attempts of the step, in their order.
func (s *Step) calls() (out []*Call) {
	for _, a := range s.Attempts {
		out = append(out, a.Calls...)
	}
	return out
}

// writeAt is the operation that the call at a place belongs to.
func (s *Step) writeAt(p Pos) string {
	for _, c := range s.calls() {
		if c.Attempt == p.Attempt && c.Call == p.Call {
			return c.Write
		}
	}
	return ""
}

// readBefore is the newest earlier read that was answered and is the same as c: the same
// input and name, and as often before in its attempt.
func (s *Step) readBefore(a *Attempt, c *Call) *Call {
	nth := len(a.readsAlike(c))
	for _, other := range slices.Backward(s.Attempts) {
		if same := other.readsAlike(c); other.N < a.N && nth < len(same) && same[nth].Code == "" && same[nth].Reply != nil {
			return same[nth]
		}
	}
	return nil
}

func (a *Attempt) readsAlike(c *Call) (same []*Call) {
	for _, o := range a.Calls {
		if o.Effect == Read && o.Service == c.Service && o.Operation == c.Operation && o.Name == c.Name && o.Digest == c.Digest {
			same = append(same, o)
		}
	}
	return same
}

// known is what must be known of a call that the script makes now.
func (h *host) known(fact CallStarted) (k answer) {
	h.rt.read(func(r *Run) {
		s, a := r.StepAt(h.pos.Step, h.pos.Undo), r.attempt(h.pos)
		if s == nil || a == nil {
			return
		}
		if h.tape != nil {
			s, a = h.tape.shadow(s, a)
		}
		k = s.known(a, callOf(fact))
	})
	return k
}

// shadow is the step as it looks to a script that runs again: its attempt, played so far, follows all that were made.
func (t *replayer) shadow(s *Step, a *Attempt) (*Step, *Attempt) {
	again := &Attempt{N: a.N, Decided: a.Decided}
	for i, c := range t.calls {
		if t.made[i] {
			again.Calls = append(again.Calls, c)
		}
	}
	return &Step{ID: s.ID, Undo: s.Undo, Attempts: append(slices.Clone(s.Attempts), again)}, again
}

// answered is a call that is answered by what is known, without being sent.
type answered struct {
	fact CallStarted
	end  CallEnded
	done script.Completion
}

func (c *answered) started() CallStarted { return c.fact }

func (c *answered) perform(context.Context, *host, Pos, Ticket) (CallEnded, script.Completion) {
	return c.end, c.done
}

// answer makes a call of what is known of it.
func (k answer) answer(id int, fact CallStarted, work call) (*answered, error) {
	fact.Write = k.write
	out := &answered{fact: fact, end: CallEnded{How: HowAccepted, Status: 200}}
	p := playing{id: id, call: k.reply, work: work}
	if k.record != nil {
		p.call, p.record = &Call{}, k.record
		out.end.From = k.record.Pos
	} else {
		out.end = CallEnded{How: k.reply.How, Status: k.reply.Status, Replay: k.reply.Replay, Child: k.reply.Child, From: k.reply.Pos}
	}
	var err error
	out.done, err = p.completion()
	return out, err
}
