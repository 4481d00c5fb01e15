package lang

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"faultlab/engine/plain"
)

// Error is one mistake in a scenario: its place, what is wrong, and what is valid there.
type Error struct {
	File         string // empty for a typed line
	Line, Column int    // 1 and up; the column counts characters
	Message      string // one sentence without its full stop
	Suggest      []string
}

// Error returns file:line:column, the message, and what is valid there.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	}
	b.WriteString(e.Message)
	if len(e.Suggest) > 0 {
		b.WriteString("; valid here: " + strings.Join(e.Suggest, ", "))
	}
	return b.String()
}

// Errors are all mistakes of one scenario, in the order of their places.
type Errors []*Error

// Error returns one line for each.
func (e Errors) Error() string { return errors.Join(e.Unwrap()...).Error() }

// Sort puts them in the order of their places.
func (e Errors) Sort() {
	slices.SortStableFunc(e, func(a, b *Error) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
}

// Unwrap gives the single errors to errors.As.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, one := range e {
		out[i] = one
	}
	return out
}

// quoted is a value as an error names it: in quotes, and not longer than a line.
func quoted(s string) string { return strconv.Quote(Short(s)) }

// Short is a text cut to what fits in a message.
func Short(s string) string {
	const limit = 120
	r := []rune(s)
	if len(r) > limit {
		return string(r[:limit-3]) + "..."
	}
	return s
}

// most is how many values an error offers.
const most = 12

// Nearest returns the values that a mistyped word may stand for.
func Nearest(word string, values []string) []string { return plain.Near(word, values) }

// alternatives are what an error offers in place of a word: what is near, or else all values.
func alternatives(word string, values []string) []string {
	if near := Nearest(word, values); len(near) > 0 {
		return near
	}
	if len(values) > most {
		return append(append([]string{}, values[:most]...), "...")
	}
	return values
}
