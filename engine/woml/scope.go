package woml

import (
	"fmt"
	"slices"

	"github.com/dop251/goja/ast"
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
	a.report(id.Idx, "WOML_SCRIPT_SYNTAX_INVALID", message, hint)
	a.shadowed[name] = true
}

// reserved reports the declaration of a name that WOML needs itself. What the
// script then does with that name is not looked at.
func (a *analysis) reserved(id *ast.Identifier) {
	if id == nil || !slices.Contains(reservedBindings, id.Name.String()) {
		return
	}
	name := id.Name.String()
	a.report(id.Idx, "WOML_SCRIPT_BINDING_SHADOWED", fmt.Sprintf("%q is WOML's own; a script cannot declare it.", name), "Take another name.")
	a.shadowed[name] = true
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
