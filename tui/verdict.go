package tui

import (
	"slices"
	"strconv"

	"faultlab/engine"
	"faultlab/scenarios"
)

// verdictInk is the ink of the verdict's frame: what the operation in question is.
func (t truth) verdictInk() ink {
	if t.covered || t.pick < 0 || t.pick >= len(t.view.Operations) {
		return inkFrame
	}
	op := &t.view.Operations[t.pick]
	if op.Verdict == "" {
		return inkFrame
	}
	return verdictSigns[op.Verdict].ink
}

// verdict compares belief and truth of one operation, and lists the others under it.
func (t truth) verdict(width, height int) []string {
	if t.covered {
		return t.cover(width, height)
	}
	var list []spans
	ops := t.view.Operations
	switch {
	case t.pick < 0 || t.pick >= len(ops):
		list = []spans{say(inkQuiet, "no operation yet")}
	default:
		list = append(t.ofRun(width), t.explain(&ops[t.pick], len(ops) > 1, width)...)
	}
	list = append(list, t.unmet(width)...)
	if len(ops) > 1 {
		list = append(append(list, nil), t.others()...)
	}
	if len(list) > height { // blank lines are the first to go
		list = slices.DeleteFunc(list, func(s spans) bool { return len(s) == 0 })
	}
	if len(list) <= height || height < 2 {
		return t.window(fixed(list...), 0, width, height)
	}
	first := clamp(t.skip, 0, len(list)-height)
	if first == len(list)-height {
		return t.window(fixed(list...), first, width, height)
	}
	rest := say(inkQuiet, t.glyphs.bottom+" "+strconv.Itoa(len(list)-first-height+1)+" more")
	return append(t.window(fixed(list...), first, width, height-1), t.line(rest, width))
}

// ofRun is the gravest verdict about a run, where it is graver than those about all
// operations: each of them can be right and the run wrong.
func (t truth) ofRun(width int) []spans {
	i := t.view.WorstRun()
	if i < 0 {
		return nil
	}
	v := t.view.RunVerdicts[i]
	for _, op := range t.view.Operations {
		if op.Verdict.Gravity() >= v.Gravity() {
			return nil
		}
	}
	s := runVerdictSigns[v.RunVerdict]
	out := []spans{say(inkText, runName(t.view, t.view.Runs[i].ID)+" ", s.ink, t.glyphs.of(s))}
	for _, l := range t.wrap(v.Why(), width-1, 4) {
		out = append(out, say(inkQuiet, l))
	}
	return append(out, nil)
}

func (t truth) explain(op *scenarios.Operation, named bool, width int) []spans {
	s := verdictSigns[op.Verdict]
	head := say(s.ink, t.glyphs.of(s))
	if named {
		head = t.named(head, op)
	}
	belief := beliefSigns[op.Belief]
	believes := say(inkQuiet, "believes ", belief.ink, belief.word)
	effects := say(inkQuiet, "effects ", inkStrong, strconv.Itoa(len(op.Effects)))
	if op.Undone > 0 {
		effects = append(effects, span{inkQuiet, "  undone "}, span{inkStrong, strconv.Itoa(op.Undone)})
	}
	out := []spans{head, believes, effects}
	if t.width(believes)+2+t.width(effects) <= width {
		out = []spans{head, append(append(believes, span{inkQuiet, "  "}), effects...)}
	}
	if op.Why == "" {
		return out
	}
	out = append(out, nil)
	for _, l := range t.wrap(op.Why, width-1, 12) {
		out = append(out, say(inkQuiet, l))
	}
	return out
}

func opName(op *scenarios.Operation) string {
	name := op.Step
	if op.Undo {
		name = "undo " + name
	}
	if op.Several && op.Write != "" {
		name += " (" + op.Write + ")"
	}
	if len(op.Runs) > 0 && op.Subject == op.Runs[0] {
		return name
	}
	return name + " " + op.Subject
}

// named puts the numbers of an operation's runs before its verdict, where there are
// several runs, and its name after it.
func (t truth) named(verdict spans, op *scenarios.Operation) spans {
	var out spans
	if len(t.view.Runs) > 1 {
		for i, id := range op.Runs {
			if i == 3 {
				out = append(out, span{inkText, t.glyphs.more + " "})
				break
			}
			out = append(out, span{inkText, runName(t.view, id) + " "})
		}
	}
	return append(append(out, verdict...), span{inkQuiet, "  " + opName(op)})
}

// manyAlike is from how many operations on those that ended alike share a line.
const manyAlike = 4

// alike are operations of one step with one verdict.
type alike struct {
	verdict engine.Verdict
	step    string
	undo    bool
	ops     []int
}

// others are all operations, the gravest first; many that ended alike are one line.
func (t truth) others() []spans {
	ops := t.view.Operations
	var groups []*alike
	at := map[string]*alike{}
	for i := range ops {
		key := string(ops[i].Verdict) + "\x00" + stepArg(ops[i].Step, ops[i].Undo)
		g := at[key]
		if g == nil {
			g = &alike{verdict: ops[i].Verdict, step: ops[i].Step, undo: ops[i].Undo}
			at[key], groups = g, append(groups, g)
		}
		g.ops = append(g.ops, i)
	}
	slices.SortStableFunc(groups, func(a, b *alike) int { return gravity[b.verdict] - gravity[a.verdict] })
	var out []spans
	for _, g := range groups {
		s := verdictSigns[g.verdict]
		if len(g.ops) >= manyAlike {
			name := opName(&scenarios.Operation{Step: g.step, Undo: g.undo, Runs: []string{""}})
			out = append(out, say(s.ink, t.glyphs.of(s)+" "+t.glyphs.times+strconv.Itoa(len(g.ops)), inkQuiet, "  "+name))
			continue
		}
		for _, i := range g.ops {
			out = append(out, t.named(say(s.ink, t.glyphs.of(s)), &ops[i]))
		}
	}
	return out
}

// unmet are the scenario's expectations that were not met, or why none is checked any more.
func (t truth) unmet(width int) []spans {
	if why := t.state.TookOver; why != "" && len(t.state.Failed) == 0 {
		out := []spans{nil}
		for _, l := range t.wrap(why, width-1, 4) {
			out = append(out, say(inkQuiet, l))
		}
		return out
	}
	if len(t.state.Failed) == 0 {
		return nil
	}
	out := []spans{nil, say(inkBad, t.glyphs.bad+" "+plural(len(t.state.Failed), "expectation")+" not met")}
	for _, f := range t.state.Failed {
		for _, l := range t.wrap(f, width-3, 3) {
			out = append(out, say(inkQuiet, "  "+l))
		}
	}
	return out
}
