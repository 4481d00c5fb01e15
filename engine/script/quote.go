package script

import (
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

const hexDigits = "0123456789abcdef"

// appendString writes a JavaScript string as JSON. A lone surrogate becomes its escape, as in JSON.stringify.
func appendString(out []byte, s goja.String) []byte {
	text := s.String()
	for _, r := range text {
		if r == utf8.RuneError {
			return appendUTF16(out, s)
		}
	}
	return appendText(out, text)
}

func appendUTF16(out []byte, s goja.String) []byte {
	out = append(out, '"')
	for i := 0; i < s.Length(); i++ {
		c := rune(s.CharAt(i))
		switch {
		case !utf16.IsSurrogate(c):
			out = appendRune(out, c)
		case i+1 < s.Length() && utf16.DecodeRune(c, rune(s.CharAt(i+1))) != utf8.RuneError:
			out = utf8.AppendRune(out, utf16.DecodeRune(c, rune(s.CharAt(i+1))))
			i++
		default:
			out = appendEscape(out, c)
		}
	}
	return append(out, '"')
}

func appendText(out []byte, s string) []byte {
	out = append(out, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			out = append(out, s[start:i]...)
			out = appendRune(out, rune(c))
			start = i + 1
		}
	}
	return append(append(out, s[start:]...), '"')
}

func appendRune(out []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(out, '\\', byte(r))
	case '\b':
		return append(out, '\\', 'b')
	case '\f':
		return append(out, '\\', 'f')
	case '\n':
		return append(out, '\\', 'n')
	case '\r':
		return append(out, '\\', 'r')
	case '\t':
		return append(out, '\\', 't')
	}
	if r < ' ' {
		return appendEscape(out, r)
	}
	return utf8.AppendRune(out, r)
}

func appendEscape(out []byte, r rune) []byte {
	return append(out, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
