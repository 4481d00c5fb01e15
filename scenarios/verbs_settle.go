package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"

	"faultlab/engine"
	"faultlab/scenarios/lang"
)

func (b *Bench) actLookup(l lang.Line) error {
	step, key := l.Opt("step"), l.Arg(0)
	targets, e, err := b.targets(l, key)
	if err != nil {
		return err
	}
	seen := map[unknown]bool{}
	for _, t := range targets {
		if !l.Has("write") {
			t.key = key
		}
		t.step, t.write = "", ""
		if seen[t] {
			continue
		}
		seen[t] = true
		if _, err := e.Lookup(b.root, t.run, t.key, engine.LookupOptions{Step: step}); err != nil {
			return err
		}
	}
	return nil
}

// unknown names an unknown call of a run; what is empty stands for any.
type unknown struct{ run, step, write, key string }

// targets are the unknown operations that a decision or a look-up is about: all, or
// those of a run, a step, a write or a key. Without any it is the chosen run itself, of which the engine then says why not.
func (b *Bench) targets(l lang.Line, key string) ([]unknown, *engine.Engine, error) {
	run, step, write := l.Opt("run"), l.Opt("step"), l.Opt("write")
	r, e, err := b.run(run)
	if err != nil {
		return nil, nil, err
	}
	var out []unknown
	for _, o := range b.line.Latest().Operations {
		for i, c := range o.Doubts {
			if (run == "" || o.DoubtRuns[i] == r.ID) && (step == "" || engine.StepName(o.Step, o.Undo) == step) &&
				(write == "" || write == c.Write || write == c.Route()) && (key == "" || c.Key == key) {
				out = append(out, unknown{o.DoubtRuns[i], engine.StepName(o.Step, o.Undo), c.Write, c.Key})
			}
		}
	}
	if slices.ContainsFunc(out, func(t unknown) bool { return write != "" && t.write == write }) { // a name, and not the path of several
		out = slices.DeleteFunc(out, func(t unknown) bool { return t.write != write })
	}
	if len(out) == 0 && write != "" {
		return nil, nil, &engine.Refused{Why: fmt.Sprintf("no write %q is unknown", write)}
	}
	if len(out) == 0 {
		out = []unknown{{run: r.ID, key: key}}
	}
	return out, e, nil
}

func (b *Bench) actResolve(l lang.Line) error {
	key := l.Opt("key")
	targets, e, err := b.targets(l, key)
	if err != nil {
		return err
	}
	t := targets[0]
	if len(targets) > 1 && t.run == targets[1].run { // the engine names the keys and writes to choose from
		t = unknown{run: t.run, step: l.Opt("step"), key: key}
		if l.Has("write") && !slices.ContainsFunc(targets, func(o unknown) bool { return o.write != targets[0].write }) {
			t.write = targets[0].write
		}
	}
	q := engine.Resolution{Run: t.run, Step: t.step, Write: t.write, Key: t.key, Decision: engine.Decision(l.Verb), Force: l.Has("--force")}
	if l.Verb == "escalate" {
		q.Reason = l.Arg(0)
	}
	if l.Has("result") {
		q.Result = json.RawMessage(l.Opt("result"))
	}
	return e.Resolve(q)
}
