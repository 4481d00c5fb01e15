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
	"faultlab/tui/draw"
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
func editWorkflow(u *ui, _ command) tea.Cmd { return u.edit(u.session.scenario) }

// edit opens a copy of a scenario's workflow in the person's editor; the same copy, as long as it is the same scenario.
func (u *ui) edit(s *lang.Scenario) tea.Cmd {
	if u.edited.path != "" && u.edited.scenario == s {
		return u.editor(u.edited.path, 0)
	}
	name := ""
	for _, n := range s.Names {
		if strings.HasSuffix(n, ".woml") {
			name = n
			break
		}
	}
	if name == "" {
		u.say(draw.Quiet, "edit: this scenario has no workflow file")
		return nil
	}
	u.edited = editing{scenario: s, name: name}
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
func (u *ui) editor(path string, line int) tea.Cmd {
	words := editorOf(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if line > 0 {
		words = append(words, "+"+strconv.Itoa(line)) // vi, nano, emacs and most others know it
	}
	cmd := exec.Command(words[0], append(words[1:], path)...)
	// The terminal itself, not our reader of it: a copying reader would swallow a key and wait for it.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = u.opt.In, u.opt.Out, u.opt.Out
	return tea.ExecProcess(cmd, func(err error) tea.Msg { return editedMsg{path, err} })
}

// afterEdit goes on with a workflow that is being edited.
func (u *ui) afterEdit(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case toEditMsg:
		if msg.err != nil {
			u.say(draw.Bad, "edit: "+msg.err.Error())
			return nil
		}
		u.edited.path = msg.path
		u.scratch = append(u.scratch, filepath.Dir(msg.path))
		return u.editor(msg.path, 0)
	case editedMsg:
		if msg.err != nil {
			u.say(draw.Bad, "edit: "+msg.err.Error()+"; $EDITOR names the editor")
			return nil
		}
		return work(func() tea.Msg {
			src, err := os.ReadFile(msg.path)
			_, diags := woml.Parse(src)
			return sourceMsg{msg.path, src, diags, err}
		})
	case sourceMsg:
		u.showSource(msg)
	}
	return nil
}

// showSource shows what was written, with its diagnostics, from the first of them on.
func (u *ui) showSource(s sourceMsg) {
	if s.err != nil {
		u.say(draw.Bad, "edit: the edited document cannot be read: "+s.err.Error())
		return
	}
	v := &sourceScreen{path: s.path, lines: strings.Split(strings.TrimRight(string(s.src), "\n"), "\n"), diags: s.diags}
	if len(s.diags) > 0 {
		v.pages.Start(max(0, s.diags[0].Line-4))
	}
	u.swap(v)
}

// sourceScreen is a workflow document with its diagnostics at their lines.
type sourceScreen struct {
	path  string
	lines []string
	diags []woml.Diagnostic
	pages draw.Pager
}

func (v *sourceScreen) on() lang.Screen { return lang.OnMenu }

func (v *sourceScreen) title(u *ui) draw.Spans {
	title := filepath.Base(v.path)
	if e := u.edited; e.scenario != nil {
		return draw.Say(draw.Strong, e.scenario.Title, draw.Quiet, "  "+title)
	}
	return draw.Say(draw.Strong, title)
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

func (v *sourceScreen) draw(u *ui, width, height int) []string {
	t := u.t
	b := draw.Box{Title: draw.Say(draw.Strong, filepath.Base(v.path)), Frame: draw.Good, Focus: true, Side: draw.Say(draw.Good, t.Glyphs.Good+" valid: enter loads it for later runs")}
	switch {
	case v.broken():
		b.Frame, b.Side = draw.Bad, draw.Say(draw.Bad, t.Glyphs.Bad+" invalid: enter opens the editor again")
	case len(v.diags) > 0:
		b.Frame, b.Side = draw.Alarm, draw.Say(draw.Unknown, t.Glyphs.Note+" warnings: enter loads it anyway")
	}
	b.Body = func(w, h int) []string { return v.pages.Window(t, v.rows(t, w), w, h) }
	return t.Box(b, width, height)
}

func (v *sourceScreen) rows(t *draw.Theme, width int) draw.Rows {
	var out []draw.Spans
	for i, l := range v.lines {
		n := strconv.Itoa(i + 1)
		number := strings.Repeat(" ", max(0, 4-len(n))) + n + " "
		for rest := strings.ReplaceAll(l, "\t", "  "); ; number = "     " {
			var head string
			head, rest = t.Chop(rest, max(10, width-5))
			out = append(out, draw.Say(draw.Quiet, number, draw.Text, head))
			if rest == "" {
				break
			}
		}
		for _, d := range v.diags {
			if d.Line != i+1 && !(d.Line > len(v.lines) && i == len(v.lines)-1) {
				continue
			}
			k, g := draw.Bad, t.Glyphs.Bad
			if d.Severity != severe {
				k, g = draw.Unknown, t.Glyphs.Note
			}
			text := g + " column " + strconv.Itoa(d.Column) + ": " + d.Message
			if d.Hint != "" {
				text += " " + d.Hint
			}
			for _, l := range t.Wrap(text, width-6, 4) {
				out = append(out, draw.Say(draw.Quiet, "     ", k, l))
			}
		}
	}
	return draw.Fixed(out...)
}

// enters says in the footer what enter does.
func (v *sourceScreen) enters() string {
	if v.broken() {
		return "edit again"
	}
	return "load it"
}

func (v *sourceScreen) offers(_ *ui, verb string) bool { return verb != "filter" }

func (v *sourceScreen) verb(u *ui, c command) (tea.Cmd, bool) {
	switch {
	case v.pages.Move(c.verb.Name):
	case c.verb.Name == "open" && v.broken():
		return u.editor(v.path, v.diags[0].Line), true
	case c.verb.Name == "open":
		u.pop()
		return u.send(command{verb: lang.VerbNamed("workflow"), args: lang.Quote(v.path)}), true
	default:
		return nil, false
	}
	return nil, true
}
