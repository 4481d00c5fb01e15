package main

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain ключ 鍵 é":    "plain ключ 鍵 é",
		"\x1b[31mred\x1b[m": `\u001b[31mred\u001b[m`,
		"two\nlines\r\t.":   `two\nlines\u000d .`,
		"bidi \u202e\u2066": `bidi \u202e\u2066`,
		"c1 \u009b31m":      `c1 \u009b31m`,
		"broken \xff\xfe":   `broken \xff\xfe`,
		"said \uFFFD":       "said \uFFFD",
		"line\u2028end":     `line\u2028end`,
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNothingThatCleanLetsThroughDisturbsATerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		out := clean(in)
		if strings.ContainsFunc(out, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Fatalf("clean(%q) = %q", in, out)
		}
	})
}

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

func TestWrap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zé]{1,30}`)).Draw(t, "words")
		indent := rapid.IntRange(0, 20).Draw(t, "indent")
		out := strings.Repeat(" ", indent) + wrap(strings.Join(words, " "), indent)
		for _, line := range strings.Split(out, "\n") {
			if n := len([]rune(line)); n > lineWidth {
				t.Fatalf("a line of %d characters: %q", n, line)
			}
		}
		if got := strings.Fields(out); strings.Join(got, " ") != strings.Join(words, " ") {
			t.Fatalf("%v became %v", words, got)
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
