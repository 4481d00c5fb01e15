package scenarios

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/faultprovider"
)

// opKey is what makes two steps of two runs the same operation.
type opKey struct {
	workflow, step string
	undo           bool
	subject        string
}

// op is an operation being folded. Like a run, it is copied before it changes once a view has seen it.
type op struct {
	key     opKey
	runs    []int // in order of admission
	effects []faultprovider.Effect
	stale   bool // what follows must be derived again
	out     Operation
	doubts  []doubt
	asked   time.Time // when out.Options was worked out; zero if it was not
	beyond  bool      // it wrote, but nothing to the provider: the ledger says nothing about it
}

// doubt is a call of which nobody knows whether it happened, and the index of its run.
type doubt struct {
	run  int
	call *engine.Call
}

// opFold joins runs and effects to operations.
type opFold struct {
	list  []*op
	index map[opKey]int // shared by all folds of one timeline
	mine  map[*op]bool
	stale []int
	own   bool
	made  []Operation // list for a view; nil when it must be made again

	doubtful int       // how many of made have doubts
	asked    time.Time // when made was made
}

func newOpFold(index map[opKey]int) *opFold {
	return &opFold{index: index, mine: map[*op]bool{}, own: true}
}

func thawedOps(list []*op, index map[opKey]int) *opFold {
	return &opFold{list: list, index: index, mine: map[*op]bool{}}
}

// freeze derives what is stale and gives the operations away: nothing reachable from them changes any more.
func (f *opFold) freeze(runs []*engine.Run, seen *seenThere) []*op {
	for _, i := range f.stale {
		f.list[i].derive(runs, seen)
		f.made = nil
	}
	f.stale = f.stale[:0]
	clear(f.mine)
	f.own = false
	return f.list[:len(f.list):len(f.list)]
}

// optionsHold is how long the options of an operation that did not change are taken for right: they depend on a key's age.
const optionsHold = time.Second

// values are the operations for a view at a moment, those left out that stand for no effect.
func (f *opFold) values(runs []*engine.Run, at time.Time, situate situate) []Operation {
	f.doubtful = 0
	for _, o := range f.list {
		if len(o.doubts) == 0 {
			continue
		}
		f.doubtful++
		if o.asked.IsZero() || at.Sub(o.asked).Abs() >= optionsHold {
			o.out.Options, o.out.Advice = options(runs, o.doubts, situate)
			o.asked = at
			f.made = nil
		}
	}
	f.asked = at
	if f.made == nil {
		f.made = make([]Operation, 0, len(f.list))
		for _, o := range f.list {
			if o.shows() {
				f.made = append(f.made, o.out)
			}
		}
	}
	return f.made
}

// outlived reports whether the options in made are older than optionsHold.
func (f *opFold) outlived(now time.Time) bool {
	return f.doubtful > 0 && now.Sub(f.asked) >= optionsHold
}

// get is the writable operation of this key, made if it is new; its derived part is then stale.
func (f *opFold) get(k opKey) *op {
	if !f.own {
		f.list, f.own = slices.Clone(f.list), true
	}
	i, ok := f.index[k]
	if !ok || i >= len(f.list) {
		i = len(f.list)
		o := &op{key: k}
		f.mine[o], f.index[k] = true, i
		f.list = append(f.list, o)
	}
	o := f.list[i]
	if !f.mine[o] {
		c := *o
		c.runs, c.effects = slices.Clone(o.runs), slices.Clone(o.effects)
		o, f.list[i], f.mine[&c] = &c, &c, true
	}
	if !o.stale {
		o.stale = true
		f.stale = append(f.stale, i)
	}
	return o
}

// has reports whether this fold has reached the operation.
func (f *opFold) has(k opKey) bool {
	i, ok := f.index[k]
	return ok && i < len(f.list)
}

// event marks the operations that a fact about run i changes.
func (f *opFold) event(e engine.Event, i int, r *engine.Run, subject string) {
	k := opKey{workflow: r.Admitted.Workflow, subject: subject}
	p, ok := posOf(e.Fact)
	if ok {
		k.step, k.undo = p.Step, p.Undo
		if o := f.get(k); !slices.Contains(o.runs, i) {
			o.runs = append(o.runs, i)
		}
		if k.undo = false; p.Undo && f.has(k) {
			f.get(k)
		}
	}
	if !ok || reopens(e.Fact) {
		for _, s := range r.Steps {
			k.step, k.undo = s.ID, s.Undo
			f.get(k)
		}
	}
}

// reopens reports whether a fact about one step can change the state of the whole run.
func reopens(f engine.Fact) bool {
	switch f.Kind() {
	case engine.KindAttemptStarted, engine.KindAttemptEnded, engine.KindDecided:
		return true
	}
	return false
}

// effect joins a committed or changed effect to the operation that asked for it.
func (f *opFold) effect(k opKey, e faultprovider.Effect) {
	if !f.has(k) {
		return
	}
	o := f.get(k)
	for i := range o.effects {
		if sameEffect(o.effects[i], e) {
			o.effects[i] = e
			return
		}
	}
	o.effects = append(o.effects, e)
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
func (o *op) derive(all []*engine.Run, seen *seenThere) {
	out := Operation{Step: o.key.step, Undo: o.key.undo, Subject: o.key.subject, Effects: slices.Clip(o.effects)}
	var runs []*engine.Run
	var beliefs []engine.Belief
	o.doubts = nil
	for _, i := range o.runs {
		r := all[i]
		s := r.StepAt(o.key.step, o.key.undo)
		if s == nil {
			continue
		}
		runs = append(runs, r)
		out.Runs = append(out.Runs, r.ID)
		beliefs = append(beliefs, r.StepBelief(s))
		for _, c := range r.Doubts(s) {
			o.doubts = append(o.doubts, doubt{i, c})
		}
	}
	for _, e := range o.effects {
		if e.UndoneBy != "" {
			out.Undone++
		}
	}
	out.Keys = keysOf(runs, o.key)
	out.Belief = mergeBeliefs(beliefs)
	out.Verdict = engine.VerdictOf(out.Belief, len(out.Effects), out.Undone)
	for _, d := range o.doubts {
		out.Doubts, out.DoubtRuns = append(out.Doubts, d.call), append(out.DoubtRuns, all[d.run].ID)
	}
	if o.beyond = !asksProvider(runs, o.key) && len(out.Effects) == 0; o.beyond && out.Belief != engine.BeliefUnknown {
		out.Verdict = ""
	}
	out.Unaskable = len(out.Doubts) > 0 && !slices.ContainsFunc(out.Doubts, func(c *engine.Call) bool { return !seen.cannotAsk(c) })
	out.Why = why(out, runs, seen)
	o.out, o.stale, o.asked = out, false, time.Time{}
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

// asksProvider reports whether an operation's step wrote anything over HTTP, or has not yet written at all.
func asksProvider(runs []*engine.Run, k opKey) bool {
	writes := 0
	for _, r := range runs {
		for _, a := range r.StepAt(k.step, k.undo).Attempts {
			for _, c := range a.Calls {
				if c.Effect == engine.Read {
					continue
				}
				if writes++; len(c.Requests) > 0 || c.Service == "http" || c.Service == "fetch" {
					return true
				}
			}
		}
	}
	return writes == 0
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
func keysOf(runs []*engine.Run, k opKey) []string {
	var calls []*engine.Call
	for _, r := range runs {
		for _, a := range r.StepAt(k.step, k.undo).Attempts {
			for _, c := range a.Calls {
				if c.Key != "" && c.Effect != engine.Read {
					calls = append(calls, c)
				}
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
