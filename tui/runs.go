package tui

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios/lang"
)

// storeLimit is how many runs are listed at once; a filter finds older ones.
const storeLimit = 500

// runsMsg is what the store said.
type runsMsg struct {
	runs []engine.Summary
	err  error
	to   engine.Query // what was asked
}

var errNoStore = errors.New("there is no store of runs here yet: faultlab run makes one")

// runsScreen is the history of all runs.
type runsScreen struct {
	status    string // "all", a status, or "unknown"
	runs      []engine.Summary
	err       error
	waits     bool
	pick, top int
	filter    input
	asking    bool
}

// showRuns opens the history, filtered by a status.
func (m *model) showRuns(c command) tea.Cmd {
	status := cmp.Or(strings.TrimSpace(c.args), "all")
	s := &runsScreen{status: status, waits: true}
	if old, ok := m.top().(*runsScreen); ok {
		s.filter = old.filter
		*old = *s
		return old.askStore(m)
	}
	m.push(s)
	return nil // it asks when it comes to the top
}

// askStore asks for the runs that the screen lists, in a command.
func (s *runsScreen) askStore(m *model) tea.Cmd {
	store, q := m.opt.Store, s.query()
	return work(func() tea.Msg {
		if store == nil {
			return runsMsg{err: errNoStore}
		}
		runs, err := store.Runs(q)
		return runsMsg{runs, err, q}
	})
}

func (s *runsScreen) query() engine.Query {
	q := engine.Query{Limit: storeLimit}
	switch s.status {
	case "all":
	case "unknown":
		q.Reconcile = true
	default:
		q.Status = engine.Status(s.status)
	}
	return q
}

func (s *runsScreen) on() lang.Screen { return lang.OnRuns }

func (s *runsScreen) title(*model) spans {
	what := s.status
	if what == "unknown" {
		what = "those that need reconciling"
	}
	return say(inkStrong, "Runs", inkQuiet, "  "+what)
}

// message takes the runs in. The choice stays on its run, wherever that stands now.
func (s *runsScreen) message(m *model, msg tea.Msg) tea.Cmd {
	r, ok := msg.(runsMsg)
	if !ok || r.to != (engine.Query{}) && r.to != s.query() {
		return nil // of a filter that was left meanwhile
	}
	picked := s.picked()
	s.runs, s.err, s.waits = r.runs, r.err, false
	for i, r := range s.listed() {
		if r.Run == picked {
			s.pick = i
		}
	}
	return nil
}

// picked is the run that is chosen; empty where the list is.
func (s *runsScreen) picked() string {
	if list := s.listed(); s.pick < len(list) {
		return list[s.pick].Run
	}
	return ""
}

func (s *runsScreen) listed() []engine.Summary {
	f := strings.ToLower(s.filter.String())
	if f == "" {
		return s.runs
	}
	var out []engine.Summary
	for _, r := range s.runs {
		if strings.Contains(strings.ToLower(r.Run+" "+r.Workflow+" "+string(r.Status)), f) {
			out = append(out, r)
		}
	}
	return out
}

func (s *runsScreen) draw(m *model, width, height int) []string {
	t, list := m.t, s.listed()
	s.pick = clamp(s.pick, 0, max(0, len(list)-1))
	b := box{title: say(inkStrong, "Runs in the store"), frame: inkAccent, focus: true, side: say(inkQuiet, plural(len(list), "run"))}
	if s.asking || len(s.filter.text) > 0 {
		b.side = append(say(inkAccent, "/"), s.filter.spans(t, 14)...)
	}
	b.body = func(w, h int) []string {
		switch {
		case s.waits:
			return t.window(fixed(say(inkQuiet, "reading the store "+t.glyphs.more)), 0, w, h)
		case s.err != nil:
			return t.window(fixed(sentence(t, s.err.Error(), w)...), 0, w, h)
		case len(list) == 0:
			return t.window(fixed(say(inkQuiet, "no run here")), 0, w, h)
		}
		s.top = clamp(s.top, max(0, s.pick-h+1), s.pick)
		return t.window(rows{len(list), func(i int) spans { return runLine(t, list[i], i == s.pick) }}, s.top, w, h)
	}
	return t.draw(b, width, height)
}

// sentence is a quiet text over as many lines as it takes.
func sentence(t *theme, text string, width int) (out []spans) {
	for _, l := range t.wrap(text, width, 8) {
		out = append(out, say(inkQuiet, l))
	}
	return out
}

// dayTime is a moment as lists show it, in UTC.
func dayTime(t time.Time) string { return t.UTC().Format("01-02 15:04:05Z") }

func runLine(t *theme, r engine.Summary, picked bool) spans {
	mark, k := "  ", inkText
	if picked {
		mark, k = t.glyphs.pick+" ", inkPick
	}
	sign := statusSigns[r.Status]
	out := say(inkAccent, mark, inkQuiet, dayTime(r.Admitted)+"  ", sign.ink, padTo(t, t.glyphs.of(sign), 12), k, r.Run)
	if r.Reconcile {
		out = append(out, span{inkUnknown, "  " + t.glyphs.unknown + " needs reconciling"})
	}
	out = append(out, span{inkQuiet, "  " + r.Workflow})
	if r.RerunOf != "" {
		out = append(out, span{inkQuiet, "  rerun of " + r.RerunOf})
	}
	return out
}

func (s *runsScreen) typed(m *model, k tea.KeyMsg) (tea.Cmd, bool) {
	if !s.asking {
		return nil, false
	}
	switch k.Type {
	case tea.KeyEsc:
		s.asking = false
		s.filter.set("")
	case tea.KeyEnter:
		s.asking = false
	case tea.KeyUp, tea.KeyDown:
		return nil, false
	default:
		s.filter.key(k)
	}
	return nil, true
}

// statuses are what tab goes through.
var statuses = []string{"all", "unknown", "failed", "succeeded", "cancelled", "waiting", "running"}

func (s *runsScreen) verb(m *model, c command) (tea.Cmd, bool) {
	list := s.listed()
	step, moves := map[string]int{"up": -1, "down": 1, "pageup": -20, "pagedown": 20, "top": -len(list), "bottom": len(list)}[c.verb.Name]
	switch {
	case moves:
		s.pick = clamp(s.pick+step, 0, max(0, len(list)-1))
	case c.verb.Name == "pane" || c.verb.Name == "unpane":
		by := map[string]int{"pane": 1, "unpane": len(statuses) - 1}[c.verb.Name]
		i := max(0, slices.Index(statuses, s.status))
		return m.showRuns(command{args: statuses[(i+by)%len(statuses)]}), true
	case c.verb.Name == "filter":
		s.asking = c.args == ""
		s.filter.set(c.args)
	case len(list) == 0 && c.args == "" && (c.verb.Name == "open" || c.verb.Name == "copy" || settles[c.verb.Name]):
		m.say(inkQuiet, c.verb.Name+": no run is listed here")
	case c.verb.Name == "copy" && len(list) > 0:
		return m.copy("id", list[s.pick].Run), true
	case c.verb.Name == "open" && c.args == "" && len(list) > 0:
		return m.openRun(list[s.pick].Run, nil), true
	case c.key != "" && c.verb.Name == "lookup" && len(list) > 0:
		return m.openRun(list[s.pick].Run, func(m *model) tea.Cmd { return lookUp(m, c) }), true
	case (c.verb.Name == "rerun" || c.verb.Name == "cancel") && len(list) > 0:
		return m.toStore(list[s.pick].Run, c), true
	default:
		return nil, false
	}
	return nil, true
}
