package plain

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape makes untrusted text safe for a terminal and keeps it on one line: line breaks, control and format characters
// (escape codes and bidi marks among them) and bytes that are not UTF-8 are shown by number; a tab is a space.
func Escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t':
			b.WriteByte(' ')
		case disturbs(r):
			b.WriteString(EscapeRune(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// disturbs reports whether a character may change how a terminal shows others.
func disturbs(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// EscapeRune shows a character by number, as Go does: \n, \t, \r, \u001b, \U0001f600.
func EscapeRune(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// EscapeJSON escapes in a JSON text what disturbs a terminal and may stand in JSON: of ASCII only DEL.
func EscapeJSON(text []byte) []byte {
	escaped := func(r rune) bool { return r >= 0x7f && disturbs(r) }
	if !bytes.ContainsFunc(text, escaped) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for _, r := range string(text) {
		if !escaped(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
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
