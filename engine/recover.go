package engine

import (
	"errors"
	"fmt"
	"slices"
)

// Recover goes on with the runs that were open when the last engine of this
// history stopped. A due retry happens; an attempt that was open is decided by its
// calls, and nothing that may have been sent is sent again by itself; a finished
// step never runs again. A run that cannot be read stands in nobody's way: it is left
// as it is, and said in a LeftError once the others go on.
func (e *Engine) Recover() error {
	ids, err := e.o.History.Open()
	if err != nil {
		return fmt.Errorf("list the open runs: %w", err)
	}
	var left LeftError
	var open []*running
	for _, id := range ids {
		rt, err := e.reopen(id)
		if err != nil {
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

// LeftError says why open runs could not be read: the history of one is damaged, or its
// document is none that is understood here. They are as they were, and all others go on.
type LeftError []error

func (l LeftError) Error() string { return errors.Join(l...).Error() }

// Decide is Recover for one run that a crash left in the middle of an attempt. One that
// has ended, waits for its turn or a retry, or is at work here stays as it is: decided is false.
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
	if err != nil || rt.run.Status.Ended() || !rt.run.interrupted() {
		return false, err
	}
	return true, e.goOn(rt)
}

// interrupted reports whether a crash left the run in the middle of an attempt.
func (r *Run) interrupted() bool { return slices.ContainsFunc(r.Steps, (*Step).interrupted) }

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
	if rt.run.StartedAt.IsZero() {
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
	return &running{e: e, id: id, doc: doc, run: run}, nil
}

const interruptedMessage = "the worker stopped in the middle of the attempt"

// interrupt writes down the ends that a crash left out: of calls, by what their
// requests say, and of the attempt, by table b.
func (e *Engine) interrupt(rt *running) error {
	for _, s := range rt.run.Steps {
		if !s.interrupted() {
			continue
		}
		a := s.Last()
		if a.onlyWaits() {
			continue
		}
		var facts []Fact
		for _, c := range a.Calls {
			if !c.Ended {
				facts = append(facts, e.endOfOpenCall(rt.id, c))
			}
		}
		if len(facts) > 0 {
			written, err := e.append(rt, facts...)
			if err != nil {
				return err
			}
			for _, f := range facts {
				e.localEnded(rt.id, a.Calls[f.(CallEnded).Call-1], written)
			}
		}
		rule := attemptRuleFor(attemptEnd{how: interrupted, calls: a.Calls})
		end := AttemptEnded{Pos: Pos{Step: s.ID, Undo: s.Undo, Attempt: a.N}, Outcome: rule.outcome, Next: rule.next, Reason: rule.reason,
			Code: codeInterrupted, Message: interruptedMessage}
		if s.Pending == Record {
			end.By = byRecord
		}
		if rule.outcome == Failed {
			end.Message += ", and nothing of it is unknown: resubmit it to go on"
		}
		if _, err := e.append(rt, end); err != nil {
			return err
		}
	}
	return nil
}

// endOfOpenCall is table a for a call that has a start and no end on disk. A
// request whose start is there may have been sent, however early the crash came; a
// local write is looked up in its file.
func (e *Engine) endOfOpenCall(run string, c *Call) Fact {
	how, message := HowNeverSent, "the worker stopped before the call ended"
	for _, q := range c.Requests {
		if !q.NotSent {
			how = HowNoReply
		}
	}
	if len(c.Requests) == 0 && c.Service != "http" && c.Service != "fetch" {
		how = HowNoReply
	}
	if c.Effect == LocalWrite {
		end, err := e.localEnd(run, c)
		if err == nil {
			return end
		}
		message += fmt.Sprintf(", and %s cannot be asked whether it was committed: %s", c.File, err)
	}
	rule := callRules[how][c.Effect]
	return CallEnded{Pos: c.Pos, How: how, Finding: rule.finding, Next: rule.next, Code: codeCallInterrupted, Message: message}
}
