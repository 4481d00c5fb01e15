package woml

import (
	"fmt"
	"sort"
	"unicode/utf8"
)

// Severities of a [Diagnostic].
const (
	severityError   = "error"   // the document is refused
	severityWarning = "warning" // the document is accepted, and this will bite
)

// maxDiagnostics bounds the errors, and likewise the warnings, of one document:
// whoever has more has one cause for all of them.
const maxDiagnostics = 200

// Diagnostic is one thing to know about a document.
type Diagnostic struct {
	Code     string `json:"code"`     // stable, for machines: WOML_...
	Severity string `json:"severity"` // "error" or "warning"
	Message  string `json:"message"`  // one sentence: what is wrong
	Line     int    `json:"line"`     // 1-based; lines end at "\n"
	Column   int    `json:"column"`   // 1-based, in UTF-16 units; a byte order mark counts as one
	Hint     string `json:"hint"`     // one sentence: what to do, empty where the message says it all
}

// checker holds what the checks of one document have found so far.
type checker struct {
	*source
	errors   []Diagnostic
	warnings []Diagnostic
	services []serviceUse // checked at the very end
}

// fail reports an error at a byte offset of the document.
func (c *checker) fail(offset int, code, message, hint string) {
	if len(c.errors) < maxDiagnostics {
		c.errors = append(c.errors, c.at(offset, severityError, code, message, hint))
	}
}

// warn reports a warning at a byte offset of the document.
func (c *checker) warn(offset int, code, message, hint string) {
	if len(c.warnings) < maxDiagnostics {
		c.warnings = append(c.warnings, c.at(offset, severityWarning, code, message, hint))
	}
}

func (c *checker) at(offset int, severity, code, message, hint string) Diagnostic {
	line, column := c.position(offset)
	return Diagnostic{Code: code, Severity: severity, Message: message, Line: line, Column: column, Hint: hint}
}

// diagnostics lists the errors in the order of the checks, then the warnings.
func (c *checker) diagnostics() []Diagnostic { return append(c.errors, c.warnings...) }

// maxSource bounds a document, in bytes. It keeps the time and the stack of a
// check small whatever the text is; real documents are a few kilobytes.
const maxSource = 1 << 20

// source is a text whose byte offsets can be told as lines and columns.
type source struct {
	text  string
	lines []int // offset of each line's first byte
	last  struct{ offset, line, column int }
}

func newSource(text string) *source {
	s := &source{text: text, lines: []int{0}}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// position tells the line and the column (in UTF-16 units) of a byte offset,
// both from 1. An offset behind the text is its end. Asking in ascending order
// costs one pass over the text in all, even where it is a single line.
func (s *source) position(offset int) (line, column int) {
	offset = max(0, min(offset, len(s.text)))
	line = sort.SearchInts(s.lines, offset+1)
	from := s.lines[line-1]
	column = 1
	if s.last.line == line && s.last.offset <= offset {
		from, column = s.last.offset, s.last.column
	}
	for _, r := range s.text[from:offset] {
		column++
		if r > 0xFFFF {
			column++
		}
	}
	s.last.offset, s.last.line, s.last.column = offset, line, column
	return line, column
}

// place names a byte offset in a message.
func (s *source) place(offset int) string {
	line, column := s.position(offset)
	return fmt.Sprintf("line %d, column %d", line, column)
}

// readable refuses what is too large to check and what is not text.
func (c *checker) readable() bool {
	if len(c.text) > maxSource {
		c.fail(0, "WOML_DOCUMENT_TOO_LARGE",
			fmt.Sprintf("The document is %d bytes long; at most %d are read.", len(c.text), maxSource),
			"Split it into several workflows that start each other with services.workflows.start.")
		return false
	}
	if utf8.ValidString(c.text) {
		return true
	}
	c.fail(firstInvalid(c.text), "WOML_ENCODING_INVALID", "The document is not valid UTF-8 here.", "Save the file as UTF-8.")
	return false
}

// firstInvalid finds the first byte that is not UTF-8; there is one.
func firstInvalid(text string) int {
	for i := 0; ; {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
}

// excerpt quotes a value of the document for a message, cut where it is long.
func excerpt(value string) string {
	const most = 60
	if runes := []rune(value); len(runes) > most {
		value = string(runes[:most]) + "..."
	}
	return fmt.Sprintf("%q", value)
}
