package tui

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"faultlab/tui/draw"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

var sizes = [][2]int{{60, 16}, {80, 24}, {120, 36}, {200, 60}}

// scenes are the screens, each as keys pressed on a program.
var scenes = []struct {
	name string
	make func(m *model)
}{
	{"catalogue", func(m *model) { press(m, "down") }},
	{"catalogue-filter", func(m *model) { press(m, "/", "d", "r", "o", "p") }},
	{"bench-calm", func(m *model) { onBench(m, "B. Commit, then 503", commitThenError()) }},
	{"bench-unknown", func(m *model) { onBench(m, "C. Commit, then drop", commitThenDrop(false)) }},
	{"bench-covered", func(m *model) { onBench(m, "C. Commit, then drop", commitThenDrop(false)); press(m, "t") }},
	{"bench-past", func(m *model) {
		onBench(m, "B. Commit, then 503", commitThenError())
		press(m, "left", "left", "left", "left", "left", "left", "left", "left", "left", "left", "left", "left")
	}},
	{"bench-runs", func(m *model) { onBench(m, "Many", testRuns(30)) }},
	{"bench-identities", func(m *model) { onBench(m, "B. Commit, then 503", commitThenError()); press(m, "i") }},
	{"bench-log", func(m *model) { onBench(m, "B. Commit, then 503", commitThenError()); press(m, "tab", "tab", "tab") }},
	{"settle-ask", func(m *model) { onBench(m, "C. Commit, then drop", commitThenDrop(false)); press(m, "u") }},
	{"settle-evidence", func(m *model) { onBench(m, "C. Commit, then drop", commitThenDrop(true)); press(m, "u") }},
	{"settle-confirm", func(m *model) {
		onBench(m, "C. Commit, then drop", commitThenDrop(true))
		press(m, "u", "enter", "r", "e", "c")
	}},
	{"help", func(m *model) { onBench(m, "B. Commit, then 503", commitThenError()); press(m, "?") }},
	{"palette", func(m *model) { onBench(m, "B. Commit, then 503", commitThenError()); press(m, ":", "c", "r") }},
	{"help-verb", func(m *model) { onBench(m, "B", commitThenError()); m.help("deliver") }},
	{"help-filter", func(m *model) { onBench(m, "B", commitThenError()); press(m, "?", "/", "k", "e", "y") }},
	{"menu-faults", func(m *model) { onFaults(m); press(m, "f", "down", "down", "down", "down", "down") }},
	{"menu-faults-filter", func(m *model) { onFaults(m); press(m, "f", "/", "h", "a", "n", "g") }},
	{"menu-compose", func(m *model) { onFaults(m); press(m, "f", "down", "down", "down", "down", "enter", "down") }},
	{"menu-contracts", func(m *model) { onBench(m, "B", commitThenError()); press(m, "c", "down") }},
	{"menu-policy", func(m *model) { onBench(m, "B", commitThenError()); press(m, "p", "down", "down") }},
	{"menu-key", func(m *model) { onBench(m, "B", commitThenError()); press(m, "K", "down", "down", "down") }},
	{"compare", func(m *model) { onBench(m, "Two", twoRuns()); press(m, "=") }},
	{"lessons", func(m *model) { press(m, "l") }},
	{"lesson-page", func(m *model) { press(m, "l", "enter") }},
	{"lesson-question", func(m *model) { asked(m, false) }},
	{"lesson-answer", func(m *model) { asked(m, true) }},
	{"lesson-over", func(m *model) {
		press(m, "l", "enter")
		m.course.at, m.course.asked, m.course.right = 2, 3, 2
		m.top().(*lessonScreen).over = true
	}},
	{"runs", func(m *model) { runsShown(m) }},
	{"runs-none", func(m *model) { press(m, "h"); m.Update(runsMsg{err: errNoStore}) }},
	{"unknowns", func(m *model) { unknownsShown(m) }},
	{"source-broken", func(m *model) { edited(m, brokenWorkflow) }},
	{"stored-run", func(m *model) { storedShown(m) }},
	{"map-running", func(m *model) { mapRunning(m) }},
	{"map-done", func(m *model) { mapDone(m) }},
	{"map-duplicate", func(m *model) { mapDuplicate(m) }},
	{"worker-down", func(m *model) { workerDown(m) }},
	{"palette-mistake", func(m *model) {
		onBench(m, "B. Commit, then 503", commitThenError())
		press(m, ":", "c", "r", "x", "enter")
	}},
}

// press sends keys as the terminal would, without carrying commands out.
func press(m *model, keys ...string) {
	for _, k := range keys {
		m.Update(keyMsg(k))
	}
}

func keyMsg(k string) tea.KeyMsg {
	for t := tea.KeyType(-100); t < 200; t++ {
		if msg := (tea.KeyMsg{Type: t}); t != tea.KeyRunes && msg.String() == k && k != " " {
			return msg
		}
	}
	if k == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
}

func TestGoldenFrames(t *testing.T) {
	t.Parallel()
	for _, sc := range scenes {
		for _, size := range sizes {
			name := fmt.Sprintf("%s-%dx%d", sc.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				m := testModel(t, "dark", size[0], size[1])
				sc.make(m)
				frame := m.View()
				checkFrame(t, frame, size[0], size[1])
				golden(t, name+".txt", []byte(trimLines(ansi.Strip(frame))))
			})
		}
	}
}

func TestGoldenFramesInASCII(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		m := testModel(t, "none", size[0], size[1])
		var err error
		if m.t, err = draw.NewTheme("none", termenv.TrueColor, draw.ASCII); err != nil {
			t.Fatal(err)
		}
		onBench(m, "C. Commit, then drop", commitThenDrop(false))
		frame := m.View()
		checkFrame(t, frame, size[0], size[1])
		plain := ansi.Strip(frame)
		for _, r := range plain {
			if r > 0x7e {
				t.Fatalf("%q is not ASCII", r)
			}
		}
		golden(t, fmt.Sprintf("ascii-%dx%d.txt", size[0], size[1]), []byte(trimLines(plain)))
	}
}

// The inks are in golden frames of their own: they change for other reasons than the words.
func TestGoldenColours(t *testing.T) {
	t.Parallel()
	for _, theme := range draw.ThemeNames() {
		m := testModel(t, theme, 120, 36)
		onBench(m, "C. Commit, then drop", commitThenDrop(false))
		golden(t, "colours-"+theme+".ansi", []byte(m.View()))
	}
}

// checkFrame fails unless a frame fills the screen and no more.
func checkFrame(t testing.TB, frame string, width, height int) {
	t.Helper()
	lines := strings.Split(frame, "\n")
	if len(lines) > height {
		t.Fatalf("%d lines on a screen of %d", len(lines), height)
	}
	for i, l := range lines {
		if w := ansi.StringWidth(l); w > width {
			t.Fatalf("line %d is %d cells wide on a screen of %d: %q", i+1, w, width, ansi.Strip(l))
		}
		for _, r := range ansi.Strip(l) {
			if unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) {
				t.Fatalf("line %d holds %U: %q", i+1, r, l)
			}
		}
	}
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "frames", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden frame: %v; -update writes it", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; -update rewrites it. Now:\n%s", name, got)
	}
}
