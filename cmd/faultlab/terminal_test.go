package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// A terminal that never replies must not be asked anything: Bubble Tea would wait 5 s
// for its background, in every command. See package tui/pin.
func TestCommandsAskTheTerminalNothing(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"version"}, {"scenarios"}, {"replay", "b-commit-then-error"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("faultlab", args...)
			cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor")
			f, err := pty.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			out, _ := io.ReadAll(f) // ends with EIO, as a terminal does that nobody has open any more
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if len(out) == 0 {
				t.Error("it printed nothing")
			}
			if strings.ContainsRune(string(out), 0x1b) {
				t.Errorf("it sent the terminal an escape code: %q", out)
			}
		})
	}
}
