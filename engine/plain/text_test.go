package plain

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain ключ 鍵 é":    "plain ключ 鍵 é",
		"\x1b[31mred\x1b[m": `\u001b[31mred\u001b[m`,
		"two\nlines\r\t.":   `two\nlines\r .`,
		"bidi \u202e\u2066": `bidi \u202e\u2066`,
		"c1 \u009b31m":      `c1 \u009b31m`,
		"broken \xff\xfe":   `broken \xff\xfe`,
		"said \uFFFD":       "said \uFFFD",
		"line\u2028end":     `line\u2028end`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNothingThatIsEscapedDisturbsATerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		out := Escape(in)
		if strings.ContainsFunc(out, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Fatalf("Escape(%q) = %q", in, out)
		}
	})
}

func TestWrap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zé]{1,30}`)).Draw(t, "words")
		indent := strings.Repeat(" ", rapid.IntRange(0, 20).Draw(t, "indent"))
		out := Wrap(strings.Join(words, " "), 60, indent, indent)
		for _, line := range strings.Split(out, "\n") {
			if n := len([]rune(line)); n > 60 {
				t.Fatalf("a line of %d characters: %q", n, line)
			}
		}
		if got := strings.Fields(out); strings.Join(got, " ") != strings.Join(words, " ") {
			t.Fatalf("%v became %v", words, got)
		}
	})
}
