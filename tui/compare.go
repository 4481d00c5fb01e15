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
	"faultlab/tui/draw"
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
func compareRuns(u *ui, c command) tea.Cmd {
	runs := u.session.view.Runs
	if t := u.twin(); t != nil && c.args == "" && len(runs) < 2 {
		open := u.opt.Open
		return work(func() tea.Msg {
			b, err := open(t, false)
			return twinMsg{b, t, err}
		})
	}
	if len(runs) < 2 {
		u.say(draw.Quiet, "compare: needs two runs, or a scenario with a twin")
		return nil
	}
	s := &compareScreen{a: len(runs) - 2, b: len(runs) - 1}
	for i, word := range strings.Fields(c.args) {
		n := runNamed(runs, word)
		if n < 0 {
			u.say(draw.Bad, "compare: there is no run "+word)
			return nil
		}
		if i == 0 {
			s.a = n
		} else {
			s.b = n
		}
	}
	u.push(s)
	return nil
}

// twin is the scenario that runs beside the open one for the contrast; nil if it has none.
func (u *ui) twin() *lang.Scenario {
	for _, s := range u.opt.Scenarios {
		if s.Name == u.session.scenario.Twin {
			return s
		}
	}
	return nil
}

// openTwin plays the twin and shows both, unless it is there already or another scenario was opened meanwhile.
func (u *ui) openTwin(t twinMsg) tea.Cmd {
	if t.err != nil {
		u.say(draw.Bad, t.err.Error())
		return nil
	}
	s := &compareScreen{twin: newSession(t.bench, t.scenario)}
	if u.beside != nil || u.twin() != t.scenario {
		return closeBench(s.twin)
	}
	u.beside = s.twin
	u.pump.follow(t.bench)
	t.bench.Play()
	u.push(s)
	return nil
}

// message keeps the twin up to date.
func (s *compareScreen) message(_ *ui, msg tea.Msg) tea.Cmd {
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

func (s *compareScreen) title(u *ui) draw.Spans {
	if s.twin != nil {
		return draw.Say(draw.Strong, u.session.scenario.Title, draw.Quiet, "  beside  ", draw.Strong, s.twin.scenario.Title)
	}
	return draw.Say(draw.Strong, u.session.scenario.Title, draw.Quiet, "  runs #"+strconv.Itoa(s.a+1)+" and #"+strconv.Itoa(s.b+1))
}

func (s *compareScreen) draw(u *ui, width, height int) []string {
	one, two, name := u.session, u.session, [2]string{"#" + strconv.Itoa(s.a+1) + " ", "#" + strconv.Itoa(s.b+1) + " "}
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
		b := draw.Box{Title: draw.Say(draw.Strong, label+of.scenario.Title), Frame: draw.Frame}
		if run < len(of.view.Runs) {
			r := of.view.Runs[run]
			st := statusSigns[r.Status]
			b.Side = draw.Say(st.Ink, u.t.Glyphs.Of(st))
			if s.twin == nil {
				b.Title = draw.Say(draw.Strong, label+u.t.Shorten(r.ID, 14))
			}
			if v := verdictOf(of.view, r.ID); v != "" && !one.hides() {
				said := draw.Say(verdictSigns[v].Ink, u.t.Glyphs.Of(verdictSigns[v]))
				if b.Side = append(b.Side.And(draw.Quiet, "  "), said...); u.t.Width(b.Side)+draw.Borders+leastTitle > w {
					b.Side = said // the status is among the rows
				}
			}
			b.Title = u.t.Cut(b.Title, w-draw.Borders-u.t.Width(b.Side))
		}
		b.Body = func(w, h int) []string {
			s.scroll = clamp(s.scroll, 0, max(0, max(len(left), len(right))-h))
			return u.t.Window(compared(u.t, list, diff), s.scroll, w, h)
		}
		return u.t.Box(b, w, height-1)
	}
	out := draw.Beside(pane(one, s.a, name[0], left, half), pane(two, s.b, name[1], right, width-1-half))
	if sofar {
		return append(out, u.t.Line(draw.Say(draw.Text, " no difference so far", draw.Quiet, "; ids, keys and times are not compared"), width))
	}
	return append(out, u.t.Line(difference(left, right, diff), width))
}

// ended reports whether nothing more comes of a run.
func ended(of *session, run int) bool {
	return run < len(of.view.Runs) && of.view.Runs[run].Status.Ended()
}

// difference says in a line what the first difference is.
func difference(a, b []scenarios.Row, at int) draw.Spans {
	if at < 0 {
		return draw.Say(draw.Good, " no difference", draw.Quiet, "; ids, keys and times are not compared")
	}
	side := func(list []scenarios.Row) string {
		if at >= len(list) {
			return "nothing more"
		}
		return list[at].Text
	}
	return draw.Say(draw.Strong, " first difference: ", draw.Text, "left "+side(a)+", right "+side(b), draw.Quiet, "; ids, keys and times are not compared")
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

func compared(t *draw.Theme, list []scenarios.Row, diff int) draw.Rows {
	var start time.Time
	if len(list) > 0 {
		start = list[0].At
	}
	return draw.Rows{N: len(list), At: func(i int) draw.Spans {
		r := list[i]
		mark := draw.Span{Ink: draw.Quiet, Text: "  "}
		if i == diff {
			mark = draw.Span{Ink: draw.Pick, Text: t.Glyphs.Pick + " "}
		}
		glyph := "  "
		if r.Tone != scenarios.TonePlain && r.Tone != scenarios.ToneQuiet {
			glyph = glyphOf(t.Glyphs, r.Tone) + " "
		}
		return draw.Spans{mark, {Ink: draw.Quiet, Text: moment(r.At.Sub(start)) + " "}, {Ink: toneInks[r.Tone], Text: glyph + r.Label()}, {Ink: draw.Quiet, Text: "  " + r.Detail}}
	}}
}

func (s *compareScreen) offers(_ *ui, verb string) bool { return verb != "filter" && verb != "open" }

func (s *compareScreen) verb(u *ui, c command) (tea.Cmd, bool) {
	step, moves := map[string]int{"up": -1, "down": 1, "pageup": -10, "pagedown": 10, "top": -s.scroll, "bottom": 1 << 20}[c.verb.Name]
	switch {
	case moves:
		s.scroll += step // draw bounds it
	case c.verb.Name == "pane":
		if s.twin == nil {
			s.a, s.b = s.b, s.a
		}
	case c.verb.Name == "open":
		u.pop()
	default:
		return nil, false
	}
	return nil, true
}
