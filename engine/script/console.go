package script

import (
	"fmt"
	"regexp"
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

var placeholder = regexp.MustCompile(`%[sdifoO%]`)

// format joins the arguments with spaces; placeholders in a leading string take theirs.
func (rl *realm) format(args []goja.Value) string {
	var words []string
	if len(args) > 0 {
		if first, ok := args[0].(goja.String); ok {
			args = args[1:]
			words = append(words, placeholder.ReplaceAllStringFunc(first.String(), func(p string) string {
				if p == "%%" {
					return "%"
				}
				if len(args) == 0 {
					return p
				}
				v := args[0]
				args = args[1:]
				switch p[1] {
				case 'd', 'i':
					return rl.vm.ToValue(v.ToInteger()).String()
				case 'f':
					return rl.vm.ToValue(v.ToFloat()).String()
				}
				return rl.inspect(v, false)
			}))
		}
	}
	for _, v := range args {
		words = append(words, rl.inspect(v, false))
	}
	return strings.Join(words, " ")
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
			if !identifier.MatchString(key) {
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
