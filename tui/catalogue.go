package tui

import (
	"cmp"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// catalogue is the list of scenarios in their groups, with a preview of the chosen one.
type catalogue struct {
	pick   int // of the list as it is filtered
	top    int // first line of the list that is seen
	scroll int // lines of the preview that are scrolled away
	filter input
	asking bool // the filter is being typed
	list   []entry
	shown  string // the filter that list was made for
}

// entry is a line of the list: the head of a group, or a scenario.
type entry struct {
	group    string
	scenario *lang.Scenario // nil: the head of a group
}

func (c *catalogue) on() lang.Screen { return lang.OnCatalogue }

func (c *catalogue) title(m *model) spans {
	return say(inkStrong, "Scenarios", inkQuiet, "  "+strconv.Itoa(len(m.opt.Scenarios)))
}

// entries are the groups and scenarios that contain the filter's words, in the catalogue's order.
func (c *catalogue) entries(m *model) []entry {
	f := strings.ToLower(strings.TrimSpace(c.filter.String()))
	if c.list != nil && f == c.shown {
		return c.list
	}
	c.list, c.shown = []entry{}, f
	group := "\x00"
	for _, s := range m.opt.Scenarios {
		if !matches(s, f) {
			continue
		}
		if s.Group != group {
			group = s.Group
			c.list = append(c.list, entry{group: cmp.Or(group, "Scenarios")})
		}
		c.list = append(c.list, entry{scenario: s})
	}
	return c.list
}

func matches(s *lang.Scenario, words string) bool {
	all := strings.ToLower(s.Name + " " + s.Title + " " + s.Group + " " + s.Teach + " " + strings.Join(s.Cases, " "))
	for _, w := range strings.Fields(words) {
		if !strings.Contains(all, w) {
			return false
		}
	}
	return true
}

// chosen is the scenario under the cursor; nil if there is none.
func (c *catalogue) chosen(m *model) *lang.Scenario {
	list := c.entries(m)
	n := 0
	for _, e := range list {
		if e.scenario != nil {
			if n == c.pick {
				return e.scenario
			}
			n++
		}
	}
	return nil
}

// choose puts the cursor on a scenario.
func (c *catalogue) choose(m *model, name string) {
	n := 0
	for _, e := range c.entries(m) {
		if e.scenario == nil {
			continue
		}
		if e.scenario.Name == name {
			c.pick = n
		}
		n++
	}
}

func (c *catalogue) count(m *model) (n int) {
	for _, e := range c.entries(m) {
		if e.scenario != nil {
			n++
		}
	}
	return n
}

func (c *catalogue) draw(m *model, width, height int) []string {
	left := clamp(width*9/20, 28, 60)
	list := m.t.draw(box{title: say(inkStrong, "Catalogue"), frame: inkAccent, focus: true, side: c.side(m),
		body: func(w, h int) []string { return c.lines(m, w, h) }}, left, height)
	s := c.chosen(m)
	b := box{title: say(inkStrong, "Preview"), frame: inkFrame}
	b.body = func(w, h int) []string {
		r := preview(m, s, w)
		c.scroll = clamp(c.scroll, 0, max(0, r.n-h))
		return m.t.window(r, c.scroll, w, h)
	}
	return beside(list, m.t.draw(b, width-left-1, height))
}

func (c *catalogue) side(m *model) spans {
	if c.asking || len(c.filter.text) > 0 {
		return append(say(inkAccent, "/"), c.filter.spans(m.t, 14)...)
	}
	return nil
}

func (c *catalogue) lines(m *model, width, height int) []string {
	list := c.entries(m)
	if len(list) == 0 {
		return m.t.window(fixed(say(inkQuiet, "nothing contains "+c.filter.String())), 0, width, height)
	}
	at, n := 0, 0
	for i, e := range list {
		if e.scenario != nil {
			if n == c.pick {
				at = i
			}
			n++
		}
	}
	if at <= 1 {
		c.top = 0
	}
	c.top = clamp(c.top, max(0, at-height+1), at)
	return m.t.window(rows{len(list), func(i int) spans { return c.line(m, list[i], i == at, width) }}, c.top, width, height)
}

func (c *catalogue) line(m *model, e entry, picked bool, width int) spans {
	t := m.t
	if e.scenario == nil {
		return say(inkAccent, e.group)
	}
	mark, k := "  ", inkText
	if picked {
		mark, k = t.glyphs.pick+" ", inkPick
	}
	last := say(inkQuiet, "  ")
	if v, ok := m.memory.Verdicts[e.scenario.Name]; ok {
		s := verdictSigns[engine.Verdict(v)]
		last = say(s.ink, s.glyph(t.glyphs)+" ")
	}
	return append(append(say(inkAccent, mark), last...), span{k, e.scenario.Title})
}

// preview says what a scenario is about before it is opened.
func preview(m *model, s *lang.Scenario, width int) rows {
	if s == nil {
		return fixed()
	}
	t := m.t
	out := []spans{say(inkStrong, s.Title), say(inkQuiet, s.Name)}
	if v, ok := m.memory.Verdicts[s.Name]; ok {
		g := verdictSigns[engine.Verdict(v)]
		out = append(out, say(inkQuiet, "last time  ", g.ink, t.glyphs.of(g)))
	}
	out = append(out, nil)
	for _, p := range strings.Split(s.Teach, "\n") {
		for _, l := range t.wrap(p, width-1, 20) {
			out = append(out, say(inkText, l))
		}
	}
	out = append(out, nil)
	for _, what := range []string{"fault", "contract", "policy", "key"} {
		for _, l := range s.Lines {
			if l.Verb != what {
				continue
			}
			label := what
			for _, x := range t.wrap(lineWords(l), width-11, 4) {
				out = append(out, say(inkQuiet, pad(label, 10), inkBad, x))
				label = ""
			}
		}
	}
	if s.Client != "" {
		out = append(out, say(inkQuiet, pad("client", 10), inkBad, s.Client))
	}
	if s.Subject != "" {
		out = append(out, say(inkQuiet, pad("subject", 10), inkText, s.Subject))
	}
	if s.Runs == lang.RunsReal || s.Runs == lang.RunsVirtual {
		out = append(out, say(inkQuiet, pad("runs", 10), inkText, s.Runs))
	}
	for _, name := range s.Names {
		if !strings.HasSuffix(name, ".woml") {
			continue
		}
		out = append(out, nil, say(inkAccent, name))
		for _, l := range strings.Split(strings.TrimRight(string(s.Files[name]), "\n"), "\n") {
			out = append(out, say(inkQuiet, strings.ReplaceAll(l, "\t", "  ")))
		}
	}
	return fixed(out...)
}

// typed takes keys while the filter is being typed.
func (c *catalogue) typed(m *model, k tea.KeyMsg) (tea.Cmd, bool) {
	if !c.asking {
		return nil, false
	}
	switch k.Type {
	case tea.KeyEsc:
		c.asking = false
		c.unfilter(m)
		return nil, true
	case tea.KeyEnter:
		c.asking = false
		return nil, true
	case tea.KeyUp, tea.KeyDown:
		return nil, false
	default:
		c.filter.key(k)
	}
	c.pick, c.top = 0, 0
	return nil, true
}

// unfilter lists everything again, with the cursor where it was.
func (c *catalogue) unfilter(m *model) {
	s := c.chosen(m)
	c.filter.set("")
	if s != nil {
		c.choose(m, s.Name)
	}
}

func (c *catalogue) verb(m *model, v command) (tea.Cmd, bool) {
	n := c.count(m)
	before := c.pick
	switch v.verb.Name {
	case "up":
		c.pick--
	case "down":
		c.pick++
	case "pageup":
		c.pick -= 10
	case "pagedown":
		c.pick += 10
	case "top":
		c.pick = 0
	case "bottom":
		c.pick = n - 1
	case "pane":
		c.scroll += 5
	case "unpane":
		c.scroll -= 5
	case "filter":
		c.asking = v.args == ""
		c.filter.set(v.args)
	case "close":
		c.unfilter(m)
		return nil, true
	case "open":
		if v.args != "" {
			return nil, false
		}
		if s := c.chosen(m); s != nil {
			return m.open(s), true
		}
	case "edit":
		if s := c.chosen(m); s != nil {
			return m.openToEdit(s), true
		}
	default:
		return nil, false
	}
	c.pick = clamp(c.pick, 0, max(0, n-1))
	if c.pick != before {
		c.scroll = 0
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
