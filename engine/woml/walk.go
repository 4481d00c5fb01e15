package woml

import "github.com/dop251/goja/ast"

// body walks over the body of the script's function.
func (a *analysis) body(f *ast.FunctionLiteral) {
	a.scope = newScope(nil, functionScope)
	for _, name := range parameters {
		a.scope.declared[name] = asParameter
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
		a.bindings(s.List, asVar)
	case *ast.LexicalDeclaration:
		a.lexical(s)
	case *ast.FunctionDeclaration:
		a.declare(s.Function.Name, asFunction)
		a.functionLiteral(s.Function)
	case *ast.ClassDeclaration:
		a.declare(s.Class.Name, asLexical)
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
		a.warn(s.With, codeScriptStrictMode,
			"Scripts run in strict mode, which has no with statement: the step will fail.", "Name the object where it is used.")
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
		a.bindings(i.List, asVar)
	case *ast.ForLoopInitializerLexicalDecl:
		a.lexical(&i.LexicalDeclaration)
	}
}

func (a *analysis) forEach(into ast.ForInto, source ast.Expression, body ast.Statement) {
	switch into := into.(type) {
	case *ast.ForIntoVar:
		a.binding(into.Binding, asVar)
	case *ast.ForDeclaration:
		a.pattern(into.Target, asLexical)
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
			kind := asLexical
			if _, simple := s.Catch.Parameter.(*ast.Identifier); simple {
				kind = asCaught
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
		a.report(f.Function, codeScriptUnsupported, "Async generators are not supported.", "Collect the values in an array.")
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
	a.bindings(list.List, asParameter)
	a.pattern(list.Rest, asParameter)
}
