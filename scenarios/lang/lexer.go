package lang

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"faultlab/engine/plain"
)

// word is one word of a line as it was written.
type word struct {
	name   string // of name=value
	text   string // the value, quotes taken off and JSON made compact
	quoted bool
	json   bool
	col    int // of the word, in characters, from 1
}

// bare reports whether the word may be a flag or a keyword.
func (w word) bare() bool { return w.name == "" && !w.quoted && !w.json }

func (w word) String() string {
	v := w.text
	if w.quoted {
		v = quote(v)
	}
	if w.name != "" {
		return w.name + "=" + v
	}
	return v
}

func join(words []word) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.String()
	}
	return strings.Join(parts, " ")
}

// Quote writes a value as one word of a line: as it is where that reads the same,
// else in double quotes. JSON objects and arrays need none.
func Quote(value string) string {
	if (strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[")) && json.Valid([]byte(value)) {
		return compact(value)
	}
	if value == "" || strings.ContainsAny(value[:1], `"'{[`) || optionName(value) != "" || strings.ContainsFunc(value, unfit) {
		return quote(value)
	}
	return value
}

// unfit are the characters that cannot stand in a bare word.
func unfit(r rune) bool { return r == ' ' || r == utf8.RuneError || forbidden(r) || r == '\t' }

// forbidden are the characters that no line may hold: control characters other than
// a tab, which an editor or a terminal would not show as what they are.
func forbidden(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f && r <= 0x9f }

// quote writes a JSON string, whose escapes are the ones that a quoted word knows.
func quote(s string) string {
	text, _ := plain.JSON(s) // a string always encodes
	return string(plain.EscapeJSON(text))
}

func validJSON(s string) bool { return json.Valid([]byte(s)) }

func compact(s string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(s)) != nil {
		return s
	}
	return b.String()
}

// optionName is the name of a word that reads name=value; empty if it does not.
func optionName(s string) string {
	for i, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', i > 0 && (c == '-' || c >= '0' && c <= '9'):
		case c == '=' && i > 0:
			return s[:i]
		default:
			return ""
		}
	}
	return ""
}

// lexer reads the words of one line.
type lexer struct {
	line string
	pos  int // in bytes

	counted, chars int // so many characters stand before byte `counted`; columns are asked for from left to right
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

func (l *lexer) skip() {
	for l.pos < len(l.line) && blank(l.line[l.pos]) {
		l.pos++
	}
}

// col is the column of byte i.
func (l *lexer) col(i int) int {
	if i < l.counted {
		l.counted, l.chars = 0, 0
	}
	l.chars += utf8.RuneCountInString(l.line[l.counted:i])
	l.counted = i
	return l.chars + 1
}

// rest is all that is left, its white space made single spaces, and its column.
func (l *lexer) rest() (string, int) {
	l.skip()
	col := l.col(l.pos)
	text := single(l.line[l.pos:])
	l.pos = len(l.line)
	return text, col
}

// single makes all white space of a text single spaces.
func single(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' }), " ")
}

// next reads one word; ok is false at the end of the line.
func (l *lexer) next() (w word, ok bool, err *Error) {
	l.skip()
	if l.pos == len(l.line) {
		return word{col: l.col(l.pos)}, false, nil
	}
	w.col = l.col(l.pos)
	if w.name = optionName(l.line[l.pos:]); w.name != "" {
		l.pos += len(w.name) + 1
	}
	start := l.pos
	switch {
	case start == len(l.line) || blank(l.line[start]):
		err = &Error{Message: Short(w.name) + "= has no value; write " + Short(w.name) + `="" for an empty one`}
	case l.line[start] == '"' || l.line[start] == '\'':
		w.quoted = true
		w.text, err = l.quotedWord(l.line[start])
	case l.line[start] == '{' || l.line[start] == '[':
		w.json = true
		w.text, err = l.jsonWord()
	default:
		for l.pos < len(l.line) && !blank(l.line[l.pos]) {
			l.pos++
		}
		w.text = l.line[start:l.pos]
	}
	if err == nil && l.pos < len(l.line) && !blank(l.line[l.pos]) {
		err = &Error{Message: "a space is missing after " + Short(l.line[start:l.pos])}
		start = l.pos
	}
	if err != nil {
		err.Column = l.col(start)
	}
	return w, true, err
}

// quotedWord reads a word in quotes: in double ones the escapes of a JSON string, in single ones none.
func (l *lexer) quotedWord(mark byte) (string, *Error) {
	start := l.pos
	for l.pos++; l.pos < len(l.line); l.pos++ {
		switch c := l.line[l.pos]; {
		case c == '\\' && mark == '"':
			l.pos++
		case c == mark:
			l.pos++
			raw := l.line[start:l.pos]
			if mark == '\'' {
				return raw[1 : len(raw)-1], nil
			}
			var s string
			if json.Unmarshal([]byte(strings.ReplaceAll(raw, "\t", `\t`)), &s) != nil {
				return "", &Error{Message: `valid escapes in double quotes are \" \\ \n \t and \u0000; in single quotes a backslash stands for itself`}
			}
			return s, nil
		}
	}
	l.pos = len(l.line)
	return "", &Error{Message: "the quote is not closed"}
}

// jsonWord reads an object or an array up to its own end.
func (l *lexer) jsonWord() (string, *Error) {
	dec := json.NewDecoder(strings.NewReader(l.line[l.pos:]))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		l.pos = len(l.line)
		return "", &Error{Message: "not valid JSON (" + jsonError(err) + "); quote a text that begins with { or ["}
	}
	l.pos += int(dec.InputOffset())
	return compact(string(raw)), nil
}

// jsonError is a JSON error in the words of a person.
func jsonError(err error) string {
	s := err.Error()
	if strings.Contains(s, "unexpected EOF") {
		return "it is not closed"
	}
	return s
}
