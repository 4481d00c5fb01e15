package main

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A command that is printed to be copied means the same words to a shell.
func TestShellQuote(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("a-Z0~ '\"$`\\*?![]{}()<>|&;#=:\n\té鍵")), 0, 8, -1), 1, 4).Draw(t, "words")
		script := "printf '%s\\0'"
		for _, w := range words {
			script += " " + shellQuote(w)
		}
		out, err := exec.Command("sh", "-c", script).Output()
		if want := strings.Join(words, "\x00") + "\x00"; err != nil || string(out) != want {
			t.Fatalf("%s printed %q, %v; want %q", script, out, err, want)
		}
	})
}

// full is a place that takes nothing more.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWhatCannotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"replay", "a-fail-before-commit"}, {"replay", "a-fail-before-commit", "--json"}} {
		var said strings.Builder
		if code := execute(streams{In: strings.NewReader(""), Out: full{}, Err: &said}, args); code != exitFailed || !strings.Contains(said.String(), "no space left") {
			t.Errorf("%v: it exits %d and says %q", args, code, said.String())
		}
	}
}
