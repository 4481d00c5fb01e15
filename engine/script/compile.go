package script

import (
	"errors"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	lru "github.com/hashicorp/golang-lru/v2"

	"faultlab/engine/ecma"
)

// Program is a compiled script. It is safe to share between runs.
type Program struct {
	source   string
	code     *goja.Program
	patterns map[string]string // of its regular expressions that were rewritten: what the script wrote
}

// A script is the body of this function. The opening stays on the script's first line so that lines need no
// correction; a line comment at the script's end does not swallow the closing.
const (
	fileName = "script"
	opening  = "(async function () {"
	closing  = "\n})()"
)

// compiled keeps the programs of the texts last used: every attempt of a step runs the same text.
var compiled, _ = lru.New[string, *Program](256)

// Compile compiles a script's text, or finds it among the last ones compiled. The error is an *Error with the place
// and the code CodeSyntax, or CodeUnsupported for what the runtime does not have.
func Compile(src string) (*Program, error) {
	if p, ok := compiled.Get(src); ok {
		return p, nil
	}
	p, err := compile(src)
	if err != nil {
		return nil, err
	}
	compiled.Add(src, p)
	return p, nil
}

func compile(src string) (*Program, *Error) {
	// A comment "sourceMappingURL" would make the parser read a file.
	tree, err := parser.ParseFile(nil, fileName, opening+src+closing, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, syntaxError(src, err)
	}
	if !oneBody(tree) {
		return nil, &Error{Code: CodeSyntax, Message: "the script is not valid JavaScript: its braces do not match", Line: 1, Column: 1}
	}
	patterns, bad := language(src, tree)
	if bad != nil {
		return nil, bad
	}
	code, err := goja.CompileAST(tree, true)
	if err != nil {
		return nil, syntaxError(src, err)
	}
	return &Program{source: src, code: code, patterns: patterns}, nil
}

// oneBody tells whether the script stayed inside its function: "}); f(async () => {" is not a function body,
// although the whole text parses.
func oneBody(tree *ast.Program) bool {
	if len(tree.Body) != 1 {
		return false
	}
	statement, _ := tree.Body[0].(*ast.ExpressionStatement)
	if statement == nil {
		return false
	}
	call, _ := statement.Expression.(*ast.CallExpression)
	if call == nil || len(call.ArgumentList) > 0 {
		return false
	}
	_, ok := call.Callee.(*ast.FunctionLiteral)
	return ok
}

func syntaxError(src string, err error) *Error {
	text, at := err.Error(), file.Position{}
	var list parser.ErrorList
	var early *goja.CompilerSyntaxError
	var reference *goja.CompilerReferenceError
	compiling := func(e goja.CompilerError) {
		text = e.Message
		if e.File != nil {
			at = e.File.Position(e.Offset)
		}
	}
	switch {
	case errors.As(err, &list) && len(list) > 0:
		text, at = list[0].Message, list[0].Position
	case errors.As(err, &early):
		compiling(early.CompilerError)
	case errors.As(err, &reference):
		compiling(reference.CompilerError)
	}
	line, column := place(src, at)
	if feature, hint := ecma.Unsupported(src, offsetOf(src, at)); feature != "" {
		return &Error{Code: CodeUnsupported, Message: feature + "; " + hint, Line: line, Column: column}
	}
	if at.Line > strings.Count(src, "\n")+1 {
		text = "it ends too early, or its braces do not match"
	}
	return &Error{Code: CodeSyntax, Message: cut("the script is not valid JavaScript: "+strings.ToLower(text[:1])+text[1:], MaxMessage), Line: line, Column: column}
}

// offsetOf turns a position of the runtime, which counts bytes and the opening, into an offset of the script; -1 where
// it is not known.
func offsetOf(src string, at file.Position) int {
	if at.Line < 1 {
		return -1
	}
	offset := at.Column - 1
	if at.Line == 1 {
		offset -= len(opening)
	}
	for line := range strings.Lines(src) {
		if at.Line--; at.Line == 0 {
			break
		}
		offset += len(line)
	}
	return max(0, offset)
}

// place turns a position of the runtime into a line and column of the script, in UTF-16 units from 1 as an editor
// counts. What lies behind the script is its end.
func place(src string, at file.Position) (line, column int) {
	offset := offsetOf(src, at)
	if offset < 0 {
		return 0, 0
	}
	before := src[:min(offset, len(src))]
	return strings.Count(before, "\n") + 1, units(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }
