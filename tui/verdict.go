package tui

import (
	"strconv"

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
	var list rows
	ops := t.view.Operations
	switch {
	case t.pick < 0 || t.pick >= len(ops):
		list = fixed(say(inkQuiet, "no operation yet"))
	default:
		list = fixed(t.explain(&ops[t.pick], len(ops) > 1, width)...)
	}
	list = list.then(fixed(t.unmet(width)...))
	if len(ops) > 1 {
		list = list.then(fixed(nil)).then(t.others(width))
	}
	return t.window(list, 0, width, height)
}

func (t truth) explain(op *scenarios.Operation, named bool, width int) []spans {
	s := verdictSigns[op.Verdict]
	head := say(s.ink, t.glyphs.of(s))
	if named {
		head = append(head, span{inkQuiet, "  " + opName(op) + t.ofRun(op)})
	}
	belief := beliefSigns[op.Belief]
	out := []spans{head, say(inkQuiet, "believes ", belief.ink, belief.word, inkQuiet, "  effects ", inkStrong, strconv.Itoa(len(op.Effects)))}
	if op.Undone > 0 {
		out[1] = append(out[1], span{inkQuiet, "  undone "}, span{inkStrong, strconv.Itoa(op.Undone)})
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
	if len(op.Runs) > 0 && op.Subject == op.Runs[0] {
		return name
	}
	return name + " " + op.Subject
}

// ofRun names the run of an operation that is a run's own, where there are several.
func (t truth) ofRun(op *scenarios.Operation) string {
	if len(t.view.Runs) < 2 || len(op.Runs) == 0 || op.Subject != op.Runs[0] {
		return ""
	}
	return " " + runName(t.view, op.Runs[0])
}

func (t truth) others(width int) rows {
	ops := t.view.Operations
	return rows{len(ops), func(i int) spans {
		s := verdictSigns[ops[i].Verdict]
		return say(s.ink, t.glyphs.of(s), inkQuiet, "  "+opName(&ops[i])+t.ofRun(&ops[i]))
	}}
}

// unmet are the scenario's expectations that were not met.
func (t truth) unmet(width int) []spans {
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
