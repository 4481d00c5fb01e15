package woml

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// body walks over the body of the script's function.
func (a *analysis) body(f *ast.FunctionLiteral) {
	a.scope = newScope(nil, functionScope)
	for _, name := range parameters {
		a.scope.declared[name] = parameter
	}
	a.statements(f.Body.List)
	if len(a.secrets) > maxSecrets {
		a.report(0, codeScriptSecretLimit, "The script reads too many secrets.", "Split it into several steps.")
	}
}

func (a *analysis) statements(list []ast.Statement) {
	for _, s := range list {
		a.statement(s)
	}
}

// inScope runs f in a scope inside of the present one.
func (a *analysis) inScope(kind scopeKind, f func()) {
	a.scope = newScope(a.scope, kind)
	f()
	a.scope = a.scope.outer
}

func (a *analysis) statement(s ast.Statement) {
	switch s := s.(type) {
	case *ast.BlockStatement:
		a.inScope(blockScope, func() { a.statements(s.List) })
	case *ast.ExpressionStatement:
		a.expression(s.Expression)
	case *ast.VariableStatement:
		a.bindings(s.List, variable)
	case *ast.LexicalDeclaration:
		a.lexical(s)
	case *ast.FunctionDeclaration:
		a.declare(s.Function.Name, function)
		a.functionLiteral(s.Function)
	case *ast.ClassDeclaration:
		a.declare(s.Class.Name, lexical)
		a.class(s.Class)
	case *ast.ReturnStatement:
		a.expression(s.Argument)
	case *ast.ThrowStatement:
		a.expression(s.Argument)
	case *ast.IfStatement:
		a.expression(s.Test)
		a.statement(s.Consequent)
		a.statement(s.Alternate)
	case *ast.LabelledStatement:
		a.statement(s.Statement)
	case *ast.SwitchStatement:
		a.expression(s.Discriminant)
		a.inScope(blockScope, func() {
			for _, branch := range s.Body {
				a.expression(branch.Test)
				a.statements(branch.Consequent)
			}
		})
	case *ast.TryStatement:
		a.try(s)
	case *ast.WithStatement:
		a.warn(s.With, codeScriptStrictMode, "Scripts run in strict mode, which has no with statement: the step will fail.", "Name the object where it is used.")
		a.expression(s.Object)
		a.statement(s.Body)
	default:
		a.loop(s)
	}
}

func (a *analysis) loop(s ast.Statement) {
	switch s := s.(type) {
	case *ast.WhileStatement:
		a.expression(s.Test)
		a.statement(s.Body)
	case *ast.DoWhileStatement:
		a.statement(s.Body)
		a.expression(s.Test)
	case *ast.ForStatement:
		a.inScope(blockScope, func() {
			a.initializer(s.Initializer)
			a.expression(s.Test)
			a.expression(s.Update)
			a.statement(s.Body)
		})
	case *ast.ForInStatement:
		a.inScope(blockScope, func() { a.forEach(s.Into, s.Source, s.Body) })
	case *ast.ForOfStatement:
		a.inScope(blockScope, func() { a.forEach(s.Into, s.Source, s.Body) })
	}
}

func (a *analysis) initializer(i ast.ForLoopInitializer) {
	switch i := i.(type) {
	case *ast.ForLoopInitializerExpression:
		a.expression(i.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		a.bindings(i.List, variable)
	case *ast.ForLoopInitializerLexicalDecl:
		a.lexical(&i.LexicalDeclaration)
	}
}

func (a *analysis) forEach(into ast.ForInto, source ast.Expression, body ast.Statement) {
	switch into := into.(type) {
	case *ast.ForIntoVar:
		a.binding(into.Binding, variable)
	case *ast.ForDeclaration:
		a.pattern(into.Target, lexical)
	case *ast.ForIntoExpression:
		a.target(into.Expression)
	}
	a.expression(source)
	a.statement(body)
}

func (a *analysis) try(s *ast.TryStatement) {
	a.statement(s.Body)
	if s.Catch != nil {
		a.inScope(blockScope, func() {
			kind := lexical
			if _, simple := s.Catch.Parameter.(*ast.Identifier); simple {
				kind = caught
			}
			a.pattern(s.Catch.Parameter, kind)
			a.statements(s.Catch.Body.List)
		})
	}
	if s.Finally != nil {
		a.statement(s.Finally)
	}
}

func (a *analysis) class(c *ast.ClassLiteral) {
	a.expression(c.SuperClass)
	for _, e := range c.Body {
		switch e := e.(type) {
		case *ast.FieldDefinition:
			a.key(e.Key, e.Computed)
			a.expression(e.Initializer)
		case *ast.MethodDefinition:
			a.key(e.Key, e.Computed)
			a.functionLiteral(e.Body)
		case *ast.ClassStaticBlock:
			a.inScope(functionScope, func() { a.statements(e.Block.List) })
		}
	}
}

func (a *analysis) functionLiteral(f *ast.FunctionLiteral) {
	if f.Async && f.Generator {
		a.report(f.Function, codeScriptSyntaxInvalid, "Async generators are not run here.", "Collect the values in an array.")
	}
	a.inScope(functionScope, func() {
		a.parameters(f.ParameterList)
		a.statements(f.Body.List)
	})
}

func (a *analysis) arrow(f *ast.ArrowFunctionLiteral) {
	a.inScope(functionScope, func() {
		a.parameters(f.ParameterList)
		switch body := f.Body.(type) {
		case *ast.BlockStatement:
			a.statements(body.List)
		case *ast.ExpressionBody:
			a.expression(body.Expression)
		}
	})
}

func (a *analysis) parameters(list *ast.ParameterList) {
	if list == nil {
		return
	}
	a.bindings(list.List, parameter)
	a.pattern(list.Rest, parameter)
}

func (a *analysis) expressions(list []ast.Expression) {
	for _, e := range list {
		a.expression(e)
	}
}

// expression walks over an expression whose value is read.
func (a *analysis) expression(e ast.Expression) {
	switch e := e.(type) {
	case *ast.Identifier:
		a.identifier(e, false)
	case *ast.DotExpression, *ast.BracketExpression, *ast.PrivateDotExpression, *ast.OptionalChain, *ast.Optional:
		a.member(e, false)
	case *ast.CallExpression:
		a.call(e)
		a.expression(e.Callee)
		a.expressions(e.ArgumentList)
	case *ast.NewExpression:
		a.construct(e)
		a.expression(e.Callee)
		a.expressions(e.ArgumentList)
	case *ast.AssignExpression:
		a.target(e.Left)
		a.expression(e.Right)
	case *ast.BinaryExpression:
		a.expression(e.Left)
		a.expression(e.Right)
	case *ast.ConditionalExpression:
		a.expression(e.Test)
		a.expression(e.Consequent)
		a.expression(e.Alternate)
	case *ast.SequenceExpression:
		a.expressions(e.Sequence)
	case *ast.UnaryExpression:
		a.unary(e)
	case *ast.AwaitExpression:
		a.expression(e.Argument)
	case *ast.YieldExpression:
		a.expression(e.Argument)
	case *ast.FunctionLiteral:
		a.reserved(e.Name)
		a.functionLiteral(e)
	case *ast.ArrowFunctionLiteral:
		a.arrow(e)
	case *ast.ClassLiteral:
		a.reserved(e.Name)
		a.class(e)
	default:
		a.literal(e)
	}
}

func (a *analysis) literal(e ast.Expression) {
	switch e := e.(type) {
	case *ast.ObjectLiteral:
		for _, p := range e.Value {
			a.property(p)
		}
	case *ast.ArrayLiteral:
		a.expressions(e.Value)
	case *ast.SpreadElement:
		a.expression(e.Expression)
	case *ast.TemplateLiteral:
		a.expression(e.Tag)
		a.expressions(e.Expressions)
	case *ast.RegExpLiteral:
		a.regexp(e)
	case *ast.NumberLiteral:
		if len(e.Literal) > 1 && e.Literal[0] == '0' && e.Literal[1] >= '0' && e.Literal[1] <= '9' {
			a.warn(e.Idx, codeScriptStrictMode, "Scripts run in strict mode, where a number has no leading zero: the step will fail.", "Remove the zero, or write 0o in front of an octal number.")
		}
	}
}

func (a *analysis) property(p ast.Property) {
	switch p := p.(type) {
	case *ast.PropertyShort:
		a.identifier(&p.Name, false)
		a.expression(p.Initializer)
	case *ast.PropertyKeyed:
		a.key(p.Key, p.Computed)
		a.expression(p.Value)
	case *ast.SpreadElement:
		a.expression(p.Expression)
	}
}

// key walks over the name of a member, which is an expression if it is in brackets.
func (a *analysis) key(key ast.Expression, computed bool) {
	if computed {
		a.expression(key)
	}
}

func (a *analysis) unary(e *ast.UnaryExpression) {
	switch e.Operator {
	case token.INCREMENT, token.DECREMENT:
		a.target(e.Operand)
	case token.DELETE:
		if id, ok := e.Operand.(*ast.Identifier); ok {
			a.warn(id.Idx, codeScriptStrictMode, "Scripts run in strict mode, where a variable cannot be deleted: the step will fail.", "Assign undefined to it.")
		}
		a.target(e.Operand)
	default:
		a.expression(e.Operand)
	}
}

// target walks over an expression that is written to.
func (a *analysis) target(e ast.Expression) {
	switch e := e.(type) {
	case *ast.Identifier:
		a.identifier(e, true)
	case *ast.DotExpression, *ast.BracketExpression, *ast.PrivateDotExpression, *ast.OptionalChain, *ast.Optional:
		a.member(e, true)
	case *ast.ArrayPattern:
		for _, element := range e.Elements {
			a.target(element)
		}
		a.target(e.Rest)
	case *ast.ObjectPattern:
		for _, p := range e.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				a.identifier(&p.Name, true)
				a.expression(p.Initializer)
			case *ast.PropertyKeyed:
				a.key(p.Key, p.Computed)
				a.target(p.Value)
			}
		}
		a.target(e.Rest)
	default:
		a.expression(e)
	}
}
