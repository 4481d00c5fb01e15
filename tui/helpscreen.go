package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios/lang"
)

// helpScreen lists the verbs that work where it was asked for, from the one table.
type helpScreen struct {
	under  lang.Screen // where help was asked for
	verb1  string      // one verb in full; empty for the list
	scroll int
	filter input
	asking bool
}

// help shows what can be done here, or what one verb does.
func (m *model) help(verb string) {
	h := &helpScreen{under: m.top().on(), verb1: strings.TrimSpace(verb)}
	if old, ok := m.top().(*helpScreen); ok {
		if verb == "" {
			m.pop() // ? again closes
			return
		}
		h.under = old.under
	}
	m.push(h)
}

func (h *helpScreen) on() lang.Screen { return lang.OnMenu }

func (h *helpScreen) title(*model) spans { return say(inkStrong, "Help") }

func (h *helpScreen) draw(m *model, width, height int) []string {
	b := box{title: say(inkStrong, "What can be done here"), frame: inkAccent, focus: true}
	if h.asking || len(h.filter.text) > 0 {
		b.side = append(say(inkAccent, "/"), h.filter.spans(m.t, 14)...)
	}
	b.body = func(w, hh int) []string {
		r := h.rows(m, w)
		h.scroll = clamp(h.scroll, 0, max(0, r.n-hh))
		return m.t.window(r, h.scroll, w, hh)
	}
	return m.t.draw(b, width, height)
}

func (h *helpScreen) rows(m *model, width int) rows {
	if v := lang.VerbNamed(h.verb1); v != nil {
		return fixed(h.inFull(m, v, width)...)
	}
	out := []spans{say(inkQuiet, "Keys for the screen where you pressed ?; every verb can be typed after ", inkAccent, ":"), nil}
	f := strings.ToLower(h.filter.String())
	for _, group := range lang.Groups {
		var lines []spans
		for i := range lang.Verbs {
			v := &lang.Verbs[i]
			if v.Group != group || !v.Interactive() || !strings.Contains(strings.ToLower(v.Name+" "+v.Help), f) {
				continue
			}
			lines = append(lines, h.line(m, v, width)...)
		}
		if len(lines) > 0 {
			out = append(out, say(inkAccent, group))
			out = append(append(out, lines...), nil)
		}
	}
	if len(out) == 2 {
		return fixed(say(inkQuiet, "no verb contains "+h.filter.String()))
	}
	return fixed(out...)
}

// line is one verb: its key where it works here, its name, what it does and, where it is not available, why.
func (h *helpScreen) line(m *model, v *lang.Verb, width int) []spans {
	t := m.t
	key := ""
	if v.On&h.under != 0 {
		names := make([]string, 0, 2)
		for _, k := range v.Keys[:min(2, len(v.Keys))] {
			names = append(names, t.keyName(k))
		}
		key = strings.Join(names, " ")
	}
	const keys, indent = 12, 16
	usage := t.wrap(v.Usage(), max(20, width-indent-2), 6)
	rest, _ := strings.CutPrefix(usage[0], v.Name)
	out := []spans{say(inkText, "  ", inkAccent, padTo(t, key, keys), inkStrong, v.Name, inkQuiet, rest)}
	for _, l := range usage[1:] {
		out = append(out, say(inkText, strings.Repeat(" ", indent+2), inkQuiet, l))
	}
	for _, l := range t.wrap(v.Help, max(20, width-indent), 4) {
		out = append(out, say(inkText, strings.Repeat(" ", indent), inkQuiet, l))
	}
	if why := m.unavailable(v.Name); why != "" {
		for _, l := range t.wrap(t.glyphs.bad+" not now: "+why, max(20, width-indent), 2) {
			out = append(out, say(inkText, strings.Repeat(" ", indent), inkUnknown, l))
		}
	}
	return out
}

func padTo(t *theme, s string, width int) string {
	return s + strings.Repeat(" ", max(1, width-t.widthOf(s)))
}

// unavailable says why the open bench cannot do a verb now.
func (m *model) unavailable(verb string) string {
	if m.session == nil {
		return ""
	}
	return m.session.bench.Unavailable(verb)
}

func (h *helpScreen) inFull(m *model, v *lang.Verb, width int) []spans {
	var out []spans
	for _, l := range m.t.wrap(v.Usage(), width, 10) {
		out = append(out, say(inkStrong, l))
	}
	out = append(out, nil)
	for _, text := range []string{v.Help, v.Long} {
		for _, l := range m.t.wrap(text, width, 10) {
			out = append(out, say(inkText, l))
		}
	}
	if why := m.unavailable(v.Name); why != "" {
		out = append(out, say(inkUnknown, "not now: "+why))
	}
	return out
}

func (h *helpScreen) typed(m *model, k tea.KeyMsg) (tea.Cmd, bool) {
	if !h.asking {
		return nil, false
	}
	switch k.Type {
	case tea.KeyEsc:
		h.asking = false
		h.filter.set("")
	case tea.KeyEnter:
		h.asking = false
	default:
		h.filter.key(k)
	}
	return nil, true
}

func (h *helpScreen) verb(m *model, c command) (tea.Cmd, bool) {
	page := max(1, m.height-6)
	switch c.verb.Name {
	case "up":
		h.scroll--
	case "down":
		h.scroll++
	case "pageup":
		h.scroll -= page
	case "pagedown":
		h.scroll += page
	case "top":
		h.scroll = 0
	case "bottom":
		h.scroll = 1 << 20
	case "filter":
		h.asking = c.args == ""
		h.filter.set(c.args)
	case "open":
		m.pop()
	default:
		return nil, false
	}
	return nil, true
}
