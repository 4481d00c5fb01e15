package tui

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"faultlab/engine"
	"faultlab/scenarios"
)

// copyFromBench copies what the word says of what is looked at; without a word the
// key of an unknown operation, else the run's id.
func copyFromBench(m *model, c command) tea.Cmd {
	s := m.session
	what := strings.TrimSpace(c.args)
	var op *scenarios.Operation
	if i := s.opPicked(); i >= 0 {
		op = &s.view.Operations[i]
	}
	if what == "" {
		what = "id"
		if op != nil && len(op.Keys) > 0 {
			what = "key"
		}
	}
	text := ""
	switch what {
	case "key":
		if op != nil && len(op.Keys) > 0 {
			text = op.Keys[len(op.Keys)-1]
		}
	case "id":
		if len(s.view.Runs) > 0 {
			text = s.view.Runs[s.runPicked()].ID
		}
	case "curl":
		text = curl(s, op)
	case "view":
		text = trimRight(ansi.Strip(m.View()))
	}
	if text == "" {
		m.say(inkQuiet, "copy: there is no "+what+" here yet")
		return nil
	}
	return m.copy(what, text)
}

// copy puts text into the terminal's clipboard and, where the system has a tool
// for it, into its own: not every terminal takes the first.
func (m *model) copy(what, text string) tea.Cmd {
	shown := what
	if len(text) < 80 && !strings.Contains(text, "\n") {
		shown += " " + text
	}
	m.say(inkGood, m.t.glyphs.good+" copied: "+shown)
	out, tools, through := m.opt.Out, m.opt.tools, m.opt.through
	return work(func() tea.Msg {
		if out != nil {
			_, _ = io.WriteString(out, clipboard(text, through)) // a terminal that is gone ends the program anyway
		}
		if tools {
			native(text)
		}
		return nil
	})
}

// clipboard is what has a terminal put text into its clipboard. tmux takes the plain
// form into its own or hands the wrapped one on, as it was told to: it gets both.
func clipboard(text, through string) string {
	seq := osc52.New(text)
	switch through {
	case "tmux":
		return seq.String() + seq.Tmux().String()
	case "screen":
		return seq.Screen().String()
	}
	return seq.String()
}

// multiplexer is what passes an escape code on to the terminal only when it is asked to: "tmux", "screen" or nothing.
func multiplexer(env func(string) string) string {
	switch {
	case env("TMUX") != "":
		return "tmux"
	case strings.HasPrefix(env("TERM"), "screen"):
		return "screen"
	}
	return ""
}

// native uses the first clipboard tool that fits the session, if there is one.
func native(text string) {
	for _, tool := range []struct{ env, name, args string }{
		{"WAYLAND_DISPLAY", "wl-copy", ""},
		{"DISPLAY", "xclip", "-selection clipboard"},
		{"HOME", "pbcopy", ""},
	} {
		path, err := exec.LookPath(tool.name)
		if err != nil || os.Getenv(tool.env) == "" {
			continue
		}
		cmd := exec.Command(path, strings.Fields(tool.args)...)
		cmd.Stdin = strings.NewReader(text)
		_ = cmd.Run() // the terminal's clipboard has it
		return
	}
}

// curl is the newest write of the operation as a line for a shell, with its body where that is kept.
func curl(s *session, op *scenarios.Operation) string {
	q := lastRequest(s.view, op)
	if q == nil {
		return ""
	}
	url := q.URL
	if _, path, ok := strings.Cut(url, "://127.0.0.1:4040"); ok && s.state.Mode == scenarios.Sockets {
		url = "http://" + s.state.Address + path
	}
	out := "curl -sS -X " + q.Method + " " + shellQuote(url)
	if q.Header != "" {
		out += " -H " + shellQuote(q.Header+": "+q.Key)
	}
	if json.Valid(q.Body) {
		out += " -H 'Content-Type: application/json' -d " + shellQuote(string(q.Body))
	}
	return out
}

func lastRequest(v *scenarios.View, op *scenarios.Operation) *engine.Request {
	if op == nil || len(op.Runs) == 0 {
		return nil
	}
	r := runOf(v, op.Runs[len(op.Runs)-1])
	if r == nil {
		return nil
	}
	s := r.StepAt(op.Step, op.Undo)
	if s == nil || s.Last() == nil {
		return nil
	}
	c := lastWrite(s.Last())
	if c == nil || len(c.Requests) == 0 {
		return nil
	}
	return c.Requests[len(c.Requests)-1]
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func trimRight(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
