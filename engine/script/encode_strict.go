package script

import (
	"strconv"

	"github.com/dop251/goja"
)

// strictObject writes a plain object or an array whose JSON is all there is to it: read back, it is the same value.
// Properties are read from their descriptors, so that no getter of the script runs.
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

func (e *encoder) strictArray(o *goja.Object) *flaw {
	length := o.Get("length").ToInteger()
	all := e.rl.descriptors(o)
	e.out = append(e.out, '[')
	written := int64(0)
	for _, key := range all.Keys() {
		if key == "length" {
			continue
		}
		if key != strconv.FormatInt(written, 10) {
			break // a hole, or a property beside the elements; told apart below
		}
		if written > 0 {
			e.out = append(e.out, ',')
		}
		if f := e.described(step{index: int(written)}, all); f != nil {
			return f
		}
		written++
	}
	if written < length {
		e.path = append(e.path, step{index: int(written)})
		return e.flaw("is a hole; arrays must have all their elements")
	}
	if extra := len(all.Keys()) - 1; int64(extra) > length {
		return e.flaw("is an array with properties beside its elements, which JSON does not have")
	}
	e.out = append(e.out, ']')
	return nil
}

func (e *encoder) strictMembers(o *goja.Object) *flaw {
	all := e.rl.descriptors(o)
	e.out = append(e.out, '{')
	for i, key := range all.Keys() {
		e.out = appendKey(e.out, key, i == 0)
		if f := e.described(keyStep(key), all); f != nil {
			return f
		}
	}
	e.out = append(e.out, '}')
	return nil
}

// descriptors is Object.getOwnPropertyDescriptors.
func (rl *realm) descriptors(o *goja.Object) *goja.Object {
	return rl.intrinsic("getOwnPropertyDescriptors", o)
}

// described writes the property that its descriptor among all describes.
func (e *encoder) described(s step, all *goja.Object) *flaw {
	key := s.key
	if s.index >= 0 {
		key = strconv.Itoa(s.index)
	}
	d, ok := all.Get(key).(*goja.Object)
	e.path = append(e.path, s)
	switch {
	case !ok:
		return e.flaw("has a name that is not well-formed Unicode")
	case d.Get("value") == nil:
		return e.flaw("is an accessor (get or set), not data")
	case !d.Get("enumerable").ToBoolean():
		return e.flaw("is not enumerable, so JSON would lose it")
	}
	if f := e.value(d.Get("value")); f != nil {
		return f
	}
	e.path = e.path[:len(e.path)-1]
	return nil
}
