package timeline

import (
	"strings"

	"faultlab/engine"
)

// RunVerdict is how a run compares with what stands of it.
type RunVerdict struct {
	engine.RunVerdict          // empty while the run is open
	Stands            []string // the operations that it began and that stand, by name
	Missing           []string // those that do not
}

// Why tells the verdict in a sentence; empty while there is nothing to tell.
func (v RunVerdict) Why() string {
	switch v.RunVerdict {
	case engine.RunWhole:
		return "The run succeeded, and everything that it began stands."
	case engine.RunNothing:
		return "The run did not succeed, and nothing of it stands."
	case engine.RunHalfDone:
		return "Part of the run stands" + listed(": ", v.Stands) + ". Part of it does not" + listed(": ", v.Missing) + "."
	case engine.RunPhantomSuccess:
		return "The run succeeded, and nothing that it began stands" + listed(": ", v.Missing) + "."
	case engine.RunFailedThoughDone:
		return "The run did not succeed, although everything that it began stands" + listed(": ", v.Stands) + "."
	case engine.RunUnresolved:
		return "Something of the run is unknown: settle it, then it is known what stands."
	case engine.RunDuplicate:
		return "Something of the run stands twice, or was undone twice."
	}
	return ""
}

func listed(before string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return before + strings.Join(names, ", ")
}

// runVerdicts are those of all runs, in their order.
func (f *fold) runVerdicts() []RunVerdict {
	if f.verdicts == nil {
		f.verdicts = make([]RunVerdict, len(f.runs.items))
		known := make([]bool, len(f.runs.items))
		for i := range f.runs.items {
			f.runVerdict(i, known)
		}
	}
	return f.verdicts
}

// runVerdict works one run's verdict out, its children's first.
func (f *fold) runVerdict(i int, known []bool) engine.RunVerdict {
	r := f.runs.items[i]
	if known[i] || !r.Status.Ended() {
		return f.verdicts[i].RunVerdict
	}
	known[i] = true
	out := &f.verdicts[i]
	s := engine.Stands{Status: r.Status, Reconcile: r.Reconcile, Whole: true}
	steps := 0
	for _, step := range r.Steps {
		if step.Undo {
			continue
		}
		steps++
		f.begun(&s, out, i, step)
		for _, c := range f.children(i, step.ID, false) {
			if f.runs.items[c].Admitted.Parent.Wait {
				out.begun(&s, f.runVerdict(c, known).Stand(), operationName(step.ID, "run of "+f.runs.items[c].Admitted.Workflow, true))
			}
		}
	}
	if stepsOf(r) > steps {
		s.Whole = false
	}
	out.RunVerdict = engine.RunVerdictOf(s)
	return out.RunVerdict
}

// begun adds what one operation that the run began counts for.
func (v *RunVerdict) begun(s *engine.Stands, b engine.Stand, name string) {
	s.Begun = append(s.Begun, b)
	if b.Standing > 0 {
		v.Stands = append(v.Stands, name)
	} else {
		v.Missing = append(v.Missing, name)
	}
}

// begun adds what stands of the operations that a run began in a step.
func (f *fold) begun(s *engine.Stands, v *RunVerdict, i int, step *engine.Step) {
	r := f.runs.items[i]
	k, writes := f.index.keyOf(r), r.Operations(step)
	for _, eo := range writes {
		if len(eo.Calls) == 0 {
			continue
		}
		if eo.Unsent() {
			s.Whole = false
			continue
		}
		o := f.find(k.of(eo))
		if o == nil {
			continue
		}
		for n, run := range o.runs {
			if run != i {
				continue
			}
			if b, ok := o.stand(o.shares[n], eo, s.Status); ok {
				v.begun(s, b, operationName(step.ID, eo.Write, len(writes) > 1))
			}
		}
	}
}

// stand is what an operation counts for in its run's verdict. What no ledger counts stands if it is believed done
// and changed a row; what it did not change, or a run that succeeded could do without, was not begun.
func (o *op) stand(s share, eo *engine.Operation, status engine.Status) (engine.Stand, bool) {
	out := engine.Stand{Standing: s.Standing, Unknown: s.Belief == engine.BeliefUnknown || s.Inverse == engine.BeliefUnknown, Twice: s.twice}
	if all, _ := o.standing(); all > 1 { // by another run of the operation
		out.Standing = all
	}
	if !o.beyond {
		return out, true
	}
	switch s.Belief {
	case engine.BeliefDone:
		out.Standing = 1
		return out, eo.Rows() > 0
	case engine.BeliefCompensated:
		return out, true
	}
	return out, status != engine.StatusSucceeded || out.Unknown
}

// stepsOf is how many steps the document of a run has; 0 where that is not known.
func stepsOf(r *engine.Run) int {
	d, _ := Document([]byte(r.Admitted.Source))
	if d == nil {
		return 0
	}
	return len(d.Workflow.Steps)
}

// WorstRun is the index of the run with the gravest verdict, the newest of those; -1 where there is none.
func (v *View) WorstRun() int {
	worst := -1
	for i, is := range v.RunVerdicts {
		if is.RunVerdict != "" && (worst < 0 || is.Gravity() >= v.RunVerdicts[worst].Gravity()) {
			worst = i
		}
	}
	return worst
}
