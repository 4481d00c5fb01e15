package tui

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine/woml"
	"faultlab/scenarios/lang"
)

// Messages about a workflow being edited: the copy is made, the editor is closed, the document is read.
type (
	toEditMsg struct {
		path string
		err  error
	}
	editedMsg struct {
		path string
		err  error
	}
	sourceMsg struct {
		path  string
		src   []byte
		diags []woml.Diagnostic
		err   error
	}
)

// severe is the severity of what keeps a document from running.
const severe = "error"

// editing is a workflow on its way through the editor.
type editing struct {
	scenario *lang.Scenario
	name     string // of the file in the scenario
	path     string // of the copy on disk; empty until it is made
}

// editWorkflow opens a copy of the open scenario's workflow in the person's editor. The bench stays as it is.
func editWorkflow(m *model, _ command) tea.Cmd { return m.edit(m.session.scenario) }

// edit opens a copy of a scenario's workflow in the person's editor; the same copy, as long as it is the same scenario.
func (m *model) edit(s *lang.Scenario) tea.Cmd {
	if m.edited.path != "" && m.edited.scenario == s {
		return m.editor(m.edited.path, 0)
	}
	name := ""
	for _, n := range s.Names {
		if strings.HasSuffix(n, ".woml") {
			name = n
			break
		}
	}
	if name == "" {
		m.say(inkQuiet, "edit: the scenario has no workflow of its own")
		return nil
	}
	m.edited = editing{scenario: s, name: name}
	src := s.Files[name]
	return work(func() tea.Msg {
		dir, err := os.MkdirTemp("", "faultlab-edit-")
		path := filepath.Join(dir, filepath.Base(name))
		if err == nil {
			err = os.WriteFile(path, src, 0o600)
		}
		return toEditMsg{path, err}
	})
}

// editorOf is the person's editor with its arguments: $VISUAL, $EDITOR, or vi.
func editorOf(visual, editor string) []string {
	return strings.Fields(cmp.Or(strings.TrimSpace(visual), strings.TrimSpace(editor), "vi"))
}

// editor runs $EDITOR on a file, with the terminal handed over.
func (m *model) editor(path string, line int) tea.Cmd {
	words := editorOf(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if line > 0 {
		words = append(words, "+"+strconv.Itoa(line)) // vi, nano, emacs and most others know it
	}
	cmd := exec.Command(words[0], append(words[1:], path)...)
	// The terminal itself, not our reader of it: a copying reader would swallow a key and wait for it.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = m.opt.In, m.opt.Out, m.opt.Out
	return tea.ExecProcess(cmd, func(err error) tea.Msg { return editedMsg{path, err} })
}

// afterEdit goes on with a workflow that is being edited.
func (m *model) afterEdit(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case toEditMsg:
		if msg.err != nil {
			m.say(inkBad, "edit: "+msg.err.Error())
			return nil
		}
		m.edited.path = msg.path
		m.scratch = append(m.scratch, filepath.Dir(msg.path))
		return m.editor(msg.path, 0)
	case editedMsg:
		if msg.err != nil {
			m.say(inkBad, "edit: "+msg.err.Error()+"; $EDITOR names the editor")
			return nil
		}
		return work(func() tea.Msg {
			src, err := os.ReadFile(msg.path)
			_, diags := woml.Parse(src)
			return sourceMsg{msg.path, src, diags, err}
		})
	case sourceMsg:
		m.showSource(msg)
	}
	return nil
}

// showSource shows what was written, with its diagnostics, from the first of them on.
func (m *model) showSource(s sourceMsg) {
	if s.err != nil {
		m.say(inkBad, "edit: the document cannot be read back")
		return
	}
	v := &sourceScreen{path: s.path, lines: strings.Split(strings.TrimRight(string(s.src), "\n"), "\n"), diags: s.diags}
	if len(s.diags) > 0 {
		v.scroll = max(0, s.diags[0].Line-4)
	}
	if old, ok := m.top().(*sourceScreen); ok {
		*old = *v
		return
	}
	m.push(v)
}

// sourceScreen is a workflow document with its diagnostics at their lines.
type sourceScreen struct {
	path   string
	lines  []string
	diags  []woml.Diagnostic
	scroll int
}

func (v *sourceScreen) on() lang.Screen { return lang.OnMenu }

func (v *sourceScreen) title(m *model) spans {
	title := filepath.Base(v.path)
	if e := m.edited; e.scenario != nil {
		return say(inkStrong, e.scenario.Title, inkQuiet, "  "+title)
	}
	return say(inkStrong, title)
}

// broken reports whether the document cannot run.
func (v *sourceScreen) broken() bool {
	for _, d := range v.diags {
		if d.Severity == severe {
			return true
		}
	}
	return false
}

func (v *sourceScreen) draw(m *model, width, height int) []string {
	t := m.t
	b := box{title: say(inkStrong, filepath.Base(v.path)), frame: inkGood, focus: true, side: say(inkGood, t.glyphs.good+" it can run: enter loads it for the runs that follow")}
	switch {
	case v.broken():
		b.frame, b.side = inkBad, say(inkBad, t.glyphs.bad+" it cannot run: enter opens the editor again")
	case len(v.diags) > 0:
		b.frame, b.side = inkAlarm, say(inkUnknown, t.glyphs.note+" warnings: enter loads it all the same")
	}
	b.body = func(w, h int) []string {
		r := v.rows(t, w)
		v.scroll = clamp(v.scroll, 0, max(0, r.n-h))
		return t.window(r, v.scroll, w, h)
	}
	return t.draw(b, width, height)
}

func (v *sourceScreen) rows(t *theme, width int) rows {
	var out []spans
	for i, l := range v.lines {
		n := strconv.Itoa(i + 1)
		number := strings.Repeat(" ", max(0, 4-len(n))) + n + " "
		for rest := strings.ReplaceAll(l, "\t", "  "); ; number = "     " {
			var head string
			head, rest = t.chop(rest, max(10, width-5))
			out = append(out, say(inkQuiet, number, inkText, head))
			if rest == "" {
				break
			}
		}
		for _, d := range v.diags {
			if d.Line != i+1 && !(d.Line > len(v.lines) && i == len(v.lines)-1) {
				continue
			}
			k, g := inkBad, t.glyphs.bad
			if d.Severity != severe {
				k, g = inkUnknown, t.glyphs.note
			}
			text := g + " column " + strconv.Itoa(d.Column) + ": " + d.Message
			if d.Hint != "" {
				text += " " + d.Hint
			}
			for _, l := range t.wrap(text, width-6, 4) {
				out = append(out, say(inkQuiet, "     ", k, l))
			}
		}
	}
	return fixed(out...)
}

// enters says in the footer what enter does.
func (v *sourceScreen) enters() string {
	if v.broken() {
		return "edit again"
	}
	return "load it"
}

func (v *sourceScreen) verb(m *model, c command) (tea.Cmd, bool) {
	switch c.verb.Name {
	case "up":
		v.scroll--
	case "down":
		v.scroll++
	case "pageup":
		v.scroll -= 15
	case "pagedown":
		v.scroll += 15
	case "top":
		v.scroll = 0
	case "bottom":
		v.scroll = 1 << 20
	case "open":
		if v.broken() {
			return m.editor(v.path, v.diags[0].Line), true
		}
		m.pop()
		return m.send(command{verb: lang.VerbNamed("workflow"), args: lang.Quote(v.path)}), true
	default:
		return nil, false
	}
	return nil, true
}
