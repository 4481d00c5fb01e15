package woml

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"faultlab/engine/ecma"
)

// bunNetwork are the functions of Bun that open sockets.
var bunNetwork = []string{"connect", "listen", "serve", "udpSocket"}

// callOptions are the options of each operation of services.workflows.
var callOptions = map[string][]string{"call": {"name", "timeout"}, "start": {"name"}}

const maxCallTimeout = 24 * time.Hour

// call checks one call, and keeps it for the warnings.
func (a *analysis) call(e *ast.CallExpression) {
	a.calls = append(a.calls, e)
	root, links := chain(e.Callee)
	id, ok := root.(*ast.Identifier)
	if !ok {
		return
	}
	switch name := id.Name.String(); {
	case name == "require" && len(links) == 0:
		a.report(e.Idx0(), "WOML_SCRIPT_MODULE_REQUIRE_UNSUPPORTED", "A script cannot load modules.", "Put the code into the script.")
	case (name == "eval" || name == "Function") && len(links) == 0:
		a.codeInStrings(name, id.Idx)
	case name == "Bun" && len(links) > 0 && slices.Contains(bunNetwork, links[len(links)-1].name):
		a.rawNetwork(e)
	case name == "WebSocket" && len(links) == 0:
		a.rawNetwork(e)
	case name == "services" && len(links) > 1 && links[0].name == "workflows" && !anyComputed(links):
		a.workflowCall(e, links)
	}
}

// construct checks one new expression.
func (a *analysis) construct(e *ast.NewExpression) {
	id, ok := e.Callee.(*ast.Identifier)
	switch {
	case ok && id.Name == "WebSocket":
		a.rawNetwork(e)
	case ok && id.Name == "Function":
		a.codeInStrings("Function", id.Idx)
	}
}

func (a *analysis) rawNetwork(e ast.Expression) {
	a.report(e.Idx0(), "WOML_SCRIPT_RAW_NETWORK_UNSUPPORTED", "A script cannot open sockets: only what is on the timeline can be made safe.",
		"Use services.http.request, or fetch.")
}

func anyComputed(links []link) bool {
	return slices.ContainsFunc(links, func(l link) bool { return l.computed })
}

// workflowCall checks services.workflows.call(id, payload, {name, timeout})
// and start(id, payload, {name}), as far as they are written as literals.
func (a *analysis) workflowCall(e *ast.CallExpression, links []link) {
	operation := links[1].name
	if len(links) > 2 || callOptions[operation] == nil {
		a.report(e.Idx0(), "WOML_WORKFLOW_OPERATION_UNSUPPORTED", "services.workflows has only call and start.", "Use call to wait for the result, and start to go on at once.")
		return
	}
	usage := fmt.Sprintf(`Write services.workflows.%s("workflow-id", { ... }, { %s: ... }).`, operation, strings.Join(callOptions[operation], ": ..., "))
	arguments := e.ArgumentList
	if slices.ContainsFunc(arguments, func(e ast.Expression) bool { _, spread := e.(*ast.SpreadElement); return spread }) {
		return
	}
	if len(arguments) < 2 || len(arguments) > 3 {
		a.report(e.Idx0(), "WOML_WORKFLOW_CALL_ARGUMENTS_INVALID", fmt.Sprintf("services.workflows.%s takes the id of a workflow, a payload and options.", operation), usage)
		return
	}
	target, payload := arguments[0], arguments[1]
	switch text, ok := literalText(target); {
	case !isLiteral(target):
	case !ok || len(text) > maxID || !workflowIDPattern.MatchString(text):
		a.report(target.Idx0(), "WOML_WORKFLOW_TARGET_INVALID",
			"This is not the id of a workflow: lower-case words with hyphens between them.", "Such as fulfill-paid-order.")
	default:
		a.workflows[text] = true
	}
	if _, list := payload.(*ast.ArrayLiteral); list || isLiteral(payload) {
		a.report(payload.Idx0(), "WOML_WORKFLOW_PAYLOAD_INVALID", "The payload of a workflow is an object.", usage)
	}
	if len(arguments) == 3 {
		a.callOptions(arguments[2], operation, usage)
	}
}

func (a *analysis) callOptions(options ast.Expression, operation, usage string) {
	object, ok := options.(*ast.ObjectLiteral)
	if !ok {
		if _, list := options.(*ast.ArrayLiteral); list || isLiteral(options) {
			a.report(options.Idx0(), "WOML_WORKFLOW_CALL_OPTIONS_INVALID", "The options of a workflow call are an object.", usage)
		}
		return
	}
	for _, p := range object.Value {
		name, value := propertyOf(p)
		switch {
		case name == "":
			a.report(p.Idx0(), "WOML_WORKFLOW_CALL_OPTIONS_INVALID", "The options of a workflow call must be named, not computed or spread.", usage)
		case !slices.Contains(callOptions[operation], name):
			a.report(p.Idx0(), "WOML_WORKFLOW_CALL_OPTION_UNKNOWN", fmt.Sprintf("services.workflows.%s has no option %s.", operation, excerpt(name)),
				didYouMean("%q", name, callOptions[operation]))
		case name == "name":
			if text, ok := literalText(value); isLiteral(value) && (!ok || len(text) > maxCallName || !queuePattern.MatchString(text)) {
				a.report(value.Idx0(), "WOML_WORKFLOW_CALL_NAME_INVALID",
					"The name of a call is lower-case words with one dot, underscore or hyphen between them.", "Such as primary-risk.")
			}
		case isLiteral(value) && !callTimeout(value):
			a.report(value.Idx0(), "WOML_WORKFLOW_CALL_OPTIONS_INVALID", "A timeout is a whole duration from 1ms to 24h.", "Such as 30s or 5m, or a number of milliseconds.")
		}
	}
}

var wholeDuration = regexp.MustCompile(`^[1-9][0-9]*(?:ms|s|m|h|d)$`)

// callTimeout checks the literal timeout of a workflow call: whole, unlike the
// durations of attributes.
func callTimeout(literal ast.Expression) bool {
	if n, ok := literal.(*ast.NumberLiteral); ok {
		ms, whole := n.Value.(int64)
		return whole && ms > 0 && ms <= maxCallTimeout.Milliseconds()
	}
	text, ok := literalText(literal)
	_, err := duration(text, maxCallTimeout)
	return ok && err == nil && wholeDuration.MatchString(text)
}

// isLiteral tells a literal that is no object, array or template.
func isLiteral(e ast.Expression) bool {
	switch e.(type) {
	case *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.RegExpLiteral:
		return true
	}
	return false
}

// literalText is the value of a string, or of a template without expressions.
func literalText(e ast.Expression) (string, bool) {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return e.Value.String(), true
	case *ast.TemplateLiteral:
		if e.Tag == nil && len(e.Expressions) == 0 && len(e.Elements) == 1 {
			return e.Elements[0].Parsed.String(), true
		}
	}
	return "", false
}

// propertyOf takes "name: value" apart; the name is empty where it is not written out.
func propertyOf(p ast.Property) (name string, value ast.Expression) {
	switch p := p.(type) {
	case *ast.PropertyShort:
		return p.Name.Name.String(), &p.Name
	case *ast.PropertyKeyed:
		if key, ok := p.Key.(*ast.StringLiteral); ok {
			return key.Value.String(), p.Value
		}
	}
	return "", nil
}

// regexp checks a regular expression, which the parser leaves to the compiler.
func (a *analysis) regexp(e *ast.RegExpLiteral) {
	_, err := ecma.Pattern(e.Pattern, e.Flags)
	var bad *ecma.PatternError
	switch {
	case !errors.As(err, &bad):
	case bad.Valid:
		a.report(e.Idx, "WOML_SCRIPT_FEATURE_UNSUPPORTED", upperFirst(bad.Text)+".", upperFirst(bad.Hint)+".")
	default:
		a.report(e.Idx, "WOML_SCRIPT_SYNTAX_INVALID", fmt.Sprintf("%s is not a regular expression: %s.", excerpt(e.Literal), bad.Text), "Check its brackets and flags.")
	}
}

// htmlComment refuses "a <!-- b", which browsers read as a comment and the runtime as a comparison.
func (a *analysis) htmlComment(e *ast.BinaryExpression) {
	if at := e.Right.Idx0(); ecma.HTMLComment(a.source, a.offset(at)) {
		feature, hint := ecma.Unsupported(a.source, a.offset(at)-1)
		a.report(at-1, "WOML_SCRIPT_FEATURE_UNSUPPORTED", upperFirst(feature)+".", upperFirst(hint)+".")
	}
}

// codeInStrings refuses eval and the constructor of functions.
func (a *analysis) codeInStrings(name string, at file.Idx) {
	a.about(name, at, "WOML_SCRIPT_FEATURE_UNSUPPORTED", name+" is not supported: code in strings is not run.", "Write it in the script.")
}
