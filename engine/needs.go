package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"faultlab/engine/woml"
)

// NeedsError says what an open run needs and does not find here. No attempt is spent on
// it: it is left as it is until it does.
type NeedsError struct {
	Run       string
	Secrets   []string // that are not set
	Workflows []string // that are not loaded
}

func (e *NeedsError) Error() string {
	var missing []string
	if len(e.Secrets) > 0 {
		missing = append(missing, "the secret "+strings.Join(e.Secrets, " and ")+", which is not set")
	}
	if len(e.Workflows) > 0 {
		missing = append(missing, "the workflow "+strings.Join(e.Workflows, " and ")+", whose document was not given")
	}
	return fmt.Sprintf("run %s needs %s", e.Run, strings.Join(missing, " and "))
}

// needs tells what the run still needs and does not find here: for its steps that are not
// done, and for its inverses that are not made.
func (e *Engine) needs(rt *running) error {
	missing := NeedsError{Run: rt.id}
	for _, s := range rt.scriptsAhead() {
		for _, name := range s.Secrets {
			if e.o.Secrets == nil {
				break
			}
			if _, ok := e.o.Secrets(name); !ok && !slices.Contains(missing.Secrets, name) {
				missing.Secrets = append(missing.Secrets, name)
			}
		}
		for _, id := range s.Workflows {
			known, err := e.loadKnown(id)
			if err != nil {
				return err
			}
			if !known && !slices.Contains(missing.Workflows, id) {
				missing.Workflows = append(missing.Workflows, id)
			}
		}
	}
	if len(missing.Secrets)+len(missing.Workflows) == 0 {
		return nil
	}
	return &missing
}

// loadKnown reports whether a workflow can be called. One that is not loaded is known by
// the document of its newest run, which is loaded then.
func (e *Engine) loadKnown(workflow string) (known bool, err error) {
	e.mu.Lock()
	known = e.docs[workflow] != nil
	e.mu.Unlock()
	if known {
		return true, nil
	}
	runs, err := e.o.History.Runs(Query{Workflow: workflow, Limit: 1})
	if err != nil || len(runs) == 0 {
		return false, err
	}
	r, err := e.Get(runs[0].Run)
	if err != nil {
		return false, nil // it is damaged: the document must be given
	}
	doc, err := e.document(r.Admitted)
	if err != nil {
		return false, nil
	}
	e.Load(doc)
	return true, nil
}

// scriptsAhead are those that can still run.
func (rt *running) scriptsAhead() (ahead []woml.Script) {
	rt.read(func(r *Run) {
		for _, s := range rt.doc.Workflow.Steps {
			do, undo := r.StepAt(s.ID, false), r.StepAt(s.ID, true)
			done := do != nil && do.Done
			if !done && r.takesUp() {
				ahead = append(ahead, s.Script)
			}
			if s.Compensate != nil && (done || r.takesUp()) && (undo == nil || !undo.Done) && !r.keeps() {
				ahead = append(ahead, s.Compensate.Script)
			}
		}
	})
	return ahead
}

// leftForNeeds is the error unless it says what a run needs: that is told at the start of
// the engine that finds it, and the run goes on when one has all of it.
func leftForNeeds(err error) error {
	if errors.As(err, new(*NeedsError)) {
		return nil
	}
	return err
}
