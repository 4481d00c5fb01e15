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
	"faultlab/tui/draw"
)

// storeLimit is how many runs are listed at once; a filter finds older ones.
const storeLimit = 500

// runsMsg is the store's answer to a query.
type runsMsg struct {
	runs []engine.Summary
	err  error
	to   engine.Query
}

var errNoStore = errors.New("no stored runs yet: `faultlab run` creates the state file")

// runsScreen is the history of all runs.
type runsScreen struct {
	status string // "all", a status, or "unknown"
	runs   []engine.Summary
	err    error
	waits  bool
	list   draw.Picker[engine.Summary]
}

// showRuns opens the history, filtered by a status.
func (u *ui) showRuns(c command) tea.Cmd {
	u.push(&runsScreen{status: cmp.Or(strings.TrimSpace(c.args), "all"), waits: true})
	return nil // it asks when it comes to the top
}

// filterBy lists the runs of another status.
func (s *runsScreen) filterBy(u *ui, status string) tea.Cmd {
	s.status, s.runs, s.err, s.waits = status, nil, nil, true
	return s.askStore(u)
}

// askStore asks for the runs that the screen lists, in a command.
func (s *runsScreen) askStore(u *ui) tea.Cmd {
	store, q := u.opt.Store, s.query()
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

func (s *runsScreen) title(*ui) draw.Spans {
	what := s.status
	if what == "unknown" {
		what = "those that need reconciling"
	}
	return draw.Say(draw.Strong, "Runs", draw.Quiet, "  "+what)
}

// message takes the store's answer in, unless it is to a query that was left meanwhile.
func (s *runsScreen) message(_ *ui, msg tea.Msg) tea.Cmd {
	if r, ok := msg.(runsMsg); ok && (r.to == (engine.Query{}) || r.to == s.query()) {
		s.runs, s.err, s.waits = r.runs, r.err, false
	}
	return nil
}

// picked is the run under the cursor.
func (s *runsScreen) picked() (run string, ok bool) {
	items := make([]draw.Item[engine.Summary], len(s.runs))
	for i, r := range s.runs {
		items[i] = draw.Item[engine.Summary]{ID: r.Run, Words: r.Run + " " + r.Workflow + " " + string(r.Status), Value: r}
	}
	s.list.List(items)
	r, ok := s.list.Picked()
	return r.Run, ok
}

func (s *runsScreen) draw(u *ui, width, height int) []string {
	t := u.t
	_, any := s.picked()
	b := draw.Box{Title: draw.Say(draw.Strong, "Runs in the store"), Frame: draw.Accent, Focus: true}
	if b.Side = s.list.Filter.Side(t); b.Side == nil {
		b.Side = draw.Say(draw.Quiet, plural(s.list.Count(), "run"))
	}
	b.Body = func(w, h int) []string {
		switch {
		case s.waits:
			return t.Window(draw.Fixed(u.reading()), 0, w, h)
		case s.err != nil:
			return t.Window(draw.Fixed(t.Paragraph(draw.Quiet, "", s.err.Error(), w, 8)...), 0, w, h)
		case !any:
			return t.Window(draw.Fixed(draw.Say(draw.Quiet, "no runs")), 0, w, h)
		}
		return s.list.Window(t, w, h, func(r engine.Summary, _, picked bool) draw.Spans { return runLine(t, r, picked) })
	}
	return t.Box(b, width, height)
}

// dayTime is a moment as lists show it, in UTC.
func dayTime(t time.Time) string { return t.UTC().Format("01-02 15:04:05Z") }

func runLine(t *draw.Theme, r engine.Summary, picked bool) draw.Spans {
	mark, ink := t.Mark(picked)
	sign := statusSigns[r.Status]
	out := mark.And(draw.Quiet, dayTime(r.Admitted)+"  ", sign.Ink, draw.PadTo(t, t.Glyphs.Of(sign), 12), ink, r.Run)
	if r.Reconcile {
		out = out.And(draw.Unknown, "  "+t.Glyphs.Unknown+" needs reconciling")
	}
	out = out.And(draw.Quiet, "  "+r.Workflow)
	if r.RerunOf != "" {
		out = out.And(draw.Quiet, "  rerun of "+r.RerunOf)
	}
	return out
}

func (s *runsScreen) typed(_ *ui, k tea.KeyMsg) (tea.Cmd, bool) { return nil, s.list.Type(k) }

// statuses are what tab goes through.
var statuses = []string{"all", "unknown", "failed", "succeeded", "cancelled", "waiting", "running"}

func (s *runsScreen) offers(_ *ui, verb string) bool {
	return s.list.Count() > 0 || verb != "open" && verb != "lookup" && verb != "rerun" && verb != "copy"
}

func (s *runsScreen) verb(u *ui, c command) (tea.Cmd, bool) {
	run, any := s.picked()
	switch name := c.verb.Name; {
	case s.list.Move(name):
	case name == "pane" || name == "unpane":
		by := map[string]int{"pane": 1, "unpane": len(statuses) - 1}[name]
		i := max(0, slices.Index(statuses, s.status))
		return s.filterBy(u, statuses[(i+by)%len(statuses)]), true
	case name == "history":
		return s.filterBy(u, cmp.Or(strings.TrimSpace(c.args), "all")), true
	case name == "filter":
		s.list.Begin(c.args)
	case !any && c.args == "" && (name == "open" || name == "copy" || settles[name]):
		u.say(draw.Quiet, name+": no run is listed here")
	case !any:
		return nil, false
	case name == "copy":
		return u.copy("id", run), true
	case name == "open" && c.args == "":
		return u.openRun(run, nil), true
	case c.key != "" && name == "lookup":
		return u.openRun(run, func(u *ui) tea.Cmd { return lookUp(u, c) }), true
	case name == "rerun" || name == "cancel":
		return u.toStore(run, c), true
	default:
		return nil, false
	}
	return nil, true
}
