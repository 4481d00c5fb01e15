package tui

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"faultlab/engine/clock"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// childRuns is the workbench as a program of its own, with the real catalogue.
func childRuns(how string) {
	var lessons []Lesson
	for _, l := range scenarios.Lessons {
		lessons = append(lessons, Lesson{Name: l.Name, Title: l.Title, Text: l.Text, Scenarios: l.Scenarios()})
	}
	o := Options{Scenarios: scenarios.Catalogue(), Lessons: lessons, Theme: "dark", Log: "/var/log/faultlab.log", Open: func(s *lang.Scenario, ask bool) (Bench, error) {
		if how == "panic" {
			panic("the bench is on fire")
		}
		b, err := scenarios.Open(s, scenarios.Options{Speed: 20, Ask: ask})
		if err != nil {
			return nil, err
		}
		if how == "burning" {
			return burning{Live(b), clock.NewVirtual(time.Now())}, nil
		}
		return Live(b), nil
	}}
	switch how {
	case "ask":
		o.Theme = "auto"
	case "ask and wait":
		o.Theme, o.wait = "auto", 60_000
	}
	// As the command does: a signal ends the context, too.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := Run(ctx, o); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// burning is a bench with an actor that panics.
type burning struct {
	Bench
	clk *clock.Virtual
}

func (b burning) OnPanic(f func(string, any, []byte)) { b.clk.OnPanic(f) }
func (b burning) Play()                               { b.clk.Go("fire", func() { panic("the actor is on fire") }) }

// tty is a program on a terminal of its own.
type tty struct {
	t      *testing.T
	file   *os.File
	slave  *os.File
	cmd    *exec.Cmd
	before *term.State

	mu     sync.Mutex
	screen *tinyScreen
	text   strings.Builder // all that came
	news   chan struct{}
	over   chan struct{}
}

func openTTY(t *testing.T, how string, width, height int, env ...string) *tty {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return openOn(t, exec.Command(self), how, width, height, env...)
}

// openOn runs a command that runs the program.
func openOn(t *testing.T, cmd *exec.Cmd, how string, width, height int, env ...string) *tty {
	t.Helper()
	file, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	x := &tty{t: t, file: file, slave: slave, screen: newTinyScreen(width, height), news: make(chan struct{}, 1), over: make(chan struct{})}
	x.size(width, height)
	if x.before, err = term.GetState(slave.Fd()); err != nil {
		t.Fatal(err)
	}
	x.cmd = cmd
	x.cmd.Env = append(childEnv(how), env...)
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = slave, slave, slave
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go x.read()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill() // it may have ended long ago
		_ = slave.Close()
		_ = file.Close()
	})
	return x
}

func (x *tty) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := x.file.Read(buf)
		x.mu.Lock()
		_, _ = x.screen.Write(buf[:n])
		x.text.Write(buf[:n])
		x.mu.Unlock()
		select {
		case x.news <- struct{}{}:
		default:
		}
		if err != nil {
			close(x.over)
			return
		}
	}
}

func (x *tty) size(width, height int) {
	x.t.Helper()
	if err := pty.Setsize(x.file, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		x.t.Fatal(err)
	}
}

// sees waits until the screen shows a text.
func (x *tty) sees(want string) {
	x.t.Helper()
	x.until("the screen to show "+want, func() bool { return strings.Contains(x.screen.String(), want) })
}

// until waits for what holds says of the screen and the text; nothing else may read them.
func (x *tty) until(what string, holds func() bool) {
	x.t.Helper()
	limit, again := time.After(60*time.Second), time.NewTicker(50*time.Millisecond)
	defer again.Stop()
	for {
		x.mu.Lock()
		ok := holds()
		x.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-x.news:
		case <-again.C:
		case <-limit:
			x.mu.Lock()
			shows := x.screen.String()
			x.mu.Unlock()
			x.t.Fatalf("waited for %s; the screen shows:\n%s", what, shows)
		}
	}
}

func (x *tty) keys(keys ...string) {
	x.t.Helper()
	for _, k := range keys {
		if _, err := x.file.WriteString(k); err != nil {
			x.t.Fatal(err)
		}
	}
}

// ended waits for the program's end and checks that the terminal is as it was found.
func (x *tty) ended(wantCode int) {
	x.t.Helper()
	err := x.cmd.Wait()
	var exit *exec.ExitError
	if code := x.cmd.ProcessState.ExitCode(); code != wantCode || err != nil && !errors.As(err, &exit) {
		x.t.Errorf("ended with %v, want code %d", err, wantCode)
	}
	x.until("the alternate screen to be left", func() bool { return !x.screen.alt && !x.screen.hidden })
	after, err := term.GetState(x.slave.Fd())
	if err != nil {
		x.t.Fatal(err)
	}
	if fmt.Sprint(*after) != fmt.Sprint(*x.before) {
		x.t.Errorf("the terminal was left in another mode: %v, before %v", *after, *x.before)
	}
}

const (
	enter = "\r"
	down  = "\x1b[B"
)

func TestTheGuideOnATerminal(t *testing.T) {
	t.Parallel()
	x := openTTY(t, "run", 120, 36)
	x.sees("A. Fail before the commit")
	x.keys(enter) // the first key of two
	x.sees("one effect")
	x.sees("attempt 2 succeeded")
	x.sees("NEW")
	x.keys("\x1b")
	x.sees("Preview")
	x.keys(down, enter)
	x.sees("200 replay")
	x.sees("REPLAY")
	x.keys("\x1b")
	x.sees("Preview")
	x.keys(down, enter)
	x.sees("Sent, but no reply came.")
	x.sees("unresolved")
	x.keys("u")
	x.sees("its fields match what was sent")
	x.keys("r", "record", enter)
	x.sees("decision record")
	x.keys("\x1b")
	x.sees("CALLER")
	x.keys("?")
	x.sees("What can be done here")
	x.keys("q")
	x.ended(0)
}

func TestTheTerminalIsRestored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what string
		how  string
		end  func(x *tty)
		code int
		says string
	}{
		{"a quit", "run", func(x *tty) { x.keys("q") }, 0, ""},
		{"ctrl+c", "run", func(x *tty) { x.keys("\x03") }, 0, ""},
		{"SIGTERM", "run", func(x *tty) { _ = x.cmd.Process.Signal(syscall.SIGTERM) }, 1, "ended by the signal terminated; the log is /var/log/faultlab.log"},
		{"SIGHUP", "run", func(x *tty) { _ = x.cmd.Process.Signal(syscall.SIGHUP) }, 1, "ended by the signal hangup"},
		{"SIGQUIT", "run", func(x *tty) { _ = x.cmd.Process.Signal(syscall.SIGQUIT) }, 1, "ended by the signal quit"},
		{"a panic", "panic", func(x *tty) { x.keys(enter) }, 1, "the bench is on fire"},
		{"a panic of an actor", "burning", func(x *tty) { x.keys(enter) }, 1, "fire: the actor is on fire"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			x := openTTY(t, c.how, 80, 24)
			x.sees("Catalogue")
			c.end(x)
			x.ended(c.code)
			if c.says != "" {
				x.until("the reason", func() bool { return strings.Contains(x.text.String(), c.says) })
			}
		})
	}
}

func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A shell with job control: it goes on when the workbench stops, and brings it back.
	x := openOn(t, exec.Command("sh", "-m", "-c", `"$0"; echo the shell has it; fg`, self), "run", 80, 24)
	x.sees("Catalogue")
	x.keys("\x1a")
	x.until("the shell to be back", func() bool { return strings.Contains(x.text.String(), "the shell has it") })
	x.until("the workbench to be back", func() bool {
		return x.screen.alt && strings.Contains(x.screen.String(), "Catalogue")
	})
	x.keys("q")
	x.ended(0)
}

// Where no shell is waiting, nobody could bring the workbench back: it stays.
func TestNoShellToSuspendTo(t *testing.T) {
	t.Parallel()
	x := openTTY(t, "run", 80, 24)
	x.sees("Catalogue")
	x.keys("\x1a")
	x.sees("no shell to return to")
	x.keys("q")
	x.ended(0)
}

// Resizing at random for a while, with a run on the screen: no line is ever wider than the terminal.
func TestResizingAtRandom(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	x := openTTY(t, "run", 120, 36)
	x.sees("Catalogue")
	x.keys(down, enter)
	x.sees("one effect")
	for range 30 {
		w, h := 60+r.IntN(180), 16+r.IntN(54)
		x.mu.Lock()
		x.screen.resize(w, h)
		x.mu.Unlock()
		x.size(w, h)
		x.until(fmt.Sprintf("a frame of %dx%d", w, h), func() bool {
			ok := x.whole(w, h)
			if ok {
				x.screen.beyond = nil // what came before was made for another size
			}
			return ok
		})
		x.keys("?")
		x.until("the help", func() bool { return x.whole(w, h) && strings.Contains(x.screen.String(), "What can be done here") })
		x.keys("?", []string{"t", "\t", "i", "r"}[r.IntN(4)])
		x.until("the bench", func() bool { return x.whole(w, h) && strings.Contains(x.screen.String(), "Wire") })
		x.mu.Lock()
		if beyond := x.screen.beyond; len(beyond) > 0 {
			t.Errorf("on %dx%d something was written beyond the edge: %v", w, h, beyond)
		}
		x.mu.Unlock()
	}
	x.keys("q")
	x.ended(0)
}

// whole reports whether the screen holds a frame that was made for this size: a pane's corner stands in the last column.
func (x *tty) whole(w, h int) bool {
	lines := strings.Split(x.screen.String(), "\n")
	if len(lines) != h || !strings.Contains(lines[0], "faultlab") {
		return false
	}
	for _, l := range lines {
		if len([]rune(l)) == w && strings.HasSuffix(l, "╮") {
			return strings.Contains(lines[h-1], "quit") || strings.Contains(lines[h-1], "help")
		}
	}
	return false
}

func TestATerminalThatAnswersLate(t *testing.T) {
	t.Parallel()
	x := openTTY(t, "ask", 80, 24)
	x.until("the question", func() bool { return strings.Contains(x.text.String(), "\x1b]11;?") })
	x.sees("Catalogue")
	x.keys("\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
	x.keys("q") // read as the first key: the answer was none
	x.ended(0)
}

func TestATerminalThatIsLight(t *testing.T) {
	t.Parallel()
	x := openTTY(t, "ask and wait", 80, 24)
	x.until("the question", func() bool { return strings.Contains(x.text.String(), "\x1b]11;?") })
	x.keys("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c")
	x.sees("Catalogue")
	x.keys("q")
	x.ended(0)
	accent := strokeOf(t, "light", draw.Accent)
	x.until("the light theme's accent", func() bool { return strings.Contains(x.text.String(), accent) })
}

// The editor gets the terminal, the diagnostics stand at their line, and the bench is still there.
func TestEditingTheWorkflow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "editor")
	// The first time it breaks the document, the second time it mends it.
	if err := os.WriteFile(script, []byte(`#!/bin/sh
for f; do :; done
if grep -q 'retry="0"' "$f"; then sed -i 's/retry="0"/retry="2"/' "$f"; else sed -i 's/retry="3"/retry="0"/' "$f"; fi
`), 0o755); err != nil {
		t.Fatal(err)
	}
	x := openTTY(t, "run", 120, 36, "VISUAL=", "EDITOR="+script)
	x.sees("Catalogue")
	x.keys(enter)
	x.sees("one effect")
	x.keys("E")
	x.sees("invalid: enter")
	x.sees("is not a whole number from 1 to 10")
	x.keys(enter)
	x.sees(" valid: enter")
	x.keys(enter)
	x.sees("┄ workflow")
	x.keys("q")
	x.ended(0)
}

// The map of a scenario fills while it is looked at; a cell opens on a bench, and esc comes back.
func TestTheMapOnATerminal(t *testing.T) {
	t.Parallel()
	x := openTTY(t, "run", 120, 36)
	x.sees("A. Fail before the commit")
	x.keys(down, "M")
	x.sees("B. Commit, then 503 / explore")
	x.sees("commit-then-error") // a row
	x.keys("k")
	x.sees("nothing goes wrong")
	x.keys(down)
	x.sees("1  crash before the send")
	x.keys(enter)
	x.sees("Found: ")
	x.sees("the worker is gone")
	x.keys("\x1b")
	x.sees("first fault down")
	x.sees("complete")
	x.sees("END UNRESOLVED")
	x.keys("q")
	x.ended(0)
}

// A walk through the rest of the workbench, on the smaller of the usual screens.
func TestWalkingThroughTheWorkbench(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x := openTTY(t, "run", 80, 24)
	x.sees("Catalogue")
	x.keys("/", "drop", enter)
	x.sees("/drop")
	x.keys("\x1b")
	x.until("the whole list", func() bool { return !strings.Contains(x.screen.String(), "/drop") })
	x.keys(down, enter)
	x.sees("one effect")

	x.keys("f")
	x.sees("named faults")
	x.keys("/", "phantom", enter)
	x.sees("Answers as if it had stored")
	x.keys(enter)
	x.sees("queued, taken in this order")
	x.keys("\x1b")
	x.sees("Wire")
	x.keys("c")
	x.sees("kept now")
	x.keys("q") // quits from anywhere
	x.ended(0)

	x = openTTY(t, "run", 80, 24)
	x.sees("Catalogue")
	x.keys(enter)
	x.sees("one effect")
	x.keys(".")
	x.sees("STEPPING")
	x.keys(enter)
	x.sees("HELD at send POST /jobs")
	x.keys(".")
	x.sees("HELD at reply POST /jobs")
	x.keys(" ")
	x.sees("one effect")
	x.keys("T")
	x.sees("#2")
	x.keys("=")
	x.sees("runs #1 and #2")
	x.keys("\x1b")
	x.sees("Wire")
	x.keys(":", "speed 50", enter)
	x.keys(":", "save "+dir+"/mine", enter)
	x.sees("written: ")
	x.keys(":", "export svg "+dir+"/bench.svg", enter)
	x.sees("bench.svg")
	x.keys("y")
	x.until("the clipboard", func() bool { return strings.Contains(x.text.String(), "\x1b]52;c;") })
	x.keys(":", "theme high-contrast", enter)
	accent := strokeOf(t, "high-contrast", draw.Accent)
	x.until("the other theme", func() bool { return strings.Contains(x.text.String(), accent) })
	x.keys(":", "mouse on", enter)
	x.until("the mouse", func() bool { return strings.Contains(x.text.String(), "\x1b[?1002h") })
	x.keys("h")
	x.sees("no stored runs yet")
	x.keys("\x1b")
	x.sees("Wire")
	x.keys("U")
	x.sees("nothing is unknown")
	x.keys("\x1b")
	x.sees("Wire")
	x.keys(":", "lessons", enter)
	x.sees("A timeout is not a failure")
	x.keys(enter)
	x.sees("enter runs it")
	x.keys(enter)
	x.sees("What do you think?")
	x.keys("1")
	x.sees("you said")
	x.keys("n")
	x.sees("2 of ")
	x.keys("q")
	x.ended(0)
}
