package tui

import (
	"cmp"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// catalogue is the list of scenarios in their groups, with a preview of the chosen one.
type catalogue struct {
	list  draw.Picker[catalogueLine]
	pages draw.Pager // the preview
}

// catalogueLine is a line of the list: the head of a group, or a scenario.
type catalogueLine struct {
	group    string
	scenario *lang.Scenario // nil: the head of a group
}

func (c *catalogue) on() lang.Screen { return lang.OnCatalogue }

func (c *catalogue) title(u *ui) draw.Spans {
	return draw.Say(draw.Strong, "Scenarios", draw.Quiet, "  "+strconv.Itoa(len(u.opt.Scenarios)))
}

// show lists the groups and scenarios in the catalogue's order.
func (c *catalogue) show(all []*lang.Scenario) {
	items := make([]draw.Item[catalogueLine], 0, len(all)+10)
	for i, s := range all {
		if i == 0 || s.Group != all[i-1].Group {
			items = append(items, draw.Item[catalogueLine]{Value: catalogueLine{group: cmp.Or(s.Group, "Scenarios")}})
		}
		words := strings.Join(append([]string{s.Name, s.Title, s.Group, s.Teach}, s.Cases...), " ")
		items = append(items, draw.Item[catalogueLine]{ID: s.Name, Words: words, Value: catalogueLine{scenario: s}})
	}
	c.list.List(items)
}

// chosen is the scenario under the cursor; nil if there is none.
func (c *catalogue) chosen(u *ui) *lang.Scenario {
	c.show(u.opt.Scenarios)
	line, _ := c.list.Picked()
	return line.scenario
}

func (c *catalogue) draw(u *ui, width, height int) []string {
	s := c.chosen(u)
	left := clamp(width*9/20, 28, 60)
	list := draw.Box{Title: draw.Say(draw.Strong, "Catalogue"), Frame: draw.Accent, Focus: true, Side: c.list.Filter.Side(u.t)}
	list.Body = func(w, h int) []string {
		if s == nil {
			return u.t.Window(draw.Fixed(draw.Say(draw.Quiet, "no scenario contains "+c.list.String())), 0, w, h)
		}
		return c.list.Window(u.t, w, h, func(l catalogueLine, _, picked bool) draw.Spans { return l.spans(u, picked) })
	}
	side := draw.Box{Title: draw.Say(draw.Strong, "Preview"), Frame: draw.Frame}
	side.Body = func(w, h int) []string { return c.pages.Window(u.t, preview(u, s, w), w, h) }
	return draw.Beside(u.t.Box(list, left, height), u.t.Box(side, width-left-1, height))
}

func (l catalogueLine) spans(u *ui, picked bool) draw.Spans {
	if l.scenario == nil {
		return draw.Say(draw.Accent, l.group)
	}
	mark, ink := u.t.Mark(picked)
	last := draw.Say(draw.Quiet, "  ")
	if v, ok := u.settings.Verdicts[l.scenario.Name]; ok {
		s := verdictSigns[engine.Verdict(v)]
		last = draw.Say(s.Ink, s.Glyph(u.t.Glyphs)+" ")
	}
	return append(mark, last...).And(ink, l.scenario.Title)
}

// preview says what a scenario is about before it is opened.
func preview(u *ui, s *lang.Scenario, width int) draw.Rows {
	if s == nil {
		return draw.Fixed()
	}
	t := u.t
	out := []draw.Spans{draw.Say(draw.Strong, s.Title), draw.Say(draw.Quiet, s.Name)}
	if v, ok := u.settings.Verdicts[s.Name]; ok {
		g := verdictSigns[engine.Verdict(v)]
		out = append(out, draw.Say(draw.Quiet, "last time  ", g.Ink, t.Glyphs.Of(g)))
	}
	out = append(append(out, nil), t.Paragraph(draw.Text, "", s.Teach, width-1, 40)...)
	out = append(out, nil)
	fact := func(name string, ink draw.Ink, text string) {
		if text == "" {
			return
		}
		for _, l := range t.Wrap(text, width-11, 4) {
			out = append(out, draw.Say(draw.Quiet, draw.Pad(name, 10), ink, l))
			name = ""
		}
	}
	for _, what := range []string{"fault", "contract", "policy", "key"} {
		for _, l := range s.Lines {
			if l.Verb == what {
				fact(what, draw.Bad, lineWords(l))
			}
		}
	}
	fact("client", draw.Bad, s.Client)
	fact("subject", draw.Text, s.Subject)
	if s.Runs == lang.RunsReal || s.Runs == lang.RunsVirtual {
		fact("runs", draw.Text, s.Runs)
	}
	for _, name := range s.Names {
		if !strings.HasSuffix(name, ".woml") {
			continue
		}
		out = append(out, nil, draw.Say(draw.Accent, name))
		for _, l := range strings.Split(strings.TrimRight(string(s.Files[name]), "\n"), "\n") {
			out = append(out, draw.Say(draw.Quiet, strings.ReplaceAll(l, "\t", "  ")))
		}
	}
	return draw.Fixed(out...)
}

func (c *catalogue) typed(_ *ui, k tea.KeyMsg) (tea.Cmd, bool) { return nil, c.list.Type(k) }

func (c *catalogue) verb(u *ui, v command) (tea.Cmd, bool) {
	s := c.chosen(u)
	switch {
	case c.list.Move(v.verb.Name):
		if c.chosen(u) != s {
			c.pages = draw.Pager{}
		}
	case v.verb.Name == "pane":
		c.pages.Move("pagedown")
	case v.verb.Name == "unpane":
		c.pages.Move("pageup")
	case v.verb.Name == "filter":
		c.list.Begin(v.args)
	case v.verb.Name == "close":
		c.list.Set("")
	case v.verb.Name == "open" && v.args == "" && s != nil:
		return u.open(s), true
	case v.verb.Name == "edit" && s != nil:
		return u.openToEdit(s), true
	default:
		return nil, v.verb.Name == "edit"
	}
	return nil, true
}

// lineWords is what a line sets, faults in words.
func lineWords(l lang.Line) string {
	faults, err := scenarios.FaultsOf(l)
	if l.Verb != "fault" || err != nil {
		return l.Text
	}
	words := make([]string, len(faults))
	for i, f := range faults {
		words[i] = f.Words()
	}
	return strings.Join(words, " ")
}
