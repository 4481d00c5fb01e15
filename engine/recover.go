package engine

import (
	"errors"
	"fmt"
	"slices"
)

// Recover goes on with the runs that were open when the last engine of this
// history stopped. A due retry happens; an attempt that was open goes on from its journal
// or is unknown, and nothing that may have been sent is sent again by itself; a finished
// step never runs again. A run that cannot be read, or that needs what is not here, stands in nobody's
// way: it is left as it is, and said in a LeftError once the others go on.
func (e *Engine) Recover() error {
	ids, err := e.o.History.Open()
	if err != nil {
		return fmt.Errorf("list the open runs: %w", err)
	}
	var left LeftError
	var open []*running
	leaving := map[string]func(){} // nobody cancels one of them before it goes on
	defer func() {
		for _, leave := range leaving {
			leave()
		}
	}()
	for _, id := range ids {
		leave, err := e.enterDecision(id)
		if err != nil {
			return err
		}
		leaving[id] = leave
		rt, err := e.reopen(id)
		if err != nil {
			left = append(left, err)
			continue
		}
		if rt.run.Status.Ended() { // cancelled meanwhile
			continue
		}
		if err := e.needs(rt); err != nil {
			left = append(left, err)
			continue
		}
		open = append(open, rt)
	}
	e.mu.Lock()
	for _, rt := range open { // before the first of them goes on: it may wait for another one
		e.take(rt)
	}
	e.mu.Unlock()
	for _, rt := range open {
		if err := e.goOn(rt); err != nil {
			return err
		}
		leaving[rt.id]()
		delete(leaving, rt.id)
	}
	for id, leave := range leaving {
		leave()
		delete(leaving, id)
	}
	unread, err := e.resumeSettled()
	if err != nil {
		return err
	}
	if left = append(left, unread...); len(left) > 0 {
		return left
	}
	return nil
}

// LeftError says why open runs do not go on: the history of one is damaged, its document
// is none that is understood here, or it lacks something (a *NeedsError). They are as they
// were, and all others go on.
type LeftError []error

func (l LeftError) Error() string { return errors.Join(l...).Error() }

// Unwrap gives each of them to errors.As.
func (l LeftError) Unwrap() []error { return l }

// Decide is Recover for one run that a crash left with a write that may have been made. Any
// other one stays as it is, to go on by itself once its owner is back: decided is false.
func (e *Engine) Decide(run string) (decided bool, err error) {
	id, err := FindRun(e.o.History, run)
	if err != nil {
		return false, err
	}
	leave, err := e.enterDecision(id)
	if err != nil {
		return false, err
	}
	defer leave()
	e.mu.Lock()
	open := e.open[id] != nil
	e.mu.Unlock()
	if open {
		return false, nil
	}
	rt, err := e.reopen(id)
	if err != nil || rt.run.Status.Ended() || !e.leftInDoubt(rt.run) {
		return false, err
	}
	return true, e.goOn(rt)
}

// leftInDoubt reports whether a crash left a step in the middle of an attempt with a write that may have been made.
func (e *Engine) leftInDoubt(r *Run) bool {
	return slices.ContainsFunc(r.Steps, func(s *Step) bool {
		if !s.interrupted() {
			return false
		}
		_, doubt := e.cutOff(r, s)
		return doubt
	})
}

// interrupted reports whether the step's newest attempt has a start and no end, or
// has one and a call that its journal, played again, had just begun.
func (s *Step) interrupted() bool {
	a := s.Last()
	return a != nil && (a.Outcome == "" || s.Pending == Record && slices.ContainsFunc(a.Calls, func(c *Call) bool { return !c.Ended }))
}

// goOn carries a run out from where its history stands.
func (e *Engine) goOn(rt *running) error {
	if err := e.recall(rt.doc); err != nil {
		return err
	}
	e.mu.Lock()
	if e.open[rt.id] != rt {
		e.take(rt)
	}
	e.mu.Unlock()
	if err := e.interrupt(rt); err != nil {
		return err
	}
	e.mu.Lock()
	if rt.run.StartedAt.IsZero() { // only the actor that begins now writes that
		e.enqueue(e.pool(rt.doc), rt)
	}
	e.mu.Unlock()
	e.goActor("run "+rt.id, rt.main)
	return nil
}

// reopen is a run of the history, to be carried out (see take) or only written about.
func (e *Engine) reopen(id string) (*running, error) {
	events, err := e.o.History.Events(id)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	run := Fold(events)
	doc, err := e.document(run.Admitted)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	declared, err := e.assumed(run.Admitted)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	return &running{e: e, id: id, doc: doc, assume: declared, run: run}, nil
}

const interruptedMessage = "the worker stopped in the middle of the attempt"

// interrupt decides about the attempts that a crash left open, by table b: one with an
// ambiguous write is unknown; any other goes on by itself from its journal, unless its run
// was cancelled. Nothing that may have been sent is sent again.
func (e *Engine) interrupt(rt *running) error {
	for _, s := range rt.interrupted() {
		facts, doubt := e.cutOff(rt.snapshot(), s)
		var err error
		switch {
		case doubt:
			err = rt.endInterrupted(s, codeInterrupted)
		case !s.Undo && rt.cancelled():
			err = rt.endInterrupted(s, codeCancelled)
		default:
			err = rt.writeEnds(s.Last(), facts)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// interrupted are the steps of the run that a crash left in the middle of an attempt.
func (rt *running) interrupted() (steps []*Step) {
	rt.read(func(r *Run) {
		steps = slices.DeleteFunc(slices.Clone(r.Steps), func(s *Step) bool { return !s.interrupted() })
	})
	return steps
}

// endLeft ends the attempts that a crash left open, of a run that was cancelled before it went on with them.
func (rt *running) endLeft() error {
	for _, s := range rt.interrupted() {
		if s.Undo { // an inverse is made all the same
			continue
		}
		if err := rt.endInterrupted(s, codeCancelled); err != nil {
			return err
		}
	}
	return nil
}

// cutOff gives the ends of what a crash left open in the step's newest attempt and what
// is not made again, and whether a write of it is ambiguous.
func (e *Engine) cutOff(r *Run, s *Step) (facts []Fact, doubt bool) {
	for _, c := range s.Last().Calls {
		doubt = doubt || ambiguous(c) && !s.decidedAbout(c)
		if c.Ended {
			continue
		}
		end := e.endOfOpenCall(r, c)
		settled := s.someCall(func(o *Call) bool { return proves(o, c) })
		for _, q := range c.Requests {
			if !q.Ended {
				facts = append(facts, RequestEnded{Pos: Pos{c.Step, c.Undo, c.Attempt, c.Call, q.N}, Began: true, Error: "the worker stopped", GaveUp: GaveUpKilled})
			}
		}
		switch {
		case end.Finding == FoundDone, end.Finding == FoundAmbiguous && settled:
			facts = append(facts, end)
		case end.Finding == FoundAmbiguous:
			return nil, true
		}
	}
	return facts, doubt
}

// writeEnds writes down what is known of the calls of an attempt that a crash left open.
func (rt *running) writeEnds(a *Attempt, facts []Fact) error {
	if len(facts) == 0 {
		return nil
	}
	written, err := rt.e.append(rt, facts...)
	if err != nil {
		return err
	}
	for _, f := range facts {
		if end, ok := f.(CallEnded); ok {
			rt.e.localEnded(rt.snapshot(), a.Calls[end.Call-1], written)
		}
	}
	return nil
}

// endInterrupted ends the newest attempt of a step, which does not go on, and its calls.
func (rt *running) endInterrupted(s *Step, code string) error {
	a := s.Last()
	pos := Pos{Step: s.ID, Undo: s.Undo, Attempt: a.N}
	if err := rt.endCalls(pos); err != nil {
		return err
	}
	end := AttemptEnded{Pos: pos, Code: code, Message: interruptedMessage}
	rt.read(func(r *Run) {
		rule := attemptRuleFor(attemptEnd{how: interrupted, calls: slices.DeleteFunc(slices.Clone(r.attempt(pos).Calls), s.decidedAbout)})
		end.Outcome, end.Next, end.Reason = rule.outcome, rule.next, rule.reason
		if s.Pending == Record {
			end.By = byRecord
		}
	})
	_, err := rt.e.append(rt, end)
	return err
}

// endCalls writes down the ends of an attempt's calls that have none.
func (rt *running) endCalls(attempt Pos) error {
	var a *Attempt
	var open []*Call
	rt.read(func(r *Run) {
		a = r.attempt(attempt)
		open = slices.DeleteFunc(slices.Clone(a.Calls), func(c *Call) bool { return c.Ended })
	})
	var facts []Fact
	for _, c := range open {
		facts = append(facts, rt.e.endOfOpenCall(rt.snapshot(), c))
	}
	return rt.writeEnds(a, facts)
}

// endOfOpenCall is table a for a call that has a start and no end on disk. A
// request whose start is there may have been sent, however early the crash came; a
// local write is looked up in its file.
func (e *Engine) endOfOpenCall(r *Run, c *Call) CallEnded {
	how, message := HowNeverSent, "the worker stopped before the call ended"
	for _, q := range c.Requests {
		if !q.NotSent && !(q.Ended && !q.Began && q.Status == 0) {
			how = HowNoReply
		}
	}
	if len(c.Requests) == 0 && c.Service != "http" && c.Service != "fetch" {
		how = HowNoReply
	}
	if c.Effect == LocalWrite {
		end, err := e.localEnd(r, c)
		if err == nil {
			return end
		}
		message += fmt.Sprintf(", and %s cannot be asked whether it was committed: %s", c.File, err)
	}
	rule := callRules[how][c.Effect]
	return CallEnded{Pos: c.Pos, How: how, Finding: rule.finding, Next: rule.next, Code: codeCallInterrupted, Message: message}
}
