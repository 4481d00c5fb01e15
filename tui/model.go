// Package tui is the workbench: the interactive screen on which a person runs
// scenarios, sees what the caller believes beside what the provider did, goes
// through time, breaks things, and settles what nobody knows.
//
// It draws a Bench and sends it verbs; it has no rules of its own about retries,
// keys or evidence. Every key, the palette and the footer come from the verb table
// of package lang, which the scenario files share.
//
// It promises:
//   - that state is told by a glyph and a word, never by colour alone;
//   - that no text of others, whatever bytes it holds, can leave its place on the
//     screen or give the terminal an order (see draw.Clean);
//   - that no line is wider than the terminal, at any size;
//   - that nothing blocks the screen: what may block runs in a command, benches
//     tell the pump that something is new and never wait for it;
//   - that nothing is drawn and no clock ticks while nothing moves;
//   - that the terminal is given back as it was found, after a quit, a signal and a panic.
//
// It never decides by itself: a look-up is one key, a decision has to be typed.
//
// How it is built: one Bubble Tea model (model.go) with a stack of screens, each a
// plain struct in a file of its name that gives lines for a width and a height, and is
// handed what it may use of the program (ui). Package draw puts text on the lines.
package tui

import (
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/bubbles/spinner"
	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// frameRate is how often a second Bubble Tea's renderer looks for something to write,
// also when nothing moves: seldom enough to cost less than 1 % of a core, and within the
// 33 ms that a key press may take. frameTime is the least time between two looks at the
// bench: with the 25 ms of the renderer an event is on the screen within 50 ms.
// tickTime is how often something that is due is counted down.
const (
	frameRate = 40
	frameTime = 16 * time.Millisecond
	tickTime  = 100 * time.Millisecond
)

// ui is what the program offers to its screens: the theme, the size, the open bench,
// what is kept over a quit, and the ways to go on. A screen keeps its own state in
// itself, and none can reach that of another one.
type ui struct {
	navigator
	opt       Options
	t         *draw.Theme
	width     int
	height    int
	session   *session
	settings  *settings
	notice    notice
	course    *course    // the lesson that is being taken
	beside    *session   // the bench of a twin, while it is compared
	edited    editing    // the workflow that is being edited
	searching *mapSearch // the search of the map that is on the stack
	scratch   []string   // folders of ours, removed at the end
	pump      *pump
	job       *job // what runs and takes long; nil for nothing
	spinner   spinner.Model
	ticking   bool
}

// navigator is the way from one screen to another.
type navigator interface {
	push(screen)
	swap(screen) // push, or take the place of a screen of the same kind
	pop()        // go back; the last screen stays
	home()       // go back to the catalogue
	toBench()    // go to the open bench
	command(*palette)
	run(command) tea.Cmd
	View() string
}

// model is the whole program as Bubble Tea sees it: a stack of screens, the catalogue at
// the bottom. Nothing in Update blocks: what may block runs in a command.
type model struct {
	ui
	stack   []screen
	palette *palette

	frame string
	fresh bool     // frame shows what the model says
	lines []string // lines that were typed in the palette
	built int      // frames built so far, for tests
	ended error    // why the program ends, where that is worth saying
	ahead []byte   // keys that were typed before the first frame
	above screen   // the screen that was on top after the last message
}

// screen is one full view, or something that lies over one: a plain struct.
type screen interface {
	// on tells which keys work here.
	on() lang.Screen
	// verb does what a verb means here; false leaves it to the program.
	verb(u *ui, v command) (tea.Cmd, bool)
	// draw gives exactly height lines of exactly width cells.
	draw(u *ui, width, height int) []string
	// title stands beside the badge.
	title(u *ui) draw.Spans
}

// typing is a screen that takes keys as text, before they are verbs.
type typing interface {
	typed(u *ui, k tea.KeyMsg) (tea.Cmd, bool)
}

// notice is a sentence in the footer's place, until the next key.
type notice struct {
	ink  draw.Ink
	text string
}

// Messages of our own.
type (
	newsMsg   struct{}                // the bench changed
	tickMsg   struct{}                // what is due comes closer
	signalMsg struct{ sig os.Signal } // the system wants us to end
	overMsg   struct{ cause error }   // whoever runs us has ended
	panicMsg  struct {                // a command panicked, or an actor
		text  string
		actor bool
	}
	openedMsg struct {
		bench    Bench
		scenario *lang.Scenario
		lesson   bool              // it was opened for a lesson
		then     func(*ui) tea.Cmd // what comes next; may be nil
		err      error
	}
	doneMsg struct {
		bench Bench
		line  string
		err   error
	}
)

func (m *model) Init() tea.Cmd {
	ahead := m.aheadKeys()
	for _, s := range m.opt.Scenarios {
		if s.Name == m.opt.Start {
			return tea.Batch(m.open(s), ahead)
		}
	}
	return ahead
}

// Update handles one message. It reads clocks and files never, and the bench only by looking.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd, changed := m.handle(msg)
	if changed {
		m.fresh = false
	}
	if gone := m.abandoned(); gone != nil {
		cmd = tea.Batch(cmd, closeBench(gone))
	}
	m.stopSearch()
	if look := m.shelf(); look != nil {
		cmd = tea.Batch(cmd, look)
	}
	return m, cmd
}

// abandoned is a twin's bench whose screen was left, however that happened.
func (m *model) abandoned() *session {
	if m.beside == nil {
		return nil
	}
	for _, s := range m.stack {
		if c, ok := s.(*compareScreen); ok && c.twin == m.beside {
			return nil
		}
	}
	gone := m.beside
	m.beside = nil
	return gone
}

func (m *model) handle(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		changed = m.width != msg.Width || m.height != msg.Height
		m.width, m.height = msg.Width, msg.Height
		return nil, changed
	case tea.KeyMsg:
		return m.key(msg), true
	case tea.MouseMsg:
		return m.mouse(msg), true
	case jobMsg:
		if m.job == msg.job {
			m.job = nil
		}
		if msg.msg == nil {
			return nil, true
		}
		cmd, _ = m.handle(msg.msg)
		return cmd, true
	case newsMsg:
		cmd, changed = m.look()
		if s, ok := m.top().(*compareScreen); ok && s.twin != nil {
			s.message(&m.ui, msg)
			changed = true
		}
		more, found := m.lookAtMap()
		return tea.Batch(cmd, more), changed || found
	case shownMsg:
		msg.screen.take(msg)
		return nil, true
	case shelfMsg:
		return m.reread(), false
	case storeDoneMsg:
		return m.storeDone(msg), true
	case twinMsg:
		return m.openTwin(msg), true
	case tickMsg:
		m.ticking = false
		if m.job != nil {
			m.job.shown = true
			m.spinner, _ = m.spinner.Update(m.spinner.Tick())
		}
		cmd, changed = m.look()
		return cmd, changed || m.job != nil
	case openedMsg:
		return m.opened(msg), true
	case doneMsg:
		return m.done(msg), true
	case toEditMsg, editedMsg, sourceMsg:
		return m.afterEdit(msg), true
	case savedMsg:
		m.saved(msg)
		return nil, true
	case keptMsg:
		m.say(draw.Quiet, "cannot save the settings: "+msg.err.Error())
		return nil, true
	case signalMsg:
		m.ended = &Ended{msg.sig, m.opt.Log}
		return tea.Quit, false
	case overMsg:
		m.ended = msg.cause
		return tea.Quit, false
	case panicMsg:
		if msg.actor { // it may hold what closing its bench would wait for
			m.session, m.beside = nil, nil
		}
		panic(msg.text)
	case tea.ResumeMsg:
		return tea.ClearScreen, true
	}
	if s, ok := m.top().(interface {
		message(*ui, tea.Msg) tea.Cmd
	}); ok {
		return s.message(&m.ui, msg), true
	}
	return nil, false
}

// look pulls what there is to know of the bench.
func (u *ui) look() (cmd tea.Cmd, changed bool) {
	s := u.session
	if s == nil || !s.pull() {
		return u.tick(), false
	}
	s.reveal()
	if why := s.refused(); why != "" {
		u.say(draw.Bad, why)
	}
	cmd = u.tick()
	if u.remember() {
		cmd = tea.Batch(cmd, u.keep())
	}
	return cmd, true
}

// tick asks for another look soon while something is due or takes long, and for none otherwise.
func (u *ui) tick() tea.Cmd {
	if u.ticking || u.job == nil && (u.session == nil || !u.session.moving()) {
		return nil
	}
	u.ticking = true
	return tea.Tick(tickTime, func(time.Time) tea.Msg { return tickMsg{} })
}

func (m *model) top() screen { return m.stack[len(m.stack)-1] }

func (m *model) push(s screen) { m.stack = append(m.stack, s) }

func (m *model) swap(s screen) {
	if reflect.TypeOf(s) == reflect.TypeOf(m.top()) {
		m.stack[len(m.stack)-1] = s
		return
	}
	m.push(s)
}

func (m *model) pop() {
	if len(m.stack) > 1 {
		m.stack = m.stack[:len(m.stack)-1]
	}
}

func (m *model) home() { m.stack = m.stack[:1] }

func (m *model) toBench() { m.stack = m.stackFor(m.session) }

func (m *model) command(p *palette) { m.palette = p }

// View is the frame. An unchanged model costs a comparison.
func (m *model) View() string {
	if !m.fresh {
		m.frame, m.fresh = m.build(), true
		m.built++
	}
	return m.frame
}

// build draws the whole frame: exactly height lines of at most width cells.
func (m *model) build() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	l := m.layout()
	if l.shape == tooSmall {
		return m.t.Line(draw.Say(draw.Text, need(m.width, m.height)), m.width)
	}
	lines := make([]string, 0, m.height)
	lines = append(lines, m.header(l))
	blank := strings.Repeat(" ", m.width)
	if l.air > 0 {
		lines = append(lines, blank)
	}
	area := m.height - 2 - 2*l.air
	body := m.top().draw(&m.ui, m.width, area)
	if m.palette != nil {
		body = m.palette.over(m, body)
	}
	lines = append(lines, body...)
	if l.air > 0 {
		lines = append(lines, blank)
	}
	lines = append(lines, m.footer())
	return strings.Join(lines, "\n")
}

// say puts a sentence where the footer is.
func (u *ui) say(k draw.Ink, text string) { u.notice = notice{k, text} }

// job is something that takes long: the footer shows it once a tick has passed.
type job struct {
	name        string
	shown       bool
	done, total atomic.Int64 // of total steps; a total of 0 is not known
}

// jobMsg is the end of a job, and what came of it.
type jobMsg struct {
	job *job
	msg tea.Msg
}

// long is work that may take long enough for a person to wonder.
func (u *ui) long(name string, f func(*job) tea.Msg) tea.Cmd {
	j := &job{name: name}
	u.job = j
	return tea.Batch(work(func() tea.Msg { return jobMsg{j, f(j)} }), u.tick())
}

// work runs something that may block in a command, and turns a panic of it into a
// message: Bubble Tea would lose the terminal over it.
func work(f func() tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = panicMsg{text: trace(r)}
			}
		}()
		return f()
	}
}

// programVerbs are the verbs that concern the program, not the bench. A test holds
// this table and the screens against the one of package lang.
var programVerbs map[string]func(*model, command) tea.Cmd

func init() {
	programVerbs = map[string]func(*model, command) tea.Cmd{
		"quit":      func(*model, command) tea.Cmd { return tea.Quit },
		"suspend":   onUI(suspend),
		"close":     func(m *model, _ command) tea.Cmd { m.pop(); return nil },
		"command":   func(m *model, _ command) tea.Cmd { m.palette = newPalette(""); return nil },
		"help":      func(m *model, c command) tea.Cmd { m.help(c.args); return nil },
		"theme":     (*model).retheme,
		"catalogue": func(m *model, _ command) tea.Cmd { m.home(); return nil },
		"open":      (*model).openNamed,
		"save":      onUI(save),
		"export":    export,
		"mouse":     onUI(setMouse),
		"unknowns":  func(m *model, _ command) tea.Cmd { return m.showUnknowns() },
		"history":   onUI((*ui).showRuns),
		"lessons":   onUI((*ui).showLessons),
		"next":      onUI((*ui).nextInLesson),
		"map":       (*model).showMap,
		"operator":  onMapOnly, "deeper": onMapOnly,
		"filter": ignore,
		"up":     ignore, "down": ignore, "pageup": ignore, "pagedown": ignore, "top": ignore, "bottom": ignore, "left": ignore, "right": ignore,
		"pane": ignore, "unpane": ignore,
	}
}

// onUI is a verb that does not need the stack of screens.
func onUI(f func(*ui, command) tea.Cmd) func(*model, command) tea.Cmd {
	return func(m *model, c command) tea.Cmd { return f(&m.ui, c) }
}

// suspend goes back to the shell, where there is one: without it nobody could bring the program back.
func suspend(u *ui, _ command) tea.Cmd {
	if !canSuspend() {
		u.say(draw.Quiet, "suspend: no shell to return to; q quits")
		return nil
	}
	return tea.Suspend
}

// ignore is what moving about does on a screen that has nothing to move in.
func ignore(*model, command) tea.Cmd { return nil }

// onMapOnly is what verbs of the map do elsewhere.
func onMapOnly(m *model, c command) tea.Cmd {
	m.say(draw.Quiet, c.verb.Name+": open the map of a scenario first")
	return nil
}

func (m *model) retheme(c command) tea.Cmd {
	name := strings.TrimSpace(c.args)
	t, err := draw.NewTheme(name, m.opt.depth, m.t.Glyphs)
	if err != nil {
		m.say(draw.Bad, err.Error())
		return nil
	}
	m.t = t
	m.settings.Theme = name
	return m.keep()
}

func (m *model) openNamed(c command) tea.Cmd {
	name := strings.TrimSpace(c.args)
	if name == "" {
		return nil
	}
	for _, s := range m.opt.Scenarios {
		if s.Name == name {
			return m.open(s)
		}
	}
	m.say(draw.Bad, "no scenario is named "+name+"; did you mean "+strings.Join(lang.Nearest(name, m.names()), ", "))
	return nil
}

func (u *ui) names() []string {
	out := make([]string, len(u.opt.Scenarios))
	for i, s := range u.opt.Scenarios {
		out[i] = s.Name
	}
	return out
}

// open opens a scenario on a bench of its own, in a command.
func (u *ui) open(s *lang.Scenario) tea.Cmd { return u.openThen(s, nil) }

// openToEdit opens a scenario, unless it is open already, and its workflow in the person's editor.
func (u *ui) openToEdit(s *lang.Scenario) tea.Cmd {
	edit := func(u *ui) tea.Cmd { return editWorkflow(u, command{}) }
	if u.session != nil && u.session.scenario == s {
		u.toBench()
		return edit(u)
	}
	return u.openThen(s, edit)
}

// openThen opens a scenario and goes on with then, which may be nil.
func (u *ui) openThen(s *lang.Scenario, then func(*ui) tea.Cmd) tea.Cmd {
	u.say(draw.Quiet, "opening "+s.Title)
	open, keep := u.opt.Open, u.pace()
	return u.long("opening "+s.Title, func(*job) tea.Msg {
		b, err := open(s, false)
		for _, line := range keep {
			if err == nil {
				err = b.Do(line)
			}
		}
		return openedMsg{bench: b, scenario: s, then: then, err: err}
	})
}

// pace is what a new bench takes over from the open one, as verbs: its speed, and
// whether it is held, so that a run can be stepped through from its beginning.
func (u *ui) pace() (lines []string) {
	if u.session == nil || u.session.storedRun() != "" {
		return nil
	}
	st := u.session.state
	if st.Speed != 1 {
		lines = append(lines, "speed "+strconv.FormatFloat(st.Speed, 'f', -1, 64))
	}
	switch {
	case st.Stepping:
		lines = append(lines, "step")
	case st.Paused:
		lines = append(lines, "pause")
	}
	return lines
}

// opened shows the new bench and begins to play it. The one before is closed.
func (m *model) opened(o openedMsg) tea.Cmd {
	m.notice = notice{}
	if o.err != nil {
		m.say(draw.Bad, o.err.Error())
		return nil
	}
	old := m.session
	m.session = newSession(o.bench, o.scenario)
	if old != nil {
		m.session.focus = old.focus
	}
	from := m.mapUnder()
	m.session.found = from != nil && from.opened == o.scenario
	m.session.covered = o.lesson || m.settings.Covered
	if !o.lesson {
		m.course = nil
	}
	help, reading := m.top().(*helpScreen)
	m.stack = m.stackFor(m.session)
	if reading { // whoever asked for help meanwhile gets it, about what is there now
		help.under = m.top().on()
		m.push(help)
	}
	if c, ok := m.stack[0].(*catalogue); ok && !m.session.found {
		c.list.Choose(o.scenario.Name)
	}
	m.pump.follow(o.bench)
	o.bench.Play()
	m.session.pull()
	var then tea.Cmd
	if o.then != nil {
		then = o.then(&m.ui)
	}
	return tea.Batch(m.tick(), closeBench(old), then)
}

func closeBench(s *session) tea.Cmd {
	if s == nil {
		return nil
	}
	return work(func() tea.Msg {
		_ = s.bench.Close() // nothing of it is wanted any more
		return nil
	})
}

// help shows what can be done here, or what one verb does.
func (m *model) help(verb string) {
	h := &helpScreen{under: m.top().on(), about: strings.TrimSpace(verb)}
	if old, ok := m.top().(*helpScreen); ok {
		if verb == "" {
			m.pop() // ? again closes
			return
		}
		h.under = old.under
	}
	m.push(h)
}
