package timeline

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/faultprovider"
)

// opKey is what makes two writes of two runs the same operation.
type opKey struct {
	workflow, step string
	undo           bool
	subject        string
	write, route   string // as the engine names them; both empty where the step has sent no write
}

// of is the operation of this write, among those of the same step and subject.
func (k opKey) of(o *engine.Operation) opKey {
	k.step, k.undo, k.write, k.route = o.Step, o.Undo, o.Write, ""
	if len(o.Calls) > 0 {
		k.route = o.Calls[0].Route()
	}
	return k
}

// op is an operation being folded. Like a run, it is copied before it changes once a view has seen it.
type op struct {
	key     opKey
	runs    []int // in order of admission
	effects []faultprovider.Effect
	inverse []faultprovider.Effect // those that the ledger pairs with one of effects
	stale   bool                   // what follows must be derived again
	shares  []share                // one for each of runs
	out     Operation
	doubts  []doubt
	facts   facts     // what out.Why is made of
	asked   time.Time // when out.Options was worked out; zero if it was not
	beyond  bool      // it wrote, but nothing to the provider: the ledger says nothing about it
}

// doubt is a call of which nobody knows whether it happened, and the index of its run.
type doubt struct {
	run  int
	call *engine.Call
}

func cloneOp(o *op) *op {
	c := *o
	c.runs, c.effects, c.inverse = slices.Clone(o.runs), slices.Clone(o.effects), slices.Clone(o.inverse)
	return &c
}

// optionsHold is how long the options of an operation that did not change are taken for right: they depend on a key's age.
const optionsHold = time.Second

// operationsAt are the operations for a view at a moment, those left out that stand for no effect.
func (f *fold) operationsAt(at time.Time, situation Situation) []Operation {
	f.doubtful, f.asked = 0, at
	for _, o := range f.ops.items {
		if len(o.doubts) == 0 {
			continue
		}
		f.doubtful++
		if o.asked.IsZero() || at.Sub(o.asked).Abs() >= optionsHold {
			if o.out.Options, o.facts.next = options(f.runs.items, o.doubts, situation); o.facts.next != nil {
				o.out.Advice = o.facts.next.Advice()
			}
			if !f.index.bare {
				o.out.Why = explain(o.facts)
			}
			o.asked = at
			f.operations = nil
		}
	}
	if f.operations == nil {
		f.operations = make([]Operation, 0, len(f.ops.items))
		for _, o := range f.ops.items {
			if o.shows() {
				f.operations = append(f.operations, o.out)
			}
		}
	}
	return f.operations
}

// outlived reports whether the options of the operations are older than optionsHold.
func (f *fold) outlived(now time.Time) bool {
	return f.doubtful > 0 && now.Sub(f.asked) >= optionsHold
}

// get is the writable operation of this key, made if it is new; its derived part is then stale.
func (f *fold) get(k opKey) *op {
	i, ok := f.index.ops[k]
	if !ok || i >= len(f.ops.items) {
		i = len(f.ops.items)
		f.index.ops[k] = i
		f.ops.put(i, &op{key: k})
	}
	o := f.ops.change(i)
	if !o.stale {
		o.stale = true
		f.stale = append(f.stale, i)
	}
	return o
}

// find is the operation of this key as this fold has it, or nil.
func (f *fold) find(k opKey) *op {
	if i, ok := f.index.ops[k]; ok && i < len(f.ops.items) {
		return f.ops.items[i]
	}
	return nil
}

// event joins what a fact about run i began to its operation.
func (f *fold) event(e engine.Event, i int) {
	r := f.runs.items[i]
	if a, ok := e.Fact.(engine.Admitted); ok {
		f.index.calls(a.Parent, i)
	}
	if p, ok := PosOf(e.Fact); ok {
		if s := r.StepAt(p.Step, p.Undo); s != nil {
			f.step(i, s)
		}
	}
	f.touch(i)
}

func (f *fold) touch(i int) {
	if !slices.Contains(f.touched, i) {
		f.touched = append(f.touched, i)
	}
}

// family marks all operations of a run, of those that it called and of those that called
// it: what one of them did can be what another one undoes.
func (f *fold) family(i int) {
	for up := f.runs.items[i].Admitted.Parent; up != nil; up = f.runs.items[i].Admitted.Parent {
		n, ok := f.run(up.Run)
		if !ok || n == i {
			break
		}
		i = n
	}
	f.descent(i)
}

func (f *fold) descent(i int) {
	r := f.runs.items[i]
	for _, s := range r.Steps {
		f.step(i, s)
	}
	for _, c := range f.index.called[r.ID] {
		if c < len(f.runs.items) && c != i {
			f.descent(c)
		}
	}
}

// step marks the operations of a step of run i, and the one that stood for it before it wrote.
func (f *fold) step(i int, s *engine.Step) {
	r := f.runs.items[i]
	k := f.index.keyOf(r)
	for _, eo := range r.Operations(s) {
		if o := f.get(k.of(eo)); !slices.Contains(o.runs, i) {
			o.runs = append(o.runs, i)
		}
	}
	if k.step, k.undo = s.ID, s.Undo; f.find(k) != nil {
		f.get(k)
	}
}

// made joins a committed or changed effect to the operation that run i asked for it with.
func (f *fold) made(k opKey, e faultprovider.Effect, i int) {
	if f.find(k) == nil {
		return
	}
	o := f.get(k)
	o.effects = put(o.effects, e)
	if _, known := f.index.made[e.ID]; !known {
		f.index.made[e.ID] = f.index.ops[k]
	}
	f.touch(i)                                                     // it may take effects of others away
	if of, ok := f.index.made[e.Of]; ok && of < len(f.ops.items) { // a refund says what it undoes
		o := f.get(f.ops.items[of].key)
		o.inverse = put(o.inverse, e)
	}
}

// put adds an effect, or puts it in the place of its former state.
func put(all []faultprovider.Effect, e faultprovider.Effect) []faultprovider.Effect {
	for i := range all {
		if sameEffect(all[i], e) {
			all[i] = e
			return all
		}
	}
	return append(all, e)
}

func sameEffect(a, b faultprovider.Effect) bool { return a.ID == b.ID && a.Collection == b.Collection }

// subjectOf is the value of the scenario's subject in a run's payload, or the run itself.
func subjectOf(field string, run string, payload json.RawMessage) string {
	if field == "" {
		return run
	}
	for name := range strings.SplitSeq(field, ".") {
		var object map[string]json.RawMessage
		if json.Unmarshal(payload, &object) != nil || object[name] == nil {
			return run
		}
		payload = object[name]
	}
	var text string
	if json.Unmarshal(payload, &text) == nil {
		return text
	}
	return string(payload)
}

// derive is the operation as its runs and effects have it now.
func (f *fold) derive(o *op) {
	all := f.runs.items
	seen := &f.index.seen
	out := Operation{Step: o.key.step, Undo: o.key.undo, Write: o.key.write, Route: o.key.route, Subject: o.key.subject, Effects: slices.Clip(o.effects)}
	var runs []*engine.Run
	var asked []*engine.Operation
	var beliefs []engine.Belief
	o.doubts, o.shares = nil, make([]share, len(o.runs))
	for n, i := range o.runs {
		r := all[i]
		eo := operationIn(r, o.key)
		if eo == nil {
			continue
		}
		runs, asked, out.Runs = append(runs, r), append(asked, eo), append(out.Runs, r.ID)
		out.Several = out.Several || len(r.Operations(r.StepAt(eo.Step, eo.Undo))) > 1
		o.shares[n] = f.share(o, i, eo)
		beliefs = append(beliefs, o.shares[n].Belief)
		for _, c := range r.DoubtsOf(eo) {
			o.doubts = append(o.doubts, doubt{i, c})
		}
	}
	out.Keys = keysOf(asked)
	out.Belief = mergeBeliefs(beliefs)
	out.Verdict, out.Undone = o.verdict(out.Belief)
	for _, d := range o.doubts {
		out.Doubts, out.DoubtRuns = append(out.Doubts, d.call), append(out.DoubtRuns, all[d.run].ID)
	}
	if o.beyond = !asksProvider(asked) && len(out.Effects) == 0; o.beyond && out.Belief != engine.BeliefUnknown {
		out.Verdict = ""
	}
	out.Unaskable = len(out.Doubts) > 0 && !slices.ContainsFunc(out.Doubts, func(c *engine.Call) bool { return !seen.cannotAsk(c) })
	if !f.index.bare {
		o.facts = factsOf(out, runs, seen)
		out.Why = explain(o.facts)
	}
	o.out, o.stale, o.asked = out, false, time.Time{}
}

// operationIn is the operation as one run has it, or nil.
func operationIn(r *engine.Run, k opKey) *engine.Operation {
	s := r.StepAt(k.step, k.undo)
	if s == nil {
		return nil
	}
	for _, o := range r.Operations(s) {
		if k.of(o) == k {
			return o
		}
	}
	return nil
}

// shows reports whether the operation stands for an effect that a view has something to say about.
func (o *op) shows() bool {
	switch {
	case len(o.out.Effects) > 0 || len(o.doubts) > 0:
		return true
	case o.out.Belief == "":
		return false
	}
	return !o.beyond
}

// asksProvider reports whether an operation was asked of anybody over HTTP, or of nobody yet.
func asksProvider(all []*engine.Operation) bool {
	local := false
	for _, o := range all {
		if len(o.Calls) > 0 && !o.Local() {
			return true
		}
		local = local || len(o.Calls) > 0
	}
	return !local
}

// mergeBeliefs is table c over several runs: what any of them proved is proved.
func mergeBeliefs(all []engine.Belief) engine.Belief {
	for _, b := range []engine.Belief{engine.BeliefDone, engine.BeliefCompensated, engine.BeliefOpen, engine.BeliefUnknown, engine.BeliefNotDone} {
		if slices.Contains(all, b) {
			return b
		}
	}
	return ""
}

// keysOf lists the keys of an operation's writes in order of first use.
func keysOf(all []*engine.Operation) []string {
	var calls []*engine.Call
	for _, a := range all {
		for _, c := range a.Calls {
			if c.Key != "" {
				calls = append(calls, c)
			}
		}
	}
	slices.SortStableFunc(calls, func(a, b *engine.Call) int { return a.StartedAt.Compare(b.StartedAt) })
	var keys []string
	for _, c := range calls {
		if !slices.Contains(keys, c.Key) {
			keys = append(keys, c.Key)
		}
	}
	return keys
}
