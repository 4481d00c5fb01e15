package tui

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/tui/draw"
)

// settings are what the workbench keeps over a quit. Losing it loses no run: it is
// about the screen alone, and a file that cannot be read counts as none.
type settings struct {
	Theme    string            `json:"theme,omitempty"`
	Chosen   string            `json:"chosen,omitempty"`   // the scenario that was opened last
	Covered  bool              `json:"covered,omitempty"`  // the truth was covered
	Verdicts map[string]string `json:"verdicts,omitempty"` // by scenario, the last one
	Lessons  map[string]int    `json:"lessons,omitempty"`  // by lesson, how many scenarios were done

	path string
	made int // how often it was to be kept

	mu   sync.Mutex
	kept int // of these, the newest that is on disk
}

// loadSettings reads the settings at path; an empty path forgets everything at the end.
func loadSettings(path string) *settings {
	m := &settings{}
	if path != "" {
		if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, m) != nil {
			m = &settings{}
		}
	}
	if m.Verdicts == nil {
		m.Verdicts = map[string]string{}
	}
	if m.Lessons == nil {
		m.Lessons = map[string]int{}
	}
	m.path = path
	m.forgetStrangers()
	return m
}

// forgetStrangers takes out what only another version could have written.
func (m *settings) forgetStrangers() {
	if !slices.Contains(draw.ThemeNames(), m.Theme) {
		m.Theme = ""
	}
	maps.DeleteFunc(m.Verdicts, func(_, v string) bool { _, known := verdictSigns[engine.Verdict(v)]; return !known })
	maps.DeleteFunc(m.Lessons, func(_ string, done int) bool { return done < 0 })
}

// toKeep is the settings as they are now, to be written by whoever may wait for the disk.
func (m *settings) toKeep() (write func() error) {
	n := m.made
	data, err := json.MarshalIndent(m, "", "  ")
	return func() error {
		if err != nil {
			return err
		}
		return m.write(n, data)
	}
}

// write keeps the n-th settings that were to be kept, whole or not at all. Where a newer
// one is on disk already, that one stays.
func (m *settings) write(n int, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n <= m.kept {
		return nil
	}
	dir, name := filepath.Split(m.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, name+".*") // another workbench may be writing, too
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), m.path); err == nil {
		m.kept = n
	}
	return err
}

// keep writes the settings in a command. That they cannot be kept is said, and nothing else depends on it.
func (u *ui) keep() tea.Cmd {
	if u.settings.path == "" {
		return nil
	}
	u.settings.made++
	write := u.settings.toKeep()
	return work(func() tea.Msg {
		if err := write(); err != nil {
			return keptMsg{err}
		}
		return nil
	})
}

type keptMsg struct{ err error }

// remember notes the verdict of the open scenario once it is there, and reports whether that is new.
func (u *ui) remember() bool {
	s := u.session
	if s.past() || !s.state.AtRest || s.storedRun() != "" || s.found {
		return false
	}
	i := s.known.gravest
	if i < 0 || s.view.Operations[i].Verdict == "" {
		return false
	}
	v := string(s.view.Operations[i].Verdict)
	if u.settings.Verdicts[s.scenario.Name] == v && u.settings.Chosen == s.scenario.Name {
		return false
	}
	u.settings.Verdicts[s.scenario.Name], u.settings.Chosen = v, s.scenario.Name
	return true
}
