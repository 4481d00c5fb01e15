package timeline

import (
	"slices"
	"time"

	"faultlab/engine"
	"faultlab/faultprovider"
)

// shared is a list of which views keep what they have seen: an item that was given away is copied before it changes.
type shared[T any] struct {
	items []*T
	own   bool        // items itself was not given away
	mine  map[*T]bool // those that were not given away
	clone func(*T) *T
}

func sharing[T any](items []*T, clone func(*T) *T) shared[T] {
	return shared[T]{items: items, mine: map[*T]bool{}, clone: clone}
}

// freeze gives the list away: nothing reachable from it changes any more.
func (l *shared[T]) freeze() []*T {
	clear(l.mine)
	l.own = false
	return slices.Clip(l.items)
}

// put adds an item at the end, or in the place of another one.
func (l *shared[T]) put(i int, item *T) {
	if !l.own {
		l.items, l.own = slices.Clone(l.items), true
	}
	l.mine[item] = true
	if i < len(l.items) {
		l.items[i] = item
	} else {
		l.items = append(l.items, item)
	}
}

// change is the i-th item, to be written to.
func (l *shared[T]) change(i int) *T {
	if !l.mine[l.items[i]] {
		l.put(i, l.clone(l.items[i]))
	}
	return l.items[i]
}

// fold is runs, operations and effects after n entries.
type fold struct {
	n       int
	index   *index // shared by all folds of one timeline, which number runs, operations and effects alike
	runs    shared[engine.Run]
	ops     shared[op]
	effects shared[faultprovider.Effect]

	touched []int // runs of which something changed: the operations of their families must be derived again
	stale   []int // operations that must be

	// What is made for a view; nil when it must be made again.
	operations []Operation
	verdicts   []RunVerdict
	ledger     []faultprovider.Effect

	asked    time.Time // when operations was made
	doubtful int       // how many of them have doubts
}

// mark is a fold that stands still: a look back starts from it.
type mark struct {
	n       int
	runs    []*engine.Run
	ops     []*op
	effects []*faultprovider.Effect
}

// thaw is a fold that goes on from a mark.
func (t *Timeline) thaw(m mark) *fold {
	return &fold{n: m.n, index: &t.index, runs: sharing(m.runs, cloneRun), ops: sharing(m.ops, cloneOp),
		effects: sharing(m.effects, func(e *faultprovider.Effect) *faultprovider.Effect { return e })}
}

// freeze derives what is stale and gives everything away; the fold goes on with copies of what changes.
func (f *fold) freeze() mark {
	for _, i := range f.touched {
		f.family(i)
	}
	for _, i := range f.stale {
		f.derive(f.ops.items[i])
	}
	if len(f.touched)+len(f.stale) > 0 {
		f.operations, f.verdicts = nil, nil
	}
	f.touched, f.stale = f.touched[:0], f.stale[:0]
	return mark{f.n, f.runs.freeze(), f.ops.freeze(), f.effects.freeze()}
}

// foldAt is a fold of the first n entries. t.fold is held.
func (t *Timeline) foldAt(n int) *fold {
	if n >= t.head.n {
		t.advance(t.head, n)
		return t.head
	}
	if c := t.cursor; c == nil || c.n > n || c.n < n-markEvery {
		m := mark{}
		if i := n / markEvery; i > 0 {
			m = t.marks[i-1]
		}
		t.cursor = t.thaw(m)
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
		t.step(f, e)
		if f != t.head {
			continue
		}
		t.lead(e)
		if f.n%markEvery == 0 {
			t.marks = append(t.marks, f.freeze())
		}
	}
}

// step folds one entry in.
func (t *Timeline) step(f *fold, e Entry) {
	f.n = e.N
	if e.Event != nil {
		if i := f.apply(*e.Event); i >= 0 {
			t.subjectOf(f.runs.items[i])
			f.event(*e.Event, i)
		}
	}
	for i := range e.Effects {
		f.effect(&e.Effects[i])
	}
}

// run is the index of a run, and whether this fold has reached it.
func (f *fold) run(id string) (int, bool) {
	i, ok := f.index.runs[id]
	return i, ok && i < len(f.runs.items)
}

// apply folds one event into its run, and gives the run's index; -1 for a run that was never admitted here.
func (f *fold) apply(e engine.Event) int {
	i, ok := f.run(e.Run)
	if !ok {
		if e.Fact.Kind() != engine.KindAdmitted {
			return -1
		}
		i = len(f.runs.items)
		f.index.runs[e.Run] = i
		f.runs.put(i, &engine.Run{})
	}
	f.runs.change(i).Apply(e)
	return i
}

// cloneRun copies a run with all that an event can change.
func cloneRun(r *engine.Run) *engine.Run {
	c := *r
	c.Steps = clones(r.Steps, func(s *engine.Step) {
		s.Attempts = clones(s.Attempts, func(a *engine.Attempt) {
			a.Calls = clones(a.Calls, func(c *engine.Call) {
				c.Requests = clones(c.Requests, func(*engine.Request) {})
				c.Evidence, c.Decisions = slices.Clone(c.Evidence), slices.Clone(c.Decisions)
			})
		})
	})
	return &c
}

// clones copies each item of a list, and what is below it.
func clones[T any](all []*T, below func(*T)) []*T {
	if all == nil {
		return nil
	}
	copies, out := make([]T, len(all)), make([]*T, len(all))
	for i := range all {
		copies[i] = *all[i]
		below(&copies[i])
		out[i] = &copies[i]
	}
	return out
}

// effect adds an effect to the ledger's list and to the operation that asked for it, or puts it in the place of its former state.
func (f *fold) effect(e *faultprovider.Effect) {
	f.ledger = nil
	name := e.Collection + "/" + e.ID
	i, ok := f.index.effects[name]
	if !ok || i >= len(f.effects.items) {
		i = len(f.effects.items)
		f.index.effects[name] = i
	}
	f.effects.put(i, e)
	if k, run, ok := f.operationOf(e.RequestID); ok {
		f.made(k, *e, run)
	}
}

// values are the effects for a view.
func (f *fold) values() []faultprovider.Effect {
	if f.ledger == nil && len(f.effects.items) > 0 {
		f.ledger = make([]faultprovider.Effect, len(f.effects.items))
		for i, e := range f.effects.items {
			f.ledger[i] = *e
		}
	}
	return f.ledger
}

// subjectOf is the subject of a run's operations. It is worked out once.
func (t *Timeline) subjectOf(r *engine.Run) {
	if _, ok := t.index.subject[r.ID]; !ok {
		t.index.subject[r.ID] = subjectOf(t.o.Subject, r.ID, r.Admitted.Payload)
	}
}

// operationOf finds the operation that a request belongs to, by its X-Request-Id, and the index of its run.
func (f *fold) operationOf(requestID string) (k opKey, run int, ok bool) {
	id, ok := engine.ParseRequestID(requestID)
	if !ok {
		return opKey{}, 0, false
	}
	i, ok := f.run(id.Run)
	if !ok {
		return opKey{}, 0, false
	}
	r := f.runs.items[i]
	if c := callOf(r, id, requestID); c != nil {
		if o := r.OperationOf(c); o != nil {
			return f.index.keyOf(r).of(o), i, true
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

// lead keeps what only grows, and is folded only once.
func (t *Timeline) lead(e Entry) {
	n := Note{}
	if e.Note != nil {
		n = *e.Note
	}
	if e.Log != nil {
		t.index.seen.add(e.Log)
		if took := e.Log.Took; took != nil {
			s := Setting{}
			if all := t.setting.items; len(all) > 0 {
				s = all[len(all)-1]
			}
			s.Faults = took.Left
			n.Bench = &s
		}
	}
	t.setting.add(given(n.Bench)...)
	if !t.o.Bare {
		rows := t.wire.rows(e)
		t.rows.add(rows...)
		t.repeats.add(slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return !r.Hidden || r.Kind != RowSend })...)
	}
	t.log.add(given(e.Log)...)
	t.inbound.add(given(n.Delivery)...)
	t.replies.add(given(n.Reply)...)
	if n.Refused {
		t.refused.add(n)
	} else {
		t.refused.add()
	}
}

// given is what p points to, or nothing.
func given[T any](p *T) []T {
	if p == nil {
		return nil
	}
	return []T{*p}
}
