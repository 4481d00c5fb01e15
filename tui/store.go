package tui

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// Store is the runs on disk, as `faultlab run` writes them. Its methods may block and
// be called from any goroutine, but for Situation, which neither waits nor reads.
type Store interface {
	// Runs lists runs, the newest first.
	Runs(q engine.Query) ([]engine.Summary, error)
	// Events are all events of one run.
	Events(run string) ([]engine.Event, error)
	// Unsettled are the runs that need reconciling, the newest first, at most limit of them.
	Unsettled(limit int) ([]*engine.Run, error)
	// Situation is what decides which decisions about a call of a run are allowed now.
	Situation(r *engine.Run, c *engine.Call) engine.Situation
	// Do carries out lookup, record, resubmit, abandon, escalate, cancel or rerun
	// of one run, as the commands of that name do, and comes back when it is done. It
	// gives the run that came of it: the same one or, for rerun, the new one.
	Do(run string, l lang.Line) (string, error)
	// Version is another one after anything in the store has changed. It is cheap.
	Version() string
}

// stored is a run of the store as a bench: what its history tells, with the verbs
// that settle it. It has no provider: the truth is not here.
type stored struct {
	store Store
	run   string

	mu     sync.Mutex
	line   *scenarios.Timeline
	notify func()
}

// openStored reads a run's history.
func openStored(store Store, run string) (*stored, error) {
	s := &stored{store: store, run: run}
	return s, s.read()
}

// read looks at the history again. A history only grows: one that is as long as what is
// shown is the same, and a shorter one is of a look that took longer.
func (s *stored) read() error {
	events, err := s.store.Events(s.run)
	if err != nil {
		return err
	}
	s.mu.Lock()
	f := s.notify
	if s.line != nil && s.line.Len() >= len(events) {
		f = nil
	} else {
		s.line = scenarios.FromHistory(events, s.store.Situation)
	}
	s.mu.Unlock()
	if f != nil {
		f()
	}
	return nil
}

func (s *stored) timeline() *scenarios.Timeline {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}

func (s *stored) View(n int) *scenarios.View { return s.timeline().View(n) }
func (s *stored) Len() int                   { return s.timeline().Len() }
func (s *stored) Play()                      {}
func (s *stored) Answer()                    {}
func (s *stored) Close() error               { return nil }

// OnPanic implements Bench: nobody acts here.
func (s *stored) OnPanic(func(name string, value any, stack []byte)) {}

func (s *stored) Notify(f func()) {
	s.mu.Lock()
	s.notify = f
	s.mu.Unlock()
}

func (s *stored) State() scenarios.State {
	v := s.timeline().Latest()
	return scenarios.State{AtRest: true, Speed: 1, Elapsed: v.At.Sub(v.Start), Mode: "stored", Address: "in the store"}
}

// latest is the run as its history has it.
func (s *stored) latest() *engine.Run {
	if runs := s.timeline().Latest().Runs; len(runs) > 0 {
		return runs[0]
	}
	return &engine.Run{ID: s.run}
}

// settles are the verbs that a run of the store takes.
var settles = map[string]bool{"lookup": true, "record": true, "resubmit": true, "abandon": true, "escalate": true, "cancel": true, "rerun": true}

// Unavailable says why a verb cannot be done to this run. Of a run at work only its
// owner knows what it would refuse, and says so.
func (s *stored) Unavailable(verb string) string {
	if !settles[verb] {
		return notStored(verb)
	}
	r := s.latest()
	switch {
	case !r.Status.Ended() || verb == "lookup" || verb == "rerun":
		return ""
	case verb == "cancel":
		return "the run has ended: there is nothing to cancel"
	case len(r.Unsettled()) == 0:
		return "the run " + string(r.Status) + ", and no operation of it is unknown"
	}
	return ""
}

// notStored says why a verb is none for a run of the store; empty for those that are
// about the screen alone.
func notStored(verb string) string {
	_, bench := benchVerbs[verb]
	_, program := programVerbs[verb]
	if v := lang.VerbNamed(verb); v != nil && v.Use == lang.OnBoard && (bench || program) {
		return ""
	}
	return "not available for a stored run: open a scenario"
}

// Values are what fits in a place of this kind; see lang.Names.
func (s *stored) Values(k lang.Kind) (out []string) {
	r := s.latest()
	switch k {
	case lang.KindRun:
		return []string{r.ID}
	case lang.KindStep:
		for _, c := range r.Unsettled() {
			out = append(out, stepArg(c.Step, c.Undo))
		}
	case lang.KindKey:
		for _, c := range r.Unsettled() {
			if c.Key != "" {
				out = append(out, c.Key)
			}
		}
	}
	return out
}

func (s *stored) Do(line string) error {
	l, err := lang.ParseLine(line)
	if err != nil {
		return err
	}
	if why := s.Unavailable(l.Verb); why != "" || !settles[l.Verb] {
		return errors.New(cmp.Or(why, l.Verb+" is not for a run of the store"))
	}
	_, err = s.store.Do(s.run, l)
	return errors.Join(err, s.read())
}

func (s *stored) Recording() ([]byte, error) {
	return nil, errors.New("a stored run cannot be saved as a scenario: what its provider did is not recorded")
}

// storedName is what the scenario of a stored run is called.
const storedName = "run:"

// scenario is what stands for the run where the screen wants a scenario.
func (s *stored) scenario() *lang.Scenario {
	title := s.run
	if r := s.latest(); !r.AdmittedAt.IsZero() {
		title += "  " + stamp(r.AdmittedAt)
	}
	return &lang.Scenario{Name: storedName + s.run, Title: title}
}

// stamp is a moment as the commands print it, in UTC.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// storedRun is the run that a session shows from the store; empty for a scenario's bench.
func (s *session) storedRun() string {
	run, ok := strings.CutPrefix(s.scenario.Name, storedName)
	if !ok {
		return ""
	}
	return run
}

// Messages about the store.
type (
	shelfMsg struct{} // it changed
	// storeDoneMsg is the end of what was asked of a run in the list.
	storeDoneMsg struct {
		verb, run string
		err       error
	}
)

// list is a screen that shows runs of the store.
type list interface {
	screen
	askStore(u *ui) tea.Cmd
}

// showsStore reports whether something of the store is on the screen, or under it.
func (m *model) showsStore() bool {
	_, ok := m.top().(list)
	return m.opt.Store != nil && (ok || m.session != nil && m.session.storedRun() != "")
}

// shelf has a list that has come to the top ask the store, and keeps the pump looking
// at the store for as long as it is shown.
func (m *model) shelf() tea.Cmd {
	m.pump.store.show(m.showsStore())
	top := m.top()
	if top == m.above {
		return nil
	}
	m.above = top
	if l, ok := top.(list); ok {
		return l.askStore(&m.ui)
	}
	return nil
}

// reread looks again at what is shown of the store.
func (m *model) reread() tea.Cmd {
	var cmds []tea.Cmd
	if l, ok := m.top().(list); ok {
		cmds = append(cmds, l.askStore(&m.ui))
	}
	if s := m.session; s != nil {
		if b, ok := s.bench.(*stored); ok {
			cmds = append(cmds, work(func() tea.Msg {
				_ = b.read() // what was read before stays; a verb says what is wrong
				return nil
			}))
		}
	}
	return tea.Batch(cmds...)
}

// openRun opens a run of the store on a bench of its own, and then goes on with then.
func (u *ui) openRun(run string, then func(*ui) tea.Cmd) tea.Cmd {
	store := u.opt.Store
	if store == nil {
		u.say(draw.Bad, errNoStore.Error())
		return nil
	}
	return work(func() tea.Msg { return readRun(store, run, then) })
}

func readRun(store Store, run string, then func(*ui) tea.Cmd) openedMsg {
	b, err := openStored(store, run)
	if err != nil {
		return openedMsg{err: err}
	}
	return openedMsg{bench: b, scenario: b.scenario(), then: then}
}

// toStore carries out a rerun or a cancel of a run. By key alone it is only written
// down: both reach beyond this screen, so they take an enter.
func (u *ui) toStore(run string, c command) tea.Cmd {
	if c.key != "" {
		u.command(newPalette(c.verb.Name + " " + run))
		return nil
	}
	store := u.opt.Store
	if store == nil {
		u.say(draw.Bad, errNoStore.Error())
		return nil
	}
	line := lang.Line{Verb: c.verb.Name, Text: c.args}
	if args := strings.TrimSpace(c.args); args != "" {
		run = args
	}
	u.say(draw.Quiet, c.verb.Name+" "+run+": waiting for the run to end")
	return work(func() tea.Msg {
		about, err := store.Do(run, line)
		if err != nil || line.Verb != "rerun" {
			return storeDoneMsg{line.Verb, run, err}
		}
		return readRun(store, about, nil)
	})
}

func (m *model) storeDone(d storeDoneMsg) tea.Cmd {
	if d.err != nil {
		m.say(draw.Bad, d.err.Error())
		return nil
	}
	m.say(draw.Good, m.t.Glyphs.Good+" "+d.verb+" "+d.run)
	return m.reread()
}

// storedVerb is what a verb means for a run of the store; false leaves it to the bench's screen.
func (u *ui) storedVerb(c command) (tea.Cmd, bool) {
	run := u.session.storedRun()
	switch why := u.session.bench.Unavailable(c.verb.Name); {
	case run == "":
		return nil, false
	case c.verb.Name == "rerun":
		return u.toStore(run, c), true
	case c.verb.Name == "lookup" && !u.session.known.loud:
		return u.send(c), true // a run that a crash left at work is decided first, by whoever looks it up
	case why != "":
		u.say(draw.Unknown, c.verb.Name+": "+why)
		return nil, true
	}
	return nil, false
}

// stackFor is what lies under a bench that opens: for a run of the store the lists
// from which it was chosen, for a schedule the map, so that esc goes back there.
func (m *model) stackFor(s *session) []screen {
	stack := m.stack[:1:1]
	if s.storedRun() == "" {
		if from := m.mapUnder(); s.found && from != nil {
			stack = append(stack, from)
		}
		return append(stack, &benchScreen{})
	}
	var runs, unknowns screen
	for _, x := range m.stack {
		switch x.(type) {
		case *runsScreen:
			runs = x
		case *unknownsScreen:
			unknowns = x
		}
	}
	for _, x := range []screen{runs, unknowns} {
		if x != nil {
			stack = append(stack, x)
		}
	}
	return append(stack, &benchScreen{})
}

// storedDoing is the right end of the header over a run of the store.
func (m *model) storedDoing() []draw.Spans {
	s := m.session
	where := draw.Say(draw.Quiet, s.state.Address)
	if _, over := m.top().(list); over {
		return nil // it is of all runs
	}
	if s.past() {
		return []draw.Spans{m.mode(), where}
	}
	var runs []draw.Spans
	for _, r := range s.view.Runs {
		sign := statusSigns[r.Status]
		runs = append(runs, draw.Say(sign.Ink, m.t.Glyphs.Of(sign)))
	}
	return append(runs, where)
}

// storedFooter is what the footer names over a run of the store.
var storedFooter = []string{"lookup", "rerun", "pane", "copy", "close", "command", "help", "quit"}

// atWork reports whether more can happen in one of these runs.
func atWork(runs []*engine.Run) bool {
	return slices.ContainsFunc(runs, func(r *engine.Run) bool { return !r.Status.Ended() })
}
