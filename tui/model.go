package tui

import (
	"os"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios/lang"
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

// model is the whole program as Bubble Tea sees it. What is on the screen is a
// stack of screens, the catalogue at the bottom; each is a plain struct that draws
// itself. Nothing in Update blocks: what may block runs in a command.
type model struct {
	opt     Options
	t       *theme
	width   int
	height  int
	stack   []screen
	session *session
	palette *palette
	notice  notice
	memory  *memory
	pump    *pump

	frame   string
	fresh   bool // frame shows what the model says
	built   int  // frames built so far, for tests
	memo    memo
	ticking bool
	ended   error    // why the program ends, where that is worth saying
	typed   []string // lines that were typed in the palette
	ahead   []byte   // keys that were typed before the first frame
	edited  editing  // the workflow that is being edited
	scratch []string // folders of ours, removed at the end
	course  *course  // the lesson that is being taken
	beside  *session // the bench of a twin, while it is compared
	above   screen   // the screen that was on top after the last message
}

// screen is one full view, or something that lies over one.
type screen interface {
	// on tells which keys work here.
	on() lang.Screen
	// verb does what a verb means here; false leaves it to the program.
	verb(m *model, v command) (tea.Cmd, bool)
	// draw gives exactly height lines of exactly width cells.
	draw(m *model, width, height int) []string
	// title stands beside the badge.
	title(m *model) spans
}

// typing is a screen that takes keys as text, before they are verbs.
type typing interface {
	typed(m *model, k tea.KeyMsg) (tea.Cmd, bool)
}

// notice is a sentence in the footer's place, until the next key.
type notice struct {
	ink  ink
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
		lesson   bool                 // it was opened for a lesson
		then     func(*model) tea.Cmd // what comes next; may be nil
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
	case newsMsg:
		cmd, changed = m.look()
		if s, ok := m.top().(*compareScreen); ok && s.twin != nil {
			s.message(m, msg)
			changed = true
		}
		return cmd, changed
	case shelfMsg:
		return m.reread(), false
	case storeDoneMsg:
		return m.storeDone(msg), true
	case twinMsg:
		return m.openTwin(msg), true
	case tickMsg:
		m.ticking = false
		return m.look()
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
		m.say(inkQuiet, "the workbench cannot keep its settings: "+msg.err.Error())
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
		message(*model, tea.Msg) tea.Cmd
	}); ok {
		return s.message(m, msg), true
	}
	return nil, false
}

// look pulls what there is to know of the bench.
func (m *model) look() (cmd tea.Cmd, changed bool) {
	s := m.session
	if s == nil || !s.pull() {
		return m.tick(), false
	}
	s.reveal()
	if why := s.refused(); why != "" {
		m.say(inkBad, why)
	}
	cmd = m.tick()
	if m.remember() {
		cmd = tea.Batch(cmd, m.keep())
	}
	return cmd, true
}

// tick asks for another look soon while something is due, and for none otherwise.
func (m *model) tick() tea.Cmd {
	if m.ticking || m.session == nil || !m.session.moving() {
		return nil
	}
	m.ticking = true
	return tea.Tick(tickTime, func(time.Time) tea.Msg { return tickMsg{} })
}

func (m *model) top() screen { return m.stack[len(m.stack)-1] }

func (m *model) push(s screen) { m.stack = append(m.stack, s) }

// pop goes back to where one came from. The last screen stays.
func (m *model) pop() {
	if len(m.stack) > 1 {
		m.stack = m.stack[:len(m.stack)-1]
	}
}

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
		return m.t.line(say(inkText, need(m.width, m.height)), m.width)
	}
	lines := make([]string, 0, m.height)
	lines = append(lines, m.header(l))
	blank := strings.Repeat(" ", m.width)
	if l.air > 0 {
		lines = append(lines, blank)
	}
	area := m.height - 2 - 2*l.air
	body := m.top().draw(m, m.width, area)
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
func (m *model) say(k ink, text string) { m.notice = notice{k, text} }

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
