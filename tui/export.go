package tui

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/atotto/clipboard"
	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// picture is the bench's own frame, whatever lies over it, in all colours of its
// theme, however few of them the terminal has.
func (m *model) picture() (string, draw.Page) {
	own := &model{ui: m.ui, stack: []screen{&catalogue{}, &benchScreen{}}}
	own.navigator, own.notice, own.job = own, notice{}, nil
	if t, err := draw.NewTheme(m.t.Name, termenv.TrueColor, m.t.Glyphs); err == nil {
		own.t = t
	}
	return own.build(), own.t.Page
}

// Plain writes a view's wire line by line, without colours or frames: for screen
// readers, pipes and reports. With covered, what only the provider knows is left out.
func Plain(v *scenarios.View, from int, covered bool) []string {
	var out []string
	for _, r := range v.Wire {
		if r.Entry <= from || covered && r.Truth {
			continue
		}
		if covered {
			r = told(r)
		}
		out = append(out, plainRow(v, r))
	}
	return out
}

// plainSides say in a word what the picture says by where a row stands.
var plainSides = map[scenarios.RowKind]string{
	scenarios.RowSend: "caller sends", scenarios.RowCommit: "provider", scenarios.RowReplay: "provider", scenarios.RowRefused: "provider",
	scenarios.RowReply: "caller gets", scenarios.RowBroken: "caller gets no whole answer", scenarios.RowSilence: "caller gets nothing",
	scenarios.RowWait: "caller waits", scenarios.RowInbound: "inbound", scenarios.RowNote: "bench", scenarios.RowEvidence: "look-up",
	scenarios.RowDecision: "decision",
}

func plainRow(v *scenarios.View, r scenarios.Row) string {
	side := plainSides[r.Kind]
	if side == "" {
		side = "caller"
	}
	text := r.Label()
	if r.Detail != "" {
		text += " (" + r.Detail + ")"
	}
	if r.Hidden {
		text += " [not written by the caller]"
	}
	line, _, _ := draw.Clean(fmt.Sprintf("%s %s: %s", moment(r.At.Sub(v.Start)), side, text), 2000, false)
	return line
}

// markdown is the bench as a report that a reviewer reads.
func markdown(title string, v *scenarios.View) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	safe := func(s string) string {
		out, _, _ := draw.Clean(s, 500, false)
		return scenarios.MarkdownText(out)
	}
	line("# %s\n", safe(title))
	for i := range v.Operations {
		op := &v.Operations[i]
		line("**%s**: %s. Believed %s, %s. %s\n", safe(opName(op)), verdictSigns[op.Verdict].Word, beliefSigns[op.Belief].Word, plural(len(op.Effects), "effect"), safe(op.Why))
	}
	line("## Wire\n\n```text")
	for _, l := range Plain(v, 0, false) {
		line("%s", strings.ReplaceAll(l, "```", "'''"))
	}
	line("```\n\n## Ledger\n\n| id | collection | key | record |\n| --- | --- | --- | --- |")
	for _, e := range v.Effects {
		line("| %s | %s | %s | %s |", safe(e.ID), safe(e.Collection), safe(e.Key), safe(string(e.Body)))
	}
	return []byte(b.String())
}

// leastFrame is how long a frame of a recording stays at least: what happens
// at one moment of the bench's clock is to be seen one after the other.
const leastFrame = 300 * time.Millisecond

// recorder makes a recording of the terminal (asciicast v2): the bench's frame
// after each entry, as far apart as the entries, but leastFrame at least. It is called outside Update.
func (m *model) recorder() func(*job) []byte {
	bench, width, height, t := m.session.bench, m.width, m.height, m.t
	scenario, state, covered := m.session.scenario, m.session.state, m.session.covered
	return func(j *job) []byte {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(map[string]any{"version": 2, "width": width, "height": height, "title": scenario.Title}) // plain values
		own := &model{ui: ui{t: t, width: width, height: height, settings: loadSettings("")}, stack: []screen{&benchScreen{}}}
		own.session = newSession(frozen{bench, state}, scenario)
		own.session.covered = covered
		var at, before time.Duration
		j.total.Store(int64(bench.Len()))
		for n := 1; n <= bench.Len(); n++ {
			j.done.Store(int64(n))
			own.session.at = n
			own.session.pull()
			now := own.session.view.At.Sub(own.session.view.Start)
			if n > 1 {
				at += max(leastFrame, now-before)
			}
			before = now
			_ = enc.Encode([]any{at.Seconds(), "o", "\x1b[H" + strings.ReplaceAll(own.build(), "\n", "\r\n")})
		}
		return []byte(b.String())
	}
}

// frozen is a bench whose state stays as it was.
type frozen struct {
	Bench
	state scenarios.State
}

func (f frozen) State() scenarios.State { return f.state }

// svg draws a frame as a picture: one text element for each run of one style.
func svg(frame string, on draw.Page, width, height int) []byte {
	const cw, ch = 8.4, 17
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14">`, float64(width)*cw+20, height*ch+20)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", on.Back)
	for y, l := range strings.Split(frame, "\n") {
		x := 0
		for _, p := range pieces(l, on) {
			w := ansi.StringWidth(p.text)
			if p.bg != "" {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, 10+float64(x)*cw, 10+y*ch, float64(w)*cw, ch, p.bg)
			}
			if strings.TrimSpace(p.text) != "" {
				weight := ""
				if p.bold {
					weight = ` font-weight="bold"`
				}
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="%s" textLength="%.1f" xml:space="preserve"%s>%s</text>`+"\n",
					10+float64(x)*cw, 10+y*ch+13, cmp.Or(p.fg, on.Text), float64(w)*cw, weight, xmlEscape.Replace(p.text))
			}
			x += w
		}
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

var xmlEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// piece is text in one style, as the escape codes of a frame give it.
type piece struct {
	text, fg, bg string
	bold         bool
}

// pieces reads a line of a frame of ours: only true colours, bold and reverse are looked at.
func pieces(line string, on draw.Page) []piece {
	var out []piece
	cur := piece{}
	for line != "" {
		i := strings.IndexByte(line, 0x1b)
		if i != 0 {
			text := line
			if i > 0 {
				text = line[:i]
			}
			p := cur
			p.text = text
			out, line = append(out, p), line[len(text):]
			continue
		}
		end := strings.IndexByte(line, 'm')
		if end < 0 {
			break
		}
		cur = styled(cur, strings.Split(line[2:end], ";"), on)
		line = line[end+1:]
	}
	return out
}

func styled(p piece, codes []string, on draw.Page) piece {
	rgb := func(c []string) string {
		var n [3]int
		for i := range n {
			fmt.Sscan(c[i], &n[i])
		}
		return fmt.Sprintf("#%02x%02x%02x", n[0], n[1], n[2])
	}
	for i := 0; i < len(codes); i++ {
		switch c := codes[i]; {
		case c == "0" || c == "":
			p = piece{}
		case c == "1":
			p.bold = true
		case c == "7":
			p.fg, p.bg = on.Back, on.Text
		case (c == "38" || c == "48") && i+4 < len(codes) && codes[i+1] == "2":
			if c == "38" {
				p.fg = rgb(codes[i+2:])
			} else {
				p.bg = rgb(codes[i+2:])
			}
			i += 4
		}
	}
	return p
}

// savedMsg says that a file was written, or why not.
type savedMsg struct {
	path string
	err  error
}

func (u *ui) saved(s savedMsg) {
	if s.err != nil {
		u.say(draw.Bad, s.err.Error())
		return
	}
	u.say(draw.Good, u.t.Glyphs.Good+" written: "+s.path)
}

// save writes what was done on the bench as a scenario that replays the same.
func save(u *ui, c command) tea.Cmd {
	if u.session == nil {
		u.say(draw.Quiet, "save: open a scenario first")
		return nil
	}
	return saveScenario(c, u.session.bench.Recording)
}

// saveScenario writes a scenario to the file that the command names.
func saveScenario(c command, text func() ([]byte, error)) tea.Cmd {
	path := c.typed.Arg(0)
	if !strings.HasSuffix(path, lang.Ext) {
		path += lang.Ext
	}
	return work(func() tea.Msg {
		data, err := text()
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
		m.say(draw.Quiet, "export: open a scenario first")
		return nil
	}
	format, path := c.typed.Arg(0), c.typed.Arg(1)
	frame, on := m.picture()
	width, height := m.width, m.height
	view, title := s.view, s.scenario.Title
	record := m.recorder()
	return m.long("writing "+path, func(j *job) tea.Msg {
		var data []byte
		switch format {
		case "markdown":
			data = markdown(title, view)
		case "svg":
			data = svg(frame, on, width, height)
		case "asciicast":
			data = record(j)
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

// copyFromBench copies what the word says of what is looked at; without a word the
// key of an unknown operation, else the run's id.
func copyFromBench(u *ui, c command) tea.Cmd {
	s := u.session
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
		text = trimRight(ansi.Strip(u.View()))
	}
	if text == "" {
		u.say(draw.Quiet, "copy: there is no "+what+" here yet")
		return nil
	}
	return u.copy(what, text)
}

// copy puts text into the terminal's clipboard and, where the system has a tool
// for it, into its own: not every terminal takes the first.
func (u *ui) copy(what, text string) tea.Cmd {
	shown := what
	if len(text) < 80 && !strings.Contains(text, "\n") {
		shown += " " + text
	}
	u.say(draw.Good, u.t.Glyphs.Good+" copied: "+shown)
	out, tools, through := u.opt.Out, u.opt.tools, u.opt.through
	return work(func() tea.Msg {
		if out != nil {
			_, _ = io.WriteString(out, clipboardCode(text, through)) // a terminal that is gone ends the program anyway
		}
		if tools {
			_ = clipboard.WriteAll(text) // where there is no tool, the terminal's clipboard has it
		}
		return nil
	})
}

// clipboardCode is what has a terminal put text into its clipboard. tmux takes the plain
// form into its own or hands the wrapped one on, as it was told to: it gets both.
func clipboardCode(text, through string) string {
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
