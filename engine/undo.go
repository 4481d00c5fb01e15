package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"faultlab/engine/woml"
)

// undo compensates the finished steps of a run that failed or was cancelled, the
// newest first. An inverse that is refused does not stop the others. While something of
// the run is unknown nothing is undone: see heldBack.
func (rt *running) undo(failed *stepFailure) error {
	ctx, done := rt.e.clk.WithCancel(rt.e.root) // neither the run's timeout nor a cancel ends an inverse
	defer done(nil)
	var refused []string
	for _, s := range slices.Backward(rt.doc.Workflow.Steps) {
		if s.Compensate == nil || !rt.inverseDue(s.ID) {
			continue
		}
		if w, _, err := rt.waitBelow(); err != nil || w != nil { // a child of an inverse that was made before this one
			return err
		}
		if err := rt.ensureSlot(ctx); err != nil {
			return err
		}
		if w, err := rt.waitForSharing(); err != nil || w != nil { // another run's request went out since the one before this
			return err
		}
		if rt.keepsAll() { // a cancel came meanwhile
			return nil
		}
		err := rt.drive(ctx, rt.inverse(&s, failed))
		var f *stepFailure
		if errors.As(err, &f) {
			refused = append(refused, fmt.Sprintf("the compensation of %s failed: %s", s.ID, f.message))
			continue
		}
		if err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		failed.code, failed.message = codeCompensation, failed.message+"; and "+strings.Join(refused, "; ")
	}
	return nil
}

// keepsAll reports whether what the run did is to be left as it is, and no inverse was begun.
func (rt *running) keepsAll() (keep bool) {
	rt.read(func(r *Run) { keep = r.keeps() && !r.undoing() })
	return keep
}

// inverse is the compensation of a step, made because of a failure.
func (rt *running) inverse(s *woml.Step, failed *stepFailure) part {
	var result json.RawMessage
	rt.read(func(r *Run) {
		if st := r.StepAt(s.ID, false); st != nil {
			result = st.Result
		}
	})
	return part{step: s, undo: true, retry: s.Compensate.Retry, script: s.Compensate.Script,
		extra: map[string]json.RawMessage{"result": result, "error": errorContext(failed)}}
}

// inverseDue reports whether a step's inverse must be made, or made to its end, now.
func (rt *running) inverseDue(step string) (due bool) {
	rt.read(func(r *Run) {
		s := r.StepAt(step, false)
		due = s != nil && s.Done && !r.heldBack()
	})
	return due
}

// heldBack reports whether something of the run is unknown, so that nothing of it may
// be undone. A compensation that goes on, by a due retry or by a decision, holds nothing back.
func (r *Run) heldBack() bool {
	return slices.ContainsFunc(r.Steps, func(s *Step) bool {
		return !(s.Undo && s.open()) && r.inDoubt(s)
	})
}

// undoing reports whether an inverse of the run was begun.
func (r *Run) undoing() bool {
	return slices.ContainsFunc(r.Steps, func(s *Step) bool { return s.Undo })
}

// standing are the finished steps that have an inverse which was not made, in the order of the document.
func (rt *running) standing(r *Run) (steps []string) {
	for _, s := range rt.doc.Workflow.Steps {
		do, undo := r.StepAt(s.ID, false), r.StepAt(s.ID, true)
		if s.Compensate != nil && do != nil && do.Done && (undo == nil || !undo.Done) {
			steps = append(steps, s.ID)
		}
	}
	return steps
}

func errorContext(f *stepFailure) json.RawMessage {
	raw, err := json.Marshal(map[string]string{"step": f.step, "code": f.code, "message": f.message})
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}
