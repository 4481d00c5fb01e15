package engine

import (
	"fmt"

	"faultlab/engine/woml"
)

// UndoneIn is the run that undid what an operation of this run is believed to have done:
// both sent it under one key, and the other one compensated it. A reply that replays what
// was undone proves nothing that stands. It is empty where there is no such run.
func (r *Run) UndoneIn(h History, o *Operation) (string, error) {
	if o.Undo || r.BeliefOf(o) != BeliefDone {
		return "", nil
	}
	seen := map[string]bool{"": true}
	for _, c := range o.Calls {
		if seen[c.Key] {
			continue
		}
		seen[c.Key] = true
		runs, err := h.KeyRuns(c.Key)
		if err != nil {
			return "", fmt.Errorf("look for runs that sent the key: %w", err)
		}
		for _, id := range runs {
			if id == r.ID {
				continue
			}
			events, err := h.Events(id)
			if err != nil {
				return "", fmt.Errorf("read run %s: %w", id, err)
			}
			if Fold(events).undid(c) {
				return id, nil
			}
		}
	}
	return "", nil
}

// undid reports whether the run compensated what a call of another run asked for.
func (r *Run) undid(c *Call) bool {
	for _, s := range r.Steps {
		for _, o := range r.Operations(s) {
			if r.BeliefOf(o) != BeliefCompensated {
				continue
			}
			for _, own := range o.Calls {
				if own.Key == c.Key && own.alike(c) {
					return true
				}
			}
		}
	}
	return false
}

// BelievedVerdict is the run's verdict as far as a history alone says: what is believed
// done counts as standing. Phantom successes and duplicates show only in a ledger.
func (r *Run) BelievedVerdict(h History) (RunVerdict, error) {
	s := Stands{Status: r.Status, Reconcile: r.Reconcile, Whole: true}
	if !r.Status.Ended() {
		return "", nil
	}
	steps := 0
	for _, step := range r.Steps {
		if step.Undo {
			continue
		}
		steps++
		for _, o := range r.Operations(step) {
			if o.Unsent() {
				s.Whole = false
				continue
			}
			undone, err := r.UndoneIn(h, o)
			if err != nil {
				return "", err
			}
			if b, ok := r.stand(o); ok {
				if undone != "" {
					b.Standing = 0
				}
				s.Begun = append(s.Begun, b)
			}
		}
		if err := r.childrensStands(h, step, &s); err != nil {
			return "", err
		}
	}
	if doc, _ := woml.Parse([]byte(r.Admitted.Source)); doc != nil && steps < len(doc.Workflow.Steps) {
		s.Whole = false
	}
	return RunVerdictOf(s), nil
}

// childrensStands adds the verdicts of the runs that a step called and waited for.
func (r *Run) childrensStands(h History, s *Step, to *Stands) error {
	seen := map[string]bool{"": true}
	for _, a := range s.Attempts {
		for _, c := range a.Calls {
			if seen[c.Child] || c.Operation != "call" {
				continue
			}
			seen[c.Child] = true
			events, err := h.Events(c.Child)
			if err != nil {
				return fmt.Errorf("read run %s: %w", c.Child, err)
			}
			v, err := Fold(events).BelievedVerdict(h)
			if err != nil {
				return err
			}
			b := v.Stand()
			if r.undone(s) {
				b.Standing = 0
			}
			to.Begun = append(to.Begun, b)
		}
	}
	return nil
}

// stand is what an operation counts for by belief alone; ok is false for one that was not begun.
func (r *Run) stand(o *Operation) (b Stand, ok bool) {
	belief := r.BeliefOf(o)
	switch {
	case len(o.Calls) == 0:
		return b, false
	case belief == BeliefUnknown || r.InverseOf(r.StepAt(o.Step, o.Undo)) == BeliefUnknown:
		return Stand{Unknown: true}, true
	case belief == BeliefDone:
		b.Standing = 1
	}
	if o.Local() {
		return b, belief == BeliefDone && o.Rows() > 0 || belief == BeliefCompensated || belief == BeliefNotDone && r.Status != StatusSucceeded
	}
	return b, true
}

// Unsent reports whether the operation was called for and no call of it ever left.
func (o *Operation) Unsent() bool {
	for _, c := range o.Calls {
		if c.How != HowNeverSent {
			return false
		}
	}
	return len(o.Calls) > 0
}

// Local reports whether nobody was asked for the operation over HTTP.
func (o *Operation) Local() bool {
	for _, c := range o.Calls {
		if len(c.Requests) > 0 || c.Service == "http" || c.Service == "fetch" {
			return false
		}
	}
	return true
}

// Rows is how many rows a local write changed; one for a call whose result nobody has: a person recorded that it was carried out.
func (o *Operation) Rows() (n int64) {
	for _, c := range o.Calls {
		if n += c.Rows; c.Rows == 0 && c.recorded() {
			n++
		}
	}
	return n
}
