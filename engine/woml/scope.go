package woml

import (
	"fmt"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// scope is what one function or block declares. It finds what is declared
// twice, which the parser leaves to the compiler.
type scope struct {
	outer    *scope
	kind     scopeKind
	declared map[string]declaration
}

type scopeKind int

const (
	functionScope scopeKind = iota
	blockScope
)

type declaration int

const (
	asParameter declaration = iota + 1
	asVar                   // also in the blocks that it leaves on its way out
	asFunction
	asLexical // let, const, class
	asCaught  // the simple name of a catch clause
)

// parameters are the names that the function of a step has already.
var parameters = []string{"context", "lifecycle", "attempt", "services", "secrets"}

// reservedBindings must not be declared again anywhere in a script.
var reservedBindings = []string{"services", "secrets", "fetch", "lifecycle"}

func newScope(outer *scope, kind scopeKind) *scope {
	return &scope{outer: outer, kind: kind, declared: map[string]declaration{}}
}

// add declares a name and tells whether that is allowed.
func (s *scope) add(name string, as declaration) bool {
	before := s.declared[name]
	inBlock := s.kind == blockScope
	allowed := true
	switch as {
	case asLexical:
		allowed = before == 0
	case asFunction:
		allowed = before != asLexical && (!inBlock || before == 0 || before == asFunction)
	case asVar:
		allowed = before != asLexical && (!inBlock || before != asFunction)
		if inBlock && allowed {
			allowed = s.outer.add(name, asVar)
		}
	}
	if before == 0 {
		s.declared[name] = as
	}
	return allowed
}

// constant is what is known about a name that the script declares.
type constant struct {
	declarations int
	value        ast.Expression // of a const, nil for anything else
}

// valueOf returns what a name stands for, if it is declared once, as a const.
func (a *analysis) valueOf(name string) ast.Expression {
	if c := a.constants[name]; c != nil && c.declarations == 1 {
		return c.value
	}
	return nil
}

func (a *analysis) declare(id *ast.Identifier, as declaration) {
	name := id.Name.String()
	if a.constants[name] == nil {
		a.constants[name] = &constant{}
	}
	a.constants[name].declarations++
	if a.scope.add(name, as) {
		a.reserved(id)
		return
	}
	message, hint := fmt.Sprintf("%q is declared twice.", name), "Rename one of them."
	if a.scope.declared[name] == asParameter && slices.Contains(parameters, name) {
		message, hint = fmt.Sprintf("%q is declared already: WOML gives it to every script.", name), "Take another name."
	}
	a.report(id.Idx, codeScriptSyntaxInvalid, message, hint)
	a.shadowed[name] = true
}

// reserved reports the declaration of a name that WOML needs itself. What the
// script then does with that name is not looked at.
func (a *analysis) reserved(id *ast.Identifier) {
	if id == nil || !slices.Contains(reservedBindings, id.Name.String()) {
		return
	}
	name := id.Name.String()
	a.report(id.Idx, codeScriptBindingShadowed, fmt.Sprintf("%q is WOML's own; a script cannot declare it.", name), "Take another name.")
	a.shadowed[name] = true
}

// bindings walks over the declarations of one statement.
func (a *analysis) bindings(list []*ast.Binding, as declaration) {
	for _, b := range list {
		a.binding(b, as)
	}
}

func (a *analysis) binding(b *ast.Binding, as declaration) {
	a.pattern(b.Target, as)
	a.expression(b.Initializer)
}

func (a *analysis) lexical(s *ast.LexicalDeclaration) {
	for _, b := range s.List {
		a.binding(b, asLexical)
		if s.Token != token.CONST {
			continue
		}
		if b.Initializer == nil {
			a.report(b.Target.Idx1(), codeScriptSyntaxInvalid, "This const has no value.", "Give it one, or declare it with let.")
			continue
		}
		a.remember(b.Target, b.Initializer)
	}
}

// pattern declares all names of a destructuring pattern, and walks over the
// defaults in it.
func (a *analysis) pattern(target ast.Expression, as declaration) {
	switch t := target.(type) {
	case *ast.Identifier:
		a.declare(t, as)
	case *ast.AssignExpression:
		a.pattern(t.Left, as)
		a.expression(t.Right)
	case *ast.ArrayPattern:
		for _, element := range t.Elements {
			a.pattern(element, as)
		}
		a.pattern(t.Rest, as)
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				a.declare(&p.Name, as)
				a.expression(p.Initializer)
			case *ast.PropertyKeyed:
				a.key(p.Key, p.Computed)
				a.pattern(p.Value, as)
			}
		}
		a.pattern(t.Rest, as)
	}
}

// remember notes what a const stands for; "const { a } = b" is "const a = b.a".
func (a *analysis) remember(target ast.Expression, value ast.Expression) {
	switch t := target.(type) {
	case *ast.Identifier:
		a.constants[t.Name.String()].value = value
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				a.constants[p.Name.Name.String()].value = memberOf(value, p.Name)
			case *ast.PropertyKeyed:
				id, renamed := p.Value.(*ast.Identifier)
				if key, ok := p.Key.(*ast.StringLiteral); ok && renamed && !p.Computed {
					a.constants[id.Name.String()].value = memberOf(value, ast.Identifier{Name: key.Value, Idx: key.Idx})
				}
			}
		}
	}
}

func memberOf(object ast.Expression, name ast.Identifier) ast.Expression {
	return &ast.DotExpression{Left: object, Identifier: name}
}
