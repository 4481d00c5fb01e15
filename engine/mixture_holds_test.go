package engine_test

import (
	"slices"
	"strings"

	"faultlab/engine"
	"faultlab/engine/woml"
)

// keepsNothing checks that a run was not asked to keep what it did at the moment at which an inverse of it arrives.
func (m *mixture) keepsNothing(id string) {
	if run := m.get(id); run.CancelAsked && run.Keep {
		m.fail("%s was cancelled and keeps what stands, and an inverse of it arrives", id)
	}
}

// nothingUnknown checks a run and its children at the moment at which an inverse of it arrives.
func (m *mixture) nothingUnknown(id string) {
	run := m.get(id)
	for _, s := range run.Steps {
		if !s.Undo && run.StepBelief(s) == engine.BeliefUnknown {
			m.fail("%s of %s is unknown, and an inverse of the run arrives", s.ID, id)
		}
		for _, c := range callsOf(s) {
			if c.Child == "" {
				continue
			}
			child := m.get(c.Child)
			if !child.Status.Ended() || child.Reconcile {
				m.fail("the child %s (%s, reconcile %v) of %s is not settled, and an inverse of the run arrives", c.Child, child.Status, child.Reconcile, id)
			}
			m.nothingUnknown(c.Child)
		}
	}
}

// nothingShared checks that no other run was in doubt about an enforced key of a run when its first inverse began.
func (m *mixture) nothingShared(id string) {
	run := m.get(id)
	var keys []string
	var first *engine.Call
	for _, s := range run.Steps {
		for _, c := range callsOf(s) {
			switch {
			case c.Undo && first != nil:
				return
			case c.Undo:
				first = c
			case c.Key != "" && c.Effect == engine.KeyedWrite && len(c.Requests) > 0 && !c.Requests[0].NotSent:
				keys = append(keys, c.Key)
			}
		}
	}
	for _, other := range m.runs {
		if other == id {
			continue
		}
		o := m.get(other)
		if !o.Status.Ended() || !o.EndedAt.Before(first.StartedAt) {
			continue
		}
		for _, c := range o.Unsettled() {
			if slices.Contains(keys, c.Key) && o.BeliefOf(o.OperationOf(c)) == engine.BeliefUnknown {
				m.fail("%s does not know what became of %s, which %s sent too, and an inverse of that arrives", other, c.Key, id)
			}
		}
	}
}

func callsOf(s *engine.Step) (calls []*engine.Call) {
	for _, a := range s.Attempts {
		calls = append(calls, a.Calls...)
	}
	return calls
}

// atRest checks all runs against the world once nothing moves.
func (m *mixture) atRest() {
	sent := map[string]int{}
	for _, s := range m.world.seen {
		if sent[s.id]++; s.method != "GET" && sent[s.id] > 1 {
			m.rt.Fatalf("request %s arrived twice", s.id)
		}
	}
	for _, id := range m.runs {
		run := m.get(id)
		m.listed(m.rt, id)
		if !run.Status.Ended() && !run.Reconcile {
			m.rt.Fatalf("run %s is %s, and nothing is left to do", id, run.Status)
		}
		for _, s := range run.Steps {
			for _, o := range run.Operations(s) {
				if len(o.Calls) > 0 {
					m.believed(run, s, o)
				}
			}
			m.childrenListed(run, s)
		}
	}
}

// believed holds what a run believes of one write against the world.
func (m *mixture) believed(run *engine.Run, s *engine.Step, o *engine.Operation) {
	made, there, keys := m.effectsOf(run, o), m.anyEffect(run, o), 0
	for _, key := range keysUsed(o) {
		if _, ok := m.world.effects[key]; ok {
			keys++
		}
	}
	forced, marked := 0, false
	for _, c := range o.Calls {
		marked = marked || c.Effect == engine.LocalWrite
		for _, d := range c.Decisions {
			if d.Decision == engine.Resubmit && d.Forced != "" {
				forced++
			}
		}
	}
	switch belief := run.BeliefOf(o); {
	case keys > 1, made > 1+forced:
		m.rt.Fatalf("%s of %s has %d effects under %d keys, and %d were forced", o.Write, run.ID, made, keys, forced)
	case belief == engine.BeliefUnknown && marked:
		m.rt.Fatalf("the row %s of %s is unknown, and its mark says what became of it", o.Write, run.ID)
	case (belief == engine.BeliefDone || belief == engine.BeliefCompensated) && !there:
		m.rt.Fatalf("%s of %s in %s is believed %s, and there is no effect", o.Write, s.ID, run.ID, belief)
	case belief == engine.BeliefNotDone && made > 0:
		m.rt.Fatalf("%s of %s in %s is believed not done, and its effect is there", o.Write, s.ID, run.ID)
	case belief == engine.BeliefUnknown && run.Status.Ended() && !run.Reconcile:
		m.rt.Fatalf("%s of %s in %s is unknown, and the run does not say so", o.Write, s.ID, run.ID)
	}
}

// childrenListed checks that a run which has ended says that a child of one of its steps is not settled.
func (m *mixture) childrenListed(run *engine.Run, s *engine.Step) {
	for _, c := range callsOf(s) {
		if c.Child == "" || !run.Status.Ended() {
			continue
		}
		if child := m.get(c.Child); (!child.Status.Ended() || child.Reconcile) && !run.Reconcile {
			m.rt.Fatalf("%s has ended (%s), its child %s is %s (reconcile %v), and the run does not say so", run.ID, run.Status, c.Child, child.Status, child.Reconcile)
		}
	}
}

// effectsOf counts the effects that the requests and rows of a run made for one of its writes.
func (m *mixture) effectsOf(run *engine.Run, o *engine.Operation) int {
	return m.effectsAs(run, nameOf(o), run.StepAt(o.Step, o.Undo))
}

func (m *mixture) effectsAs(run *engine.Run, name string, s *engine.Step) (n int) {
	if s != nil {
		n = m.file.rows[name+" "+s.Last().Key]
	}
	for _, r := range m.world.records {
		if id, ok := engine.ParseRequestID(r.id); ok && id.Run == run.ID && strings.TrimPrefix(strings.TrimPrefix(r.path, loosePrefix), "/") == name {
			n++
		}
	}
	return n
}

// anyEffect reports whether a write has an effect, also one that another run made under its enforced key.
func (m *mixture) anyEffect(run *engine.Run, o *engine.Operation) bool {
	return m.effectsOf(run, o) > 0 || slices.ContainsFunc(m.world.records, func(r record) bool {
		return !strings.HasPrefix(r.path, loosePrefix) && slices.Contains(keysUsed(o), r.key)
	})
}

// nameOf is the name that the script gave a write.
func nameOf(o *engine.Operation) string {
	name, _, _ := strings.Cut(o.Write, " #")
	return name
}

// keysUsed are the enforced keys of an operation.
func keysUsed(o *engine.Operation) (keys []string) {
	for _, c := range o.Calls {
		if c.Key != "" && c.Effect == engine.KeyedWrite && !slices.Contains(keys, c.Key) {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// settled checks what holds once nobody has anything left to decide: each inverse that a
// failed run owes was tried, and what a run says of itself as a whole is so.
func (m *mixture) settled() {
	for _, id := range m.runs {
		run := m.get(id)
		if run.Reconcile {
			continue
		}
		doc := m.docs[slices.IndexFunc(m.docs, func(d *woml.Document) bool { return d.Workflow.ID == run.Admitted.Workflow })]
		for _, s := range doc.Workflow.Steps {
			do, undo := run.StepAt(s.ID, false), run.StepAt(s.ID, true)
			if s.Compensate != nil && do != nil && do.Done && undo == nil && run.Status != engine.StatusSucceeded && !run.Keep {
				m.rt.Fatalf("%s %s, and the inverse of %s was never tried", id, run.Status, s.ID)
			}
			if do != nil {
				m.undone(run, do)
			}
		}
		m.whole(run)
	}
}

// undone checks that what a run calls compensated was undone by each write of the inverse.
func (m *mixture) undone(run *engine.Run, s *engine.Step) {
	for _, o := range run.Operations(s) {
		if run.BeliefOf(o) == engine.BeliefCompensated && !m.inverseMade(run, s) {
			m.rt.Fatalf("%s of %s in %s is called undone, and its inverse was not made: %v", o.Write, s.ID, run.ID, m.inverses[inverseOf(run, s)])
		}
	}
}

func inverseOf(run *engine.Run, s *engine.Step) string {
	return run.Admitted.Workflow + strings.TrimPrefix(s.ID, "s")
}

// inverseMade reports whether each write of a step's inverse has an effect, or a person has given the inverse's result.
func (m *mixture) inverseMade(run *engine.Run, s *engine.Step) bool {
	undo := run.StepAt(s.ID, true)
	byHand := func(c *engine.Call) bool { d := c.Decision(); return d != nil && len(d.Result) > 0 }
	if undo != nil && slices.ContainsFunc(callsOf(undo), byHand) {
		return true
	}
	for _, name := range m.inverses[inverseOf(run, s)] {
		made := m.effectsAs(run, name, undo) > 0
		_, shared := m.world.effects["o1/"+name]
		if !made && !shared {
			return false
		}
	}
	return undo != nil
}

// whole checks what a run is said to have come to.
func (m *mixture) whole(run *engine.Run) {
	verdict, err := run.BelievedVerdict(m.hist)
	if err != nil {
		m.rt.Fatal(err)
	}
	for _, s := range run.Steps {
		if s.Undo {
			continue
		}
		for _, o := range run.Operations(s) {
			if len(o.Calls) == 0 {
				continue
			}
			made := m.effectsOf(run, o) > 0
			if verdict == engine.RunWhole && !o.Unsent() && !o.Local() && !m.anyEffect(run, o) {
				m.rt.Fatalf("%s is whole, and %s has no effect", run.ID, o.Write)
			}
			if verdict != engine.RunNothing || !made || m.inverseMade(run, s) {
				continue
			}
			if by, err := run.UndoneIn(m.hist, o); err != nil || by == "" {
				m.rt.Fatalf("nothing stands of %s, it says, and %s does (%v)", run.ID, o.Write, err)
			}
		}
	}
}
