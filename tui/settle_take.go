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
		return []spans{nil, say(inkQuiet, "choose with ", inkAccent, t.glyphs.up+" "+t.glyphs.bottom, inkQuiet, ", then ", inkAccent, "enter")}
	}
	prompt := "type " + word + " and enter to take it: "
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
	if o.Unavailable != "" {
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
	if o.Unavailable != "" && o.Decision != engine.Escalate {
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
		p.pick = max(0, p.pick-1)
	case "down":
		p.pick = clamp(p.pick+1, 0, max(0, n-1))
	case "open":
		if n == 0 {
			m.pop()
			return nil, true
		}
		p.ask(op)
	case "record", "resubmit", "abandon", "escalate":
		if c.key == "" {
			return nil, false // typed in full: that is confirmation enough
		}
		for i := range n {
			if string(op.Options[i].Decision) == c.verb.Name {
				p.pick = i
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
