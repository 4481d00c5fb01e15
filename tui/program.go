package tui

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios/lang"
)

// programVerbs are the verbs that concern the program, not the bench. A test holds
// this table and the screens against the one of package lang.
var programVerbs map[string]func(*model, command) tea.Cmd

func init() {
	programVerbs = map[string]func(*model, command) tea.Cmd{
		"quit":      func(*model, command) tea.Cmd { return tea.Quit },
		"suspend":   suspend,
		"close":     func(m *model, _ command) tea.Cmd { m.pop(); return nil },
		"command":   func(m *model, _ command) tea.Cmd { m.palette = newPalette(""); return nil },
		"help":      func(m *model, c command) tea.Cmd { m.help(c.args); return nil },
		"theme":     (*model).retheme,
		"catalogue": func(m *model, _ command) tea.Cmd { m.stack = m.stack[:1]; return nil },
		"open":      (*model).openNamed,
		"save":      save,
		"export":    export,
		"mouse":     setMouse,
		"unknowns":  func(m *model, _ command) tea.Cmd { return m.showUnknowns() },
		"history":   (*model).showRuns,
		"lessons":   (*model).showLessons,
		"next":      (*model).nextInLesson,
		"filter":    ignore,
		"up":        ignore, "down": ignore, "pageup": ignore, "pagedown": ignore, "top": ignore, "bottom": ignore,
		"pane": ignore, "unpane": ignore,
	}
}

// suspend goes back to the shell, where there is one: without it nobody could bring the program back.
func suspend(m *model, _ command) tea.Cmd {
	if !canSuspend() {
		m.say(inkQuiet, "suspend: no shell is waiting for it; q quits")
		return nil
	}
	return tea.Suspend
}

// ignore is what moving about does on a screen that has nothing to move in.
func ignore(*model, command) tea.Cmd { return nil }

func (m *model) retheme(c command) tea.Cmd {
	name := strings.TrimSpace(c.args)
	t, err := newTheme(name, m.opt.depth, m.t.glyphs)
	if err != nil {
		m.say(inkBad, err.Error())
		return nil
	}
	m.t = t
	m.memo = memo{}
	m.memory.Theme = name
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
	m.say(inkBad, "there is no scenario "+name+"; valid here: "+strings.Join(lang.Nearest(name, m.names()), ", "))
	return nil
}

func (m *model) names() []string {
	out := make([]string, len(m.opt.Scenarios))
	for i, s := range m.opt.Scenarios {
		out[i] = s.Name
	}
	return out
}

// open opens a scenario on a bench of its own, in a command.
func (m *model) open(s *lang.Scenario) tea.Cmd { return m.openThen(s, nil) }

// openToEdit opens a scenario, unless it is open already, and its workflow in the person's editor.
func (m *model) openToEdit(s *lang.Scenario) tea.Cmd {
	if m.session != nil && m.session.scenario == s {
		m.stack = m.stackFor(m.session)
		return editWorkflow(m, command{})
	}
	return m.openThen(s, func(m *model) tea.Cmd { return editWorkflow(m, command{}) })
}

// openThen opens a scenario and goes on with then, which may be nil.
func (m *model) openThen(s *lang.Scenario, then func(*model) tea.Cmd) tea.Cmd {
	m.say(inkQuiet, "opening "+s.Title)
	open, keep := m.opt.Open, m.pace()
	return work(func() tea.Msg {
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
func (m *model) pace() (lines []string) {
	if m.session == nil || m.session.storedRun() != "" {
		return nil
	}
	st := m.session.state
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
		m.say(inkBad, o.err.Error())
		return nil
	}
	old := m.session
	m.session = newSession(o.bench, o.scenario)
	if old != nil {
		m.session.focus = old.focus
	}
	m.session.covered = o.lesson || m.memory.Covered
	if !o.lesson {
		m.course = nil
	}
	help, reading := m.top().(*helpScreen)
	m.stack = m.stackFor(m.session)
	if reading { // whoever asked for help meanwhile gets it, about what is there now
		help.under = m.top().on()
		m.push(help)
	}
	if c, ok := m.stack[0].(*catalogue); ok {
		c.choose(m, o.scenario.Name)
	}
	m.memo = memo{}
	m.pump.follow(o.bench)
	o.bench.Play()
	m.session.pull()
	var then tea.Cmd
	if o.then != nil {
		then = o.then(m)
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
