package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// palette is the line where every verb can be typed, in the words of scenario files.
type palette struct {
	input draw.Input
	pick  int                        // of the offers; -1 for none
	past  int                        // how far back in what was typed before
	does  func(*ui, command) tea.Cmd // what becomes of the line; nil runs it
}

func newPalette(text string) *palette {
	p := &palette{pick: -1}
	p.input.Set(text)
	return p
}

// offers are the ways to go on with the line.
func (p *palette) offers(m *model) []lang.Candidate {
	out := lang.Complete(p.input.String(), m.opt.names(m))
	if strings.TrimSpace(p.input.String()) == "" {
		on := m.top().on()
		slices.SortStableFunc(out, func(a, b lang.Candidate) int { return m.nearness(a.Word, on) - m.nearness(b.Word, on) })
	}
	return out
}

// nearness orders verbs by how much the screen is about them: those of its footer, those with a key there, the rest.
func (m *model) nearness(verb string, on lang.Screen) int {
	names := m.footerNames(on)
	if i := slices.Index(names, verb); i >= 0 && m.offers(verb) {
		return i
	}
	if keyOfVerb(verb, on) != "" {
		return len(names)
	}
	return len(names) + 1
}

// taken puts the offer that is pointed at into the line, as it is shown there.
func (p *palette) taken(offers []lang.Candidate) bool {
	if p.pick < 0 || p.pick >= len(offers) {
		return false
	}
	p.input.Set(offers[p.pick].Line)
	p.pick = -1
	return true
}

func (p *palette) key(m *model, k tea.KeyMsg) tea.Cmd {
	offers := p.offers(m)
	switch k.Type {
	case tea.KeyEsc, tea.KeyCtrlC:
		m.palette = nil
	case tea.KeyEnter:
		return p.enter(m)
	case tea.KeyTab, tea.KeyDown:
		p.choose(offers, 1)
	case tea.KeyShiftTab, tea.KeyUp:
		if p.pick < 0 && k.Type == tea.KeyUp {
			p.recall(m, 1)
			return nil
		}
		p.choose(offers, -1)
	default:
		if k.Type == tea.KeyBackspace && p.input.String() == "" {
			m.palette = nil
			return nil
		}
		p.taken(offers)
		p.input.Key(k)
	}
	return nil
}

// choose goes through the offers; a single one is taken at once.
func (p *palette) choose(offers []lang.Candidate, step int) {
	if len(offers) == 0 {
		return
	}
	if len(offers) == 1 {
		p.input.Set(offers[0].Line + " ")
		p.pick = -1
		return
	}
	p.pick = (p.pick + step + len(offers)) % len(offers)
}

func (p *palette) recall(m *model, step int) {
	if n := len(m.lines); n > 0 {
		p.past = clamp(p.past+step, 1, n)
		p.input.Set(m.lines[n-p.past])
	}
}

// enter does what was typed. A mistake stays on the line, with what would fit.
func (p *palette) enter(m *model) tea.Cmd {
	if p.taken(p.offers(m)) && !complete(p.input.String()) {
		p.input.Set(p.input.String() + " ")
		return nil
	}
	text := strings.TrimSpace(p.input.String())
	m.palette = nil
	if text == "" {
		return nil
	}
	l, err := lang.ParseLine(text)
	if err != nil {
		m.palette = p
		m.say(draw.Bad, err.Error())
		return nil
	}
	m.lines = append(m.lines, text)
	c := command{verb: lang.VerbNamed(l.Verb), args: l.Text, typed: l}
	if p.does != nil {
		return p.does(&m.ui, c)
	}
	return m.run(c)
}

// complete reports whether a line means something as it stands.
func complete(line string) bool {
	if v := lang.VerbNamed(strings.TrimSpace(line)); v != nil {
		return v.Least == 0 && !required(v)
	}
	_, err := lang.ParseLine(strings.TrimSpace(line))
	return err == nil
}

// required reports whether a verb means nothing without arguments.
func required(v *lang.Verb) bool {
	return len(v.Args) > 0 && !v.Args[0].Optional && v.Args[0].Keyword == ""
}

// line is the palette in the footer's place; a mistake is said above it.
func (p *palette) line(m *model) string {
	t := m.t
	w := t.Pen(m.width)
	w.Skip(1)
	w.Put(draw.Accent, ":")
	in := p.input
	if offers := p.offers(m); p.pick >= 0 && p.pick < len(offers) {
		in.Set(offers[p.pick].Line)
	}
	w.Spans(in.Spans(t, m.width-4))
	return w.Line()
}

// over lays the offers over the last lines of the screen's body.
func (p *palette) over(m *model, body []string) []string {
	t := m.t
	offers := p.offers(m)
	shown := min(len(offers), 8, len(body)-3)
	var list []draw.Spans
	first := clamp(p.pick-shown+1, 0, max(0, len(offers)-shown))
	wide := 0
	for _, o := range offers {
		wide = max(wide, t.WidthOf(o.Word))
	}
	for i := first; i < first+shown; i++ {
		o := offers[i]
		mark, k := "  ", draw.Text
		if i == p.pick {
			mark, k = t.Glyphs.Pick+" ", draw.Pick
		}
		list = append(list, draw.Say(draw.Accent, mark, k, o.Word, draw.Quiet, strings.Repeat(" ", wide-t.WidthOf(o.Word)+2)+o.Help))
	}
	head := p.usage(m)
	lines := len(list) + len(head)
	if lines == 0 {
		return body
	}
	b := draw.Box{Title: draw.Say(draw.Strong, "Command"), Frame: draw.Accent, Focus: true, Body: func(w, h int) []string {
		return t.Window(draw.Fixed(append(head, list...)...), 0, w, h)
	}}
	if n := len(offers) - shown; n > 0 {
		b.Side = draw.Say(draw.Quiet, "+"+plural(n, "offer"))
	}
	over := t.Box(b, m.width, min(lines+2, len(body)))
	return append(append([]string{}, body[:len(body)-len(over)]...), over...)
}

// usage is the form of the verb that is being typed, and the last mistake.
func (p *palette) usage(m *model) []draw.Spans {
	var out []draw.Spans
	if m.notice.text != "" {
		for _, l := range m.t.Wrap(m.notice.text, m.width-4, 3) {
			out = append(out, draw.Say(m.notice.ink, l))
		}
	}
	name, _, more := strings.Cut(strings.TrimLeft(p.input.String(), " "), " ")
	if v := lang.VerbNamed(name); v != nil && more && v.Interactive() {
		out = append(out, draw.Say(draw.Strong, v.Usage()), draw.Say(draw.Quiet, v.Help))
	}
	return out
}
