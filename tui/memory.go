package tui

import (
	"encoding/json"
	"os"
	"path/filepath"

	tea "github.com/charmbracelet/bubbletea"
)

// memory is what the workbench keeps over a quit. Losing it loses no run: it is
// about the screen alone, and a file that cannot be read counts as none.
type memory struct {
	Theme    string            `json:"theme,omitempty"`
	Chosen   string            `json:"chosen,omitempty"`   // the scenario that was opened last
	Covered  bool              `json:"covered,omitempty"`  // the truth was covered
	Verdicts map[string]string `json:"verdicts,omitempty"` // by scenario, the last one
	Lessons  map[string]int    `json:"lessons,omitempty"`  // by lesson, how many scenarios were done

	path string
}

// recall reads the memory at path; an empty path forgets everything at the end.
func recall(path string) *memory {
	m := &memory{}
	if path != "" {
		if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, m) != nil {
			m = &memory{}
		}
	}
	if m.Verdicts == nil {
		m.Verdicts = map[string]string{}
	}
	if m.Lessons == nil {
		m.Lessons = map[string]int{}
	}
	m.path = path
	return m
}

// write keeps the memory, whole or not at all.
func (m *memory) write(data []byte) error {
	if err := os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
		return err
	}
	tmp := m.path + ".new"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, m.path)
}

// keep writes the memory in a command. That it cannot be kept is said once, and nothing else depends on it.
func (m *model) keep() tea.Cmd {
	if m.memory.path == "" {
		return nil
	}
	data, err := json.MarshalIndent(m.memory, "", "  ")
	if err != nil {
		return nil
	}
	mem := m.memory
	return work(func() tea.Msg {
		if err := mem.write(data); err != nil {
			return keptMsg{err}
		}
		return nil
	})
}

type keptMsg struct{ err error }

// remember notes the verdict of the open scenario once it is there, and reports whether that is new.
func (m *model) remember() bool {
	s := m.session
	if s.past() || !s.state.AtRest || s.storedRun() != "" {
		return false
	}
	i := s.known.gravest
	if i < 0 || s.view.Operations[i].Verdict == "" {
		return false
	}
	v := string(s.view.Operations[i].Verdict)
	if m.memory.Verdicts[s.scenario.Name] == v && m.memory.Chosen == s.scenario.Name {
		return false
	}
	m.memory.Verdicts[s.scenario.Name], m.memory.Chosen = v, s.scenario.Name
	return true
}
