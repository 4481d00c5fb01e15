package tui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// compareScreen shows two runs side by side, with their first difference marked:
// two of one bench, or the run of a scenario and that of its twin.
type compareScreen struct {
	a, b   int      // indexes of the runs
	twin   *session // the twin's bench; nil where both runs are of one
	scroll int
}

// twinMsg says that the twin's bench is open.
type twinMsg struct {
	bench    Bench
	scenario *lang.Scenario
	err      error
}

// compareRuns compares the two runs that are named, or the last two; a scenario that ran once with its twin.
func compareRuns(m *model, c command) tea.Cmd {
	runs := m.session.view.Runs
	if t := m.twin(); t != nil && c.args == "" && len(runs) < 2 {
		open := m.opt.Open
		return work(func() tea.Msg {
			b, err := open(t, false)
			return twinMsg{b, t, err}
		})
	}
	if len(runs) < 2 {
		m.say(inkQuiet, "compare: there are not two runs yet, and the scenario has no twin")
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

// twin is the scenario that runs beside the open one for the contrast; nil if it has none.
func (m *model) twin() *lang.Scenario {
	for _, s := range m.opt.Scenarios {
		if s.Name == m.session.scenario.Twin {
			return s
		}
	}
	return nil
}

// openTwin plays the twin and shows both, unless it is there already or another scenario was opened meanwhile.
func (m *model) openTwin(t twinMsg) tea.Cmd {
	if t.err != nil {
		m.say(inkBad, t.err.Error())
		return nil
	}
	s := &compareScreen{twin: newSession(t.bench, t.scenario)}
	if m.beside != nil || m.twin() != t.scenario {
		return closeBench(s.twin)
	}
	m.beside = s.twin
	m.pump.follow(t.bench)
	t.bench.Play()
	m.push(s)
	return nil
}

// message keeps the twin up to date.
func (s *compareScreen) message(_ *model, msg tea.Msg) tea.Cmd {
	if _, news := msg.(newsMsg); news && s.twin != nil {
		s.twin.pull()
	}
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

// leastTitle is how much of the title stays beside how a run ended, in cells.
const leastTitle = 16

func (s *compareScreen) on() lang.Screen { return lang.OnMenu }

func (s *compareScreen) title(m *model) spans {
	if s.twin != nil {
		return say(inkStrong, m.session.scenario.Title, inkQuiet, "  beside  ", inkStrong, s.twin.scenario.Title)
	}
	return say(inkStrong, m.session.scenario.Title, inkQuiet, "  runs #"+strconv.Itoa(s.a+1)+" and #"+strconv.Itoa(s.b+1))
}

func (s *compareScreen) draw(m *model, width, height int) []string {
	one, two, name := m.session, m.session, [2]string{"#" + strconv.Itoa(s.a+1) + " ", "#" + strconv.Itoa(s.b+1) + " "}
	if s.twin != nil {
		two, name = s.twin, [2]string{"", ""}
	}
	left, right := rowsOf(one.view, s.a, one.hides()), rowsOf(two.view, s.b, one.hides())
	diff := firstDifference(left, right)
	sofar := diff >= len(left) && !ended(one, s.a) || diff >= len(right) && !ended(two, s.b)
	if sofar {
		diff = -1
	}
	half := (width - 1) / 2
	pane := func(of *session, run int, label string, list []scenarios.Row, w int) []string {
		b := box{title: say(inkStrong, label+of.scenario.Title), frame: inkFrame}
		if run < len(of.view.Runs) {
			r := of.view.Runs[run]
			st := statusSigns[r.Status]
			b.side = say(st.ink, m.t.glyphs.of(st))
			if s.twin == nil {
				b.title = say(inkStrong, label+m.t.shorten(r.ID, 14))
			}
			if v := verdictOf(of.view, r.ID); v != "" && !one.hides() {
				said := say(verdictSigns[v].ink, m.t.glyphs.of(verdictSigns[v]))
				if b.side = append(append(b.side, span{inkQuiet, "  "}), said...); m.t.width(b.side)+borders+leastTitle > w {
					b.side = said // the status is among the rows
				}
			}
			b.title = m.t.cutTo(b.title, w-borders-m.t.width(b.side))
		}
		b.body = func(w, h int) []string {
			s.scroll = clamp(s.scroll, 0, max(0, max(len(left), len(right))-h))
			return m.t.window(compared(m.t, list, diff), s.scroll, w, h)
		}
		return m.t.draw(b, w, height-1)
	}
	out := beside(pane(one, s.a, name[0], left, half), pane(two, s.b, name[1], right, width-1-half))
	if sofar {
		return append(out, m.t.line(say(inkText, " no difference so far", inkQuiet, "; ids, keys and times are not compared"), width))
	}
	return append(out, m.t.line(difference(left, right, diff), width))
}

// ended reports whether nothing more comes of a run.
func ended(of *session, run int) bool {
	return run < len(of.view.Runs) && of.view.Runs[run].Status.Ended()
}

// difference says in a line what the first difference is.
func difference(a, b []scenarios.Row, at int) spans {
	if at < 0 {
		return say(inkGood, " no difference", inkQuiet, "; ids, keys and times are not compared")
	}
	side := func(list []scenarios.Row) string {
		if at >= len(list) {
			return "nothing more"
		}
		return list[at].Text
	}
	return say(inkStrong, " first difference: ", inkText, "left "+side(a)+", right "+side(b), inkQuiet, "; ids, keys and times are not compared")
}

// verdictOf is the verdict of a run's gravest operation.
func verdictOf(v *scenarios.View, run string) (out engine.Verdict) {
	for i := range v.Operations {
		if op := &v.Operations[i]; slices.Contains(op.Runs, run) && gravity[op.Verdict] > gravity[out] || out == "" && slices.Contains(op.Runs, run) {
			out = op.Verdict
		}
	}
	return out
}

// rowsOf are the rows of one run.
func rowsOf(v *scenarios.View, run int, covered bool) []scenarios.Row {
	if run >= len(v.Runs) {
		return nil
	}
	var out []scenarios.Row
	for _, r := range v.Wire {
		if r.Run == v.Runs[run].ID && r.Kind != scenarios.RowRun && !(covered && r.Truth) {
			if covered {
				r = told(r)
			}
			out = append(out, r)
		}
	}
	return out
}

// firstDifference is the index of the first rows that say different things; -1 where there is none.
// Ids and times differ always, and do not count.
func firstDifference(a, b []scenarios.Row) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i].Kind != b[i].Kind || a[i].Label() != b[i].Label() || a[i].Tone != b[i].Tone {
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
		return spans{mark, {inkQuiet, moment(r.At.Sub(start)) + " "}, {toneInks[r.Tone], glyph + r.Label()}, {inkQuiet, "  " + r.Detail}}
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
		if s.twin == nil {
			s.a, s.b = s.b, s.a
		}
	case "open":
		m.pop()
	default:
		return nil, false
	}
	return nil, true
}
