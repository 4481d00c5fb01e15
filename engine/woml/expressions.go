package woml

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

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
		a.htmlComment(e)
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
			a.warn(e.Idx, codeScriptStrictMode,
				"Scripts run in strict mode, where a number has no leading zero: the step will fail.",
				"Remove the zero, or write 0o in front of an octal number.")
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
			a.warn(id.Idx, codeScriptStrictMode,
				"Scripts run in strict mode, where a variable cannot be deleted: the step will fail.", "Assign undefined to it.")
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
