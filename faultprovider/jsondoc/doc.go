// Package jsondoc reads JSON without losing what encoding/json loses: the order of
// members, duplicates, the spelling of numbers, lone surrogates and positions.
//
// Reserialize is what JavaScript makes of a text, JSON.stringify(JSON.parse(text)):
// the form in which the reference fixture compares payloads. Parse is the tree, for
// readers that must say at which line and column something is wrong.
//
// A text is decoded as Node's Buffer.toString does: invalid UTF-8 becomes U+FFFD. The
// package does no I/O and never panics, whatever the text.
package jsondoc

import (
	"fmt"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may nest.
const MaxDepth = 10_000

// Type is the type of a value.
type Type byte

// The types.
const (
	Null Type = iota
	Bool
	Number
	String
	Array
	Object
)

func (t Type) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}[t]
}

// Value is one node of a parsed text.
type Value struct {
	Type    Type
	Offset  int      // of its first byte in the text
	Text    string   // Bool and Number: as spelled. String: decoded, a lone surrogate in its three byte form (WTF-8)
	Items   []Value  // of an Array
	Members []Member // of an Object, in the order of the text, duplicates included
}

// Member is one member of an object.
type Member struct {
	Name   string // decoded like Value.Text
	Offset int    // of the name
	Value  Value
}

// Get returns the last member of that name, as JSON.parse would.
func (v Value) Get(name string) (Value, bool) {
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Name == name {
			return v.Members[i].Value, true
		}
	}
	return Value{}, false
}

// Error says where a text is not JSON, or not the JSON that is needed, and how.
type Error struct {
	Offset       int
	Line, Column int // from 1; the column counts characters
	Msg          string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Msg)
}

// Position turns a byte offset into a line and a column, both from 1; the column counts characters.
func Position(text []byte, offset int) (line, column int) {
	line, start := 1, 0
	for i, c := range text[:min(offset, len(text))] {
		if c == '\n' {
			line, start = line+1, i+1
		}
	}
	return line, utf8.RuneCount(text[start:min(offset, len(text))]) + 1
}
