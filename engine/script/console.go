package script

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// console writes to the Host's log. It has the five levels and the placeholders of the console standard.
func (rl *realm) console() goja.Value {
	o := rl.vm.NewObject()
	for _, level := range []string{"log", "info", "warn", "error", "debug"} {
		rl.put(o, level, rl.function(level, func(c goja.FunctionCall) goja.Value {
			text := cut(rl.secrets.Clean(rl.format(c.Arguments)), MaxLog)
			rl.ask(func(r *runner) { r.host.Log(level, text) })
			return goja.Undefined()
		}))
	}
	return o
}

// format joins the arguments with spaces; placeholders in a leading string take theirs.
func (rl *realm) format(args []goja.Value) string {
	var b strings.Builder
	if first, ok := firstString(args); ok {
		args = args[1:]
		for {
			before, after, found := strings.Cut(first, "%")
			b.WriteString(before)
			if !found {
				break
			}
			first = after
			args, first = rl.placeholder(&b, args, after)
		}
		if len(args) > 0 {
			b.WriteByte(' ')
		}
	}
	for i, v := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(rl.inspect(v, false))
	}
	return b.String()
}

func firstString(args []goja.Value) (string, bool) {
	if len(args) == 0 {
		return "", false
	}
	s, ok := args[0].(goja.String)
	if !ok {
		return "", false
	}
	return s.String(), true
}

// placeholder writes what stands for a percent sign and the letter after it.
func (rl *realm) placeholder(b *strings.Builder, args []goja.Value, after string) (rest []goja.Value, text string) {
	switch {
	case after == "" || !strings.Contains("sdifoO%", after[:1]) || after[0] != '%' && len(args) == 0:
		b.WriteByte('%')
		return args, after
	case after[0] == '%':
		b.WriteByte('%')
		return args, after[1:]
	case after[0] == 'd' || after[0] == 'i':
		b.WriteString(rl.vm.ToValue(args[0].ToInteger()).String())
	case after[0] == 'f':
		b.WriteString(rl.vm.ToValue(args[0].ToFloat()).String())
	default:
		b.WriteString(rl.inspect(args[0], false))
	}
	return args[1:], after[1:]
}

// Bounds of what one console argument shows.
const (
	maxShownDepth = 4
	maxShown      = 100
)

// inspect shows a value to people. It runs no code of the script but toString of an object that is not plain.
func (rl *realm) inspect(v goja.Value, quoted bool) string {
	var b strings.Builder
	if ex := rl.vm.Try(func() { rl.show(&b, v, quoted, 0) }); ex != nil {
		b.WriteString("[cannot be shown]")
	}
	return b.String()
}

func (rl *realm) show(b *strings.Builder, v goja.Value, quoted bool, depth int) {
	o, isObject := v.(*goja.Object)
	switch {
	case !isObject && goja.IsString(v) && quoted:
		b.Write(appendString(nil, v.(goja.String)))
	case !isObject && goja.IsBigInt(v):
		b.WriteString(v.String() + "n")
	case !isObject:
		b.WriteString(v.String())
	case o.ExportType() == secretsType:
		b.WriteString("[secrets]")
	case o.ExportType() == fixedType:
		b.WriteString("[" + o.Export().(*fixedObject).name + "]")
	case o.ExportType() == proxyType:
		b.WriteString("[Proxy]")
	default:
		rl.showObject(b, o, depth)
	}
}

func (rl *realm) showObject(b *strings.Builder, o *goja.Object, depth int) {
	list, plain := rl.kind(o)
	switch {
	case depth > maxShownDepth:
		b.WriteString("…")
	case list:
		rl.showMembers(b, o, '[', ']', depth)
	case plain:
		rl.showMembers(b, o, '{', '}', depth)
	case o.ClassName() == "Error":
		b.WriteString(heading(o))
	case o.ClassName() == "Function":
		b.WriteString("[function " + textOf(o.Get("name")) + "]")
	case o.ExportType() == mapType || o.ExportType() == setType:
		fmt.Fprintf(b, "[%s of %s]", rl.className(o), o.Get("size"))
	case o.ExportType() == promiseType:
		b.WriteString("[Promise]")
	case o.ClassName() == "Object":
		b.WriteString(rl.className(o) + " ")
		rl.showMembers(b, o, '{', '}', depth)
	default:
		b.WriteString(o.String())
	}
}

func (rl *realm) showMembers(b *strings.Builder, o *goja.Object, open, shut byte, depth int) {
	b.WriteByte(open)
	shown := 0
	all := rl.intrinsic("getOwnPropertyDescriptors", o)
	for _, key := range all.Keys() {
		d := all.Get(key).(*goja.Object)
		if !d.Get("enumerable").ToBoolean() {
			continue
		}
		if shown > 0 {
			b.WriteString(", ")
		}
		if shown++; shown > maxShown || b.Len() > MaxLog {
			b.WriteString("…")
			break
		}
		if open == '{' {
			if !identifier(key) {
				key = strconv.Quote(key)
			}
			b.WriteString(key + ": ")
		}
		if v := d.Get("value"); v != nil {
			rl.show(b, v, true, depth+1)
		} else {
			b.WriteString("[getter]")
		}
	}
	b.WriteByte(shut)
}
