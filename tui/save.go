package tui

import (
	"errors"
	"fmt"
	"os"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios/lang"
)

// savedMsg says that a file was written, or why not.
type savedMsg struct {
	path string
	err  error
}

func (m *model) saved(s savedMsg) {
	if s.err != nil {
		m.say(inkBad, s.err.Error())
		return
	}
	m.say(inkGood, m.t.glyphs.good+" written: "+s.path)
}

// save writes what was done on the bench as a scenario that replays the same.
func save(m *model, c command) tea.Cmd {
	if m.session == nil {
		m.say(inkQuiet, "save: open a scenario first")
		return nil
	}
	path := c.typed.Arg(0)
	if !strings.HasSuffix(path, lang.Ext) {
		path += lang.Ext
	}
	bench := m.session.bench
	return work(func() tea.Msg {
		data, err := bench.Recording()
		if err == nil {
			err = writeNew(path, data)
		}
		return savedMsg{path, err}
	})
}

// export writes the bench as a report, a picture or a recording of the terminal.
func export(m *model, c command) tea.Cmd {
	s := m.session
	if s == nil {
		m.say(inkQuiet, "export: open a scenario first")
		return nil
	}
	format, path := c.typed.Arg(0), c.typed.Arg(1)
	frame, on := m.picture()
	width, height := m.width, m.height
	view, title := s.view, s.scenario.Title
	record := m.recorder()
	return work(func() tea.Msg {
		var data []byte
		switch format {
		case "markdown":
			data = markdown(title, view)
		case "svg":
			data = svg(frame, on, width, height)
		case "asciicast":
			data = record()
		}
		return savedMsg{path, writeNew(path, data)}
	})
}

// writeNew writes a file that does not exist yet: nothing is overwritten by a typing mistake.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, os.ErrExist):
		return fmt.Errorf("%s exists already: choose another name", path)
	case err != nil:
		return fmt.Errorf("write: %w", err)
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
