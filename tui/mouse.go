package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios/lang"
)

// mouse is optional and off until asked for: the wheel scrolls, a click on the
// bench puts the focus on a pane.
func (m *model) mouse(e tea.MouseMsg) tea.Cmd {
	if m.palette != nil || e.Action != tea.MouseActionPress {
		return nil
	}
	switch e.Button {
	case tea.MouseButtonWheelUp:
		return m.verbNamed("up")
	case tea.MouseButtonWheelDown:
		return m.verbNamed("down")
	case tea.MouseButtonLeft:
		if m.session != nil && m.top().on() == lang.OnBench {
			if p, ok := m.paneAt(e.X, e.Y); ok {
				m.session.focus = p
				m.session.identity = p == paneIdentity
			}
		}
	}
	return nil
}

// paneAt is the bench's pane at a place of the screen.
func (m *model) paneAt(x, y int) (pane, bool) {
	l := m.layout()
	y -= 1 + l.air
	switch {
	case l.shape == tooSmall || y < 0 || y >= l.body:
		return 0, false
	case l.shape == stacked && y < l.wireHeight:
		return paneWire, true
	case l.shape == stacked:
		return m.tab(), true
	}
	switch x -= l.margin; {
	case x < l.left && (y >= l.body-l.identity || m.session.identity):
		return paneIdentity, true
	case x < l.left:
		return paneBelief, true
	case x <= l.left+l.wire:
		return paneWire, true
	case y < l.ledger:
		return paneLedger, true
	case y < l.ledger+l.log:
		return paneLog, true
	}
	return paneVerdict, true
}

// setMouse turns the mouse on or off: while it is on, the terminal cannot select text.
func setMouse(m *model, c command) tea.Cmd {
	if strings.TrimSpace(c.args) == "on" {
		m.say(inkQuiet, "the wheel scrolls and a click chooses a pane; hold shift to select text")
		return tea.EnableMouseCellMotion
	}
	return tea.DisableMouse
}
