// Package woml reads a WOML workflow document.
//
// It is for everyone who needs to know what a document says or why it is
// refused: the command line's check, the engine that runs it, the screens.
//
// It promises that
//
//   - [Parse] never panics and never reads anything but its argument;
//   - every diagnostic stands inside the document (1-based line, 1-based
//     column in UTF-16 units) and is a sentence that a person can act on;
//   - a document is returned exactly when no diagnostic is an error, and then
//     everything in it has been checked: ids, durations, schemas, scripts;
//   - the first error is the one that the reference WOML compiler stops at,
//     with its code, line and column; the others follow in the same order of
//     checks, the warnings last;
//   - equal workflows have equal hashes, however the text is laid out.
//
// It never runs a script, never resolves a secret and never opens a network
// connection or a file: a schema's remote reference is an error.
//
// # The language
//
// The product runs a subset of WOML: one <workflow> with <config>, <triggers>
// of <manual> and <webhook> (with <schema>) and <steps> of <step> with one
// <script>. Every other element of WOML is refused by name as not run here,
// and anything else as unknown. <compensate>, a script that undoes its step, is
// an addition of this product.
//
// Where the reference compiler loses the place (it reports line 1 for an element
// that is never closed, and for an attribute named __proto__), the place is
// given here. Where it accepts a script that cannot run (it does not parse in
// strict mode, or closes its own function), a warning says so.
//
// Codes have the names and the meaning that they have there. These are ours: WOML_DOCUMENT_TOO_LARGE,
// WOML_ENCODING_INVALID, WOML_TRIGGER_LIMIT_EXCEEDED, WOML_COMPENSATE_INVALID, WOML_SCRIPT_TOO_LARGE,
// WOML_SCRIPT_FEATURE_UNSUPPORTED and those of all warnings.
//
// The checks run in this order: markup, root and document shape, places where
// secrets are named, elements and attributes of the whole tree, workflow id,
// name and description, containers, config, triggers, steps (each: id,
// operation, script, retry, name), services.
package woml

import (
	"encoding/json"
	"time"
)

// Document is a checked workflow document.
type Document struct {
	// Source is the text as it was given, byte for byte.
	Source string
	// Hash names the workflow definition: "sha256:" and 64 hex digits of its
	// canonical form, which [Parse] builds from Workflow. White space and
	// comments outside scripts, the order of attributes and of the containers,
	// the way a duration or an entity is written, and the positions do not
	// change it; every byte of a script does.
	Hash     string
	Workflow Workflow
}

// Workflow is the one workflow of a document. Steps run in their order, one
// after the other.
type Workflow struct {
	ID          string // lower-case kebab, at most 256 characters
	Name        string // empty if the document gives none, like the next two
	Description string
	Version     string
	Config      Config
	Triggers    []Trigger // empty: the workflow can only be called by another
	Steps       []Step    // at least one
}

// Config is the policy of a workflow's runs. The zero value sets no limits.
type Config struct {
	Concurrency int           // runs at the same time, at most 1,000,000; 0 is unlimited
	Timeout     time.Duration // from the first start of a run, 1 ms to 365 days; 0 is none
	Rate        Rate
	Queue       string // name of the queue; empty is the workflow's own
}

// Rate is a limit of Count first starts in any window of length Per. The zero
// value is no limit.
type Rate struct {
	Count int           // 1 to 1,000,000
	Per   time.Duration // 1 ms to 365 days
}

// Trigger is one way to start a run.
type Trigger struct {
	Kind   string          `json:"kind"`   // "manual" or "webhook"
	ID     string          `json:"id"`     // unique among the triggers of the workflow
	Path   string          `json:"path"`   // webhook: the route, such as "/webhooks/orders"
	Auth   string          `json:"auth"`   // webhook: "none" or "bearer"
	Secret string          `json:"secret"` // webhook with bearer: NAME of {{secrets.NAME}}, never a value
	Schema json.RawMessage `json:"schema"` // webhook: JSON Schema 2020-12 of the payload, nil if none; see [CompileSchema]

	Line   int `json:"-"` // of the element, like Column
	Column int `json:"-"`
}

// Step is one step of a workflow.
type Step struct {
	ID          string // unique among the steps of the workflow
	Name        string // empty if the document gives none, like Description
	Description string
	Retry       Retry
	Script      Script
	Compensate  *Compensate // nil if the step has no inverse

	Line, Column int // of the element
}

// Retry is the policy for the attempts of a step. Before attempt n >= 2 it
// waits Delay when Backoff is "fixed", and min(Delay * 2^(n-2), MaxDelay) when
// it is "exponential".
type Retry struct {
	Max      int           // attempts in all, 1 to 10; 1 if the document says nothing
	Backoff  string        // "fixed" or "exponential", which is the default
	Delay    time.Duration // 1 ms to 24 h; 1 s if the document says nothing
	MaxDelay time.Duration // the larger of 30 s and Delay if the document says nothing
	// Throttled is how many attempts that ended in a 429 do not count towards Max, 0 to 100; 0 if the document says
	// nothing. Its attribute, retry-throttled, is ours: WOML has none.
	Throttled int
}

// Script is the body of an async function in strict mode.
type Script struct {
	Source string // the raw text between <script> and </script>

	Line, Column int // of the first character of Source

	Secrets   []string // the names of the secrets that it reads, sorted
	Services  []string // the names of the services that it uses
	Workflows []string // the ids of the workflows that it calls or starts, as far as they are written out, sorted
}

// Compensate is the inverse of a step: a script that undoes what the step did,
// such as a refund. It is retried by its own policy.
type Compensate struct {
	Retry  Retry
	Script Script
}

// Parse reads and checks one document. It reports every diagnostic that it
// can, the reference compiler's first one first, and warnings last. doc is nil
// when any error is among them.
func Parse(src []byte) (doc *Document, diags []Diagnostic) {
	c := &checker{source: newSource(string(src))}
	workflow := c.document()
	if len(c.errors) > 0 {
		return nil, c.diagnostics()
	}
	return &Document{Source: c.text, Hash: hash(workflow), Workflow: *workflow}, c.diagnostics()
}

// document checks everything, in the order of the package comment. What it
// returns is only meaningful when no error was found.
func (c *checker) document() *Workflow {
	if !c.readable() {
		return nil
	}
	root := c.markup()
	if root == nil {
		return nil
	}
	element := c.shape(root)
	if element == nil {
		return nil
	}
	each(root, c.secretPlaces)
	each(element, c.profile)
	return c.workflow(element)
}
