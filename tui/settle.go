package tui

import (
	"strconv"
	"strings"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// settle is one unknown operation being reconciled: what is not known, the
// evidence, and the four decisions with what each of them does. A decision is
// taken by typing its name, so that no stray key can.
type settle struct {
	run, step string
	write     string // which of the step's; empty: its newest
	undo      bool
	pick      int    // of the four decisions
	chosen    bool   // the cursor was moved: until then it rests on what is advised
	confirm   *input // what is being typed to take the picked one
	reason    bool   // escalate: the reason comes first
	why       string
}

func newSettle(m *model) *settle {
	s := m.session
	p := &settle{}
	for _, i := range []int{s.opPicked(), s.known.gravest} {
		if i >= 0 && unsure(&s.view.Operations[i]) {
			op := &s.view.Operations[i]
			p.step, p.undo, p.write = op.Step, op.Undo, op.Write
			if len(op.DoubtRuns) > 0 {
				p.run = op.DoubtRuns[0]
			} else if len(op.Runs) > 0 {
				p.run = op.Runs[len(op.Runs)-1]
			}
			break
		}
	}
	return p
}

func (p *settle) on() lang.Screen { return lang.OnUnknowns }

func (p *settle) title(m *model) spans { return say(inkStrong, m.session.scenario.Title) }

func (p *settle) stepArg() string { return stepArg(p.step, p.undo) }

// stepArg names a step as verbs do: a compensation has a ~ before its step.
func stepArg(step string, undo bool) string {
	if undo {
		return "~" + step
	}
	return step
}

// op is the operation as it is now.
func (p *settle) op(m *model) *scenarios.Operation {
	return opOf(m.session.view, p.run, p.step, p.write, p.undo)
}

// hasEvidence reports whether every doubt was looked up already.
func (p *settle) hasEvidence(m *model) bool {
	op := p.op(m)
	if op == nil {
		return false
	}
	for _, c := range op.Doubts {
		if len(c.Evidence) == 0 {
			return false
		}
	}
	return len(op.Doubts) > 0
}

func (p *settle) draw(m *model, width, height int) []string {
	return m.bench(width, height, func(w, h int) []string {
		op := p.op(m)
		p.rest(op)
		b := box{title: say(inkStrong, "Reconcile"), frame: inkAlarm, focus: true}
		if !unsure(op) {
			b.frame = inkGood
		}
		b.body = func(w, h int) []string { return p.body(m, op, w, h) }
		return m.t.draw(b, w, h)
	})
}

// body is the story from the doubt to the decisions, moved so that the picked one
// is seen, and pinned under it what is to be typed.
func (p *settle) body(m *model, op *scenarios.Operation, width, height int) []string {
	if !unsure(op) {
		return m.t.window(fixed(p.settled(m, op, width)...), 0, width, height)
	}
	foot := p.asking(m, op, width)
	room := max(1, height-len(foot))
	lines, picked := p.lines(m, op, width, airy)
	if room < 24 {
		lines, picked = p.lines(m, op, width, tight)
	}
	if len(lines) > room {
		if p.confirm == nil { // the blank line
			foot, room = foot[1:], room+1
		}
		lines, picked = p.lines(m, op, width, terse)
	}
	first := 0
	if picked >= room {
		first = picked - room + 1
	}
	if n := len(lines) - first - room; n > 0 && room > 1 {
		if picked == first+room-1 {
			first++
		}
		last := first + room - 1
		lines = append(lines[:last:last], say(inkQuiet, m.t.glyphs.bottom+" "+strconv.Itoa(len(lines)-last)+" more"))
	}
	return append(m.t.window(fixed(lines...), first, width, room), m.t.window(fixed(foot...), 0, width, len(foot))...)
}

// How much is told: all of it, without headings and what is not chosen, or a line for each thing.
const (
	airy = iota
	tight
	terse
)

// lines also tells at which of them the picked decision ends.
func (p *settle) lines(m *model, op *scenarios.Operation, width, how int) (out []spans, picked int) {
	t := m.t
	head := func(text string) {
		if how == airy {
			out = append(out, nil, say(inkStrong, text))
		}
	}
	out = append(out, say(inkStrong, opName(op), inkQuiet, "  "+t.shorten(p.run, 16)))
	for _, c := range op.Doubts {
		out = append(out, p.doubt(m, c, width)...)
	}
	head("Evidence")
	out = append(out, p.evidence(m, op, width, how)...)
	head("Decisions")
	for i, o := range op.Options {
		out = append(out, p.option(m, i, o, width, how)...)
		if i == p.pick {
			picked = len(out) - 1
		}
	}
	return out, picked
}

func (p *settle) doubt(m *model, c *engine.Call, width int) []spans {
	t := m.t
	what := c.Service + " " + c.Operation
	since := ""
	if n := len(c.Requests); n > 0 {
		q := c.Requests[n-1]
		what = q.Method + " " + pathOf(q.URL)
		since = "sent " + moment(q.SentAt.Sub(m.session.view.Start)) + "s"
	}
	end := ending(c)
	if end == "" {
		end = "no end on record"
	}
	out := []spans{say(inkUnknown, t.glyphs.unknown+" "+what, inkQuiet, "  "+since+", "+end)}
	if c.Key == "" {
		return append(out, say(inkQuiet, "  ", inkBad, "no key: it cannot be looked up by one"))
	}
	return append(out, say(inkQuiet, "  key ", inkStrong, t.shorten(c.Key, max(16, width-8))))
}

func pathOf(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return "/"
}

var foundSigns = map[engine.Found]sign{
	engine.FoundRecord:   {glyphGood, "found", inkGood},
	engine.FoundSeveral:  {glyphUnknown, "several", inkUnknown},
	engine.FoundNoRecord: {glyphNote, "no record", inkText},
	engine.FoundNoAnswer: {glyphUnknown, "no answer", inkUnknown},
}

// evidence is what look-ups said, the newest last, with what each of them does not prove.
func (p *settle) evidence(m *model, op *scenarios.Operation, width, how int) []spans {
	t := m.t
	var out []spans
	for _, c := range op.Doubts {
		for _, e := range c.Evidence[max(0, len(c.Evidence)-3):] {
			s := foundSigns[e.Found]
			line := say(inkQuiet, moment(e.At.Sub(m.session.view.Start))+" ", s.ink, t.glyphs.of(s))
			if e.Status != 0 {
				line = append(line, span{inkQuiet, " " + strconv.Itoa(e.Status)})
			}
			if how == terse {
				out = append(out, append(line, span{inkQuiet, "  " + limits(&e)}))
				continue
			}
			out = append(out, line)
			for _, l := range t.wrap(limits(&e), width-2, 3) {
				out = append(out, say(inkQuiet, "  "+l))
			}
			if len(e.Body) > 0 {
				out = append(out, say(inkTruth, "  "+string(e.Body)))
			}
		}
	}
	if len(out) == 0 {
		out = []spans{p.nothing(m, op)}
	}
	for _, c := range op.Doubts {
		for i := range c.Decisions {
			out = append(out, p.decided(m, &c.Decisions[i], width)...)
		}
	}
	return out
}

// nothing says why there is no evidence.
func (p *settle) nothing(m *model, op *scenarios.Operation) spans {
	switch {
	case m.session.busy == "lookup":
		return say(inkQuiet, "asking the provider by key "+m.t.glyphs.more)
	case op.Unaskable:
		return say(inkQuiet, "none: it cannot be looked up by a key")
	}
	return say(inkQuiet, "none yet.  ", inkAccent, keyOfVerb("lookup", lang.OnUnknowns), inkQuiet, " looks the key up")
}

// decided is a decision that was taken, with its reason.
func (p *settle) decided(m *model, d *engine.DecidedAt, width int) []spans {
	out := []spans{say(inkQuiet, moment(d.At.Sub(m.session.view.Start))+" decision ", inkStrong, string(d.Decision))}
	for _, l := range m.t.wrap(strings.TrimSpace(d.Reason+" "+forced(d.Forced)), width-2, 3) {
		out = append(out, say(inkQuiet, "  "+l))
	}
	return out
}

// limits is what an answer does and does not prove.
func limits(e *engine.EvidenceAt) string {
	switch {
	case e.Found == engine.FoundSeveral:
		return strconv.Itoa(e.Records) + " records: which of them was meant is not known"
	case e.Found == engine.FoundNoRecord && e.Unproven:
		return "unproven: the address is only assumed, and has never found a record; perhaps nothing can be looked up there"
	case e.Found == engine.FoundNoRecord:
		return "not found is not the same as did not happen: a late request can still arrive"
	case e.Found == engine.FoundNoAnswer:
		return strings.TrimPrefix(e.Error+"; nobody knows more than before", "; ")
	case e.Match == engine.Contradicts:
		return "it contradicts what was sent: " + strings.Join(e.Conflicts, ", ")
	case e.Match == engine.Matches:
		return "its fields match what was sent"
	}
	return "it cannot be compared with what was sent"
}

func (p *settle) option(m *model, i int, o scenarios.Option, width, how int) []spans {
	t := m.t
	mark, name := "  ", inkText
	if i == p.pick {
		mark, name = t.glyphs.pick+" ", inkPick
	}
	key := keyOfVerb(string(o.Decision), lang.OnUnknowns)
	line := say(inkAccent, mark+key+" ", name, string(o.Decision))
	text, k := o.Consequence, inkQuiet
	if o.Permission != engine.Allowed {
		word := " no"
		if o.Permission == engine.Forced {
			word = " only by force"
		}
		line = append(line, span{inkBad, "  " + t.glyphs.bad + word})
		if text = o.Unavailable; o.Permission == engine.Forced && i == p.pick {
			text = strings.TrimRight(text, ".") + ". " + o.Risk
		}
		if how != airy && i != p.pick {
			line = append(line, span{inkQuiet, ": " + text})
		}
	}
	out := []spans{line}
	if how != airy && i != p.pick {
		return out
	}
	for _, l := range t.wrap(text, width-5, 4-how) {
		out = append(out, say(k, "    "+l))
	}
	return out
}

// settled is the story after a decision.
func (p *settle) settled(m *model, op *scenarios.Operation, width int) []spans {
	t := m.t
	if op == nil {
		return []spans{say(inkQuiet, "nothing is unknown here")}
	}
	s := beliefSigns[op.Belief]
	out := []spans{say(inkStrong, opName(op), inkQuiet, "  "+t.shorten(p.run, 16)), say(s.ink, t.glyphs.of(s)), nil}
	if r := runOf(m.session.view, p.run); r != nil {
		if st := r.StepAt(p.step, p.undo); st != nil {
			out = append(out, p.story(m, st, width)...)
		}
	}
	return append(out, nil, say(inkAccent, "esc", inkQuiet, " goes back to the wire"))
}

// story is every look-up and decision about a step, in order.
func (p *settle) story(m *model, st *engine.Step, width int) []spans {
	t, start := m.t, m.session.view.Start
	var out []spans
	for _, a := range st.Attempts {
		for _, c := range a.Calls {
			for i := range c.Evidence {
				e := &c.Evidence[i]
				s := foundSigns[e.Found]
				out = append(out, say(inkQuiet, moment(e.At.Sub(start))+" look-up ", s.ink, t.glyphs.of(s)))
			}
			for i := range c.Decisions {
				out = append(out, p.decided(m, &c.Decisions[i], width)...)
			}
		}
	}
	return out
}

func forced(why string) string {
	if why == "" {
		return ""
	}
	return "forced, although " + why
}

func runOf(v *scenarios.View, id string) *engine.Run {
	for i := len(v.Runs) - 1; i >= 0; i-- {
		if v.Runs[i].ID == id {
			return v.Runs[i]
		}
	}
	return nil
}
