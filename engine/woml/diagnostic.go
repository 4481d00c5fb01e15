package woml

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
