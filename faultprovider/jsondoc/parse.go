package jsondoc

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Parse reads one JSON text. Its error is a *Error.
func Parse(text []byte) (Value, error) {
	p := parser{src: text}
	v, ok := p.value(0)
	if ok {
		if p.space(); p.pos < len(p.src) {
			ok = p.fail(p.pos, "unexpected %s after the value", p.here())
		}
	}
	if !ok {
		p.err.Line, p.err.Column = Position(text, p.err.Offset)
		return Value{}, p.err
	}
	return v, nil
}

type parser struct {
	src []byte
	pos int
	err *Error
}

func (p *parser) fail(at int, format string, args ...any) bool {
	p.err = &Error{Offset: at, Msg: fmt.Sprintf(format, args...)}
	return false
}

// here names the next character for an error.
func (p *parser) here() string {
	if p.pos >= len(p.src) {
		return "end"
	}
	r, _ := utf8.DecodeRune(p.src[p.pos:])
	return strconv.QuoteRune(r)
}

func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// take consumes c, spaces before it included.
func (p *parser) take(c byte) bool {
	p.space()
	if p.pos < len(p.src) && p.src[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) value(depth int) (v Value, ok bool) {
	p.space()
	v.Offset = p.pos
	if depth > MaxDepth {
		return v, p.fail(p.pos, "nested deeper than %d", MaxDepth)
	}
	if p.pos >= len(p.src) {
		return v, p.fail(p.pos, "unexpected end, a value is missing")
	}
	switch c := p.src[p.pos]; {
	case c == '{':
		v.Type = Object
		v.Members, ok = p.members(depth)
	case c == '[':
		v.Type = Array
		v.Items, ok = p.items(depth)
	case c == '"':
		v.Type = String
		v.Text, ok = p.string()
	case c == '-' || c >= '0' && c <= '9':
		v.Type = Number
		v.Text, ok = p.number()
	default:
		ok = p.literal(&v)
	}
	return v, ok
}

func (p *parser) literal(v *Value) bool {
	for _, l := range [...]struct {
		text string
		t    Type
	}{{"true", Bool}, {"false", Bool}, {"null", Null}} {
		if end := p.pos + len(l.text); end <= len(p.src) && string(p.src[p.pos:end]) == l.text {
			v.Type, v.Text, p.pos = l.t, l.text, end
			return true
		}
	}
	return p.fail(p.pos, "unexpected %s, a value is missing", p.here())
}

func (p *parser) items(depth int) (out []Value, ok bool) {
	p.pos++
	if p.take(']') {
		return nil, true
	}
	for {
		v, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		out = append(out, v)
		if p.take(']') {
			return out, true
		}
		if !p.take(',') {
			return nil, p.fail(p.pos, "unexpected %s, the list goes on with , or ]", p.here())
		}
	}
}

func (p *parser) members(depth int) (out []Member, ok bool) {
	p.pos++
	if p.take('}') {
		return nil, true
	}
	for {
		m, ok := p.member(depth)
		if !ok {
			return nil, false
		}
		out = append(out, m)
		if p.take('}') {
			return out, true
		}
		if !p.take(',') {
			return nil, p.fail(p.pos, "unexpected %s, the object goes on with , or }", p.here())
		}
	}
}

func (p *parser) member(depth int) (m Member, ok bool) {
	p.space()
	m.Offset = p.pos
	if p.pos >= len(p.src) || p.src[p.pos] != '"' {
		return m, p.fail(p.pos, "unexpected %s, a name in double quotes is missing", p.here())
	}
	if m.Name, ok = p.string(); !ok {
		return m, false
	}
	if !p.take(':') {
		return m, p.fail(p.pos, "unexpected %s, a colon is missing after the name", p.here())
	}
	m.Value, ok = p.value(depth + 1)
	return m, ok
}

// number reads RFC 8259's number.
func (p *parser) number() (string, bool) {
	start := p.pos
	if p.src[p.pos] == '-' {
		p.pos++
	}
	if p.pos < len(p.src) && p.src[p.pos] == '0' {
		p.pos++
	} else if !p.digits() {
		return "", false
	}
	if p.pos < len(p.src) && p.src[p.pos] == '.' {
		p.pos++
		if !p.digits() {
			return "", false
		}
	}
	if p.pos < len(p.src) && (p.src[p.pos] == 'e' || p.src[p.pos] == 'E') {
		p.pos++
		if p.pos < len(p.src) && (p.src[p.pos] == '+' || p.src[p.pos] == '-') {
			p.pos++
		}
		if !p.digits() {
			return "", false
		}
	}
	return string(p.src[start:p.pos]), true
}

func (p *parser) digits() bool {
	start := p.pos
	for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		p.pos++
	}
	return p.pos > start || p.fail(p.pos, "unexpected %s, a digit is missing", p.here())
}

// string reads a string and decodes it.
func (p *parser) string() (string, bool) {
	p.pos++
	var out []byte
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == '"':
			p.pos++
			return string(out), true
		case c == '\\':
			var ok bool
			if out, ok = p.escape(out); !ok {
				return "", false
			}
		case c < 0x20:
			return "", p.fail(p.pos, "unexpected %s in a string, write it as an escape", p.here())
		case c < utf8.RuneSelf:
			out = append(out, c)
			p.pos++
		default:
			r, n := decodeRune(p.src[p.pos:])
			out = utf8.AppendRune(out, r)
			p.pos += n
		}
	}
	return "", p.fail(p.pos, "unexpected end in a string")
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (p *parser) escape(out []byte) ([]byte, bool) {
	at := p.pos
	if p.pos+1 >= len(p.src) {
		return nil, p.fail(len(p.src), "unexpected end in a string")
	}
	c := p.src[p.pos+1]
	if c != 'u' {
		e, ok := escapes[c]
		p.pos += 2
		return append(out, e), ok || p.fail(at, "unknown escape in a string")
	}
	u, ok := p.hex4(p.pos)
	if !ok {
		return nil, p.fail(at, `\u takes four hexadecimal digits`)
	}
	p.pos += 6
	if utf16.IsSurrogate(u) {
		if low, ok := p.hex4(p.pos); ok {
			if r := utf16.DecodeRune(u, low); r != utf8.RuneError {
				p.pos += 6
				return utf8.AppendRune(out, r), true
			}
		}
		return append(out, 0xed, 0x80|byte(u>>6)&0x3f, 0x80|byte(u)&0x3f), true
	}
	return utf8.AppendRune(out, u), true
}

// hex4 reads \uXXXX at pos.
func (p *parser) hex4(pos int) (rune, bool) {
	if pos+6 > len(p.src) || p.src[pos] != '\\' || p.src[pos+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range p.src[pos+2 : pos+6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// decodeRune is utf8.DecodeRune, but one U+FFFD stands for a whole sequence that was broken off, as the WHATWG decoder
// has it, not for each of its bytes.
func decodeRune(b []byte) (rune, int) {
	r, n := utf8.DecodeRune(b)
	if r != utf8.RuneError || n > 1 {
		return r, n
	}
	for n = 1; n < min(len(b), 4); n++ {
		if !prefix(b[:n+1]) {
			break
		}
	}
	return utf8.RuneError, n
}

// prefix reports whether b, of two bytes or more, begins a valid sequence without ending it.
func prefix(b []byte) bool {
	full := append(make([]byte, 0, 4), b...)
	for len(full) < 4 {
		full = append(full, 0x80)
		if utf8.Valid(full) && utf8.RuneCount(full) == 1 {
			return true
		}
	}
	return false
}
