package script

import (
	"container/list"
	"errors"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

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

// Compile compiles a script's text, or finds it among the last ones compiled. The error is an *Error with the place
// and the code CodeSyntax, or CodeUnsupported for what the runtime does not have.
func Compile(src string) (*Program, error) {
	if p := compiled.get(src); p != nil {
		return p, nil
	}
	p, err := compile(src)
	if err != nil {
		return nil, err
	}
	compiled.put(src, p)
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
	statement, ok := tree.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return false
	}
	call, ok := statement.Expression.(*ast.CallExpression)
	if !ok || len(call.ArgumentList) > 0 {
		return false
	}
	_, ok = call.Callee.(*ast.FunctionLiteral)
	return ok
}

func syntaxError(src string, err error) *Error {
	text, at := err.Error(), file.Position{}
	var list parser.ErrorList
	var early *goja.CompilerSyntaxError
	var reference *goja.CompilerReferenceError
	switch {
	case errors.As(err, &list) && len(list) > 0:
		text, at = list[0].Message, list[0].Position
	case errors.As(err, &early):
		text = early.Message
		if early.File != nil {
			at = early.File.Position(early.Offset)
		}
	case errors.As(err, &reference):
		text = reference.Message
		if reference.File != nil {
			at = reference.File.Position(reference.Offset)
		}
	}
	line, column := place(src, at)
	if feature, hint := ecma.Unsupported(src, offsetOf(src, at)); feature != "" {
		return &Error{Code: CodeUnsupported, Message: feature + "; " + hint, Line: line, Column: column}
	}
	if at.Line > strings.Count(src, "\n")+1 {
		text = "it ends too early, or its braces do not match"
	}
	return &Error{Code: CodeSyntax, Message: cut("the script is not valid JavaScript: "+lowerFirst(text), MaxMessage), Line: line, Column: column}
}

// offsetOf turns a position of the runtime into an offset of the script.
func offsetOf(src string, at file.Position) int {
	offset := at.Column - 1
	for range at.Line - 1 {
		offset += strings.IndexByte(src, '\n') + 1
		src = src[strings.IndexByte(src, '\n')+1:]
	}
	if at.Line == 1 {
		offset -= len(opening)
	}
	return offset
}

// place turns a position of the runtime, which counts bytes and the opening, into a line and column of the script,
// in UTF-16 units from 1 as an editor counts. What lies behind the script is its end.
func place(src string, at file.Position) (line, column int) {
	if at.Line < 1 {
		return 0, 0
	}
	lines := strings.Split(src, "\n")
	if at.Line > len(lines) {
		return len(lines), units(lines[len(lines)-1]) + 1
	}
	offset := at.Column - 1
	if at.Line == 1 {
		offset -= len(opening)
	}
	text := lines[at.Line-1]
	offset = max(0, min(offset, len(text)))
	return at.Line, units(text[:offset]) + 1
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

func lowerFirst(s string) string {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return s
	}
	return string(s[0]+'a'-'A') + s[1:]
}

// compiled keeps the programs of the texts last used: every attempt of a step runs the same text.
var compiled = cache{limit: 256, byText: map[string]*list.Element{}}

type cache struct {
	mu     sync.Mutex
	limit  int
	byText map[string]*list.Element
	recent list.List // of *Program, the last used first
}

func (c *cache) get(src string) *Program {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byText[src]
	if e == nil {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(*Program)
}

func (c *cache) put(src string, p *Program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byText[src] != nil {
		return
	}
	c.byText[src] = c.recent.PushFront(p)
	if c.recent.Len() > c.limit {
		oldest := c.recent.Remove(c.recent.Back()).(*Program)
		delete(c.byText, oldest.source)
	}
}
