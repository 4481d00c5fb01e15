package script

import (
	"encoding/base64"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// maxDepth bounds nesting on the way out. Whoever reads it back has a bound too, and it may stand inside of more by then.
const maxDepth = 1000

// flaw is why a value is not JSON: where, and what to do about it.
type flaw struct {
	text     string
	tooLarge bool
}

// encoder writes a JavaScript value as JSON. It has two ways of looking at objects: a result is strict, a request is read as JSON.stringify reads it, except that what JSON.stringify would silently spoil
// (NaN, a Map, a function, undefined in an array) is refused.
type encoder struct {
	rl     *realm
	root   string // what the value is called in sentences
	strict bool
	binary bool // bytes become {"bytesBase64"}
	limit  int  // bytes of JSON
	out    []byte
	path   []step
	above  []*goja.Object // the objects that contain the present one
}

// step is one key or, if it is not negative, one index on the way to a value.
type step struct {
	key   string
	index int
}

// encode writes v and, whether it could be read to its end or not, refuses what is too large.
func (e *encoder) encode(v goja.Value) *flaw {
	f := e.value(v)
	if len(e.out) > e.limit {
		return &flaw{text: fmt.Sprintf("%s is larger than %d bytes of JSON", e.root, e.limit), tooLarge: true}
	}
	return f
}

func (e *encoder) value(v goja.Value) *flaw {
	if len(e.out) > e.limit {
		return e.flaw("is not read any more") // encode says why
	}
	switch {
	case v == nil && e.strict:
		return e.flaw("is a hole; arrays must have all their elements")
	case v == nil || goja.IsUndefined(v):
		return e.flaw("is undefined; leave it out or use null")
	case goja.IsNull(v):
		e.out = append(e.out, "null"...)
		return nil
	}
	switch x := v.(type) {
	case goja.String:
		e.out = appendString(e.out, x)
		return nil
	case *goja.Object:
		return e.object(x)
	case *goja.Symbol:
		return e.flaw("is a symbol, which JSON does not have")
	}
	switch {
	case goja.IsNumber(v):
		return e.number(v)
	case goja.IsBigInt(v):
		return e.flaw("is a bigint; use String(value) or Number(value)")
	}
	e.out = strconv.AppendBool(e.out, v.ToBoolean())
	return nil
}

func (e *encoder) number(v goja.Value) *flaw {
	f := v.ToFloat()
	switch {
	case math.IsNaN(f):
		return e.flaw("is NaN, which JSON does not have")
	case math.IsInf(f, 0):
		return e.flaw("is infinite, which JSON does not have")
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		e.out = strconv.AppendInt(e.out, int64(f), 10) // -0 becomes 0
	default:
		e.out = append(e.out, v.String()...)
	}
	return nil
}

func (e *encoder) object(o *goja.Object) *flaw {
	if slices.Contains(e.above, o) {
		return e.flaw("contains itself")
	}
	if len(e.above) >= maxDepth {
		e.path = nil
		return e.flaw(fmt.Sprintf("is nested more than %d deep", maxDepth))
	}
	e.above = append(e.above, o)
	defer func() { e.above = e.above[:len(e.above)-1] }()
	if e.strict && o.ExportType() == proxyType {
		return e.flaw("is a Proxy, which JSON does not have")
	}
	if what := unfit(o); what != "" {
		return e.flaw(what)
	}
	if e.strict {
		return e.strictObject(o)
	}
	return e.requestObject(o)
}

// requestObject reads an object as JSON.stringify does.
func (e *encoder) requestObject(o *goja.Object) *flaw {
	if data, ok := bytesOf(o); ok {
		if !e.binary {
			return e.flaw("is binary data; send it as bytesBase64")
		}
		e.out = append(e.out, `{"bytesBase64":"`...)
		e.out = base64.StdEncoding.AppendEncode(e.out, data)
		e.out = append(e.out, `"}`...)
		return nil
	}
	if toJSON, ok := goja.AssertFunction(o.Get("toJSON")); ok {
		v, err := toJSON(o)
		if err != nil {
			panic(err)
		}
		return e.value(v)
	}
	switch o.ClassName() {
	case "Array":
		return e.array(o)
	case "String": // new String("x")
		return e.value(e.rl.vm.ToValue(o.String()))
	case "Number", "Boolean":
		return e.value(e.rl.vm.ToValue(o.Export()))
	}
	return e.members(o)
}

// strictObject writes a plain object or an array whose JSON is all there is to it: read back, it is the same value.
func (e *encoder) strictObject(o *goja.Object) *flaw {
	list, plain := e.rl.kind(o)
	switch {
	case !list && !plain:
		return e.flaw("is " + article(e.rl.className(o)) + ", not a plain object; return its data")
	case len(o.Symbols()) > 0:
		return e.flaw("has a symbol as a key, which JSON does not have")
	case list:
		if int64(len(o.GetOwnPropertyNames())) > o.Get("length").ToInteger()+1 {
			return e.flaw("is an array with properties beside its elements, which JSON does not have")
		}
		return e.array(o)
	case len(o.Keys()) != len(o.GetOwnPropertyNames()):
		return e.flaw("has a property that is not enumerable, so JSON would lose it")
	}
	return e.members(o)
}

func (e *encoder) array(o *goja.Object) *flaw {
	e.out = append(e.out, '[')
	for i := range int(o.Get("length").ToInteger()) {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.path = append(e.path, step{index: i}) // before Get: a getter is refused with its place
		if f := e.value(o.Get(strconv.Itoa(i))); f != nil {
			return f
		}
		e.path = e.path[:len(e.path)-1]
	}
	e.out = append(e.out, ']')
	return nil
}

func (e *encoder) members(o *goja.Object) *flaw {
	e.out = append(e.out, '{')
	first := true
	for _, key := range o.Keys() {
		e.path = append(e.path, step{key: key, index: -1})
		if v := o.Get(key); e.strict || v != nil && !goja.IsUndefined(v) {
			if !first {
				e.out = append(e.out, ',')
			}
			first = false
			e.out = append(appendText(e.out, key), ':')
			if f := e.value(v); f != nil {
				return f
			}
		}
		e.path = e.path[:len(e.path)-1]
	}
	e.out = append(e.out, '}')
	return nil
}

// result encodes what a script returned. A getter is not called: the runtime is interrupted beforehand, so that it
// stops before its first instruction, which gives it away. (The runtime has no cheap way to tell an accessor from
// data.) Nothing else of the script runs after this within its turn, so a watchdog's interrupt is not lost.
func (e *encoder) result(v goja.Value) (bad *flaw) {
	e.rl.vm.Interrupt("a getter")
	defer e.rl.vm.ClearInterrupt()
	defer func() {
		if x := recover(); x != nil {
			if _, ok := x.(*goja.InterruptedError); !ok {
				panic(x)
			}
			bad = e.flaw("is an accessor (get or set), not data")
		}
	}()
	if ex := e.rl.vm.Try(func() { bad = e.encode(v) }); ex != nil {
		return e.flaw("cannot be read: " + ex.Value().String())
	}
	return bad
}

var (
	plainType   = reflect.TypeFor[map[string]any]()
	arrayType   = reflect.TypeFor[[]any]()
	promiseType = reflect.TypeFor[*goja.Promise]()
	proxyType   = reflect.TypeFor[goja.Proxy]()
	bufferType  = reflect.TypeFor[goja.ArrayBuffer]()
	mapType     = reflect.TypeFor[[][2]any]()
	setType     = arrayType
	secretsType = reflect.TypeFor[*secretsObject]()
	fixedType   = reflect.TypeFor[*fixedObject]()
)

// unfit says what an object is that has no meaning as JSON, or is empty.
func unfit(o *goja.Object) string {
	switch t := o.ExportType(); {
	case t == promiseType:
		return "is a promise; await it first"
	case t != nil && t.Kind() == reflect.Func:
		return "is a function, which JSON does not have"
	case t == secretsType:
		return "is the secrets object; name one: secrets.NAME"
	case t == fixedType:
		return "is a service, which JSON does not have"
	case t == mapType:
		return "is a Map; use Object.fromEntries(map)"
	case t == setType && o.ClassName() != "Array":
		return "is a Set; use [...set]"
	}
	switch class := o.ClassName(); class {
	case "Function":
		return "is a function, which JSON does not have"
	case "Error", "RegExp", "WeakMap", "WeakSet", "Symbol":
		return "is " + article(class) + ", which JSON does not have"
	}
	return ""
}

// bytesOf is the content of an ArrayBuffer or a view of one.
func bytesOf(o *goja.Object) ([]byte, bool) {
	if o.ExportType() == bufferType {
		return o.Export().(goja.ArrayBuffer).Bytes(), true
	}
	if o.ExportType() == plainType || o.ExportType() == arrayType || o.ExportType() == proxyType {
		return nil, false
	}
	inner, ok := o.Get("buffer").(*goja.Object)
	if !ok || inner.ExportType() != bufferType {
		return nil, false
	}
	all := inner.Export().(goja.ArrayBuffer).Bytes()
	from, size := int(o.Get("byteOffset").ToInteger()), int(o.Get("byteLength").ToInteger())
	if from < 0 || size < 0 || from+size > len(all) {
		return nil, false
	}
	return all[from : from+size], true
}

// maxSteps is how many steps of a path a sentence shows, the last ones.
const maxSteps = 20

// flaw says what is wrong with the present value, and where it is.
func (e *encoder) flaw(what string) *flaw {
	var b strings.Builder
	b.WriteString(e.root)
	path := e.path
	if len(path) > maxSteps {
		path = path[len(path)-maxSteps:]
		b.WriteString("…")
	}
	for _, s := range path {
		switch {
		case s.index >= 0:
			fmt.Fprintf(&b, "[%d]", s.index)
		case identifier.MatchString(s.key):
			b.WriteString("." + s.key)
		default:
			fmt.Fprintf(&b, "[%s]", appendText(nil, s.key))
		}
	}
	return &flaw{text: b.String() + " " + what}
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// kind tells whether an object is a plain array or a plain object of this runtime.
func (rl *realm) kind(o *goja.Object) (list, plain bool) {
	proto := o.Prototype()
	switch o.ClassName() {
	case "Array":
		return proto == rl.arrayProto, false
	case "Object":
		return false, o.ExportType() == plainType && (proto == rl.objectProto || proto == nil)
	}
	return false, false
}

// className is the name of an object's class, as far as it tells.
func (rl *realm) className(o *goja.Object) string {
	name := o.ClassName()
	_ = rl.vm.Try(func() {
		if constructor, ok := o.Get("constructor").(*goja.Object); ok && textOf(constructor.Get("name")) != "" {
			name = textOf(constructor.Get("name"))
		}
	})
	return name
}

// article puts the indefinite article before a name.
func article(name string) string {
	if strings.Contains("AEIOU", name[:1]) {
		return "an " + name
	}
	return "a " + name
}

// appendString writes a JavaScript string as JSON. A lone surrogate becomes its escape, as in JSON.stringify.
func appendString(out []byte, s goja.String) []byte {
	text := s.String()
	if !strings.ContainsRune(text, utf8.RuneError) {
		return appendText(out, text)
	}
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
			out = fmt.Appendf(out, `\u%04x`, c)
		}
	}
	return append(out, '"')
}

// appendText writes a text as JSON; it escapes no more than JSON.stringify does.
func appendText(out []byte, s string) []byte {
	out = append(out, '"')
	start := 0
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			out = append(out, s[start:i]...)
			out = appendRune(out, rune(c))
			start = i + 1
		}
	}
	return append(append(out, s[start:]...), '"')
}

func appendRune(out []byte, r rune) []byte {
	if i := strings.IndexRune("\"\\\b\f\n\r\t", r); i >= 0 {
		return append(out, '\\', `"\bfnrt`[i])
	}
	if r < ' ' {
		return fmt.Appendf(out, `\u%04x`, r)
	}
	return utf8.AppendRune(out, r)
}
