package timeline

import (
	"encoding/json"
	"slices"

	"faultlab/engine"
	"faultlab/faultprovider"
	"faultlab/faultprovider/fault"
)

// fold is runs, operations and effects after n entries.
type fold struct {
	n       int
	runs    *runFold
	ops     *opFold
	effects []*faultprovider.Effect // those of a view are never written to
	own     bool                    // the list of effects is not shared
	index   *index
	values  []faultprovider.Effect // the same for a view; nil when it must be made again
}

// mark is a fold that stands still: a look back starts from it.
type mark struct {
	n       int
	runs    []*engine.Run
	ops     []*op
	effects []*faultprovider.Effect
}

func (t *Timeline) newFold() *fold {
	return &fold{runs: newRunFold(t.index.runs), ops: newOpFold(&t.index), own: true, index: &t.index}
}

// freeze gives everything away; the fold goes on with copies of what changes.
func (f *fold) freeze() *mark {
	runs := f.runs.freeze()
	f.own = false
	return &mark{n: f.n, runs: runs, ops: f.ops.freeze(runs), effects: f.effects[:len(f.effects):len(f.effects)]}
}

func (t *Timeline) thaw(m *mark) *fold {
	return &fold{n: m.n, runs: thawed(m.runs, t.index.runs), ops: thawedOps(m.ops, &t.index), effects: m.effects, index: &t.index}
}

// foldAt is a fold of the first n entries. t.fold is held.
func (t *Timeline) foldAt(n int) *fold {
	if n >= t.head.n {
		t.advance(t.head, n)
		return t.head
	}
	if c := t.cursor; c == nil || c.n > n || c.n < n-markEvery {
		if i := n / markEvery; i == 0 {
			t.cursor = t.newFold()
		} else {
			t.cursor = t.thaw(t.marks[i-1])
		}
	}
	t.advance(t.cursor, n)
	return t.cursor
}

// advance folds the entries up to the n-th in.
func (t *Timeline) advance(f *fold, n int) {
	if f.n == n {
		return
	}
	for _, e := range t.Slice(f.n+1, n) {
		if f == t.head {
			t.lead(e)
		}
		t.step(f, e)
		if f == t.head && f.n%markEvery == 0 {
			t.marks = append(t.marks, f.freeze())
		}
	}
}

// step folds one entry in.
func (t *Timeline) step(f *fold, e Entry) {
	f.n = e.N
	if e.Event != nil {
		if i := f.runs.apply(*e.Event); i >= 0 {
			t.subjectOf(f.runs.list[i])
			f.ops.event(*e.Event, i, f.runs.list)
		}
	}
	for i := range e.Effects {
		f.effect(&e.Effects[i])
		if k, run, ok := t.operationOf(f, e.Effects[i].RequestID); ok {
			f.ops.effect(k, e.Effects[i], run, f.runs.list)
		}
	}
}

// effect adds an effect to the ledger's list, or puts it in the place of its former state.
func (f *fold) effect(e *faultprovider.Effect) {
	if !f.own {
		f.effects, f.own = slices.Clone(f.effects), true
	}
	f.values = nil
	name := e.Collection + "/" + e.ID
	if i, ok := f.index.effects[name]; ok && i < len(f.effects) {
		f.effects[i] = e
		return
	}
	f.index.effects[name] = len(f.effects)
	f.effects = append(f.effects, e)
}

// ledger is the effects for a view.
func (f *fold) ledger() []faultprovider.Effect {
	if f.values == nil && len(f.effects) > 0 {
		f.values = make([]faultprovider.Effect, len(f.effects))
		for i, e := range f.effects {
			f.values[i] = *e
		}
	}
	return f.values
}

// subjectOf is the subject of a run's operations. It is worked out once.
func (t *Timeline) subjectOf(r *engine.Run) string {
	s, ok := t.index.subject[r.ID]
	if !ok {
		s = subjectOf(t.o.Subject, r.ID, r.Admitted.Payload)
		t.index.subject[r.ID] = s
	}
	return s
}

// operationOf finds the operation that a request belongs to, by its X-Request-Id, and the index of its run.
func (t *Timeline) operationOf(f *fold, requestID string) (k opKey, run int, ok bool) {
	id, ok := engine.ParseRequestID(requestID)
	if !ok {
		return opKey{}, 0, false
	}
	i, ok := f.runs.at(id.Run)
	if !ok {
		return opKey{}, 0, false
	}
	r := f.runs.list[i]
	if c := callOf(r, id, requestID); c != nil {
		if o := r.OperationOf(c); o != nil {
			return t.index.keyOf(r).of(o), i, true
		}
	}
	return opKey{}, 0, false
}

// keyOf is what the operations of a run have in common.
func (x *index) keyOf(r *engine.Run) opKey {
	return opKey{workflow: r.Admitted.Workflow, subject: x.subject[r.ID]}
}

// calls notes that a run was called by another one.
func (x *index) calls(by *engine.Parent, i int) {
	if by != nil && !slices.Contains(x.called[by.Run], i) {
		x.called[by.Run] = append(x.called[by.Run], i)
	}
}

// alone reports whether no run called this one, and it called none.
func (x *index) alone(r *engine.Run) bool {
	return r.Admitted.Parent == nil && len(x.called[r.ID]) == 0
}

// lead keeps what only grows, and is folded only once.
func (t *Timeline) lead(e Entry) {
	rows := t.wire.rows(e)
	t.rows.add(rows...)
	t.repeats.add(repeatsIn(rows)...)
	switch {
	case e.Log != nil:
		t.log.add(*e.Log)
		switch e.Log.Kind {
		case faultprovider.Replay:
			t.index.seen.replayed[e.Log.RequestID] = true
		case faultprovider.NewOperation:
			if e.Log.Key != "" {
				t.index.seen.readings[e.Log.RequestID] = reading{e.Log.Cause, e.Log.Scope}
			}
		case faultprovider.Received:
			t.index.seen.reached[e.Log.RequestID]++
		}
		if s := t.settingAt(e.N); taken(&s, e.Log.Fault) {
			t.bench = append(t.bench, settingAt{e.N, s})
		}
	default:
		t.log.add()
	}
	n := Note{}
	if e.Note != nil {
		n = *e.Note
	}
	if n.Bench != nil {
		t.bench = append(t.bench, settingAt{e.N, *n.Bench})
	}
	t.inbound.add(given(n.Delivery)...)
	t.replies.add(given(n.Reply)...)
	if n.Refused {
		t.refused.add(Refusal{n.Verb, n.Text})
	} else {
		t.refused.add()
	}
}

// repeatsIn are the requests among an entry's rows that a transport sent by itself.
func repeatsIn(rows []Row) (out []Repeat) {
	for _, r := range rows {
		if r.Hidden && r.Kind == RowSend {
			out = append(out, Repeat{r.Run, r.Step, r.Undo, r.Attempt})
		}
	}
	return out
}

// given is what p points to, or nothing.
func given[T any](p *T) []T {
	if p == nil {
		return nil
	}
	return []T{*p}
}

// taken takes the fault that the provider's log calls so off the queue once, if it is there.
func taken(s *Setting, called string) bool {
	for i, text := range s.Faults {
		f, err := fault.Parse(text)
		if err != nil || f.String() != called || f.On.Times == fault.Always {
			continue
		}
		left := slices.Clone(s.Faults[i:])
		if f.On.Times > 1 {
			f.On.Times--
			left[0] = FaultText(f)
		} else {
			left = left[1:]
		}
		s.Faults = slices.Concat(s.Faults[:i], left)
		return true
	}
	return false
}

// FaultText is a queued fault as the fault verb reads it: its name, or its composition as JSON.
func FaultText(f faultprovider.Fault) string {
	text, _ := json.Marshal(f) // a fault is plain data
	var name string
	if json.Unmarshal(text, &name) == nil {
		return name
	}
	return string(text)
}
