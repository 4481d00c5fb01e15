package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"faultlab/engine/assume"
)

// Resolution is a person's decision, as it is asked for.
type Resolution struct {
	Run      string
	Key      string // empty where the run has one doubt only, or Write names it
	Write    string // of the operation, as Operation.Write; empty: any
	Step     string // as StepName has it; empty: any
	Decision Decision
	Reason   string          // why; needed to escalate
	Result   json.RawMessage `json:",omitempty"` // Record: the step's result, given by hand
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
	for {
		again, err := e.decide(id, q)
		if !again || err != nil {
			return err
		}
	}
}

// decide judges a decision and carries it out; with again something was written meanwhile that it must be judged by anew.
func (e *Engine) decide(id string, q Resolution) (again bool, err error) {
	j := e.judge(id)
	defer e.judged(j)
	rt, err := e.reopen(id)
	if err != nil {
		return false, err
	}
	if w := rt.run.Waits; w != nil {
		return false, &Refused{Why: "nothing of run " + id + " itself is unknown: it" + w.sentence()}
	}
	c, err := target(rt.run, q)
	if err != nil {
		return false, err
	}
	e.judgeKey(j, c.Key)
	fact := Decided{Pos: c.Pos, Decision: q.Decision, Key: c.Key, Reason: q.Reason, Result: q.Result, Inbox: q.Inbox}
	now, err := e.Situation(rt.run, c)
	if err != nil {
		return false, err
	}
	ruling := now.Ruling(q.Decision, len(q.Result) > 0)
	switch {
	case q.Decision == Escalate && strings.TrimSpace(q.Reason) == "":
		return false, &Refused{Why: "an escalation needs a reason, for the person who gets it"}
	case len(q.Result) > 0 && !json.Valid(q.Result):
		return false, &Refused{Why: "the result given by hand is not JSON"}
	case ruling.Permission == Denied, ruling.Permission == Forced && !q.Force:
		return false, &Refused{Why: ruling.Why, Force: ruling.Permission == Forced}
	}
	fact.Forced = ruling.Why
	fact.AnyKey = q.Decision == Resubmit && q.Force
	fact.Evidence = cites(c, q.Decision, now)
	if err := e.foresee(id, &fact); err != nil {
		return false, err
	}
	return e.carryOut(rt, fact, j)
}

// judgement is a decision that is being judged by what the history says. What is written
// meanwhile of its run, or of its key by another run, overtakes it.
type judgement struct {
	run, key  string
	overtaken bool
}

// judge begins to judge a decision about a run: see judgeKey and judged.
func (e *Engine) judge(run string) *judgement {
	j := &judgement{run: run}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.judging = append(e.judging, j)
	return j
}

// judgeKey says which key the decision is about, before other runs are asked about it.
func (e *Engine) judgeKey(j *judgement, key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	j.key = key
}

// judged ends a judgement.
func (e *Engine) judged(j *judgement) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.judging = slices.DeleteFunc(e.judging, func(o *judgement) bool { return o == j })
}

// overtake marks the judgements that these events concern. e.mu is held.
func (e *Engine) overtake(events []Event) {
	for _, j := range e.judging {
		for _, event := range events {
			key := ""
			switch f := event.Fact.(type) {
			case RequestSent:
				key = f.Key
			case Decided:
				key = f.Key
			}
			j.overtaken = j.overtaken || event.Run == j.run || key != "" && key == j.key
		}
	}
}

// cites is the place of the evidence that a decision rests on; 0 where none counts.
func cites(c *Call, d Decision, now Situation) int64 {
	if ev := c.cited(); ev != nil && d == Record {
		return ev.Seq
	}
	if n := len(c.Evidence); n > 0 && now.Proof != ProofStale {
		return c.Evidence[n-1].Seq
	}
	return 0
}

// enterDecision lets one decision about a run in at a time, cancels included.
func (e *Engine) enterDecision(run string) (leave func(), err error) {
	return e.enterAdmission("decision\x00" + run)
}

// carryOut writes the decision down, unless it was overtaken, and lets the run go on where it says so.
func (e *Engine) carryOut(rt *running, fact Decided, j *judgement) (overtaken bool, err error) {
	e.mu.Lock()
	if j.overtaken { // the check and the append are one step
		e.mu.Unlock()
		return true, nil
	}
	e.take(rt)
	t, err := e.record(rt, e.clk.Now(), e.o.History.Append, fact)
	e.mu.Unlock()
	if err := e.durable(t, err); err != nil {
		e.retire(rt, wasRefused(err))
		return false, err
	}
	if fact.Decision == Escalate || fact.Waits { // nothing follows yet
		e.retire(rt, true)
		return false, nil
	}
	e.goActor("run "+rt.id, rt.main)
	return false, nil
}

// Unsettled are the calls that a decision can be about: the doubts of all steps or,
// where there is none, those of steps that were left unfinished. A run that waits for
// others has none: what they come to decides.
func (r *Run) Unsettled() []*Call {
	if r.Waits != nil {
		return nil
	}
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
func target(r *Run, q Resolution) (*Call, error) {
	key, write := q.Key, q.Write
	doubts := r.Unsettled()
	if q.Step != "" && len(doubts) > 0 {
		doubts = slices.DeleteFunc(doubts, func(c *Call) bool { return StepName(c.Step, c.Undo) != q.Step })
		if len(doubts) == 0 {
			return nil, &Refused{Why: fmt.Sprintf("step %s of run %s has no unknown operation", q.Step, r.ID)}
		}
	}
	if key == "" && write == "" && len(doubts) == 1 {
		return doubts[0], nil
	}
	for _, c := range doubts {
		if (key != "" || write != "") && (key == "" || c.Key == key) && (write == "" || c.Write == write) {
			return c, nil
		}
	}
	switch {
	case len(doubts) == 0:
		return nil, &Refused{Why: fmt.Sprintf("run %s %s, and no operation of it is unknown", r.ID, r.Status)}
	case write != "":
		return nil, &Refused{Why: fmt.Sprintf("run %s has no such unknown write %q; it has %s", r.ID, write, writesOf(doubts))}
	case key == "":
		return nil, &Refused{Why: fmt.Sprintf("run %s has %d unknown calls: name the key of one, %s, or its write, %s", r.ID, len(doubts), keysOf(doubts), writesOf(doubts))}
	}
	return nil, &Refused{Why: fmt.Sprintf("run %s has no unknown call under the key %s; it has %s", r.ID, key, keysOf(doubts))}
}

// ByWrite reports whether a decision about the call must name its write: its key, if it has one, does not tell it from another unknown call.
func (r *Run) ByWrite(c *Call) bool {
	return slices.ContainsFunc(r.Unsettled(), func(o *Call) bool { return o != c && o.Write != c.Write && (c.Key == "" || o.Key == c.Key) })
}

func writesOf(calls []*Call) string {
	var writes []string
	for _, c := range calls {
		if c.Write != "" && !slices.Contains(writes, c.Write) {
			writes = append(writes, c.Write)
		}
	}
	if len(writes) == 0 {
		return "none with a name"
	}
	return strings.Join(writes, " or ")
}

// stuck is where a step stands that a crash or a script that is not repeatable left
// unfinished, although every write of it is known: it can still be recorded or
// resubmitted. It is the last write, or else the last call; an attempt that had not
// called anything yet stands for itself.
func stuck(s *Step) *Call {
	a := s.Last()
	if s.Done || a == nil || a.Code != codeInterrupted && a.Code != codeNotRepeatable {
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

// Situation is what table e looks at for a call now, other runs under its key included.
func (e *Engine) Situation(r *Run, c *Call) (Situation, error) {
	use, err := r.KeyUse(e.o.History, c)
	return r.Situation(c, use, e.o.Assume, e.clk.Now()), err
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

// assumedOf is the contract of the origin that a call went to.
func assumedOf(c *Call, declared *assume.Set) (assumed assume.Contract) {
	if len(c.Requests) > 0 {
		assumed = declared.Of(c.Requests[0].URL)
	}
	return assumed
}
