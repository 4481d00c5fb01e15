package script

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// decode makes a JavaScript value of JSON, deeply frozen if asked. It differs from JSON.parse of the runtime in what
// matters here: deep nesting is refused instead of eating the stack, lone surrogates survive, and it is fast.
func (rl *realm) decode(text []byte, frozen bool) (goja.Value, error) {
	if !json.Valid(text) {
		return nil, json.Unmarshal(text, new(json.RawMessage)) // which says what is wrong
	}
	d := decoder{rl: rl, text: text, frozen: frozen}
	return d.value(), nil
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
		return d.string()
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
		key, _ := d.goString()
		v := d.value()
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
	for d.at < len(d.text) && strings.IndexByte("+-.0123456789eE", d.text[d.at]) >= 0 {
		d.at++
	}
	f, _ := strconv.ParseFloat(string(d.text[start:d.at]), 64) // out of range is an infinity, as in JSON.parse
	return d.rl.vm.ToValue(f)
}

func (d *decoder) string() goja.Value {
	s, half := d.goString()
	if half != nil {
		return half
	}
	return d.rl.vm.ToValue(s)
}

// goString reads a string, or, where Go's strings cannot hold it, gives the value.
func (d *decoder) goString() (string, goja.Value) {
	start := d.at + 1
	escaped := false
	for d.at++; d.text[d.at] != '"'; d.at++ {
		if d.text[d.at] == '\\' {
			d.at++
			escaped = true
		}
	}
	d.at++
	if !escaped {
		s := string(d.text[start : d.at-1])
		if !utf8.ValidString(s) {
			s = string([]rune(s))
		}
		return s, nil
	}
	var s string
	_ = json.Unmarshal(d.text[start-1:d.at], &s)
	if !strings.ContainsRune(s, utf8.RuneError) {
		return s, nil
	}
	// Half of a surrogate pair, perhaps, which Go's strings do not have. A JSON string is a JavaScript literal too.
	v, err := d.rl.vm.RunString("(" + string([]rune(string(d.text[start-1:d.at]))) + ")")
	if err != nil {
		panic(err)
	}
	return v.String(), v
}
