package tui

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// asking is what a decision takes: choosing it, then typing its name.
func (p *settle) asking(m *model, op *scenarios.Operation, width int) []spans {
	t, word := m.t, p.word(op)
	if p.confirm == nil {
		hint := say(inkQuiet, "choose with ", inkAccent, t.glyphs.up+" "+t.glyphs.bottom, inkQuiet, ", then ", inkAccent, "enter")
		if !p.chosen && op.Advice == engine.AdviseLookup {
			hint = append(say(inkAccent, "enter", inkQuiet, " looks it up, or "), hint...)
		}
		return []spans{nil, hint}
	}
	prompt := "Type \"" + word + "\", then Enter, to confirm: "
	if p.reason {
		prompt = "why, for the person who takes over: "
	}
	out := []spans{nil}
	if !p.reason && strings.HasPrefix(word, "force ") {
		out = append(out, say(inkBad, t.glyphs.bad+" this overrides a refusal, and the history will say so"))
	}
	if m.notice.text != "" {
		out = append(out, say(m.notice.ink, m.notice.text))
	}
	return append(out, append(say(inkAccent, prompt), p.confirm.spans(t, max(8, width-t.widthOf(prompt)-1))...))
}

// footer says what the keys do while a decision is being confirmed.
func (p *settle) footer() []spans {
	word := " take it"
	if p.reason {
		word = " go on"
	}
	return []spans{say(inkAccent, "enter", inkQuiet, word), say(inkAccent, "esc", inkQuiet, " back")}
}

// word is what must be typed to take the picked decision.
func (p *settle) word(op *scenarios.Operation) string {
	o := op.Options[p.pick]
	if o.Permission == engine.Forced {
		return "force " + string(o.Decision)
	}
	return string(o.Decision)
}

// typed takes keys while a decision is being confirmed.
func (p *settle) typed(m *model, k tea.KeyMsg) (tea.Cmd, bool) {
	if p.confirm == nil {
		return nil, false
	}
	switch k.Type {
	case tea.KeyEsc:
		p.confirm, p.reason, p.why = nil, false, ""
	case tea.KeyEnter:
		return p.take(m), true
	default:
		p.confirm.key(k)
	}
	return nil, true
}

// take goes on from a typed line: to the next question, or to the decision.
func (p *settle) take(m *model) tea.Cmd {
	op, typed := p.op(m), strings.TrimSpace(p.confirm.String())
	if !unsure(op) || p.pick >= len(op.Options) {
		p.confirm = nil
		return nil
	}
	if p.reason {
		if typed == "" {
			m.say(inkBad, "escalate: a reason belongs here, for the person who takes over")
			return nil
		}
		p.why, p.reason = typed, false
		p.confirm.set("")
		return nil
	}
	if word := p.word(op); typed != word {
		m.say(inkBad, "not taken: "+strconv.Quote(typed)+" is not "+strconv.Quote(word))
		p.confirm.set("")
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
	return m.send(command{verb: lang.VerbNamed(string(o.Decision)), args: strings.Join(args, " ")})
}

func (p *settle) verb(m *model, c command) (tea.Cmd, bool) {
	op := p.op(m)
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
			m.pop()
		case !p.chosen && op.Advice == engine.AdviseLookup:
			return p.verb(m, command{verb: lang.VerbNamed("lookup")})
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
				m.say(inkBad, c.verb.Name+": "+o.Unavailable)
			default:
				p.pick, p.chosen = i, true
				p.ask(op)
			}
		}
	case "lookup":
		if c.args == "" && p.run != "" {
			c.args = "run=" + lang.Quote(p.run) + " step=" + lang.Quote(p.stepArg())
		}
		return m.send(c), true
	case "copy", "cover", "uncover", "identities": // the bench is seen around this pane
		return p.onBench(m, c), true
	default:
		return nil, false
	}
	return nil, true
}

// rest puts the cursor on what is advised until it is moved, and never on what is refused.
func (p *settle) rest(op *scenarios.Operation) {
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
func (p *settle) move(op *scenarios.Operation, step int) {
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
func (p *settle) onBench(m *model, c command) tea.Cmd {
	s := m.session
	run, op := s.run, s.op
	defer func() { s.run, s.op = run, op }()
	for i := range s.view.Operations {
		if o := p.op(m); o == &s.view.Operations[i] {
			s.op = i
		}
	}
	for i, r := range s.view.Runs {
		if r.ID == p.run {
			s.run = i
		}
	}
	return benchVerbs[c.verb.Name](m, c)
}

func (p *settle) ask(op *scenarios.Operation) {
	p.confirm = &input{}
	p.reason = op.Options[p.pick].Decision == engine.Escalate
	p.why = ""
}
