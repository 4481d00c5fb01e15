package lang

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
)

// Ext ends the name of every scenario file.
const Ext = ".txtar"

// Parse reads a scenario file. Its error is Errors: all mistakes, each with its place and
// what is valid there. Check judges the names of faults, contracts, triggers and steps.
func Parse(file string, src []byte) (*Scenario, error) {
	s, errs := Read(file, src)
	if len(errs) > 0 {
		return nil, errs
	}
	return s, nil
}

// Read is Parse that returns the scenario as far as it could be read beside its mistakes, so that Check can add its own.
func Read(file string, src []byte) (*Scenario, Errors) {
	p := newReader(file, src)
	for n, text := range p.script {
		p.read(n+1, text)
	}
	p.finish()
	p.errs.Sort()
	return p.out, p.errs
}

// ParseLine reads one verb as it is typed on the workbench.
func ParseLine(text string) (Line, error) {
	p := newReader("", nil)
	l, v := p.line(1, text)
	switch {
	case len(p.errs) > 0:
		return Line{}, p.errs[0]
	case v == nil:
		return Line{}, &Error{Line: 1, Column: 1, Message: "type a verb", Suggest: []string{"help"}}
	case !v.Interactive():
		return Line{}, &Error{Line: 1, Column: l.Col, Message: v.Name + " belongs in a scenario file, not on the workbench"}
	}
	for _, u := range l.uses {
		if u.kind != kindCollection {
			continue
		}
		if near := Nearest(u.text, expectationNames()); len(near) > 0 {
			return Line{}, &Error{Line: 1, Column: u.col, Message: "unknown expectation " + quoted(u.text) +
				"; for a collection of this name write effects N collection=" + u.text, Suggest: near}
		}
	}
	return l, nil
}

// reader reads one scenario file.
type reader struct {
	out    *Scenario
	script []string // lines before the first embedded file
	files  []txtar.File
	starts []int // the line where each file begins
	errs   Errors
	asked  *Question      // the question that a `because` belongs to
	heads  map[string]int // the line of each of the head's verbs
	actsAt int            // the first line of the script, 0 before it
}

func newReader(file string, src []byte) *reader {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	a := txtar.Parse(src)
	p := &reader{files: a.Files, heads: map[string]int{}, out: &Scenario{
		Name: strings.TrimSuffix(path.Base(strings.ReplaceAll(file, `\`, "/")), Ext),
		File: file, Runs: RunsBoth, Files: map[string][]byte{}, FileLine: map[string]int{}}}
	text := strings.TrimSuffix(string(a.Comment), "\n")
	p.script = strings.Split(text, "\n")
	line := bytes.Count(a.Comment, []byte("\n"))
	for _, f := range a.Files {
		p.starts = append(p.starts, line+2)
		line += 1 + bytes.Count(f.Data, []byte("\n"))
	}
	return p
}

func (p *reader) fail(line int, err *Error) {
	err.File, err.Line = p.out.File, line
	p.errs = append(p.errs, err)
}

// read takes one line of the script.
func (p *reader) read(n int, text string) {
	before := len(p.errs)
	l, v := p.line(n, text)
	if v == nil {
		return
	}
	at := func(message string) { p.fail(n, &Error{Column: l.Col, Message: message}) }
	switch {
	case !v.InFile():
		at(v.Name + " works on the workbench only")
	case len(p.errs) > before:
		p.out.uses = append(p.out.uses, l.uses...) // what stands before the mistake can be wrong too
	case v.Use&InHead != 0 && p.actsAt > 0:
		at(fmt.Sprintf("%s belongs in the head: move this line up, above line %d (%s), where the script begins", v.Name, p.actsAt, p.out.Lines[0].Verb))
	case v.Use&InHead != 0:
		p.head(l)
	case v.Name == "because":
		if p.asked == nil {
			at("because needs an ask right above it")
			return
		}
		p.asked.Because = paragraph(p.asked.Because, l.Text)
		return
	default:
		if p.actsAt == 0 {
			p.actsAt = n
		}
		p.out.Lines = append(p.out.Lines, l)
	}
	p.asked = l.Question
}

// line reads the verb of a line and its arguments; the verb is nil for a blank line and a
// comment. A line with a mistake is reported, and returned as far as it was read.
func (p *reader) line(n int, text string) (Line, *Verb) {
	lx := &lexer{line: strings.TrimSuffix(text, "\r")}
	if err := printable(lx.line); err != nil {
		p.fail(n, err)
		return Line{}, nil
	}
	lx.skip()
	if lx.pos == len(lx.line) || lx.line[lx.pos] == '#' {
		return Line{}, nil
	}
	start := lx.pos
	for lx.pos < len(lx.line) && !blank(lx.line[lx.pos]) {
		lx.pos++
	}
	name, col := lx.line[start:lx.pos], lx.col(start)
	v := VerbNamed(name)
	if v == nil {
		p.fail(n, unknownVerb(name, col, p.out.File != ""))
		return Line{}, nil
	}
	f, err := parseArguments(lx, &v.Form, v.Name)
	l := Line{Verb: name, Args: f.args, Opts: f.opts, Text: join(f.words), Line: n, Col: col, Cols: f.cols, Expect: f.sub, uses: f.uses}
	for i := range l.uses {
		l.uses[i].line = n
	}
	if l.Expect != nil {
		l.Expect.Line = n
	}
	if err == nil && name == "ask" {
		if l.Question, err = question(l); err == nil {
			l.Text = l.Question.String()
			l.Args = []string{l.Text}
		}
	}
	if err != nil {
		p.fail(n, err)
	}
	return l, v
}

func unknownVerb(name string, col int, inFile bool) *Error {
	if strings.HasPrefix(name, "--") {
		return &Error{Column: col, Message: "not a valid beginning of an embedded file; write two dashes, its name and two dashes, with spaces between", Suggest: []string{"-- payload.json --"}}
	}
	fits := verbNames(func(v *Verb) bool { return inFile && v.InFile() || !inFile && v.Interactive() })
	return &Error{Column: col, Message: "unknown verb " + quoted(name), Suggest: alternatives(name, fits)}
}

// printable refuses what an editor or a terminal would not show as what it is.
func printable(line string) *Error {
	col := 0
	for i, r := range line {
		col++
		if r == utf8.RuneError && !strings.HasPrefix(line[i:], "\ufffd") {
			return &Error{Column: col, Message: "this is not UTF-8 text"}
		}
		if forbidden(r) {
			return &Error{Column: col, Message: "a control character (" + strconv.QuoteRune(r) + `) is not valid here; in a quoted word write \u` + strconv.FormatInt(int64(r)+0x10000, 16)[1:]}
		}
	}
	return nil
}

// question reads the text of an ask.
func question(l Line) (*Question, *Error) {
	col := l.Cols[0]
	first, _, _ := strings.Cut(l.Text, "|")
	end := strings.LastIndex(first+" ", "? ")
	if end < 0 {
		return nil, &Error{Column: col, Message: "a question needs a question mark before its answers: ask " + questionUsage}
	}
	q := &Question{Text: l.Text[:end+1], Right: -1, Line: l.Line}
	for _, c := range strings.Split(l.Text[end+1:], "|") {
		c = strings.TrimSpace(c)
		right := strings.HasPrefix(c, "*")
		c = strings.TrimSpace(strings.TrimPrefix(c, "*"))
		switch {
		case c == "":
			return nil, &Error{Column: col, Message: "an answer is empty: ask " + questionUsage}
		case right && q.Right >= 0:
			return nil, &Error{Column: col, Message: "two answers have a star: mark only the right one"}
		case right:
			q.Right = len(q.Choices)
		}
		q.Choices = append(q.Choices, c)
	}
	if len(q.Choices) < 2 {
		return nil, &Error{Column: col, Message: "a question needs two answers or more, separated by |: ask " + questionUsage}
	}
	if q.Right < 0 {
		return nil, &Error{Column: col, Message: "no answer is marked as right with a star", Suggest: starred(q.Choices)}
	}
	return q, nil
}

const questionUsage = "How many jobs will exist?  0 | *1 | 2"

func starred(choices []string) []string {
	out := make([]string, len(choices))
	for i, c := range choices {
		out[i] = "*" + c
	}
	return out
}

// String is the question as an ask writes it.
func (q *Question) String() string {
	choices := append([]string{}, q.Choices...)
	choices[q.Right] = "*" + choices[q.Right]
	return q.Text + "  " + strings.Join(choices, " | ")
}
