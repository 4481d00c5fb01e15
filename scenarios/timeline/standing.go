package timeline

import (
	"slices"

	"faultlab/engine"
	"faultlab/faultprovider"
)

// share is one run's part in an operation: what the run believes, and what stands of it. An effect counts for the
// run that made it; where a run made none and was told that it is done, it was told of another's.
type share struct {
	engine.Pair
	made  int  // effects, of which Standing stand
	twice bool // an inverse was made more than once
}

// undoing is a write that takes effects away: of a compensation, or of a child that one called.
type undoing struct {
	belief  engine.Belief
	effects []faultprovider.Effect
}

// share works out what stands of an operation for one of its runs.
func (f *fold) share(o *op, i int, eo *engine.Operation) share {
	r := f.runs.items[i]
	s := share{Pair: engine.Pair{Belief: r.BeliefOf(eo)}}
	effects := madeBy(o.effects, r.ID)
	if s.made = len(effects); s.made == 0 && (s.Belief == engine.BeliefDone || s.Belief == engine.BeliefCompensated) {
		effects = o.effects
	}
	if o.key.undo {
		s.Standing = len(effects)
		return s
	}
	inverses, begun := f.undoings(i, o.key.step)
	inverses, own := concerning(inverses, effects, o.inverse)
	spare := 0
	for _, u := range inverses {
		s.Inverse = worse(s.Inverse, u.belief)
		s.twice = s.twice || len(u.effects) > 1
		if !own {
			spare += len(u.effects)
		}
	}
	if len(inverses) == 0 {
		s.Inverse = begun
	}
	for _, e := range effects {
		by := undoersOf(e, o.inverse)
		switch {
		case e.UndoneBy == "" && spare > 0:
			spare--
		case e.UndoneBy == "":
			s.Standing++
		case s.Inverse == "" && slices.ContainsFunc(by, func(u faultprovider.Effect) bool { return runOf(u) == r.ID }):
			s.Inverse = engine.BeliefDone // by a step of the run itself
		}
		s.twice = s.twice || len(by) > 1
	}
	return s
}

// undoings are the writes that undo a step of run i: those of its compensation, of the
// children that this called, and of the compensation of the step that called the run.
// begun is what is believed of the compensations as a whole; empty where none was begun.
func (f *fold) undoings(i int, step string) (out []undoing, begun engine.Belief) {
	r := f.runs.items[i]
	if s := r.StepAt(step, false); s != nil {
		begun = r.InverseOf(s)
	}
	if u := r.StepAt(step, true); u != nil {
		out = f.writes(i, u)
		for _, c := range f.children(i, step, true) {
			out = append(out, f.allWrites(c)...)
		}
	}
	up := r.Admitted.Parent
	if up == nil {
		return out, begun
	}
	n, ok := f.run(up.Run)
	if !ok {
		return out, begun
	}
	for _, s := range f.runs.items[n].Steps {
		if !s.Undo && up.Of(s.ID, false) {
			more, above := f.undoings(n, s.ID)
			out, begun = append(out, more...), worse(begun, above)
		}
	}
	return out, begun
}

// writes are those of one step of a run, or of its compensation.
func (f *fold) writes(i int, s *engine.Step) (out []undoing) {
	r := f.runs.items[i]
	k := f.index.keyOf(r)
	for _, eo := range r.Operations(s) {
		if len(eo.Calls) == 0 {
			continue
		}
		u := undoing{belief: r.BeliefOf(eo)}
		if o := f.find(k.of(eo)); o != nil {
			u.effects = madeBy(o.effects, r.ID)
		}
		out = append(out, u)
	}
	return out
}

// allWrites are those of a run and of all that it called.
func (f *fold) allWrites(i int) (out []undoing) {
	for _, s := range f.runs.items[i].Steps {
		out = append(out, f.writes(i, s)...)
		for _, c := range f.children(i, s.ID, s.Undo) {
			out = append(out, f.allWrites(c)...)
		}
	}
	return out
}

// children are the runs that a step called, as far as this fold has come.
func (f *fold) children(i int, step string, undo bool) (out []int) {
	for _, c := range f.index.called[f.runs.items[i].ID] {
		if c < len(f.runs.items) && f.runs.items[c].Admitted.Parent.Of(step, undo) {
			out = append(out, c)
		}
	}
	return out
}

// concerning picks the writes that undo these effects. The ledger pairs some with an
// effect by what they say; of the others it is known only whose compensation they are, and
// that stands for every operation of its step. own: the ledger says that they are of these effects.
func concerning(all []undoing, effects, inverse []faultprovider.Effect) (picked []undoing, own bool) {
	var others []undoing
	for _, u := range all {
		switch {
		case slices.ContainsFunc(u.effects, func(e faultprovider.Effect) bool { return pairedWith(e, effects, inverse) }):
			picked = append(picked, u)
		case len(u.effects) == 0 || !slices.ContainsFunc(u.effects, func(e faultprovider.Effect) bool { return e.Of != "" }):
			others = append(others, u)
		}
	}
	switch {
	case len(picked) > 0:
		return picked, true
	case len(others) > 0:
		return others, false
	}
	return all, false
}

// pairedWith reports whether the ledger pairs an effect with one of these.
func pairedWith(e faultprovider.Effect, effects, inverse []faultprovider.Effect) bool {
	return slices.ContainsFunc(effects, func(of faultprovider.Effect) bool {
		return of.UndoneBy == e.ID || e.Of == of.ID && slices.ContainsFunc(inverse, func(u faultprovider.Effect) bool { return sameEffect(u, e) })
	})
}

func undoersOf(e faultprovider.Effect, inverse []faultprovider.Effect) (out []faultprovider.Effect) {
	for _, u := range inverse {
		if u.Of == e.ID {
			out = append(out, u)
		}
	}
	return out
}

func madeBy(all []faultprovider.Effect, run string) (out []faultprovider.Effect) {
	for _, e := range all {
		if runOf(e) == run {
			out = append(out, e)
		}
	}
	return out
}

func runOf(e faultprovider.Effect) string {
	id, _ := engine.ParseRequestID(e.RequestID)
	return id.Run
}

// worse is the one of two beliefs about inverses that is farther from done; none was begun for the empty one.
func worse(a, b engine.Belief) engine.Belief {
	for _, x := range []engine.Belief{engine.BeliefUnknown, engine.BeliefOpen, engine.BeliefNotDone, engine.BeliefDone} {
		if a == x || b == x {
			return x
		}
	}
	return ""
}

// standing counts the effects that stand, over all runs, of those that were made.
func (o *op) standing() (standing, made int) {
	for _, s := range o.shares {
		if s.made > 0 {
			standing, made = standing+s.Standing, made+s.made
		}
	}
	return standing, made
}

// verdict compares what the runs of an operation believe with what stands of it, the
// worst first, and counts the effects that do not stand.
func (o *op) verdict(belief engine.Belief) (v engine.Verdict, undone int) {
	standing, made := o.standing()
	var told []engine.Pair
	for _, s := range o.shares {
		if s.Belief == engine.BeliefDone || s.Belief == engine.BeliefCompensated {
			told = append(told, s.Pair)
		}
	}
	if len(told) == 0 || standing > 1 {
		told = []engine.Pair{{Belief: belief, Standing: standing}}
	}
	for _, p := range told {
		if is := engine.VerdictOf(p); v == "" || is.Gravity() > v.Gravity() || is == engine.OneEffect && v.Gravity() == 0 {
			v = is
		}
	}
	return v, made - standing
}
