package tui

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/creack/pty"
)

// childVar makes the test program a child that only starts up.
const childVar = "FAULTLAB_TEST_CHILD"

func TestMain(m *testing.M) {
	switch how := os.Getenv(childVar); how {
	case "":
	case "start":
		fmt.Println("started")
		os.Exit(0)
	default:
		childRuns(how)
	}
	os.Exit(m.Run())
}

// childEnv is a child's environment: what the machine of the test says of its own terminal is left out.
func childEnv(how string) []string {
	return []string{childVar + "=" + how, "TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C.UTF-8",
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}
}

// A program that was asked for --help must not ask the terminal anything: where
// nothing answers, Bubble Tea's own question would hold it up for 5 s.
func TestStartingUpAsksTheTerminalNothing(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = childEnv("start")
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	var out bytes.Buffer
	_, _ = out.ReadFrom(tty) // ends with an error when the child closes the terminal
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if want := "started\r\n"; out.String() != want {
		t.Errorf("the terminal got %q, want only %q", out.String(), want)
	}
}

func TestReadingTheBackground(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, reply  string
		light, known bool
	}{
		{"dark", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b[?62;c", false, true},
		{"light, ended by a bell", "\x1b]11;rgb:fdfd/f6f6/e3e3\a", true, true},
		{"two digits", "\x1b]11;rgb:ff/ff/ff\x1b\\", true, true},
		{"no answer but DA1", "\x1b[?1;2c", false, false},
		{"nothing", "", false, false},
		{"rubbish", "\x1b]11;rgb:zz/1/2\a", false, false},
		{"cut", "\x1b]11;rgb:ff/ff", false, false},
	} {
		if light, known := lightBackground([]byte(c.reply)); light != c.light || known != c.known {
			t.Errorf("%s: light %v, known %v", c.what, light, known)
		}
	}
}

func TestLateAnswersAreNoKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what string
		in   []string
		want string
	}{
		{"keys alone", []string{"abc\r"}, "abc\r"},
		{"an answer between keys", []string{"a\x1b]11;rgb:0/0/0\x1b\\b"}, "ab"},
		{"an answer in pieces", []string{"a\x1b]1", "1;rgb:00", "00/0/0", "\ab"}, "ab"},
		{"the escape key", []string{"\x1b"}, "\x1b"},
		{"an arrow", []string{"\x1b[A"}, "\x1b[A"},
		{"two answers", []string{"\x1b]11;x\a\x1b]10;y\a!"}, "!"},
	} {
		var f replyFilter
		var got []byte
		for _, in := range c.in {
			got = append(got, f.drop([]byte(in))...)
		}
		if string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	if got := typedAhead([]byte("x\x1b]11;rgb:0/0/0\a\x1b[?62;22cy")); string(got) != "xy" {
		t.Errorf("typed ahead: %q", got)
	}
}
