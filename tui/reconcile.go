package tui

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// reconcileScreen is one unknown operation being reconciled: what is not known, the
// evidence, and the four decisions with what each of them does. A decision is
// taken by typing its name, so that no stray key can.
type reconcileScreen struct {
	run, step string
	write     string // which of the step's; empty: its newest
	undo      bool
	pick      int         // of the four decisions
	chosen    bool        // the cursor was moved: until then it rests on what is advised
	confirm   *draw.Input // what is being typed to take the picked one
	reason    bool        // escalate: the reason comes first
	why       string
}

func newReconcile(u *ui) *reconcileScreen {
	s := u.session
	p := &reconcileScreen{}
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

func (p *reconcileScreen) on() lang.Screen { return lang.OnUnknowns }

func (p *reconcileScreen) title(u *ui) draw.Spans {
	return draw.Say(draw.Strong, u.session.scenario.Title)
}

func (p *reconcileScreen) stepArg() string { return stepArg(p.step, p.undo) }

// stepArg names a step as verbs do: a compensation has a ~ before its step.
func stepArg(step string, undo bool) string {
	if undo {
		return "~" + step
	}
	return step
}

// op is the operation as it is now.
func (p *reconcileScreen) op(u *ui) *scenarios.Operation {
	return opOf(u.session.view, p.run, p.step, p.write, p.undo)
}

// hasEvidence reports whether every doubt was looked up already.
func (p *reconcileScreen) hasEvidence(u *ui) bool {
	op := p.op(u)
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

func (p *reconcileScreen) draw(u *ui, width, height int) []string {
	return u.bench(width, height, func(w, h int) []string {
		op := p.op(u)
		p.rest(op)
		b := draw.Box{Title: draw.Say(draw.Strong, "Reconcile"), Frame: draw.Alarm, Focus: true}
		if !unsure(op) {
			b.Frame = draw.Good
		}
		b.Body = func(w, h int) []string { return p.body(u, op, w, h) }
		return u.t.Box(b, w, h)
	})
}

// body is the story from the doubt to the decisions, moved so that the picked one
// is seen, and pinned under it what is to be typed.
func (p *reconcileScreen) body(u *ui, op *scenarios.Operation, width, height int) []string {
	if !unsure(op) {
		return u.t.Window(draw.Fixed(p.settled(u, op, width)...), 0, width, height)
	}
	foot := p.asking(u, op, width)
	room := max(1, height-len(foot))
	lines, picked := p.lines(u, op, width, airy)
	if room < 24 {
		lines, picked = p.lines(u, op, width, tight)
	}
	if len(lines) > room {
		if p.confirm == nil { // the blank line
			foot, room = foot[1:], room+1
		}
		lines, picked = p.lines(u, op, width, terse)
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
		lines = append(lines[:last:last], draw.Say(draw.Quiet, u.t.Glyphs.Bottom+" "+strconv.Itoa(len(lines)-last)+" more"))
	}
	return append(u.t.Window(draw.Fixed(lines...), first, width, room), u.t.Window(draw.Fixed(foot...), 0, width, len(foot))...)
}

// How much is told: all of it, without headings and what is not chosen, or a line for each thing.
const (
	airy = iota
	tight
	terse
)

// lines also tells at which of them the picked decision ends.
func (p *reconcileScreen) lines(u *ui, op *scenarios.Operation, width, how int) (out []draw.Spans, picked int) {
	t := u.t
	head := func(text string) {
		if how == airy {
			out = append(out, nil, draw.Say(draw.Strong, text))
		}
	}
	out = append(out, draw.Say(draw.Strong, opName(op), draw.Quiet, "  "+t.Shorten(p.run, 16)))
	for _, c := range op.Doubts {
		out = append(out, p.doubt(u, c, width)...)
	}
	head("Evidence")
	out = append(out, p.evidence(u, op, width, how)...)
	head("Decisions")
	for i, o := range op.Options {
		out = append(out, p.option(u, i, o, width, how)...)
		if i == p.pick {
			picked = len(out) - 1
		}
	}
	return out, picked
}

func (p *reconcileScreen) doubt(u *ui, c *engine.Call, width int) []draw.Spans {
	t := u.t
	what := c.Service + " " + c.Operation
	since := ""
	if n := len(c.Requests); n > 0 {
		q := c.Requests[n-1]
		what = q.Method + " " + pathOf(q.URL)
		since = "sent " + moment(q.SentAt.Sub(u.session.view.Start)) + "s"
	}
	end := ending(c)
	if end == "" {
		end = "no end on record"
	}
	out := []draw.Spans{draw.Say(draw.Unknown, t.Glyphs.Unknown+" "+what, draw.Quiet, "  "+since+", "+end)}
	if c.Key == "" {
		return append(out, draw.Say(draw.Quiet, "  ", draw.Bad, "no key: it cannot be looked up by one"))
	}
	return append(out, draw.Say(draw.Quiet, "  key ", draw.Strong, t.Shorten(c.Key, max(16, width-8))))
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

var foundSigns = map[engine.Found]draw.Sign{
	engine.FoundRecord:   {Glyph: draw.GlyphGood, Word: "found", Ink: draw.Good},
	engine.FoundSeveral:  {Glyph: draw.GlyphUnknown, Word: "several", Ink: draw.Unknown},
	engine.FoundNoRecord: {Glyph: draw.GlyphNote, Word: "no record", Ink: draw.Text},
	engine.FoundNoAnswer: {Glyph: draw.GlyphUnknown, Word: "no answer", Ink: draw.Unknown},
}

// evidence is what look-ups said, the newest last, with what each of them does not prove.
func (p *reconcileScreen) evidence(u *ui, op *scenarios.Operation, width, how int) []draw.Spans {
	t := u.t
	var out []draw.Spans
	for _, c := range op.Doubts {
		for _, e := range c.Evidence[max(0, len(c.Evidence)-3):] {
			s := foundSigns[e.Found]
			line := draw.Say(draw.Quiet, moment(e.At.Sub(u.session.view.Start))+" ", s.Ink, t.Glyphs.Of(s))
			if e.Status != 0 {
				line = line.And(draw.Quiet, " "+strconv.Itoa(e.Status))
			}
			if how == terse {
				out = append(out, line.And(draw.Quiet, "  "+limits(&e)))
				continue
			}
			out = append(out, line)
			out = append(out, t.Paragraph(draw.Quiet, "  ", limits(&e), width, 3)...)
			if len(e.Body) > 0 {
				out = append(out, draw.Say(draw.Truth, "  "+string(e.Body)))
			}
		}
	}
	if len(out) == 0 {
		out = []draw.Spans{p.nothing(u, op)}
	}
	for _, c := range op.Doubts {
		for i := range c.Decisions {
			out = append(out, p.decided(u, &c.Decisions[i], width)...)
		}
	}
	return out
}

// nothing says why there is no evidence.
func (p *reconcileScreen) nothing(u *ui, op *scenarios.Operation) draw.Spans {
	switch {
	case u.session.busy == "lookup":
		return draw.Say(draw.Quiet, "asking the provider by key "+u.t.Glyphs.More)
	case op.Unaskable:
		return draw.Say(draw.Quiet, "none: it cannot be looked up by a key")
	}
	return draw.Say(draw.Quiet, "none yet.  ", draw.Accent, keyOfVerb("lookup", lang.OnUnknowns), draw.Quiet, " looks the key up")
}

// decided is a decision that was taken, with its reason.
func (p *reconcileScreen) decided(u *ui, d *engine.DecidedAt, width int) []draw.Spans {
	out := []draw.Spans{draw.Say(draw.Quiet, moment(d.At.Sub(u.session.view.Start))+" decision ", draw.Strong, string(d.Decision))}
	out = append(out, u.t.Paragraph(draw.Quiet, "  ", strings.TrimSpace(d.Reason+" "+forced(d.Forced)), width, 3)...)
	return out
}

// limits is what an answer does and does not prove.
func limits(e *engine.EvidenceAt) string {
	switch {
	case e.Found == engine.FoundSeveral:
		return strconv.Itoa(e.Records) + " records: it is not known which one is meant"
	case e.Found == engine.FoundNoRecord && e.Unproven:
		return "unproven: the look-up address is an assumption and has never found a record"
	case e.Found == engine.FoundNoRecord:
		return "no record does not prove that nothing happened: a late request can still arrive"
	case e.Found == engine.FoundNoAnswer:
		return strings.TrimPrefix(e.Error+"; the outcome is still unknown", "; ")
	case e.Match == engine.Contradicts:
		return "it contradicts what was sent: " + strings.Join(e.Conflicts, ", ")
	case e.Match == engine.Matches:
		return "its fields match what was sent"
	}
	return "it cannot be compared with what was sent"
}

func (p *reconcileScreen) option(u *ui, i int, o scenarios.Option, width, how int) []draw.Spans {
	t := u.t
	mark, name := "  ", draw.Text
	if i == p.pick {
		mark, name = t.Glyphs.Pick+" ", draw.Pick
	}
	key := keyOfVerb(string(o.Decision), lang.OnUnknowns)
	line := draw.Say(draw.Accent, mark+key+" ", name, string(o.Decision))
	text, k := o.Consequence, draw.Quiet
	if o.Permission != engine.Allowed {
		word := " no"
		if o.Permission == engine.Forced {
			word = " only by force"
		}
		line = line.And(draw.Bad, "  "+t.Glyphs.Bad+word)
		if text = o.Unavailable; o.Permission == engine.Forced && i == p.pick {
			text = strings.TrimRight(text, ".") + ". " + o.Risk
		}
		if how != airy && i != p.pick {
			line = line.And(draw.Quiet, ": "+text)
		}
	}
	out := []draw.Spans{line}
	if how != airy && i != p.pick {
		return out
	}
	out = append(out, t.Paragraph(k, "    ", text, width-1, 4-how)...)
	return out
}

// settled is the story after a decision.
func (p *reconcileScreen) settled(u *ui, op *scenarios.Operation, width int) []draw.Spans {
	t := u.t
	if op == nil {
		return []draw.Spans{draw.Say(draw.Quiet, "nothing is unknown here")}
	}
	s := beliefSigns[op.Belief]
	out := []draw.Spans{draw.Say(draw.Strong, opName(op), draw.Quiet, "  "+t.Shorten(p.run, 16)), draw.Say(s.Ink, t.Glyphs.Of(s)), nil}
	if r := runOf(u.session.view, p.run); r != nil {
		if st := r.StepAt(p.step, p.undo); st != nil {
			out = append(out, p.story(u, st, width)...)
		}
	}
	return append(out, nil, draw.Say(draw.Accent, "esc", draw.Quiet, " goes back to the wire"))
}

// story is every look-up and decision about a step, in order.
func (p *reconcileScreen) story(u *ui, st *engine.Step, width int) []draw.Spans {
	t, start := u.t, u.session.view.Start
	var out []draw.Spans
	for _, a := range st.Attempts {
		for _, c := range a.Calls {
			for i := range c.Evidence {
				e := &c.Evidence[i]
				s := foundSigns[e.Found]
				out = append(out, draw.Say(draw.Quiet, moment(e.At.Sub(start))+" look-up ", s.Ink, t.Glyphs.Of(s)))
			}
			for i := range c.Decisions {
				out = append(out, p.decided(u, &c.Decisions[i], width)...)
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

// asking is what a decision takes: choosing it, then typing its name.
func (p *reconcileScreen) asking(u *ui, op *scenarios.Operation, width int) []draw.Spans {
	t, word := u.t, p.word(op)
	if p.confirm == nil {
		hint := draw.Say(draw.Quiet, "choose with ", draw.Accent, t.Glyphs.Up+" "+t.Glyphs.Bottom, draw.Quiet, ", then ", draw.Accent, "enter")
		if !p.chosen && op.Advice == engine.AdviseLookup {
			hint = append(draw.Say(draw.Accent, "enter", draw.Quiet, " looks it up, or "), hint...)
		}
		return []draw.Spans{nil, hint}
	}
	prompt := "Type \"" + word + "\", then Enter, to confirm: "
	if p.reason {
		prompt = "Reason, for the person who takes over: "
	}
	out := []draw.Spans{nil}
	if !p.reason && strings.HasPrefix(word, "force ") {
		out = append(out, draw.Say(draw.Bad, t.Glyphs.Bad+" this overrides a refusal; the history records it"))
	}
	if u.notice.text != "" {
		out = append(out, draw.Say(u.notice.ink, u.notice.text))
	}
	return append(out, append(draw.Say(draw.Accent, prompt), p.confirm.Spans(t, max(8, width-t.WidthOf(prompt)-1))...))
}

// bindings are the keys while a decision is being confirmed.
func (p *reconcileScreen) bindings() []key.Binding {
	word := "take it"
	if p.reason {
		word = "go on"
	}
	return []key.Binding{key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", word)), key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "back"))}
}

// word is what must be typed to take the picked decision.
func (p *reconcileScreen) word(op *scenarios.Operation) string {
	o := op.Options[p.pick]
	if o.Permission == engine.Forced {
		return "force " + string(o.Decision)
	}
	return string(o.Decision)
}

// typed takes keys while a decision is being confirmed.
func (p *reconcileScreen) typed(u *ui, k tea.KeyMsg) (tea.Cmd, bool) {
	if p.confirm == nil {
		return nil, false
	}
	switch k.Type {
	case tea.KeyEsc:
		p.confirm, p.reason, p.why = nil, false, ""
	case tea.KeyEnter:
		return p.take(u), true
	default:
		p.confirm.Key(k)
	}
	return nil, true
}

// take goes on from a typed line: to the next question, or to the decision.
func (p *reconcileScreen) take(u *ui) tea.Cmd {
	op, typed := p.op(u), strings.TrimSpace(p.confirm.String())
	if !unsure(op) || p.pick >= len(op.Options) {
		p.confirm = nil
		return nil
	}
	if p.reason {
		if typed == "" {
			u.say(draw.Bad, "escalate: type a reason for the person who takes over")
			return nil
		}
		p.why, p.reason = typed, false
		p.confirm.Set("")
		return nil
	}
	if word := p.word(op); typed != word {
		u.say(draw.Bad, "not taken: "+strconv.Quote(typed)+" is not "+strconv.Quote(word))
		p.confirm.Set("")
		return nil
	}
	o := op.Options[p.pick]
	args := []string{}
	if p.why != "" {
		args = append(args, lang.Quote(p.why))
	}
	args = append(args, "run="+lang.Quote(p.run), "step="+lang.Quote(p.stepArg()))
	if op.Several && op.Write != "" {
		args = append(args, "write="+lang.Quote(op.Write))
	}
	if o.Permission == engine.Forced {
		args = append(args, "--force")
	}
	p.confirm, p.why = nil, ""
	return u.send(command{verb: lang.VerbNamed(string(o.Decision)), args: strings.Join(args, " ")})
}

// offers leaves out what the pane itself names, and decisions where nothing is unknown.
func (p *reconcileScreen) offers(u *ui, verb string) bool {
	return verb != "open" && (!decides(verb) || unsure(p.op(u)))
}

func (p *reconcileScreen) verb(u *ui, c command) (tea.Cmd, bool) {
	op := p.op(u)
	n := 0
	if unsure(op) {
		n = len(op.Options)
	}
	switch c.verb.Name {
	case "up":
		p.move(op, -1)
	case "down":
		p.move(op, 1)
	case "open":
		switch p.rest(op); {
		case n == 0:
			u.pop()
		case !p.chosen && op.Advice == engine.AdviseLookup:
			return p.verb(u, command{verb: lang.VerbNamed("lookup")})
		default:
			p.ask(op)
		}
	case "record", "resubmit", "abandon", "escalate":
		if c.key == "" {
			return nil, false // typed in full: that is confirmation enough
		}
		for i := range n {
			switch o := op.Options[i]; {
			case string(o.Decision) != c.verb.Name:
			case o.Permission == engine.Denied:
				u.say(draw.Bad, c.verb.Name+": "+o.Unavailable)
			default:
				p.pick, p.chosen = i, true
				p.ask(op)
			}
		}
	case "lookup":
		if c.args == "" && p.run != "" {
			c.args = "run=" + lang.Quote(p.run) + " step=" + lang.Quote(p.stepArg())
		}
		return u.send(c), true
	case "copy", "cover", "uncover", "identities": // the bench is seen around this pane
		return p.onBench(u, c), true
	default:
		return nil, false
	}
	return nil, true
}

// rest puts the cursor on what is advised until it is moved, and never on what is refused.
func (p *reconcileScreen) rest(op *scenarios.Operation) {
	if !unsure(op) || p.confirm != nil {
		return
	}
	for i, o := range op.Options {
		if o.Advised && !p.chosen || i >= p.pick && op.Options[p.pick].Permission == engine.Denied && o.Permission != engine.Denied {
			p.pick = i
		}
	}
}

// move goes to the next decision that is allowed or can be forced.
func (p *reconcileScreen) move(op *scenarios.Operation, step int) {
	if !unsure(op) {
		return
	}
	for i := p.pick + step; i >= 0 && i < len(op.Options); i += step {
		if op.Options[i].Permission != engine.Denied {
			p.pick, p.chosen = i, true
			return
		}
	}
}

// onBench does what the bench's screen does with a verb; what is copied is about this operation.
func (p *reconcileScreen) onBench(u *ui, c command) tea.Cmd {
	s := u.session
	run, op := s.run, s.op
	defer func() { s.run, s.op = run, op }()
	for i := range s.view.Operations {
		if o := p.op(u); o == &s.view.Operations[i] {
			s.op = i
		}
	}
	for i, r := range s.view.Runs {
		if r.ID == p.run {
			s.run = i
		}
	}
	return benchVerbs[c.verb.Name](u, c)
}

func (p *reconcileScreen) ask(op *scenarios.Operation) {
	p.confirm = &draw.Input{}
	p.reason = op.Options[p.pick].Decision == engine.Escalate
	p.why = ""
}
