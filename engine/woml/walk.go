package woml

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// body walks over the body of the script's function.
func (a *analysis) body(f *ast.FunctionLiteral) {
	a.scope = newScope(nil, functionScope)
	for _, name := range parameters {
		a.scope.declared[name] = asParameter
	}
	walkAll(a, f.Body.List)
	if len(a.secrets) > maxSecrets {
		a.report(0, "WOML_SCRIPT_SECRET_LIMIT_EXCEEDED", "The script reads too many secrets.", "Split it into several steps.")
	}
}

// walk checks a node of the syntax tree and all nodes below it.
func (a *analysis) walk(n ast.Node) {
	switch n := n.(type) {
	case nil, *ast.BranchStatement, *ast.MetaProperty: // their identifiers are no variables
	case *ast.Identifier:
		a.identifier(n, false)
	case *ast.DotExpression, *ast.BracketExpression, *ast.PrivateDotExpression, *ast.OptionalChain, *ast.Optional:
		a.member(n.(ast.Expression), false)
	case *ast.CallExpression:
		a.call(n)
		a.children(n)
	case *ast.NewExpression:
		a.construct(n)
		a.children(n)
	case *ast.AssignExpression:
		a.target(n.Left)
		a.walk(n.Right)
	case *ast.BinaryExpression:
		a.htmlComment(n)
		a.children(n)
	case *ast.UnaryExpression:
		a.unary(n)
	case *ast.RegExpLiteral:
		a.regexp(n)
	case *ast.NumberLiteral:
		a.number(n)
	case *ast.PropertyShort:
		a.identifier(&n.Name, false)
		a.walk(n.Initializer)
	case *ast.PropertyKeyed:
		a.named(n.Key, n.Computed, n.Value)
	case *ast.FunctionLiteral:
		a.reserved(n.Name)
		a.function(n)
	case *ast.ArrowFunctionLiteral:
		a.arrow(n)
	case *ast.ClassLiteral:
		a.reserved(n.Name)
		a.class(n)
	default:
		a.statement(n)
	}
}

func (a *analysis) statement(n ast.Node) {
	switch n := n.(type) {
	case *ast.VariableStatement:
		a.bindings(n.List, asVar)
	case *ast.ForLoopInitializerVarDeclList:
		a.bindings(n.List, asVar)
	case *ast.ForIntoVar:
		a.bindings([]*ast.Binding{n.Binding}, asVar)
	case *ast.LexicalDeclaration:
		a.lexical(n)
	case *ast.ForLoopInitializerLexicalDecl:
		a.lexical(&n.LexicalDeclaration)
	case *ast.ForDeclaration:
		a.pattern(n.Target, asLexical)
	case *ast.ForIntoExpression:
		a.target(n.Expression)
	case *ast.FunctionDeclaration:
		a.declare(n.Function.Name, asFunction)
		a.function(n.Function)
	case *ast.ClassDeclaration:
		a.declare(n.Class.Name, asLexical)
		a.class(n.Class)
	case *ast.BlockStatement, *ast.ForStatement, *ast.ForInStatement, *ast.ForOfStatement:
		a.inScope(blockScope, func() { a.children(n) })
	case *ast.SwitchStatement:
		a.walk(n.Discriminant)
		a.inScope(blockScope, func() { walkAll(a, n.Body) })
	case *ast.TryStatement:
		a.try(n)
	case *ast.LabelledStatement:
		a.walk(n.Statement)
	case *ast.WithStatement:
		a.warn(n.With, "WOML_SCRIPT_STRICT_MODE",
			"Scripts run in strict mode, which has no with statement: the step will fail.", "Name the object where it is used.")
		a.children(n)
	default:
		a.children(n)
	}
}

func walkAll[N ast.Node](a *analysis, nodes []N) {
	for _, n := range nodes {
		a.walk(n)
	}
}

// children walks over the nodes in a node's fields.
func (a *analysis) children(n ast.Node) {
	fields := reflect.ValueOf(n).Elem()
	for i := range fields.NumField() {
		switch field := fields.Field(i); field.Kind() {
		case reflect.Interface, reflect.Pointer:
			a.child(field)
		case reflect.Slice:
			for j := range field.Len() {
				a.child(field.Index(j))
			}
		}
	}
}

func (a *analysis) child(v reflect.Value) {
	if v.IsNil() {
		return
	}
	if n, ok := v.Interface().(ast.Node); ok {
		a.walk(n)
	}
}

// inScope runs f in a scope inside of the present one.
func (a *analysis) inScope(kind scopeKind, f func()) {
	a.scope = newScope(a.scope, kind)
	f()
	a.scope = a.scope.outer
}

func (a *analysis) number(e *ast.NumberLiteral) {
	if len(e.Literal) > 1 && e.Literal[0] == '0' && e.Literal[1] >= '0' && e.Literal[1] <= '9' {
		a.warn(e.Idx, "WOML_SCRIPT_STRICT_MODE", "Scripts run in strict mode, where a number has no leading zero: the step will fail.",
			"Remove the zero, or write 0o in front of an octal number.")
	}
}

func (a *analysis) unary(e *ast.UnaryExpression) {
	switch e.Operator {
	case token.INCREMENT, token.DECREMENT:
		a.target(e.Operand)
	case token.DELETE:
		if id, ok := e.Operand.(*ast.Identifier); ok {
			a.warn(id.Idx, "WOML_SCRIPT_STRICT_MODE",
				"Scripts run in strict mode, where a variable cannot be deleted: the step will fail.", "Assign undefined to it.")
		}
		a.target(e.Operand)
	default:
		a.walk(e.Operand)
	}
}

// named walks over a named value of an object or a class; the name is an expression if it is in brackets.
func (a *analysis) named(key ast.Expression, computed bool, value ast.Expression) {
	if computed {
		a.walk(key)
	}
	a.walk(value)
}

func (a *analysis) try(s *ast.TryStatement) {
	a.walk(s.Body)
	if s.Catch != nil {
		a.inScope(blockScope, func() {
			kind := asLexical
			if _, simple := s.Catch.Parameter.(*ast.Identifier); simple {
				kind = asCaught
			}
			a.pattern(s.Catch.Parameter, kind)
			walkAll(a, s.Catch.Body.List)
		})
	}
	if s.Finally != nil {
		a.walk(s.Finally)
	}
}

func (a *analysis) class(c *ast.ClassLiteral) {
	a.walk(c.SuperClass)
	for _, e := range c.Body {
		switch e := e.(type) {
		case *ast.FieldDefinition:
			a.named(e.Key, e.Computed, e.Initializer)
		case *ast.MethodDefinition:
			a.named(e.Key, e.Computed, nil)
			a.function(e.Body)
		case *ast.ClassStaticBlock:
			a.inScope(functionScope, func() { walkAll(a, e.Block.List) })
		}
	}
}

func (a *analysis) function(f *ast.FunctionLiteral) {
	if f.Async && f.Generator {
		a.report(f.Function, "WOML_SCRIPT_FEATURE_UNSUPPORTED", "Async generators are not supported.", "Collect the values in an array.")
	}
	a.inScope(functionScope, func() {
		a.parameters(f.ParameterList)
		walkAll(a, f.Body.List)
	})
}

func (a *analysis) arrow(f *ast.ArrowFunctionLiteral) {
	a.inScope(functionScope, func() {
		a.parameters(f.ParameterList)
		if block, ok := f.Body.(*ast.BlockStatement); ok {
			walkAll(a, block.List)
			return
		}
		a.children(f.Body)
	})
}

func (a *analysis) parameters(list *ast.ParameterList) {
	a.bindings(list.List, asParameter)
	a.pattern(list.Rest, asParameter)
}

// destructure walks over what is written to: leaf takes each name, or what else stands in the place of one.
func (a *analysis) destructure(e ast.Expression, leaf func(ast.Expression)) {
	switch e := e.(type) {
	case nil:
	case *ast.AssignExpression: // a default
		a.destructure(e.Left, leaf)
		a.walk(e.Right)
	case *ast.ArrayPattern:
		for _, element := range e.Elements {
			a.destructure(element, leaf)
		}
		a.destructure(e.Rest, leaf)
	case *ast.ObjectPattern:
		for _, p := range e.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				leaf(&p.Name)
				a.walk(p.Initializer)
			case *ast.PropertyKeyed:
				a.named(p.Key, p.Computed, nil)
				a.destructure(p.Value, leaf)
			}
		}
		a.destructure(e.Rest, leaf)
	default:
		leaf(e)
	}
}

// target walks over an expression that is written to.
func (a *analysis) target(e ast.Expression) {
	a.destructure(e, func(e ast.Expression) {
		switch e := e.(type) {
		case *ast.Identifier:
			a.identifier(e, true)
		case *ast.DotExpression, *ast.BracketExpression, *ast.PrivateDotExpression, *ast.OptionalChain, *ast.Optional:
			a.member(e, true)
		default:
			a.walk(e)
		}
	})
}

// pattern declares all names of a destructuring pattern.
func (a *analysis) pattern(target ast.Expression, as declaration) {
	a.destructure(target, func(e ast.Expression) {
		if id, ok := e.(*ast.Identifier); ok {
			a.declare(id, as)
		}
	})
}

// bindings walks over the declarations of one statement.
func (a *analysis) bindings(list []*ast.Binding, as declaration) {
	for _, b := range list {
		a.pattern(b.Target, as)
		a.walk(b.Initializer)
	}
}

func (a *analysis) lexical(s *ast.LexicalDeclaration) {
	for _, b := range s.List {
		a.pattern(b.Target, asLexical)
		a.walk(b.Initializer)
		if s.Token != token.CONST {
			continue
		}
		if b.Initializer == nil {
			a.report(b.Target.Idx1(), "WOML_SCRIPT_SYNTAX_INVALID", "This const has no value.", "Give it one, or declare it with let.")
			continue
		}
		a.remember(b.Target, b.Initializer)
	}
}
