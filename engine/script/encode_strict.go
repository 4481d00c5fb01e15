package script

import (
	"strconv"

	"github.com/dop251/goja"
)

// strictObject writes a plain object or an array whose JSON is all there is to it: read back, it is the same value.
func (e *encoder) strictObject(o *goja.Object) *flaw {
	if o.ExportType() == proxyType {
		return e.flaw("is a Proxy, which JSON does not have")
	}
	if what := unfit(o); what != "" {
		return e.flaw(what)
	}
	list, plain := e.rl.kind(o)
	switch {
	case !list && !plain:
		return e.flaw("is " + article(e.rl.className(o)) + ", not a plain object; return its data")
	case len(o.Symbols()) > 0:
		return e.flaw("has a symbol as a key, which JSON does not have")
	case list:
		return e.strictArray(o)
	}
	return e.strictMembers(o)
}

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
	switch name[0] {
	case 'A', 'E', 'I', 'O', 'U':
		return "an " + name
	}
	return "a " + name
}

// result encodes what a script returned. A getter is not called: the runtime is interrupted beforehand, so that it
// stops before its first instruction, which gives it away. (The runtime has no cheap way to tell an accessor from
// data.) Nothing else of the script runs after this within its turn, so a watchdog's interrupt is not lost.
func (e *encoder) result(v goja.Value) (bad *flaw) {
	e.rl.vm.Interrupt(accessor{})
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

// accessor is what a getter is interrupted with.
type accessor struct{}

func (e *encoder) strictArray(o *goja.Object) *flaw {
	length := o.Get("length").ToInteger()
	if names := len(o.GetOwnPropertyNames()); int64(names) > length+1 {
		return e.flaw("is an array with properties beside its elements, which JSON does not have")
	}
	e.out = append(e.out, '[')
	for i := range int(length) {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.path = append(e.path, step{index: i})
		v := o.Get(strconv.Itoa(i))
		if v == nil {
			return e.flaw("is a hole; arrays must have all their elements")
		}
		if f := e.value(v); f != nil {
			return f
		}
		e.path = e.path[:len(e.path)-1]
	}
	e.out = append(e.out, ']')
	return nil
}

func (e *encoder) strictMembers(o *goja.Object) *flaw {
	keys := o.Keys()
	if len(keys) != len(o.GetOwnPropertyNames()) {
		return e.flaw("has a property that is not enumerable, so JSON would lose it")
	}
	e.out = append(e.out, '{')
	for i, key := range keys {
		e.out = appendKey(e.out, key, i == 0)
		e.path = append(e.path, keyStep(key))
		if f := e.value(o.Get(key)); f != nil {
			return f
		}
		e.path = e.path[:len(e.path)-1]
	}
	e.out = append(e.out, '}')
	return nil
}
