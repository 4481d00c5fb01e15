package script

import (
	"errors"
	"strings"

	"github.com/dop251/goja"

	"faultlab/engine/ecma"
)

// regexpPattern rewrites the pattern of a RegExp that is made at run time, or throws a SyntaxError.
func (rl *realm) regexpPattern(c goja.FunctionCall) goja.Value {
	pattern, flags := c.Argument(0).String(), c.Argument(1).String()
	if strings.ContainsRune(pattern, '\ufffd') {
		return c.Argument(0) // half a surrogate pair, perhaps: it is no text that could be rewritten
	}
	text, err := ecma.Pattern(pattern, flags)
	var bad *ecma.PatternError
	if errors.As(err, &bad) {
		code := CodeSyntax
		if bad.Valid {
			code = CodeUnsupported
		}
		rl.refuse(rl.vm.Get("SyntaxError"), code, bad.Error())
	}
	if text != pattern {
		rl.wrote(text, pattern)
	}
	return rl.vm.ToValue(text)
}

// regexpWritten is what a script wrote for a pattern that was rewritten.
func (rl *realm) regexpWritten(c goja.FunctionCall) goja.Value {
	text := c.Argument(0).String()
	if written, ok := rl.patterns[text]; ok {
		return rl.vm.ToValue(written)
	}
	if written, ok := rl.program.patterns[text]; ok {
		return rl.vm.ToValue(written)
	}
	return c.Argument(0)
}

func (rl *realm) wrote(text, pattern string) {
	if rl.patterns == nil {
		rl.patterns = map[string]string{}
	}
	rl.patterns[text] = strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(slashes(pattern))
}

// slashes escapes the slashes of a pattern outside of classes, as RegExp.prototype.source shows them.
func slashes(pattern string) string {
	var out strings.Builder
	class := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			out.WriteByte(c)
			i++
		case c == '[' || c == ']':
			class = c == '['
		case c == '/' && !class:
			out.WriteByte('\\')
		}
		out.WriteByte(pattern[i])
	}
	return out.String()
}

// refuseFeature throws a TypeError with the code CodeUnsupported, and the first argument as its message.
func (rl *realm) refuseFeature(c goja.FunctionCall) goja.Value {
	rl.refuse(rl.vm.Get("TypeError"), CodeUnsupported, c.Argument(0).String())
	return nil
}

// refuse throws an error of a class, with a code.
func (rl *realm) refuse(class goja.Value, code, text string) {
	e, err := rl.vm.New(class, rl.vm.ToValue(text))
	if err != nil {
		panic(err)
	}
	rl.put(e, "code", rl.vm.ToValue(code))
	if code == CodeUnsupported {
		if rl.refusals == nil {
			rl.refusals = map[*goja.Object]bool{}
		}
		rl.refusals[e] = true
	}
	panic(e)
}
