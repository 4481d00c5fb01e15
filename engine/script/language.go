package script

import (
	"cmp"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"faultlab/engine/ecma"
)

// language goes over a parsed script: it rewrites its regular expressions so that the runtime gets them right, and
// refuses what the runtime would read differently. It gives the rewritten patterns, each with what the script wrote.
func language(src string, tree *ast.Program) (patterns map[string]string, bad *Error) {
	if !strings.ContainsAny(src, "/<") {
		return nil, nil
	}
	refuse := func(at file.Idx, why error) {
		if why == nil || bad != nil {
			return
		}
		line, column := place(src, tree.File.Position(int(at)-1))
		text, code := why.Error(), CodeUnsupported
		var p *ecma.PatternError
		if errors.As(why, &p) && !p.Valid {
			text, code = "the script is not valid JavaScript: "+text, CodeSyntax
		}
		bad = &Error{Code: code, Message: cut(text, MaxMessage), Line: line, Column: column}
	}
	patterns = map[string]string{}
	walk(reflect.ValueOf(tree.Body), map[any]bool{}, func(node any) {
		switch n := node.(type) {
		case *ast.RegExpLiteral:
			text, err := ecma.Pattern(n.Pattern, n.Flags)
			refuse(n.Idx, err)
			if err == nil && text != n.Pattern {
				patterns[text], n.Pattern = n.Pattern, text
			}
		case *ast.BinaryExpression:
			if at := int(n.Right.Idx0()) - 1 - len(opening); ecma.HTMLComment(src, at) {
				feature, hint := ecma.Unsupported(src, at-1)
				refuse(n.Right.Idx0()-1, errors.New(feature+"; "+hint))
			}
		}
	})
	return patterns, bad
}

// walk calls visit for each node of a syntax tree, in what a node holds: nodes, lists of them and structs in them.
func walk(v reflect.Value, seen map[any]bool, visit func(node any)) {
	switch v.Kind() {
	case reflect.Interface:
		walk(v.Elem(), seen, visit)
	case reflect.Pointer:
		if v.IsNil() || v.Type() == reflect.TypeFor[*file.File]() || seen[v.Interface()] {
			return
		}
		seen[v.Interface()] = true
		visit(v.Interface())
		walk(v.Elem(), seen, visit)
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), seen, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walk(v.Field(i), seen, visit)
			}
		}
	}
}

// replacements are the modules that replace what the runtime would get wrong, each with the words of a script that need it:
// most scripts need none, and a runtime is made for every attempt.
var replacements = []struct {
	module string
	words  []string
	names  []string // of the globals that it replaces
}{
	{"regexp", []string{"RegExp", ".constructor", `"constructor"`, "'constructor'"}, []string{"RegExp"}},
	{"date", []string{"Date(", "Date.parse", "Date\"", ".constructor"}, []string{"Date"}},
	{"locale", []string{"ocale"}, nil},
	{"code", []string{"eval", "Function", ".constructor", `"constructor"`, "'constructor'"}, []string{"eval", "Function"}},
}

// replaceGlobals replaces in a new realm what its script could meet of that.
func (rl *realm) replaceGlobals() {
	for _, f := range replacements {
		mentions := func(word string) bool { return strings.Contains(rl.program.source, word) }
		if !slices.ContainsFunc(f.words, mentions) && !(f.module == "regexp" && len(rl.program.patterns) > 0) {
			continue
		}
		m := rl.module(f.module)
		for _, name := range f.names {
			_ = rl.vm.GlobalObject().DefineDataProperty(name, m.Get(name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
}

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
		rl.refuse("SyntaxError", code, bad.Error())
	}
	if text != pattern {
		rl.patterns[text] = strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(slashes(pattern))
	}
	return rl.vm.ToValue(text)
}

// regexpWritten is what a script wrote for a pattern that was rewritten.
func (rl *realm) regexpWritten(c goja.FunctionCall) goja.Value {
	text := c.Argument(0).String()
	if written := cmp.Or(rl.patterns[text], rl.program.patterns[text]); written != "" {
		return rl.vm.ToValue(written)
	}
	return c.Argument(0)
}

var slash = regexp.MustCompile(`(?s)\\.|\[(?:\\.|[^\]\\])*|/`)

// slashes escapes the slashes of a pattern outside of classes, as RegExp.prototype.source shows them.
func slashes(pattern string) string {
	return slash.ReplaceAllStringFunc(pattern, func(found string) string {
		if found == "/" {
			return `\/`
		}
		return found
	})
}

// refuseFeature throws a TypeError with the code CodeUnsupported, and the first argument as its message.
func (rl *realm) refuseFeature(c goja.FunctionCall) goja.Value {
	rl.refuse("TypeError", CodeUnsupported, c.Argument(0).String())
	return nil
}

// refuse throws an error of a class, with a code.
func (rl *realm) refuse(class, code, text string) {
	e := rl.newError(class, text)
	rl.set(e, "code", code)
	rl.refusals[e] = code == CodeUnsupported
	panic(e)
}
