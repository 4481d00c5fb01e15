package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"faultlab/engine/assume"
)

// Resolution is a person's decision, as it is asked for.
type Resolution struct {
	Run      string
	Key      string // empty where the run has one doubt only
	Decision Decision
	Reason   string          // why; needed to escalate
	Result   json.RawMessage // Record: the step's result, given by hand
	Force    bool            // carry it out although a rule refuses it, where that is possible
	Inbox    string
}

// Resolve takes a decision about an unknown operation and carries it out. What the
// rules refuse is a *Refused, and nothing is written.
func (e *Engine) Resolve(q Resolution) error {
	id, err := FindRun(e.o.History, q.Run)
	if err != nil {
		return err
	}
	leave, err := e.enterDecision(id)
	if err != nil {
		return err
	}
	defer leave()
	e.mu.Lock()
	open := e.open[id] != nil
	e.mu.Unlock()
	if open {
		return &Refused{Why: "run " + id + " is still at work: wait until it has ended, or cancel it"}
	}
	rt, err := e.reopen(id)
	if err != nil {
		return err
	}
	c, err := target(rt.run, q.Key)
	if err != nil {
		return err
	}
	fact := Decided{Pos: c.Pos, Decision: q.Decision, Key: c.Key, Reason: q.Reason, Result: q.Result, Inbox: q.Inbox}
	why := e.refusal(rt.run, c, q.Decision, len(q.Result) > 0)
	switch {
	case q.Decision == Escalate && strings.TrimSpace(q.Reason) == "":
		return &Refused{Why: "an escalation needs a reason, for the person who gets it"}
	case len(q.Result) > 0 && !json.Valid(q.Result):
		return &Refused{Why: "the result given by hand is not JSON"}
	case why != nil && !(why.Force && q.Force):
		return why
	case why != nil:
		fact.Forced = why.Why
	}
	fact.Waits = q.Decision == Record && len(q.Result) == 0 && !rt.run.StepAt(c.Step, c.Undo).covered(c)
	if ev := c.cited(); ev != nil && q.Decision == Record {
		fact.Evidence = ev.Seq
	} else if n := len(c.Evidence); n > 0 {
		fact.Evidence = c.Evidence[n-1].Seq
	}
	return e.carryOut(rt, fact)
}

// enterDecision lets one decision about a run in at a time, cancels included.
func (e *Engine) enterDecision(run string) (leave func(), err error) {
	return e.enterAdmission("decision\x00" + run)
}

// carryOut writes the decision down and lets the run go on where it says so.
func (e *Engine) carryOut(rt *running, fact Decided) error {
	e.mu.Lock()
	e.take(rt)
	e.mu.Unlock()
	if err := e.durable(e.append(rt, fact)); err != nil {
		e.retire(rt, false)
		return err
	}
	if fact.Decision == Escalate || fact.Waits {
		e.retire(rt, true)
		return nil
	}
	e.goActor("run "+rt.id, rt.main)
	return nil
}

// Unsettled are the calls that a decision can be about: the doubts of all steps or,
// where there is none, those of steps that were left unfinished.
func (r *Run) Unsettled() []*Call {
	var doubts, others []*Call
	for _, s := range r.Steps {
		doubts = append(doubts, r.Doubts(s)...)
		if c := stuck(s); c != nil {
			others = append(others, c)
		}
	}
	if len(doubts) == 0 {
		return others
	}
	return doubts
}

// target is the call that a decision is about.
func target(r *Run, key string) (*Call, error) {
	doubts := r.Unsettled()
	if key == "" && len(doubts) == 1 {
		return doubts[0], nil
	}
	for _, c := range doubts {
		if key != "" && c.Key == key {
			return c, nil
		}
	}
	switch {
	case len(doubts) == 0:
		return nil, &Refused{Why: fmt.Sprintf("run %s %s, and no operation of it is unknown", r.ID, r.Status)}
	case key == "":
		return nil, &Refused{Why: fmt.Sprintf("run %s has %d unknown calls: name the key of one, %s", r.ID, len(doubts), keysOf(doubts))}
	}
	return nil, &Refused{Why: fmt.Sprintf("run %s has no unknown call under the key %s; it has %s", r.ID, key, keysOf(doubts))}
}

// stuck is where a step stands that a crash or a script that is not repeatable left
// unfinished, although every write of it is known: it can still be recorded or
// resubmitted. It is the last write, or else the last call; an attempt that had not
// called anything yet stands for itself.
func stuck(s *Step) *Call {
	a := s.Last()
	if s.Done || a == nil || a.Code != codeInterrupted && a.Code != codeNotRepeatable && a.unanswered() == nil {
		return nil
	}
	for i := len(a.Calls) - 1; i >= 0; i-- {
		if a.Calls[i].Effect != Read {
			return a.Calls[i]
		}
	}
	if n := len(a.Calls); n > 0 {
		return a.Calls[n-1]
	}
	return &Call{Pos: Pos{Step: s.ID, Undo: s.Undo, Attempt: a.N}, Effect: Read}
}

func keysOf(calls []*Call) string {
	var keys []string
	for _, c := range calls {
		if c.Key != "" {
			keys = append(keys, c.Key)
		}
	}
	if len(keys) == 0 {
		return "none with a key"
	}
	return strings.Join(keys, " or ")
}

// Refusal says why a decision about a call would be refused now; empty when it would be carried out.
func (e *Engine) Refusal(r *Run, c *Call, d Decision) string {
	return Refusal(r, c, d, e.o.Assume, e.clk.Now())
}

// Refusal says why a decision about a call would be refused at a moment, by an engine
// with these assumptions; empty when it would be carried out.
func Refusal(r *Run, c *Call, d Decision, declared *assume.Set, now time.Time) string {
	if why := refusalOf(r, c, d, false, assumedOf(c, declared), now); why != nil {
		return why.Why
	}
	return ""
}

// Askable reports whether a call can be looked up at all, under these assumptions.
func Askable(c *Call, declared *assume.Set) bool { return askable(c, assumedOf(c, declared)) }

func askable(c *Call, assumed assume.Contract) bool {
	if len(c.Requests) == 0 {
		return false
	}
	_, ok := assumed.LookupURL(c.Requests[0].URL, c.Key)
	return ok
}

func (e *Engine) refusal(r *Run, c *Call, d Decision, byHand bool) *Refused {
	return refusalOf(r, c, d, byHand, assumedOf(c, e.o.Assume), e.clk.Now())
}

// assumedOf is the contract of the origin that a call went to.
func assumedOf(c *Call, declared *assume.Set) (assumed assume.Contract) {
	if len(c.Requests) > 0 {
		assumed = declared.Of(c.Requests[0].URL)
	}
	return assumed
}

// refusalOf is the table of refusals. A decision needs evidence newer than the last
// request under its key; what contradicts it needs force.
func refusalOf(r *Run, c *Call, d Decision, byHand bool, assumed assume.Contract, now time.Time) *Refused {
	ev := r.newestEvidence(c)
	proved := c.Finding == FoundDone
	switch {
	case d == Resubmit && r.CancelAsked:
		return &Refused{Why: "the run was cancelled: start a new one"}
	case c.Effect == Read && d == Resubmit, c.Effect == Read && d == Record && byHand: // nothing was written: there is nothing to prove
		return nil
	case c.Effect == Read && d == Abandon:
		return &Refused{Why: "the step wrote nothing: there is nothing to abandon"}
	}
	switch d {
	case Escalate:
		return nil
	case Record:
		switch {
		case proved:
			return nil
		case ev == nil || ev.Found != FoundRecord:
			return recordWithout(c, ev, byHand, assumed)
		case ev.Match == Contradicts:
			return &Refused{Why: "the record contradicts what was sent, in " + strings.Join(ev.Conflicts, ", "), Force: true}
		case ev.Match == Incomparable:
			return &Refused{Why: "the record has no field in common with what was sent: it cannot be compared", Force: true}
		}
	case Resubmit:
		switch {
		case c.Key == "" && c.Effect == UnkeyedWrite:
			return &Refused{Why: "the call carries no key: the provider cannot recognise it, and a second one would be a second effect", Force: true}
		case proved:
			return nil
		case ev == nil:
			return &Refused{Why: missing(c, assumed), Force: true}
		case ev.Found == FoundRecord:
			return &Refused{Why: "the look-up found a record: record it, do not send it again", Force: true}
		case ev.Found == FoundNoAnswer:
			return &Refused{Why: "the look-up got no answer: nobody knows whether it is there", Force: true}
		}
		if born := keyBorn(r, c.Key); assumed.Retention > 0 && !born.IsZero() && now.Sub(born) > assumed.Retention {
			return &Refused{Why: fmt.Sprintf("the key is %v old and the provider keeps keys for %v: under it a request would be a new operation", now.Sub(born).Round(time.Second), assumed.Retention), Force: true}
		}
	case Abandon:
		switch {
		case proved:
			return &Refused{Why: "it is done: undo it by its inverse, it cannot be abandoned"}
		case ev == nil:
			return &Refused{Why: missing(c, assumed), Force: true}
		case ev.Found == FoundRecord:
			return &Refused{Why: "the look-up found a record: it happened", Force: true}
		case ev.Found == FoundNoAnswer:
			return &Refused{Why: "the look-up got no answer: nobody knows whether it is there", Force: true}
		}
	default:
		return &Refused{Why: fmt.Sprintf("%q is no decision: it is one of record, resubmit, abandon and escalate", d)}
	}
	return nil
}

// missing says that a call has no evidence that counts.
func missing(c *Call, assumed assume.Contract) string {
	if len(c.Requests) == 0 {
		return "nobody can be asked whether it happened"
	}
	if !askable(c, assumed) {
		return "there is no evidence, and what is assumed of the provider has no look-up for it"
	}
	return "there is no evidence newer than the last request under this key: look it up first"
}

func recordWithout(c *Call, ev *EvidenceAt, byHand bool, assumed assume.Contract) *Refused {
	switch {
	case ev == nil && byHand:
		return &Refused{Why: missing(c, assumed), Force: true}
	case ev == nil && len(c.Requests) == 0:
		return &Refused{Why: "there is no record to take as the reply: give the step's result with --result"}
	case ev == nil:
		return &Refused{Why: missing(c, assumed)}
	case ev.Found == FoundNoRecord:
		return &Refused{Why: "the look-up found no record: there is nothing to record", Force: byHand}
	}
	return &Refused{Why: "the look-up got no answer: there is nothing to record", Force: byHand}
}

// newestEvidence is the call's newest evidence, if it is newer than every request under its key.
func (r *Run) newestEvidence(c *Call) *EvidenceAt {
	if len(c.Evidence) == 0 {
		return nil
	}
	ev := &c.Evidence[len(c.Evidence)-1]
	stale := false
	r.eachRequest(func(o *Call, q *Request) {
		same := o == c || c.Key != "" && o.Key == c.Key
		stale = stale || same && !q.NotSent && q.Seq > ev.Seq
	})
	if stale {
		return nil
	}
	return ev
}

// pointer escapes a name for a JSON pointer (RFC 6901).
func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
