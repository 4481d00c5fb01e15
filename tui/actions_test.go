package tui

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// typeLine types a line into the palette and carries it out.
func typeLine(m *model, line string) {
	follow(m, keyMsg(":"))
	for _, r := range line {
		follow(m, keyMsg(string(r)))
	}
	follow(m, keyMsg("enter"))
}

func TestWhatWasDoneSavesAsAScenario(t *testing.T) {
	t.Parallel()
	m := show(t, played(t, "b-commit-then-error"))
	path := filepath.Join(t.TempDir(), "mine")
	typeLine(m, "save "+path)
	if !strings.Contains(m.notice.text, "written") {
		t.Fatalf("save says %q", m.notice.text)
	}
	s, err := scenarios.LoadFile(path + lang.Ext)
	if err != nil {
		t.Fatal(err)
	}
	b, err := scenarios.Open(s, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.Play()
	rest(t, Live(b))
	got, want := Plain(b.Timeline().Latest(), 0, false), Plain(m.session.view, 0, false)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the saved scenario plays\n%s\nand the bench saw\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	typeLine(m, "save "+path)
	if !strings.Contains(m.notice.text, "exists already") {
		t.Errorf("a file was written over: %q", m.notice.text)
	}
}

func TestExports(t *testing.T) {
	t.Parallel()
	m := show(t, played(t, "c2-look-up-then-record"))
	dir := t.TempDir()
	read := func(format string) string {
		path := filepath.Join(dir, format)
		typeLine(m, "export "+format+" "+path)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v; it says %q", err, m.notice.text)
		}
		return string(data)
	}
	for _, want := range []string{"one effect", "connection reset", "| id | collection |", "orderId"} {
		if md := read("markdown"); !strings.Contains(md, want) {
			t.Errorf("the report does not tell %q:\n%s", want, md)
		}
		_ = os.Remove(filepath.Join(dir, "markdown"))
	}
	for d := xml.NewDecoder(strings.NewReader(read("svg"))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
	lines := strings.Split(strings.TrimSpace(read("asciicast")), "\n")
	if want := m.session.bench.Len() + 1; len(lines) != want {
		t.Errorf("the recording has %d lines, want a head and one for each of the entries: %d", len(lines), want)
	}
	last := -1.0
	for i, l := range lines[1:] {
		var e []any
		if err := json.Unmarshal([]byte(l), &e); err != nil || len(e) != 3 || e[1] != "o" {
			t.Fatalf("line %d of the recording: %v %.80s", i+2, err, l)
		}
		if at := e[0].(float64); i > 0 && at < last+leastFrame.Seconds()-1e-9 {
			t.Fatalf("line %d comes too soon: at %v after %v", i+2, at, last)
		} else {
			last = at
		}
	}
}

// What is covered on the screen is covered in what is made of the screen.
func TestCoveredExports(t *testing.T) {
	t.Parallel()
	m := show(t, played(t, "c-commit-then-drop"))
	id := m.session.view.Effects[0].ID
	for _, covered := range []bool{false, true} {
		m.session.covered = covered
		frame, on := m.picture()
		for what, data := range map[string][]byte{"recording": m.recorder()(&job{}), "picture": svg(frame, on, m.width, m.height)} {
			if told := bytes.Contains(data, []byte(id[:8])); told == covered {
				t.Errorf("covered %v: that the %s tells of the effect is %v", covered, what, told)
			}
		}
	}
}

// The line carries the key where the request did: elsewhere it would be another operation.
func TestACurlLineCarriesTheKeyWhereTheRequestDid(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"c-commit-then-drop": " -H 'Idempotency-Key: sha256:",
		"clock-skew":         " -H 'Repeatability-Request-ID: sha256:",
		"key-too-long":       "",
	} {
		m := show(t, played(t, name))
		got := curl(m.session, &m.session.view.Operations[0])
		if !strings.Contains(got, "curl -sS -X POST ") || strings.Count(got, "sha256:") > 1 || !strings.Contains(got, want) || want == "" && strings.Contains(got, "Key: ") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestCopying(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, want string }{
		{"", testKey},
		{"key", testKey},
		{"id", "run_7f31c20e"},
		{"curl", "curl -sS -X POST 'http://127.0.0.1:4040/jobs' -H 'Idempotency-Key: " + testKey + "'"},
		{"view", "faultlab   C. Commit, then drop"},
	} {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		m := testModel(t, "dark", 120, 36)
		m.opt.Out = in
		onBench(m, "C. Commit, then drop", commitThenDrop(false))
		got := make(chan string)
		go func() { data, _ := io.ReadAll(out); got <- string(data) }()
		if c.what == "" {
			follow(m, keyMsg("y"))
		} else {
			typeLine(m, "copy "+c.what)
		}
		in.Close()
		text := strings.TrimSuffix(strings.TrimPrefix(<-got, "\x1b]52;c;"), "\a")
		plain, err := base64.StdEncoding.DecodeString(text)
		if err != nil || !strings.Contains(string(plain), c.want) {
			t.Errorf("copy %s: %v, the clipboard gets %q", c.what, err, plain)
		}
	}
}

func TestTheClipboardIsReachedThroughMultiplexers(t *testing.T) {
	t.Parallel()
	plain := "\x1b]52;c;a2V5\a"
	for _, c := range []struct {
		env  map[string]string
		want []string
	}{
		{nil, []string{plain}},
		{map[string]string{"TERM": "screen-256color"}, []string{"\x1bP" + plain + "\x1b\\"}},
		{map[string]string{"TERM": "tmux-256color", "TMUX": "/tmp/tmux"}, []string{plain, "\x1bPtmux;\x1b" + plain + "\x1b\\"}}, // set-clipboard on; allow-passthrough on
	} {
		if got := clipboardCode("key", multiplexer(func(k string) string { return c.env[k] })); got != strings.Join(c.want, "") {
			t.Errorf("under %v the terminal gets %q", c.env, got)
		}
	}
}

func TestThePersonsEditor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ visual, editor, want string }{
		{"", "", "vi"}, {" ", "", "vi"}, {"", "nano", "nano"}, {"code  --wait", "nano", "code --wait"}, {" ", " nano", "nano"},
	} {
		if got := strings.Join(editorOf(c.visual, c.editor), " "); got != c.want {
			t.Errorf("with VISUAL=%q and EDITOR=%q it is %q, want %q", c.visual, c.editor, got, c.want)
		}
	}
}

func TestEditingAQueuedFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		keys []string
		want string
	}{
		{"as it was", []string{"enter"}, "slow drip"},
		{"another one in its place", []string{"backspace", "backspace", "backspace", "backspace", "drop-before-commit", "enter"}, "drop-before-commit drip"},
		{"two in its place", []string{" ", "cut-body", "enter"}, "slow cut-body drip"},
		{"let be", []string{"backspace", "esc"}, "slow drip"},
		{"no such fault", []string{"x", "enter"}, "slow drip"},
		{"one is taken meanwhile", []string{"!clearfaults", "!fault drip", "enter"}, "drip slow"},
		{"another came before it", []string{"!clearfaults", "!fault cut-body slow drip", "enter"}, "cut-body slow drip"},
	} {
		m := show(t, played(t, "b-commit-then-error"))
		typeLine(m, "fault slow drip")
		rest(t, m.session.bench)
		follow(m, newsMsg{})
		for _, k := range append([]string{"f", "down", "down", "enter"}, c.keys...) { // past both "remove" to the first "edit"
			if line, ok := strings.CutPrefix(k, "!"); ok { // done meanwhile
				if err := m.session.bench.Do(line); err != nil {
					t.Fatal(err)
				}
				rest(t, m.session.bench)
				follow(m, newsMsg{})
				continue
			}
			follow(m, keyMsg(k))
		}
		rest(t, m.session.bench)
		follow(m, newsMsg{})
		if got := queuedFaults(m); got != c.want {
			t.Errorf("%s: the queue holds %q, want %q", c.name, got, c.want)
		}
	}
}

func TestQueueingAndRemovingFaults(t *testing.T) {
	t.Parallel()
	m := show(t, played(t, "b-commit-then-error"))
	for _, line := range []string{"fault commit-then-drop slow", "fault phantom-success"} {
		typeLine(m, line)
		rest(t, m.session.bench)
	}
	follow(m, newsMsg{})
	if got := queuedFaults(m); got != "commit-then-drop slow phantom-success" {
		t.Fatalf("queued: %s", got)
	}
	follow(m, keyMsg("f"))
	follow(m, keyMsg("down"))
	follow(m, keyMsg("enter")) // slow is taken out
	rest(t, m.session.bench)
	follow(m, newsMsg{})
	if got := queuedFaults(m); got != "commit-then-drop phantom-success" {
		t.Errorf("left in the queue: %s", got)
	}
	for _, k := range []string{"esc", "home", "f"} {
		follow(m, keyMsg(k))
	}
	if frame := ansi.Strip(m.View()); !strings.Contains(frame, "phantom-success  remove") {
		t.Errorf("from the past the menu shows another queue:\n%s", frame)
	}
}

func TestComposingAFault(t *testing.T) {
	t.Parallel()
	m := show(t, played(t, "b-commit-then-error"))
	for _, k := range []string{"f", "enter", "down", "down", "enter", "down", "enter", "enter", "enter"} {
		follow(m, keyMsg(k)) // a fault of your own: 2 s late, 503, new operations
	}
	rest(t, m.session.bench)
	follow(m, newsMsg{})
	if len(m.session.view.Faults) != 1 || !strings.Contains(queuedFaults(m), "late") {
		t.Errorf("queued: %q; it says %q", queuedFaults(m), m.notice.text)
	}
	m.width, m.height = 80, 24
	frame := ansi.Strip(m.build())
	for _, want := range []string{"commit late, 2s aft", "  remove│", "  edit│", "↓ "} {
		if !strings.Contains(frame, want) {
			t.Errorf("the menu does not say %q:\n%s", want, frame)
		}
	}
}

func TestTheMemoryOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "workbench.json")
	m := show(t, played(t, "b-commit-then-error"))
	m.settings = loadSettings(path)
	follow(m, newsMsg{})
	typeLine(m, "theme light")
	typeLine(m, "cover")
	again := loadSettings(path)
	if again.Theme != "light" || !again.Covered {
		t.Errorf("kept: %+v", again)
	}
	if err := os.WriteFile(path, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := loadSettings(path); got.Theme != "" || got.Verdicts == nil {
		t.Errorf("a broken file gives %+v", got)
	}
}

// What another version kept neither keeps the workbench from starting nor crashes it.
func TestTheMemoryOfAnotherVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "workbench.json")
	src := `{"theme": "plaid", "chosen": "b-commit-then-error", "lessons": {"timeout": -1},
		"verdicts": {"a-fail-before-commit": "splendid", "b-commit-then-error": "one effect"}}`
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	m := testModel(t, "dark", 120, 36)
	if m.settings = loadSettings(path); m.settings.Theme != "" || m.settings.Chosen == "" {
		t.Errorf("recalled: %+v", m.settings)
	}
	if frame := ansi.Strip(m.View()); !strings.Contains(frame, "✓ B. Commit") || strings.Contains(frame, "splendid") {
		t.Errorf("the catalogue shows\n%s", frame)
	}
	typeLine(m, "lessons timeout")
	m.View()
}

// Commands end in any order, and a quit waits for none of them: the newest memory stays.
func TestTheNewestMemoryIsKept(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	m.settings = loadSettings(filepath.Join(t.TempDir(), "workbench.json"))
	m.settings.Theme = "light"
	first := m.keep()
	m.settings.Theme = "none"
	for _, cmd := range []tea.Cmd{m.keep(), first} {
		if said := outcomes(cmd); len(said) > 0 {
			t.Errorf("keeping it said %v", said)
		}
	}
	if got := loadSettings(m.settings.path).Theme; got != "none" {
		t.Errorf("kept: %s", got)
	}
	m.settings.Theme = "dark"
	m.keep()
	m.close()
	if got := loadSettings(m.settings.path).Theme; got != "dark" {
		t.Errorf("kept after a quit: %s", got)
	}
	if left, err := filepath.Glob(m.settings.path + "*"); err != nil || len(left) != 1 {
		t.Errorf("beside the file there are %v, %v", left, err)
	}
}

func TestPlainTellsTheWireInWords(t *testing.T) {
	t.Parallel()
	got := strings.Join(Plain(commitThenDrop(false), 0, false), "\n")
	want := `0.000 caller: attempt 1 (key …c41b)
0.001 caller sends: POST /jobs
0.002 provider: commit (job_7c1e0a2b)
0.003 caller gets no whole answer: connection reset
0.003 caller: unknown (stop, do not resend)`
	if got != want {
		t.Errorf("told:\n%s\nwant:\n%s", got, want)
	}
	if covered := Plain(commitThenDrop(false), 0, true); strings.Contains(strings.Join(covered, "\n"), "commit") {
		t.Error("the covered truth is told")
	}
}

// The end of a filter, kept or not, leaves the cursor on the line where it was.
func TestAFilterKeepsTheCursor(t *testing.T) {
	t.Parallel()
	filter := []string{"/", "o", "m", "m", "i", "t", "down"}
	for _, end := range []string{"enter", "esc"} {
		m := testModel(t, "dark", 120, 36)
		press(m, append(filter, end)...)
		if got := m.stack[0].(*catalogue).chosen(&m.ui).Name; got != "b-commit-then-error" {
			t.Errorf("after %s the cursor of the catalogue is on %s", end, got)
		}
	}
	m := testModel(t, "dark", 120, 36)
	press(m, append(filter, "enter", "esc")...)
	if got := m.stack[0].(*catalogue).chosen(&m.ui).Name; got != "b-commit-then-error" {
		t.Errorf("without the filter the cursor of the catalogue is on %s", got)
	}
	onBench(m, "B", commitThenError())
	press(m, append([]string{"f"}, append(filter, "enter")...)...)
	n := m.top().(*menu)
	if got, _ := n.show(&m.ui); got.name != "fail-before-commit" {
		t.Errorf("the cursor of the menu is on %s", got.name)
	}
}

// Back in the catalogue the cursor is on what was open, however it was opened.
func TestTheCatalogueIsWhereTheBenchWas(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	v := commitThenDrop(false)
	m.opened(openedMsg{bench: &still{view: v, state: atRest(v)}, scenario: m.opt.Scenarios[2]})
	press(m, "esc")
	if got := m.stack[0].(*catalogue).chosen(&m.ui).Name; got != "c-commit-then-drop" {
		t.Errorf("the cursor is on %s", got)
	}
}

// A bench that opens while somebody reads the help leaves the help open.
func TestHelpOutlivesAnOpening(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	for range 2 { // from the catalogue, and for another run of the scenario
		press(m, "?")
		onBench(m, "B", commitThenError())
		if got := ansi.Strip(m.View()); !strings.Contains(got, "What can be done here") {
			t.Errorf("the help is gone:\n%s", got)
		}
		press(m, "?")
		if _, ok := m.top().(*benchScreen); !ok {
			t.Errorf("under the help is %T", m.top())
		}
	}
}

// How both runs ended stands in the frame however long the titles are, and while a run goes on "so far" is all that can be said.
func TestComparingWithATwin(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	v := commitThenError()
	m.opened(openedMsg{bench: &still{view: v, state: atRest(v)}, scenario: m.opt.Scenarios[1]})
	other := testScenario("d", "D. A new key for each attempt, as people like to write it")
	m.opt.Scenarios, m.session.scenario.Twin = append(m.opt.Scenarios, other), other.Name
	twin := &still{view: &scenarios.View{Start: noon}}
	m.Update(twinMsg{twin, other, nil})
	if got := ansi.Strip(m.View()); !strings.Contains(got, "no difference so far") || strings.Contains(got, "nothing more") {
		t.Errorf("while the twin runs it says:\n%s", got)
	}
	twin.view = twoRuns()
	m.Update(newsMsg{})
	got := ansi.Strip(m.View())
	if strings.Count(got, "✓ one effect") != 2 || strings.Contains(got, "so far") {
		t.Errorf("when both are over it says:\n%s", got)
	}
}

// The list of faults grows above the cursor, which stays on its fault.
func TestTheSameFaultTwice(t *testing.T) {
	t.Parallel()
	m := show(t, played(t, "b-commit-then-error"))
	for _, k := range []string{"f", "down", "down", "enter", "enter"} {
		follow(m, keyMsg(k))
		rest(t, m.session.bench)
		follow(m, newsMsg{})
	}
	if q := m.session.view.Faults; len(q) != 2 || q[0] != q[1] {
		t.Errorf("queued: %+v", q)
	}
}

func queuedFaults(m *model) string {
	var lines []string
	for _, f := range m.session.view.Faults {
		lines = append(lines, f.Line())
	}
	return strings.Join(lines, " ")
}

// typedLine is a line as somebody types it.
func typedLine(t *testing.T, text string) lang.Line {
	t.Helper()
	l, err := lang.ParseLine(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestThePreviewSaysFaultsInWords(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	s := testScenario("own", "Own")
	s.Lines = []lang.Line{typedLine(t, `fault {"commit":{"when":"never"},"reply":{"do":"reset"}}`)}
	r := preview(&m.ui, s, 40)
	got := ansi.Strip(strings.Join(m.t.Window(r, 0, 40, r.N), "\n"))
	if want := "fault     commit never, reset, takes"; !strings.Contains(got, want) {
		t.Errorf("the preview does not say %q:\n%s", want, got)
	}
}

// Who comes after an escalation sees on the screen that it was made, and why.
func TestAnEscalationIsSeen(t *testing.T) {
	t.Parallel()
	m := show(t, played(t, "c-commit-then-drop"))
	follow(m, keyMsg("u"))
	rest(t, m.session.bench)
	if err := m.session.bench.Do(`escalate "ask Bob"`); err != nil {
		t.Fatal(err)
	}
	rest(t, m.session.bench)
	follow(m, newsMsg{})
	for _, size := range sizes {
		m.width, m.height = size[0], size[1]
		if frame := ansi.Strip(m.build()); !strings.Contains(frame, "decision escalate") || !strings.Contains(frame, "ask Bob") {
			t.Errorf("%dx%d, to be settled:\n%s", size[0], size[1], frame)
		}
	}
	follow(m, keyMsg("esc"))
	follow(m, keyMsg("U"))
	if frame := ansi.Strip(m.build()); !strings.Contains(frame, "escalated") {
		t.Errorf("in the list:\n%s", frame)
	}
}

// Whoever asks twice, or has gone elsewhere before the twin is open, leaves no bench behind.
func TestATwinIsOpenedOnce(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	twin := m.opt.Scenarios[1]
	onBench(m, "A", commitThenError())
	m.session.scenario.Twin = twin.Name
	opened := func() *still {
		v := commitThenError()
		b := &still{view: v, state: atRest(v)}
		follow(m, twinMsg{bench: b, scenario: twin})
		return b
	}
	first, second := opened(), opened()
	if _, ok := m.top().(*compareScreen); !ok || len(m.stack) != 3 || first.closed || !second.closed {
		t.Fatalf("asked twice: %d screens, the first is closed: %v, the second: %v", len(m.stack), first.closed, second.closed)
	}
	follow(m, keyMsg("esc"))
	if !first.closed || len(m.stack) != 2 {
		t.Errorf("left: %d screens, closed: %v", len(m.stack), first.closed)
	}
	onBench(m, "C", commitThenDrop(false))
	if late := opened(); !late.closed || len(m.stack) != 2 {
		t.Errorf("come late: %d screens, closed: %v", len(m.stack), late.closed)
	}
}

// A picture has all colours of its theme, however few of them the terminal has.
func TestAPictureHasTheColoursOfItsTheme(t *testing.T) {
	t.Parallel()
	for _, name := range draw.ThemeNames() {
		var pictures []string
		for _, depth := range []termenv.Profile{termenv.TrueColor, termenv.ANSI} {
			m := testModel(t, name, 120, 36)
			var err error
			if m.t, err = draw.NewTheme(name, depth, draw.Unicode); err != nil {
				t.Fatal(err)
			}
			onBench(m, "C. Commit, then drop", commitThenDrop(false))
			frame, on := m.picture()
			pictures = append(pictures, string(svg(frame, on, m.width, m.height)))
		}
		if pictures[0] != pictures[1] {
			t.Errorf("theme %s: the picture of a terminal with 16 colours differs", name)
		}
	}
}
