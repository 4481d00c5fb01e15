package script

import (
	"errors"
	"reflect"
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
	w := walker{seen: map[any]bool{}}
	w.visit = func(node any) {
		switch n := node.(type) {
		case *ast.RegExpLiteral:
			w.refuse(src, tree, n.Idx, w.pattern(n))
		case *ast.BinaryExpression:
			if at := int(n.Right.Idx0()) - 1 - len(opening); ecma.HTMLComment(src, at) {
				feature, hint := ecma.Unsupported(src, at-1)
				w.refuse(src, tree, n.Right.Idx0()-1, errors.New(feature+"; "+hint))
			}
		}
	}
	w.walk(reflect.ValueOf(tree.Body))
	return w.patterns, w.bad
}

// fitted are the modules that replace what the runtime would get wrong, each with the words of a script that need it:
// most scripts need none, and a runtime is made for every attempt.
var fitted = []struct {
	module string
	words  []string
	names  []string // of the globals that it replaces
}{
	{"regexp", []string{"RegExp", ".constructor", `"constructor"`, "'constructor'"}, []string{"RegExp"}},
	{"date", []string{"Date(", "Date.parse", "Date\"", ".constructor"}, []string{"Date"}},
	{"locale", []string{"ocale"}, nil},
	{"code", []string{"eval", "Function", ".constructor", `"constructor"`, "'constructor'"}, []string{"eval", "Function"}},
}

// fitLanguage replaces in a new realm what its script could meet of that.
func (rl *realm) fitLanguage() {
	for _, f := range fitted {
		mentions := func(word string) bool { return strings.Contains(rl.program.source, word) }
		if !slices.ContainsFunc(f.words, mentions) && !(f.module == "regexp" && rl.program.patterns != nil) {
			continue
		}
		m := rl.module(f.module)
		for _, name := range f.names {
			_ = rl.vm.GlobalObject().DefineDataProperty(name, m.Get(name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
}

// walker calls visit for each node of a syntax tree.
type walker struct {
	visit    func(any)
	seen     map[any]bool
	patterns map[string]string
	bad      *Error
}

// pattern rewrites a regular expression in its place.
func (w *walker) pattern(n *ast.RegExpLiteral) error {
	text, err := ecma.Pattern(n.Pattern, n.Flags)
	if err != nil {
		return err
	}
	if text != n.Pattern {
		if w.patterns == nil {
			w.patterns = map[string]string{}
		}
		w.patterns[text], n.Pattern = n.Pattern, text
	}
	return nil
}

// refuse keeps the first refusal.
func (w *walker) refuse(src string, tree *ast.Program, at file.Idx, why error) {
	if why == nil || w.bad != nil {
		return
	}
	line, column := place(src, tree.File.Position(int(at)-1))
	text, code := why.Error(), CodeUnsupported
	var p *ecma.PatternError
	if errors.As(why, &p) && !p.Valid {
		text, code = "the script is not valid JavaScript: "+text, CodeSyntax
	}
	w.bad = &Error{Code: code, Message: cut(text, MaxMessage), Line: line, Column: column}
}

// walk goes over what a node holds: nodes, lists of them and structs in them.
func (w *walker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		w.walk(v.Elem())
	case reflect.Pointer:
		if v.IsNil() || v.Type() == reflect.TypeFor[*file.File]() || w.seen[v.Interface()] {
			return
		}
		w.seen[v.Interface()] = true
		w.visit(v.Interface())
		w.walk(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				w.walk(v.Field(i))
			}
		}
	}
}
