// Package script runs one workflow script, once, in a JavaScript runtime of its own.
//
// A script is the body of an async function in strict mode. It sees its context, the attempt, its services and
// secrets; everything else it asks of a Host. What a run does depends on the script's text, its Input, the Host's
// answers (times, secrets, refusals) and the completions so far, and on nothing else, so that a run can be remembered
// by them; the one exception is the watchdog, which ends a script that computes too long by the wall clock.
//
// Run promises that the result is strict JSON within its limit, that a script which burns its time ends, that every
// call has ended before a settled script's result is given back, and that no secret it handed out appears in a message
// or a log line. Each run has a runtime of its own; only compiled programs are shared.
//
// The package knows no engine: what a call means, whether it may be repeated and what is written down are its Host's
// affair. Scripts are trusted: their memory is not bounded. A built-in function of the runtime cannot be interrupted;
// so the script has a goroutine of its own, and one that does not stop within the grace is abandoned.
package script

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

// Input is what the script sees.
type Input struct {
	Payload json.RawMessage            // context.payload, and context.trigger, its older name
	Steps   map[string]json.RawMessage // the results of finished steps: context.steps.<id>
	Extra   map[string]json.RawMessage // further fields of context, by name
	Attempt Attempt
	Seed    int64  // decides Math.random and crypto
	Limits  Limits // zero fields mean the defaults
}

// Attempt is the attempt as the script sees it.
type Attempt struct {
	Number         int    `json:"number"`
	MaxAttempts    int    `json:"maxAttempts"`
	IdempotencyKey string `json:"idempotencyKey"`
}

// Limits are what one run of a script may use.
type Limits struct {
	// Time is the script's own time: how long it may compute, by the wall clock, and how long it may wait for timers
	// alone, by the host's; each for itself. Waiting while a call is open does not count. Default 5 s.
	Time time.Duration
	// Grace is how long a script that was told to stop is waited for before it is abandoned. Default 250 ms.
	Grace time.Duration
	// Stack is the number of nested function calls. Default 1000: unwinding a deeper one through built-in functions
	// takes the runtime seconds.
	Stack int
	// Result and Context are bytes of JSON. Default 1 MiB each.
	Result, Context int
}

// Result is one run of a script.
type Result struct {
	Value json.RawMessage // what the script returned, as strict JSON; nil when Err is set
	Err   *Error
	// Open are the tickets of the calls that were open when the script ended. When it settled, returned or threw,
	// they have been awaited and have ended too. When it was stopped (its time, Next's error) they are the Host's to end.
	Open []int
	// Unhandled are failures of calls that nobody awaited, in the order in which they came.
	Unhandled []ServiceError
}

// Codes of Error, beside the codes of services' own errors.
const (
	CodeThrown          = "WOML_SCRIPT_THROWN"
	CodeTimeout         = "WOML_SCRIPT_TIMEOUT"
	CodeNonJSONResult   = "WOML_SCRIPT_NON_JSON_RESULT"
	CodeResultTooLarge  = "WOML_SCRIPT_RESULT_TOO_LARGE"
	CodeContextTooLarge = "WOML_SCRIPT_CONTEXT_TOO_LARGE"
	CodeStackTooDeep    = "WOML_SCRIPT_STACK_TOO_DEEP"
	CodeCancelled       = "WOML_SCRIPT_CANCELLED" // Next returned an error, or Run's context was cancelled
	CodeCrashed         = "WOML_SCRIPT_WORKER_CRASHED"
	CodeSyntax          = "WOML_SCRIPT_SYNTAX_INVALID"
	CodeUnsupported     = "WOML_SCRIPT_FEATURE_UNSUPPORTED" // valid JavaScript that the runtime does not have, or would get wrong
)

// Error is why a script has no result.
type Error struct {
	// Code is one of the codes above, or that of the service error which the script did not catch.
	Code string
	// Message is one sentence of at most MaxMessage characters, with secrets replaced.
	Message string
	// Service is the call's failure that the script let through. With CodeThrown it is the cause of what was thrown:
	// fetch fails with a TypeError of its own, and a script may give a failure as the cause of its error.
	Service *ServiceError
	// Line and Column say where in the script, from 1; 0 where it is not known.
	Line, Column int
	cause        error
}

// Error is the code and the sentence.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Unwrap is Next's error, or the cause of the context's end, where that ended the script.
func (e *Error) Unwrap() error { return e.cause }

// Bounds that no Limits change.
const (
	MaxMessage = 1024    // characters of an Error's message
	MaxLog     = 8192    // characters of a line of the log
	maxRequest = 4 << 20 // bytes of JSON of one call's input; a Host may allow less
)

func (l Limits) orDefaults() Limits {
	return Limits{
		Time:    cmp.Or(l.Time, 5*time.Second),
		Grace:   cmp.Or(l.Grace, 250*time.Millisecond),
		Stack:   cmp.Or(l.Stack, 1000),
		Result:  cmp.Or(l.Result, 1<<20),
		Context: cmp.Or(l.Context, 1<<20),
	}
}

// size is the context's, in bytes of JSON.
func (in *Input) size() int {
	n := len(in.Payload)
	for _, v := range in.Steps {
		n += len(v)
	}
	for _, v := range in.Extra {
		n += len(v)
	}
	return n
}

// cut shortens a text to at most n characters, on a character's border.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return string(runes[:n-1]) + "…"
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
