package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"faultlab/engine/script"
)

// rehearsal is a script that runs again over its journal, as a decision would let it,
// without sending or writing down anything: it ends at the first call that was never made before.
type rehearsal struct {
	reached bool // that call
}

// errRehearsed ends a script that has come to a call which was never made before.
var errRehearsed = errors.New("the rehearsal is over")

// foresee runs the script as the decision would, before anything is written. A record
// that cannot be carried on is refused; one that waits for another doubt of the step is
// marked so, and so is the abandonment by which the step goes on with what was recorded.
func (e *Engine) foresee(id string, q *Decided) error {
	rt, err := e.reopen(id)
	if err != nil {
		return err
	}
	return rt.foresee(q)
}

// unfit says why the record that a look-up has found, and that matches, cannot be taken as
// the reply; empty where it can, and where only the decision will tell.
func (e *Engine) unfit(id string, found Evidence) string {
	rt, err := e.reopen(id)
	if err != nil || !rt.run.Status.Ended() || !slices.ContainsFunc(rt.run.Unsettled(), func(c *Call) bool { return c.Pos == found.Pos }) {
		return ""
	}
	rt.run.Apply(Event{Seq: rt.run.Last + 1, Run: id, At: e.clk.Now(), Fact: found})
	q := Decided{Pos: found.Pos, Decision: Record, Key: found.Key, Evidence: rt.run.Last}
	if len(rt.missingSecrets(&q)) > 0 {
		return ""
	}
	if why := new(Refused); errors.As(rt.foresee(&q), &why) {
		return why.Why
	}
	return ""
}

// foresee is foresee of the engine, on a fold of its own.
func (rt *running) foresee(q *Decided) error {
	if missing := rt.missingSecrets(q); len(missing) > 0 {
		return &Refused{Why: fmt.Sprintf("the run would go on, and needs the secret %s, which is not set here: set it in the environment or with --secrets", strings.Join(missing, " and "))}
	}
	if q.Decision != Record && q.Decision != Abandon || q.Result != nil {
		return nil
	}
	p, ok := rt.partAt(q.Pos)
	if !ok {
		return nil
	}
	goesOn := *q
	goesOn.Replays = q.Decision == Abandon
	rt.run.Apply(Event{Seq: rt.run.Last + 1, Run: rt.id, At: rt.e.clk.Now(), Fact: goesOn})
	s := rt.run.StepAt(q.Step, q.Undo)
	if q.Decision == Abandon && !s.someCall((*Call).recorded) {
		return nil
	}
	left := rt.run.doubtsLeft(s)
	if slices.ContainsFunc(left, func(c *Call) bool { return c.proof() == FoundAmbiguous }) {
		q.Waits = q.Decision == Record
		return nil
	}
	if rt.run.CancelAsked { // it goes on with nothing but its inverses
		*q = goesOn
		return nil
	}
	why := rt.rehearse(p, s.Last())
	switch {
	case why == "":
		*q = goesOn
	case q.Decision == Abandon:
	case len(left) > 0:
		q.Waits = true
	default:
		return &Refused{Why: why}
	}
	return nil
}

// missingSecrets are those that the scripts need which a decision lets follow, and that are not set.
func (rt *running) missingSecrets(q *Decided) (missing []string) {
	if q.Decision == Escalate || rt.e.o.Secrets == nil {
		return nil
	}
	forward := q.Decision != Abandon && !q.Undo && !rt.run.CancelAsked
	for _, s := range rt.doc.Workflow.Steps {
		var needed []string
		st := rt.run.StepAt(s.ID, false)
		switch done := st != nil && st.Done; {
		case forward && !done && !(s.ID == q.Step && q.Result != nil):
			needed = s.Script.Secrets
		case !forward && done && s.Compensate != nil:
			needed = s.Compensate.Script.Secrets
		}
		for _, name := range needed {
			if _, ok := rt.e.o.Secrets(name); !ok && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
		}
	}
	return missing
}

// endRecords carries the records of a cancelled run out: a step that its record completes is
// done, so that its inverse can be made. Nothing is sent for it; one that would need that has failed.
func (rt *running) endRecords() error {
	var pending []*Step
	rt.read(func(r *Run) {
		for _, s := range r.Steps {
			if s.Pending == Record && !s.Undo {
				pending = append(pending, s)
			}
		}
	})
	for _, s := range pending {
		a := s.Last()
		p, ok := rt.partAt(Pos{Step: s.ID})
		if !ok {
			continue
		}
		h, _, end := rt.playOnly(p, a)
		if h.rehearse.reached || h.tape.broken != nil || end.Outcome != Succeeded {
			end = AttemptEnded{Pos: p.pos(a.N), Outcome: Failed, Next: NextStop, Code: codeCancelled, Message: errCancelled.Error()}
		}
		end.By = byRecord
		if _, err := rt.e.append(rt, end); err != nil {
			return err
		}
	}
	return nil
}

// playOnly runs an attempt's script over its journal, and sends and writes down nothing.
func (rt *running) playOnly(p part, a *Attempt) (*host, script.Result, AttemptEnded) {
	ctx, done := rt.e.clk.WithCancel(rt.e.root)
	defer done(nil)
	h := newHost(rt, ctx, p, a.N)
	h.rehearse = &rehearsal{}
	h.rewind()
	res := h.run()
	return h, res, rt.judge(ctx, h, res, a.By, rt.e.clk.Now())
}

// doubtsLeft are the doubts of a step, were nothing of the run open.
func (r *Run) doubtsLeft(s *Step) (left []*Call) {
	for _, o := range r.Operations(s) {
		left = append(left, r.doubts(o, true)...)
	}
	return left
}

// rehearse says why an attempt's script cannot be run again by its journal and the decisions; empty where it can.
func (rt *running) rehearse(p part, a *Attempt) string {
	h, res, end := rt.playOnly(p, a)
	switch {
	case h.tape.broken != nil:
		return h.tape.broken.Error()
	case h.rehearse.reached:
		return ""
	case end.Outcome == Succeeded, end.Next == NextRetry && res.Err != nil && res.Err.Service != nil:
		return ""
	case res.Err == nil:
		return "the script ends with the record, and " + end.Reason
	}
	return fmt.Sprintf("with the record as the reply the script throws (%s: %s), and its step would fail although it is done: give the step's result with --result", res.Err.Code, res.Err.Message)
}

// partAt is the step or the compensation that stands at a place.
func (rt *running) partAt(at Pos) (part, bool) {
	steps := rt.doc.Workflow.Steps
	for i := range steps {
		s := &steps[i]
		switch {
		case s.ID != at.Step:
		case !at.Undo:
			return part{step: s, retry: s.Retry, script: s.Script}, true
		case s.Compensate != nil:
			return rt.inverse(s, rt.failedBefore()), true
		}
	}
	return part{}, false
}

// failedBefore is what the run's inverses are made for.
func (rt *running) failedBefore() *stepFailure {
	if rt.run.CancelAsked {
		return cancelledFailure()
	}
	steps := rt.doc.Workflow.Steps
	for i := range steps {
		if m := rt.move(part{step: &steps[i], retry: steps[i].Retry}); m.failed != nil {
			return m.failed
		}
	}
	return &stepFailure{step: rt.run.FailedAt, code: rt.run.Code, message: rt.run.Message}
}
