package tui

import (
	"slices"
	"strconv"
	"strings"

	"faultlab/engine"
	"faultlab/faultprovider"
	"faultlab/scenarios"
	"faultlab/tui/draw"
)

// truth is the provider's side: ledger, log and verdict. It can be covered.
type truth struct {
	*draw.Theme
	view    *scenarios.View
	state   scenarios.State
	covered bool
	absent  bool       // it is not here at all
	uncover string     // the key that takes the cover off
	pick    int        // index of the operation whose verdict is explained
	skip    int        // lines of the verdict that are scrolled away
	count   draw.Spans // how many effects there are
}

// cover is what an audience sees instead of the truth.
func (t truth) cover(width, height int) []string {
	if t.absent {
		return t.Window(draw.Fixed(draw.Say(draw.Quiet, t.Glyphs.None+" not in the store")), 0, width, height)
	}
	text := draw.Rows{}
	if height >= 3 {
		text = draw.Fixed(nil)
	}
	text = text.Then(draw.Fixed(
		draw.Say(draw.Cover, strings.Repeat(t.Glyphs.Cover, 3)+" covered "+strings.Repeat(t.Glyphs.Cover, 3)),
		draw.Say(draw.Quiet, "the caller cannot see this"),
		draw.Say(draw.Accent, t.uncover, draw.Quiet, " uncovers it")))
	return t.Window(text, 0, width, height)
}

// ledger is the effects in the order of their commits, the newest at the end.
func (t truth) ledger(width, height, skip int) []string {
	if t.covered {
		return t.cover(width, height)
	}
	return t.tailOf(t.count, t.effects(width), width, height, skip)
}

// tailOf shows a head line and the last lines of a list under it.
func (t truth) tailOf(head draw.Spans, list draw.Rows, width, height, skip int) []string {
	out := []string{t.Line(head, width)}
	room := max(0, height-1)
	first := max(0, list.N-room-skip)
	return append(out, t.Window(list, first, width, room)...)
}

// countEffects says how many effects there are, by collection.
func countEffects(effects []faultprovider.Effect) draw.Spans {
	var order []string
	n := map[string]int{}
	last, run := "", 0
	flush := func() {
		if run > 0 {
			if n[last] == 0 {
				order = append(order, last)
			}
			n[last] += run
		}
	}
	for i := range effects {
		if c := effects[i].Collection; c != last || run == 0 {
			flush()
			last, run = c, 1
		} else {
			run++
		}
	}
	flush()
	if len(order) == 0 {
		return draw.Say(draw.Quiet, "no effects")
	}
	var out draw.Spans
	for i, c := range order {
		if i > 0 {
			out = out.And(draw.Quiet, "   ")
		}
		out = out.And(draw.Quiet, c+" ", draw.Strong, strconv.Itoa(n[c]))
	}
	return out
}

func (t truth) effects(width int) draw.Rows {
	return draw.Rows{N: len(t.view.Effects), At: func(i int) draw.Spans {
		e := &t.view.Effects[i]
		k, rest := draw.Truth, ""
		switch {
		case e.UndoneBy != "":
			k, rest = draw.Quiet, " undone"
		case e.Of != "":
			rest = " undoes " + t.Tail(e.Of)
		}
		if e.Gone {
			k = draw.Quiet
		}
		if s := subjectOf(e.Body); s != "" {
			rest += " " + s
		}
		if e.Key != "" {
			rest += " " + t.Tail(e.Key)
		}
		room := width - 2 - t.WidthOf(rest)
		return draw.Say(k, t.Glyphs.Effect+" ", draw.Strong, t.Head(e.ID, max(9, room)), draw.Quiet, rest)
	}}
}

// logLines are the newest decisions of the provider that fit.
func (t truth) logLines(width, height, skip int) []string {
	if t.covered {
		return t.cover(width, height)
	}
	log := t.view.Log
	i := len(log) - 1
	for ; skip > 0 && i > 0; i-- {
		if shown(log[i].Kind) {
			skip--
		}
	}
	var groups [][]draw.Spans
	used := 0
	for ; i >= 0 && used < height; i-- {
		if shown(log[i].Kind) {
			g := t.logEntry(&log[i], width)
			groups, used = append(groups, g), used+len(g)
		}
	}
	var lines []draw.Spans
	for j := len(groups) - 1; j >= 0; j-- {
		lines = append(lines, groups[j]...)
	}
	if len(lines) == 0 {
		lines = []draw.Spans{draw.Say(draw.Quiet, "no request yet")}
	}
	return t.Window(draw.Fixed(lines...), max(0, len(lines)-height), width, height)
}

// shown reports whether an entry stands in the pane: the decisions do, the rest of a request is on the wire.
func shown(k faultprovider.Kind) bool {
	switch k {
	case faultprovider.NewOperation, faultprovider.Replay, faultprovider.Rejected, faultprovider.InFlight, faultprovider.Looked, faultprovider.Failed:
		return true
	}
	return false
}

func (t truth) logEntry(e *faultprovider.Entry, width int) []draw.Spans {
	at := moment(e.At.Sub(t.view.Start)) + " "
	head := draw.Say(draw.Quiet, at)
	indent := strings.Repeat(" ", len(at))
	key := t.Tail(e.Key)
	if key == "" {
		key = "no key"
	}
	rest := ""
	switch e.Kind {
	case faultprovider.NewOperation:
		head = head.And(draw.Wire, "NEW ", draw.Text, key)
		rest = "fault=" + e.Fault
	case faultprovider.Replay:
		head = head.And(draw.Wire, "REPLAY ", draw.Text, e.EffectID)
		if e.Fault != "" && e.Fault != "none" {
			rest = "fault=" + e.Fault
		}
	case faultprovider.Looked:
		head = head.And(draw.Wire, "LOOK-UP ", draw.Text, key)
		if rest = "no record"; e.EffectID != "" {
			rest = "found " + e.EffectID
		}
	case faultprovider.InFlight:
		head = head.And(draw.Bad, "IN FLIGHT ", draw.Text, key)
		rest = e.Note
	case faultprovider.Failed:
		head = head.And(draw.Bad, "FAILED ", draw.Text, e.Note)
	default:
		head = head.And(draw.Bad, "REJECTED ", draw.Text, key)
		rest = e.Note
	}
	switch {
	case rest == "":
		return []draw.Spans{head}
	case t.Width(head)+1+t.WidthOf(rest) <= width:
		return []draw.Spans{head.And(draw.Quiet, " "+rest)}
	case len(indent)+t.WidthOf(rest) > width:
		indent = strings.Repeat(" ", max(0, width-t.WidthOf(rest)))
	}
	return []draw.Spans{head, draw.Say(draw.Quiet, indent+rest)}
}

// verdictInk is the ink of the verdict's frame: what the operation in question is.
func (t truth) verdictInk() draw.Ink {
	if t.covered || t.pick < 0 || t.pick >= len(t.view.Operations) {
		return draw.Frame
	}
	op := &t.view.Operations[t.pick]
	if op.Verdict == "" {
		return draw.Frame
	}
	return verdictSigns[op.Verdict].Ink
}

// verdict compares belief and truth of one operation, and lists the others under it.
func (t truth) verdict(width, height int) []string {
	if t.covered {
		return t.cover(width, height)
	}
	var list []draw.Spans
	ops := t.view.Operations
	switch {
	case t.pick < 0 || t.pick >= len(ops):
		list = []draw.Spans{draw.Say(draw.Quiet, "no operation yet")}
	default:
		list = append(t.ofRun(width), t.explain(&ops[t.pick], len(ops) > 1, width)...)
	}
	list = append(list, t.unmet(width)...)
	if len(ops) > 1 {
		list = append(append(list, nil), t.others()...)
	}
	if len(list) > height { // blank lines are the first to go
		list = slices.DeleteFunc(list, func(s draw.Spans) bool { return len(s) == 0 })
	}
	if len(list) <= height || height < 2 {
		return t.Window(draw.Fixed(list...), 0, width, height)
	}
	first := clamp(t.skip, 0, len(list)-height)
	if first == len(list)-height {
		return t.Window(draw.Fixed(list...), first, width, height)
	}
	rest := draw.Say(draw.Quiet, t.Glyphs.Bottom+" "+strconv.Itoa(len(list)-first-height+1)+" more")
	return append(t.Window(draw.Fixed(list...), first, width, height-1), t.Line(rest, width))
}

// ofRun is the gravest verdict about a run, where it is graver than those about all
// operations: each of them can be right and the run wrong.
func (t truth) ofRun(width int) []draw.Spans {
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
	out := []draw.Spans{draw.Say(draw.Text, runName(t.view, t.view.Runs[i].ID)+" ", s.Ink, t.Glyphs.Of(s))}
	out = append(out, t.Paragraph(draw.Quiet, "", v.Why(), width-1, 4)...)
	return append(out, nil)
}

func (t truth) explain(op *scenarios.Operation, named bool, width int) []draw.Spans {
	s := verdictSigns[op.Verdict]
	head := draw.Say(s.Ink, t.Glyphs.Of(s))
	if named {
		head = t.named(head, op)
	}
	belief := beliefSigns[op.Belief]
	believes := draw.Say(draw.Quiet, "believes ", belief.Ink, belief.Word)
	effects := draw.Say(draw.Quiet, "effects ", draw.Strong, strconv.Itoa(len(op.Effects)))
	if op.Undone > 0 {
		effects = effects.And(draw.Quiet, "  undone ", draw.Strong, strconv.Itoa(op.Undone))
	}
	out := []draw.Spans{head, believes, effects}
	if t.Width(believes)+2+t.Width(effects) <= width {
		out = []draw.Spans{head, append(believes.And(draw.Quiet, "  "), effects...)}
	}
	if op.Why == "" {
		return out
	}
	out = append(out, nil)
	out = append(out, t.Paragraph(draw.Quiet, "", op.Why, width-1, 12)...)
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
func (t truth) named(verdict draw.Spans, op *scenarios.Operation) draw.Spans {
	var out draw.Spans
	if len(t.view.Runs) > 1 {
		for i, id := range op.Runs {
			if i == 3 {
				out = out.And(draw.Text, t.Glyphs.More+" ")
				break
			}
			out = out.And(draw.Text, runName(t.view, id)+" ")
		}
	}
	return append(out, verdict...).And(draw.Quiet, "  "+opName(op))
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
func (t truth) others() []draw.Spans {
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
	var out []draw.Spans
	for _, g := range groups {
		s := verdictSigns[g.verdict]
		if len(g.ops) >= manyAlike {
			name := opName(&scenarios.Operation{Step: g.step, Undo: g.undo, Runs: []string{""}})
			out = append(out, draw.Say(s.Ink, t.Glyphs.Of(s)+" "+t.Glyphs.Times+strconv.Itoa(len(g.ops)), draw.Quiet, "  "+name))
			continue
		}
		for _, i := range g.ops {
			out = append(out, t.named(draw.Say(s.Ink, t.Glyphs.Of(s)), &ops[i]))
		}
	}
	return out
}

// unmet are the scenario's expectations that were not met, or why none is checked any more.
func (t truth) unmet(width int) []draw.Spans {
	if why := t.state.TookOver; why != "" && len(t.state.Failed) == 0 {
		out := []draw.Spans{nil}
		out = append(out, t.Paragraph(draw.Quiet, "", why, width-1, 4)...)
		return out
	}
	if len(t.state.Failed) == 0 {
		return nil
	}
	out := []draw.Spans{nil, draw.Say(draw.Bad, t.Glyphs.Bad+" "+plural(len(t.state.Failed), "expectation")+" not met")}
	for _, f := range t.state.Failed {
		out = append(out, t.Paragraph(draw.Quiet, "  ", f, width-1, 3)...)
	}
	return out
}
