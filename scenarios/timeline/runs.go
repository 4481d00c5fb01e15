package timeline

import (
	"slices"

	"faultlab/engine"
)

// runFold folds events into runs and shares with earlier views whatever did not
// change: a run, step, attempt or call that a view has seen is never written to
// again; the path to what changes is copied first.
type runFold struct {
	list  []*engine.Run
	index map[string]int // by run id; shared by all folds of one timeline, which number runs alike
	mine  map[any]bool   // what no view has seen yet
	own   bool           // list itself is not shared
}

func newRunFold(index map[string]int) *runFold {
	return &runFold{index: index, mine: map[any]bool{}, own: true}
}

// freeze gives the runs away: nothing reachable from them changes any more.
func (f *runFold) freeze() []*engine.Run {
	clear(f.mine)
	f.own = false
	return f.list[:len(f.list):len(f.list)]
}

// thawed is a fold that goes on from runs that freeze gave away.
func thawed(list []*engine.Run, index map[string]int) *runFold {
	return &runFold{list: list, index: index, mine: map[any]bool{}}
}

// at is the index of a run, and whether this fold has reached it.
func (f *runFold) at(run string) (int, bool) {
	i, ok := f.index[run]
	return i, ok && i < len(f.list)
}

// apply folds one event in and tells which run it belongs to; -1 for an event
// of a run that was never admitted here.
func (f *runFold) apply(e engine.Event) int {
	if !f.own {
		f.list, f.own = slices.Clone(f.list), true
	}
	i, ok := f.at(e.Run)
	if !ok {
		if e.Fact.Kind() != engine.KindAdmitted {
			return -1
		}
		i = len(f.list)
		r := &engine.Run{}
		f.mine[r] = true
		f.list, f.index[e.Run] = append(f.list, r), i
	}
	r := f.list[i]
	if owned(f.mine, &r, cloneRun) {
		f.list[i] = r
	}
	if p, ok := PosOf(e.Fact); ok {
		f.open(r, p, settles(e.Fact))
	}
	if e.Fact.Kind() == engine.KindResumed { // calls of any step can be open again
		for _, s := range r.Steps {
			f.open(r, engine.Pos{Step: s.ID, Undo: s.Undo, Attempt: len(s.Attempts)}, true)
		}
	}
	r.Apply(e)
	return i
}

// open makes the step, attempt and call at p writable, and with all every call of the step.
func (f *runFold) open(r *engine.Run, p engine.Pos, all bool) {
	for i := range r.Steps {
		if s := r.Steps[i]; s.ID != p.Step || s.Undo != p.Undo {
			continue
		}
		owned(f.mine, &r.Steps[i], cloneStep)
		s := r.Steps[i]
		for n := range s.Attempts {
			if all || n == p.Attempt-1 {
				owned(f.mine, &s.Attempts[n], cloneAttempt)
				f.openCalls(s.Attempts[n], p, all)
			}
		}
		return
	}
}

func (f *runFold) openCalls(a *engine.Attempt, p engine.Pos, all bool) {
	for j := range a.Calls {
		if !all && j != p.Call-1 {
			continue
		}
		owned(f.mine, &a.Calls[j], cloneCall)
		for k := range a.Calls[j].Requests {
			owned(f.mine, &a.Calls[j].Requests[k], cloneRequest)
		}
	}
}

// owned makes *p writable: it is replaced by a copy unless it is one already. It reports whether it was replaced.
func owned[T any](mine map[any]bool, p **T, clone func(T) T) bool {
	if mine[*p] {
		return false
	}
	c := clone(**p)
	*p = &c
	mine[&c] = true
	return true
}

func cloneRun(r engine.Run) engine.Run {
	r.Steps = slices.Clone(r.Steps)
	return r
}

func cloneStep(s engine.Step) engine.Step {
	s.Attempts = slices.Clone(s.Attempts)
	return s
}

func cloneAttempt(a engine.Attempt) engine.Attempt {
	a.Calls = slices.Clone(a.Calls)
	return a
}

func cloneCall(c engine.Call) engine.Call {
	c.Requests, c.Evidence, c.Decisions = slices.Clone(c.Requests), slices.Clone(c.Evidence), slices.Clone(c.Decisions)
	return c
}

func cloneRequest(q engine.Request) engine.Request { return q }

// settles reports whether a fact can change other calls of its step: an accepted reply settles others.
func settles(f engine.Fact) bool {
	e, ok := f.(engine.CallEnded)
	return ok && e.How == engine.HowAccepted
}

// PosOf is where in its run a fact happened; false for facts about the whole run.
func PosOf(f engine.Fact) (engine.Pos, bool) {
	switch f := f.(type) {
	case engine.AttemptStarted:
		return f.Pos, true
	case engine.CallStarted:
		return f.Pos, true
	case engine.RequestSent:
		return f.Pos, true
	case engine.RequestEnded:
		return f.Pos, true
	case engine.NotSent:
		return f.Pos, true
	case engine.CallEnded:
		return f.Pos, true
	case engine.AttemptEnded:
		return f.Pos, true
	case engine.Waiting:
		return f.Pos, true
	case engine.Evidence:
		return f.Pos, true
	case engine.Decided:
		return f.Pos, true
	}
	return engine.Pos{}, false
}
