package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes untrusted text safe for a terminal and keeps it on one line: control
// and format characters, escape codes and bidi marks among them, are shown by number.
func Escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, "\\x%02x", s[i])
		case r == '\n':
			b.WriteString("\\n")
		case r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Shorten cuts a text that is longer than n characters, and ends it with an ellipsis then.
func Shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Wrap breaks a text between words into lines of at most width characters, and a word that
// is wider than a line after its bars ("|"). The first line begins with first, the others with rest.
func Wrap(text string, width int, first, rest string) string {
	var b strings.Builder
	line := first
	put := func(word, space string) {
		switch {
		case strings.TrimSpace(line) == "":
			line += word
		case utf8.RuneCountInString(line+space+word) > width:
			b.WriteString(line + "\n")
			line = rest + word
		default:
			line += space + word
		}
	}
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(rest+word) <= width {
			put(word, " ")
			continue
		}
		space := " "
		for part := range strings.SplitAfterSeq(word, "|") {
			put(part, space)
			space = ""
		}
	}
	return b.String() + line
}
