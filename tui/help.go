package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// helpScreen lists the verbs that work where it was asked for, from the one table.
type helpScreen struct {
	under  lang.Screen // where help was asked for
	about  string      // one verb in full; empty for the list
	filter draw.Filter
	pages  draw.Pager
}

func (s *helpScreen) on() lang.Screen { return lang.OnMenu }

func (s *helpScreen) title(*ui) draw.Spans { return draw.Say(draw.Strong, "Help") }

func (s *helpScreen) draw(u *ui, width, height int) []string {
	b := draw.Box{Title: draw.Say(draw.Strong, "What can be done here"), Frame: draw.Accent, Focus: true, Side: s.filter.Side(u.t)}
	b.Body = func(w, h int) []string { return s.pages.Window(u.t, s.rows(u, w), w, h) }
	return u.t.Box(b, width, height)
}

func (s *helpScreen) rows(u *ui, width int) draw.Rows {
	if v := lang.VerbNamed(s.about); v != nil {
		return draw.Fixed(s.inFull(u, v, width)...)
	}
	out := []draw.Spans{draw.Say(draw.Quiet, "Keys for the screen where you pressed ?; every verb can be typed after ", draw.Accent, ":"), nil}
	for _, group := range lang.Groups {
		var lines []draw.Spans
		for i := range lang.Verbs {
			if v := &lang.Verbs[i]; v.Group == group && v.Interactive() && s.filter.Lets(v.Name+" "+v.Help) {
				lines = append(lines, s.line(u, v, width)...)
			}
		}
		if len(lines) > 0 {
			out = append(append(append(out, draw.Say(draw.Accent, group)), lines...), nil)
		}
	}
	if len(out) == 2 {
		return draw.Fixed(draw.Say(draw.Quiet, "no command contains "+s.filter.String()))
	}
	return draw.Fixed(out...)
}

// line is one verb: its key where it works here, its name, what it does and, where it is not available, why.
func (s *helpScreen) line(u *ui, v *lang.Verb, width int) []draw.Spans {
	t := u.t
	key := ""
	if v.On&s.under != 0 {
		key = keyNames(t, v)
	}
	const keys, indent = 12, "                "
	usage := t.Wrap(v.Usage(), max(20, width-len(indent)-2), 6)
	rest, _ := strings.CutPrefix(usage[0], v.Name)
	out := []draw.Spans{draw.Say(draw.Text, "  ", draw.Accent, draw.PadTo(t, key, keys), draw.Strong, v.Name, draw.Quiet, rest)}
	for _, l := range usage[1:] {
		out = append(out, draw.Say(draw.Quiet, indent+"  "+l))
	}
	wide := max(20+len(indent), width)
	out = append(out, t.Paragraph(draw.Quiet, indent, v.Help, wide, 4)...)
	if why := u.unavailable(v.Name); why != "" {
		out = append(out, t.Paragraph(draw.Unknown, indent, t.Glyphs.Bad+" not now: "+why, wide, 2)...)
	}
	return out
}

// unavailable says why the open bench cannot do a verb now.
func (u *ui) unavailable(verb string) string {
	if u.session == nil {
		return ""
	}
	return u.session.bench.Unavailable(verb)
}

func (s *helpScreen) inFull(u *ui, v *lang.Verb, width int) []draw.Spans {
	out := append(u.t.Paragraph(draw.Strong, "", v.Usage(), width, 10), nil)
	for _, text := range []string{v.Help, v.Long} {
		out = append(out, u.t.Paragraph(draw.Text, "", text, width, 10)...)
	}
	if why := u.unavailable(v.Name); why != "" {
		out = append(out, draw.Say(draw.Unknown, "not now: "+why))
	}
	return out
}

func (s *helpScreen) typed(_ *ui, k tea.KeyMsg) (tea.Cmd, bool) { return nil, s.filter.Type(k) }

func (s *helpScreen) offers(_ *ui, verb string) bool { return verb != "open" }

func (s *helpScreen) verb(u *ui, c command) (tea.Cmd, bool) {
	switch {
	case s.pages.Move(c.verb.Name):
	case c.verb.Name == "filter":
		s.filter.Begin(c.args)
	case c.verb.Name == "open" && c.args == "":
		u.pop()
	default:
		return nil, false
	}
	return nil, true
}
