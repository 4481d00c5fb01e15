package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios/lang"
)

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
	askStore(m *model) tea.Cmd
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
		return l.askStore(m)
	}
	return nil
}

// reread looks again at what is shown of the store.
func (m *model) reread() tea.Cmd {
	var cmds []tea.Cmd
	if l, ok := m.top().(list); ok {
		cmds = append(cmds, l.askStore(m))
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
func (m *model) openRun(run string, then func(*model) tea.Cmd) tea.Cmd {
	store := m.opt.Store
	if store == nil {
		m.say(inkBad, errNoStore.Error())
		return nil
	}
	return work(func() tea.Msg { return readRun(store, run, then) })
}

func readRun(store Store, run string, then func(*model) tea.Cmd) openedMsg {
	b, err := openStored(store, run)
	if err != nil {
		return openedMsg{err: err}
	}
	return openedMsg{bench: b, scenario: b.scenario(), then: then}
}

// toStore carries out a rerun or a cancel of a run. By key alone it is only written
// down: both reach beyond this screen, so they take an enter.
func (m *model) toStore(run string, c command) tea.Cmd {
	if c.key != "" {
		m.palette = newPalette(c.verb.Name + " " + run)
		return nil
	}
	store := m.opt.Store
	if store == nil {
		m.say(inkBad, errNoStore.Error())
		return nil
	}
	line := lang.Line{Verb: c.verb.Name, Text: c.args}
	if args := strings.TrimSpace(c.args); args != "" {
		run = args
	}
	m.say(inkQuiet, c.verb.Name+" "+run+": it comes back when the run has ended")
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
		m.say(inkBad, d.err.Error())
		return nil
	}
	m.say(inkGood, m.t.glyphs.good+" "+d.verb+" "+d.run)
	return m.reread()
}

// storedVerb is what a verb means for a run of the store; false leaves it to the bench's screen.
func (m *model) storedVerb(c command) (tea.Cmd, bool) {
	run := m.session.storedRun()
	switch why := m.session.bench.Unavailable(c.verb.Name); {
	case run == "":
		return nil, false
	case c.verb.Name == "rerun":
		return m.toStore(run, c), true
	case c.verb.Name == "lookup" && !m.session.known.loud:
		return m.send(c), true // a run that a crash left at work is decided first, by whoever looks it up
	case why != "":
		m.say(inkUnknown, c.verb.Name+": "+why)
		return nil, true
	}
	return nil, false
}

// stackFor is what lies under a bench that opens: for a run of the store the lists
// from which it was chosen, so that esc goes back there.
func (m *model) stackFor(s *session) []screen {
	stack := m.stack[:1:1]
	if s.storedRun() == "" {
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
func (m *model) storedDoing() []spans {
	s := m.session
	where := say(inkQuiet, s.state.Address)
	if _, over := m.top().(list); over {
		return nil // it is of all runs
	}
	if s.past() {
		return []spans{m.mode(), where}
	}
	var runs []spans
	for _, r := range s.view.Runs {
		sign := statusSigns[r.Status]
		runs = append(runs, say(sign.ink, m.t.glyphs.of(sign)))
	}
	return append(runs, where)
}

// storedFooter is what the footer names over a run of the store.
var storedFooter = []string{"lookup", "rerun", "pane", "copy", "close", "command", "help", "quit"}

// atWork reports whether more can happen in one of these runs.
func atWork(runs []*engine.Run) bool {
	return slices.ContainsFunc(runs, func(r *engine.Run) bool { return !r.Status.Ended() })
}
