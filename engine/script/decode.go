package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// decode makes a JavaScript value of JSON, deeply frozen if asked. It differs from JSON.parse of the runtime in what
// matters here: deep nesting is refused instead of eating the stack, lone surrogates survive, and it is fast.
func (rl *realm) decode(text []byte, frozen bool) (goja.Value, error) {
	if !json.Valid(text) {
		return nil, syntaxOf(text)
	}
	d := decoder{rl: rl, text: text, frozen: frozen}
	return d.value(), nil
}

// syntaxOf is encoding/json's own sentence about what is wrong.
func syntaxOf(text []byte) error {
	var any json.RawMessage
	if err := json.Unmarshal(text, &any); err != nil {
		return err
	}
	return errors.New("not JSON")
}

// decoder walks text that is known to be valid.
type decoder struct {
	rl     *realm
	text   []byte
	at     int
	frozen bool
}

// next skips white space and the punctuation between values, and gives the byte that follows.
func (d *decoder) next() byte {
	for {
		switch c := d.text[d.at]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			d.at++
		default:
			return c
		}
	}
}

func (d *decoder) value() goja.Value {
	switch d.next() {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return d.text16()
	case 't':
		d.at += len("true")
		return d.rl.vm.ToValue(true)
	case 'f':
		d.at += len("false")
		return d.rl.vm.ToValue(false)
	case 'n':
		d.at += len("null")
		return goja.Null()
	default:
		return d.number()
	}
}

func (d *decoder) object() goja.Value {
	d.at++
	o := d.rl.vm.NewObject()
	fixed := d.frozen
	for d.next() != '}' {
		key, v := d.key(), d.value()
		if fixed && d.rl.fix(o, key, v) != nil {
			// The name has come before and its value is fixed. The last one counts, as in JSON.parse.
			o, fixed = d.rl.loose(o), false
		}
		if !fixed {
			_ = d.rl.put(o, key, v)
		}
	}
	d.at++
	switch {
	case fixed:
		d.rl.shut(o)
	case d.frozen:
		d.rl.intrinsic("freeze", o)
	}
	return o
}

// loose copies an object whose properties are fixed.
func (rl *realm) loose(o *goja.Object) *goja.Object {
	c := rl.vm.NewObject()
	for _, key := range o.Keys() {
		_ = rl.put(c, key, o.Get(key))
	}
	return c
}

func (d *decoder) array() goja.Value {
	var items []any
	d.at++
	for d.next() != ']' {
		items = append(items, d.value())
	}
	d.at++
	list := d.rl.vm.NewArray(items...)
	if d.frozen {
		d.rl.intrinsic("freeze", list)
	}
	return list
}

// put sets an own property of a plain object, also where the name is __proto__.
func (rl *realm) put(o *goja.Object, key string, v goja.Value) error {
	if key == "__proto__" {
		return o.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	return o.Set(key, v)
}

// fix sets a property for good. An object whose properties are fixed and that is shut is frozen; it is the cheap way.
func (rl *realm) fix(o *goja.Object, key string, v goja.Value) error {
	return o.DefineDataProperty(key, v, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
}

func (rl *realm) shut(o *goja.Object) *goja.Object { return rl.intrinsic("preventExtensions", o) }

func (d *decoder) number() goja.Value {
	start := d.at
	for d.at < len(d.text) && bytes.IndexByte([]byte("+-.0123456789eE"), d.text[d.at]) >= 0 {
		d.at++
	}
	text := string(d.text[start:d.at])
	if n, err := strconv.ParseInt(text, 10, 54); err == nil && (n != 0 || text[0] != '-') {
		return d.rl.vm.ToValue(n)
	}
	// Out of range is an infinity, as in JSON.parse.
	f, _ := strconv.ParseFloat(text, 64)
	if f == 0 && text[0] == '-' {
		f = math.Copysign(0, -1)
	}
	return d.rl.vm.ToValue(f)
}

// text16 reads a string, with its escapes, as UTF-16.
func (d *decoder) text16() goja.Value {
	if s, ok := d.plain(); ok {
		return d.rl.vm.ToValue(s)
	}
	return d.escaped()
}

func (d *decoder) key() string {
	if s, ok := d.plain(); ok {
		return s
	}
	return d.escaped().String()
}

// plain reads a string without escapes. Of another it reads the opening quote only.
func (d *decoder) plain() (string, bool) {
	d.at++
	raw := d.text[d.at:]
	raw = raw[:bytes.IndexByte(raw, '"')]
	if bytes.IndexByte(raw, '\\') >= 0 {
		return "", false
	}
	d.at += len(raw) + 1
	s := string(raw)
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	return s, true
}

func (d *decoder) escaped() goja.Value {
	var out []uint16
	for d.text[d.at] != '"' {
		if d.text[d.at] == '\\' {
			out = append(out, d.escape())
			continue
		}
		r, size := utf8.DecodeRune(d.text[d.at:])
		out = utf16.AppendRune(out, r)
		d.at += size
	}
	d.at++
	return goja.StringFromUTF16(out)
}

func (d *decoder) escape() uint16 {
	c := d.text[d.at+1]
	d.at += 2
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'u':
		n, _ := strconv.ParseUint(string(d.text[d.at:d.at+4]), 16, 16)
		d.at += 4
		return uint16(n)
	}
	return uint16(c)
}
