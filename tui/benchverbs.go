package tui

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// benchVerbs are the verbs that the bench's screen carries out itself, or adds to
// what the bench does.
var benchVerbs map[string]func(*model, command) tea.Cmd

func init() {
	benchVerbs = map[string]func(*model, command) tea.Cmd{
		"up": scrollBy(1, 0), "down": scrollBy(-1, 0), "pageup": scrollBy(0, 1), "pagedown": scrollBy(0, -1),
		"top":     func(m *model, _ command) tea.Cmd { m.session.move(1); return nil },
		"bottom":  goLive,
		"live":    goLive,
		"back":    func(m *model, _ command) tea.Cmd { m.session.move(m.session.position() - 1); return nil },
		"forward": func(m *model, _ command) tea.Cmd { m.session.move(m.session.position() + 1); return m.tick() },
		"goto":    goTo,
		"pane":    func(m *model, _ command) tea.Cmd { m.focusBy(1); return nil },
		"unpane":  func(m *model, _ command) tea.Cmd { m.focusBy(-1); return nil },
		"cover":   func(m *model, _ command) tea.Cmd { return m.cover(!m.session.covered) },
		"uncover": func(m *model, _ command) tea.Cmd { return m.cover(false) },
		"identities": func(m *model, _ command) tea.Cmd {
			m.session.identity = !m.session.identity
			return nil
		},
		"again":  runAgain,
		"lookup": lookUp,
		"fault":  menuFor(faultMenu), "contract": menuFor(contractMenu), "policy": menuFor(policyMenu), "key": menuFor(keyMenu),
		"deliver": needsArgs, "trigger": trigger,
		"compare": compareRuns,
		"edit":    editWorkflow,
		"copy":    copyFromBench,
		"answer":  answerOnBench,
		"close": func(m *model, _ command) tea.Cmd {
			if m.session.past() {
				return goLive(m, command{})
			}
			m.pop()
			return nil
		},
	}
}

func goLive(m *model, _ command) tea.Cmd {
	m.session.move(m.session.bench.Len())
	return m.tick()
}

func goTo(m *model, c command) tea.Cmd {
	n, err := strconv.Atoi(strings.TrimSpace(c.args))
	if err != nil {
		m.say(inkBad, "goto: a number of an entry belongs here, 1 to "+strconv.Itoa(m.session.bench.Len()))
		return nil
	}
	m.session.move(n)
	return m.tick()
}

func (m *model) cover(on bool) tea.Cmd {
	if m.session.storedRun() != "" {
		m.say(inkQuiet, "the provider's ledger is not here: only the caller's history is in the store")
	}
	m.session.covered = on
	if m.course != nil {
		return nil // a lesson covers and uncovers by itself
	}
	m.memory.Covered = on
	return m.keep()
}

func (m *model) focusBy(step int) {
	s := m.session
	i := 0
	for j, p := range tabOrder {
		if p == s.focus {
			i = j
		}
	}
	s.focus = tabOrder[(i+step+len(tabOrder))%len(tabOrder)]
	s.identity = s.focus == paneIdentity
}

// scrollBy scrolls the pane in focus. In the belief, up and down choose a run where there
// are several; in the verdict an operation, and pages scroll.
func scrollBy(lines, pages int) func(*model, command) tea.Cmd {
	return func(m *model, _ command) tea.Cmd {
		s := m.session
		p := s.focus
		n := lines + pages*max(1, m.height/2)
		if p == paneBelief && len(s.view.Runs) > 1 {
			s.run = clamp(s.runPicked()-n, 0, len(s.view.Runs)-1)
			s.op = -1
			return nil
		}
		if p == paneBelief || p == paneIdentity || p == paneVerdict {
			n = -n // these rest at their beginning, the others at their end
		}
		if p == paneVerdict && pages == 0 && len(s.view.Operations) > 1 {
			s.scroll[p] = 0
			s.op = clamp(s.opPicked()+sign1(n), 0, max(0, len(s.view.Operations)-1))
			return nil
		}
		limit := map[pane]int{paneWire: len(s.view.Wire) - 1, paneLedger: len(s.view.Effects) - 1, paneLog: len(s.view.Log) - 1}
		most, ok := limit[p]
		if !ok {
			most = 1000
		}
		s.scroll[p] = clamp(s.scroll[p]+n, 0, max(0, most))
		return nil
	}
}

func sign1(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// lookUp asks the provider by key, which changes nothing there, and shows what can be decided.
func lookUp(m *model, c command) tea.Cmd {
	s := m.session
	if !s.known.loud {
		m.say(inkQuiet, "look up: no operation is unknown")
		return nil
	}
	p := newSettle(m)
	m.push(p)
	if c.key != "" && p.hasEvidence(m) {
		return nil // the first press asked; now it is a decision
	}
	return m.send(c)
}

// needsArgs opens the palette where a key alone does not say enough.
func needsArgs(m *model, c command) tea.Cmd {
	if c.args != "" {
		return m.send(c)
	}
	m.palette = newPalette(c.verb.Name + " ")
	return nil
}

// trigger runs the workflow once more on the same bench, as the scenario does first.
func trigger(m *model, c command) tea.Cmd {
	if c.args != "" {
		return m.send(c)
	}
	for _, l := range m.session.scenario.Lines {
		if l.Verb == "trigger" {
			return m.send(command{verb: c.verb, args: l.Text})
		}
	}
	return needsArgs(m, c)
}

// menuFor opens a menu where a key alone does not say which.
func menuFor(make func(*model) *menu) func(*model, command) tea.Cmd {
	return func(m *model, c command) tea.Cmd {
		if c.args != "" {
			return m.send(c)
		}
		if m.session.past() {
			m.session.move(m.session.bench.Len()) // what is queued now, as what is sent from it is done now
		}
		m.push(make(m))
		return nil
	}
}

// runAgain runs the same scenario on a fresh bench, or reads the same run again.
func runAgain(m *model, _ command) tea.Cmd {
	s := m.session
	switch {
	case s.storedRun() != "":
		return m.openRun(s.storedRun(), nil)
	case m.course != nil:
		return m.openFor(s.scenario)
	}
	return m.open(s.scenario)
}
