package woml

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"

	"faultlab/engine/ecma"
)

const (
	// The parser needs stack for the length of a script (in bytes) and for the
	// depth of its brackets, and twice the time for each function (...) => in
	// the parameters of another.
	maxScript     = 128 << 10
	maxBrackets   = 500
	maxParameters = 4

	// A script is parsed as the body of this function. The line break behind
	// it ends a comment on the last line.
	scriptPrefix = "async function step() {\n"
	scriptSuffix = "\n}"

	maxImports = 32 // that are reported; see parseScript
)

// analysis is what is known about one script.
type analysis struct {
	source   string
	start    int // offset of source in the document
	findings []finding
	scope    *scope

	secrets   map[string]bool // names of secrets that are read
	workflows map[string]bool // ids of workflows that are called or started
	services  []serviceUse
	shadowed  map[string]bool      // bindings of WOML that the script declares itself
	constants map[string]*constant // names that are declared, by their declaration
	calls     []*ast.CallExpression
	uses      []use     // of names, for what an expression is made from
	advice    []finding // warnings
}

// finding is one thing to report about a script.
type finding struct {
	offset  int // in the script
	code    string
	message string
	hint    string
	binding string // what it is about: dropped where the script declares that itself
}

// use is a name that is read or written: "name" or "name.member".
type use struct {
	at           file.Idx
	name, member string
}

// serviceUse is one use of a service; offset is of the document.
type serviceUse struct {
	name   string
	offset int
}

// script reads and analyses the body of <script>.
func (c *checker) script(e *element) (Script, *analysis) {
	a := &analysis{
		source: c.text[e.bodyStart:e.bodyEnd], start: e.bodyStart,
		secrets: map[string]bool{}, workflows: map[string]bool{}, shadowed: map[string]bool{}, constants: map[string]*constant{},
	}
	s := Script{Source: a.source}
	s.Line, s.Column = c.position(e.bodyStart)
	a.analyse()
	for _, f := range a.sorted() {
		c.fail(a.start+f.offset, f.code, f.message, f.hint)
	}
	slices.SortFunc(a.services, func(a, b serviceUse) int { return a.offset - b.offset })
	for _, used := range a.services {
		if !slices.Contains(s.Services, used.name) {
			s.Services, c.services = append(s.Services, used.name), append(c.services, used)
		}
	}
	s.Secrets, s.Workflows = slices.Sorted(maps.Keys(a.secrets)), slices.Sorted(maps.Keys(a.workflows))
	return s, a
}

// analyse fills in what is known. The parser is large and not ours: should it
// stumble, the script is what cannot be read.
func (a *analysis) analyse() {
	defer func() {
		if recover() != nil {
			a.report(0, "WOML_SCRIPT_SYNTAX_INVALID", "The script cannot be read.", "Write it in a simpler way.")
		}
	}()
	if function := a.parse(); function != nil {
		a.body(function)
	}
}

// sorted lists the findings as the reference meets them: what does not parse,
// then by position.
func (a *analysis) sorted() []finding {
	kept := a.findings[:0]
	for _, f := range a.findings {
		if f.binding == "" || !a.shadowed[f.binding] {
			kept = append(kept, f)
		}
	}
	parsing := func(f finding) bool {
		return f.code == "WOML_SCRIPT_TOO_LARGE" || f.code == "WOML_SCRIPT_SYNTAX_INVALID"
	}
	sort.SliceStable(kept, func(i, j int) bool {
		if parsing(kept[i]) != parsing(kept[j]) {
			return parsing(kept[i])
		}
		return kept[i].offset < kept[j].offset
	})
	return kept
}

// report adds a finding at a position of the parser.
func (a *analysis) report(at file.Idx, code, message, hint string) {
	a.findings = append(a.findings, finding{offset: a.offset(at), code: code, message: message, hint: hint})
}

// about adds a finding that is about one of WOML's bindings.
func (a *analysis) about(binding string, at file.Idx, code, message, hint string) {
	a.findings = append(a.findings, finding{a.offset(at), code, message, hint, binding})
}

// warn adds a warning.
func (a *analysis) warn(at file.Idx, code, message, hint string) {
	a.advice = append(a.advice, finding{offset: a.offset(at), code: code, message: message, hint: hint})
}

// offset turns a position of the parser into one of the script. What the
// parser says about the text around the script is said of its ends.
func (a *analysis) offset(at file.Idx) int { return a.clamp(int(at) - 1 - len(scriptPrefix)) }

func (a *analysis) clamp(offset int) int { return max(0, min(offset, len(a.source))) }

// parse returns the function that the script is the body of, nil if it is not
// JavaScript.
func (a *analysis) parse() *ast.FunctionLiteral {
	if problem, hint := tooMuch(a.source); problem != "" {
		a.report(0, "WOML_SCRIPT_TOO_LARGE", problem, hint)
		return nil
	}
	text := a.source
	for range maxImports {
		program, problem := parseProgram(scriptPrefix + text + scriptSuffix)
		if problem == nil {
			return a.outermost(program)
		}
		at := a.clamp(problem.offset - len(scriptPrefix))
		if !dynamicImport(text[at:]) {
			a.syntax(at, problem)
			return nil
		}
		// The parser has no import(): report it, and read on as if it were a
		// function of another name, which is as long.
		a.findings = append(a.findings, finding{offset: at, code: "WOML_SCRIPT_DYNAMIC_IMPORT_UNSUPPORTED",
			message: "A script cannot import modules.", hint: "Put the code into the script."})
		text = text[:at] + "_mport" + text[at+len("import"):]
	}
	return nil
}

// outermost finds the function of the script in what was parsed. A script can
// end it with a "}" of its own: the reference accepts that.
func (a *analysis) outermost(program *ast.Program) *ast.FunctionLiteral {
	declaration := program.Body[0].(*ast.FunctionDeclaration) // scriptPrefix starts it
	if end := declaration.Function.Body.RightBrace; a.offset(end) < len(a.source) {
		a.warn(end, "WOML_SCRIPT_OUTSIDE_STEP", `This "}" ends the function of the script before its text ends: the step will fail.`,
			`Remove the "}", or add the "{" that it should close.`)
	}
	return declaration.Function
}

// syntaxProblem is the first thing that the parser did not understand.
type syntaxProblem struct {
	offset  int // in the text that was parsed
	message string
}

// parseProgram runs the parser.
func parseProgram(text string) (*ast.Program, *syntaxProblem) {
	program, err := parser.ParseFile(nil, "", text, 0, parser.WithDisableSourceMaps)
	var list parser.ErrorList
	if !errors.As(err, &list) {
		return program, nil
	}
	first := list[0]
	return nil, &syntaxProblem{lineOffset(text, first.Position.Line) + first.Position.Column - 1, first.Message}
}

// lineOffset finds the start of a line as JavaScript counts lines.
func lineOffset(text string, line int) int {
	offset := 0
	for ; line > 1; line-- {
		offset += strings.IndexAny(text[offset:], "\n\r\u2028\u2029")
		switch rest := text[offset:]; {
		case strings.HasPrefix(rest, "\r\n"):
			offset += 2
		case rest[0] == '\n', rest[0] == '\r':
			offset++
		default:
			offset += len("\u2028")
		}
	}
	return offset
}

func (a *analysis) syntax(at int, problem *syntaxProblem) {
	message, hint := notValid(problem), "A script is the body of an async function."
	if at >= len(a.source) {
		message = "The script ends too early: a bracket, a string or a comment in it is still open."
		hint = "Close it."
		if strings.HasSuffix(problem.message, "}") {
			message, hint = `The script closes one "}" more than it opens.`, "Remove one."
		}
	}
	if rest := a.source[at:]; strings.HasPrefix(rest, "import") || strings.HasPrefix(rest, "export") {
		message, hint = "A script cannot import or export.", "Put the code into the script, and return its result."
	}
	code := "WOML_SCRIPT_SYNTAX_INVALID"
	if feature, instead := ecma.Unsupported(a.source, at); feature != "" && message == notValid(problem) {
		code, message, hint = "WOML_SCRIPT_FEATURE_UNSUPPORTED", upperFirst(feature)+".", upperFirst(instead)+"."
	}
	a.findings = append(a.findings, finding{offset: at, code: code, message: message, hint: hint})
}

func notValid(problem *syntaxProblem) string {
	return "The script is not valid JavaScript here: " + lowerFirst(problem.message) + "."
}

func lowerFirst(text string) string {
	return strings.ToLower(text[:1]) + text[1:]
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// dynamicImport tells whether the text starts with import(.
func dynamicImport(text string) bool {
	rest, found := strings.CutPrefix(text, "import")
	return found && strings.HasPrefix(strings.TrimLeftFunc(rest, isSpace), "(")
}

// tooMuch refuses scripts that would need too much stack or time to parse.
func tooMuch(source string) (problem, hint string) {
	if len(source) > maxScript {
		return fmt.Sprintf("The script is %d bytes long; at most %d are read.", len(source), maxScript), "Split it into several steps."
	}
	if brackets, parameters := nesting(source); brackets > maxBrackets || parameters > maxParameters {
		return "The script is nested too deep.", "Take parts of it out into functions."
	}
	return "", ""
}

// nesting measures how deep brackets nest, and parameter lists "(...) =>" in
// each other. It looks at the bare text, strings and comments included: it is
// a bound, not a count.
func nesting(source string) (brackets, parameters int) {
	var open []int // for each open bracket, the parameter lists nested in it
	for i := range len(source) {
		switch source[i] {
		case '(', '[', '{':
			open = append(open, 0)
			brackets = max(brackets, len(open))
		case ')', ']', '}':
			if len(open) == 0 {
				continue
			}
			inside := open[len(open)-1]
			open = open[:len(open)-1]
			if source[i] == ')' && strings.HasPrefix(strings.TrimLeftFunc(source[i+1:], isSpace), "=>") {
				inside++
				parameters = max(parameters, inside)
			}
			if len(open) > 0 {
				open[len(open)-1] = max(open[len(open)-1], inside)
			}
		}
	}
	return brackets, parameters
}
