package tui

import (
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// compareScreen shows two runs side by side, with their first difference marked.
type compareScreen struct {
	a, b   int // indexes of the runs
	scroll int
}

// compareRuns compares the two runs that are named, or the last two.
func compareRuns(m *model, c command) tea.Cmd {
	runs := m.session.view.Runs
	if len(runs) < 2 {
		m.say(inkQuiet, "compare: there are not two runs yet")
		return nil
	}
	s := &compareScreen{a: len(runs) - 2, b: len(runs) - 1}
	for i, word := range strings.Fields(c.args) {
		n := runNamed(runs, word)
		if n < 0 {
			m.say(inkBad, "compare: there is no run "+word)
			return nil
		}
		if i == 0 {
			s.a = n
		} else {
			s.b = n
		}
	}
	m.push(s)
	return nil
}

// runNamed finds a run by its number from 1 or by its id; -1 if there is none.
func runNamed(runs []*engine.Run, word string) int {
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(runs) {
		return n - 1
	}
	for i, r := range runs {
		if r.ID == word {
			return i
		}
	}
	return -1
}

func (s *compareScreen) on() lang.Screen { return lang.OnMenu }

func (s *compareScreen) title(m *model) spans {
	return say(inkStrong, m.session.scenario.Title, inkQuiet, "  runs #"+strconv.Itoa(s.a+1)+" and #"+strconv.Itoa(s.b+1))
}

func (s *compareScreen) draw(m *model, width, height int) []string {
	v := m.session.view
	left, right := rowsOf(v, s.a, m.session.covered), rowsOf(v, s.b, m.session.covered)
	diff := firstDifference(left, right)
	half := (width - 1) / 2
	pane := func(run int, list []scenarios.Row, w int) []string {
		r := v.Runs[run]
		st := statusSigns[r.Status]
		b := box{title: say(inkStrong, "#"+strconv.Itoa(run+1)+" "+m.t.shorten(r.ID, 14)), frame: inkFrame, side: say(st.ink, m.t.glyphs.of(st))}
		b.body = func(w, h int) []string {
			s.scroll = clamp(s.scroll, 0, max(0, max(len(left), len(right))-h))
			return m.t.window(compared(m.t, list, diff), s.scroll, w, h)
		}
		return m.t.draw(b, w, height)
	}
	return beside(pane(s.a, left, half), pane(s.b, right, width-1-half))
}

// rowsOf are the rows of one run.
func rowsOf(v *scenarios.View, run int, covered bool) []scenarios.Row {
	if run >= len(v.Runs) {
		return nil
	}
	var out []scenarios.Row
	for _, r := range v.Wire {
		if r.Run == v.Runs[run].ID && r.Kind != scenarios.RowRun && !(covered && r.Truth) {
			out = append(out, r)
		}
	}
	return out
}

// firstDifference is the index of the first rows that say different things; -1 where there is none.
// Ids and times differ always, and do not count.
func firstDifference(a, b []scenarios.Row) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i].Kind != b[i].Kind || a[i].Text != b[i].Text || a[i].Tone != b[i].Tone {
			return i
		}
	}
	return -1
}

func compared(t *theme, list []scenarios.Row, diff int) rows {
	var start time.Time
	if len(list) > 0 {
		start = list[0].At
	}
	return rows{len(list), func(i int) spans {
		r := list[i]
		mark := span{inkQuiet, "  "}
		if i == diff {
			mark = span{inkPick, t.glyphs.pick + " "}
		}
		glyph := "  "
		if r.Tone != scenarios.TonePlain && r.Tone != scenarios.ToneQuiet {
			glyph = t.glyphs.glyphOf(r.Tone) + " "
		}
		return spans{mark, {inkQuiet, moment(r.At.Sub(start)) + " "}, {toneInks[r.Tone], glyph + r.Text}, {inkQuiet, "  " + r.Detail}}
	}}
}

func (s *compareScreen) verb(m *model, c command) (tea.Cmd, bool) {
	switch c.verb.Name {
	case "up":
		s.scroll--
	case "down":
		s.scroll++
	case "pageup":
		s.scroll -= 10
	case "pagedown":
		s.scroll += 10
	case "top":
		s.scroll = 0
	case "bottom":
		s.scroll = 1 << 20
	case "pane":
		s.a, s.b = s.b, s.a
	case "open":
		m.pop()
	default:
		return nil, false
	}
	return nil, true
}
