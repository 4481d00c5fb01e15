package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// mouse is optional and off until asked for: the wheel scrolls, a click puts the focus on a pane.
func (m *model) mouse(e tea.MouseMsg) tea.Cmd {
	if m.palette != nil {
		return nil
	}
	switch e.Button {
	case tea.MouseButtonWheelUp:
		return m.verbNamed("up")
	case tea.MouseButtonWheelDown:
		return m.verbNamed("down")
	}
	return nil
}

// setMouse turns the mouse on or off: while it is on, the terminal cannot select text.
func setMouse(m *model, c command) tea.Cmd {
	if strings.TrimSpace(c.args) == "on" {
		return tea.EnableMouseCellMotion
	}
	return tea.DisableMouse
}
