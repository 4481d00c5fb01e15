package lang

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ParseDuration reads a duration as scenario files write it: as time.ParseDuration
// does, and whole days as 45d. It is never negative.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if n, ok := strings.CutSuffix(s, "d"); ok {
		var days uint64
		days, err = strconv.ParseUint(n, 10, 16)
		d = time.Duration(days) * 24 * time.Hour
	}
	if err != nil || d < 0 {
		return 0, notValid(KindDuration, s)
	}
	return d, nil
}

// Bound is a parsed count or span: a number with the way to compare with it.
type Bound[T int | time.Duration] struct {
	Op    string // "", ">=" or "<="
	Value T
}

// Holds reports whether what was seen is within the bound.
func (b Bound[T]) Holds(seen T) bool {
	switch b.Op {
	case ">=":
		return seen >= b.Value
	case "<=":
		return seen <= b.Value
	}
	return seen == b.Value
}

func cutOp(s string) (op, rest string) {
	if strings.HasPrefix(s, ">=") || strings.HasPrefix(s, "<=") {
		return s[:2], s[2:]
	}
	return "", s
}

// ParseCount reads a count: 2, >=2 or <=2.
func ParseCount(s string) (Bound[int], error) {
	op, n := cutOp(s)
	v, err := strconv.ParseUint(n, 10, 31)
	if err != nil {
		return Bound[int]{}, notValid(KindCount, s)
	}
	return Bound[int]{op, int(v)}, nil
}

// ParseSpan reads a delay: 1s, >=1s or <=1s.
func ParseSpan(s string) (Bound[time.Duration], error) {
	op, d := cutOp(s)
	v, err := ParseDuration(d)
	if err != nil {
		return Bound[time.Duration]{}, notValid(KindSpan, s)
	}
	return Bound[time.Duration]{op, v}, nil
}

// shape says how the values of a kind are written.
type shape struct {
	noun  string // what an error calls such a value; empty: the kind's own name
	write string
	valid func(string) bool
}

// shapes are those of the kinds that this package can judge by itself.
var shapes map[Kind]shape

func init() { // the functions use the table for their errors
	parses := func(s string, err error) bool { return err == nil }
	shapes = map[Kind]shape{
		KindNumber:   {"", "a number from 1", func(s string) bool { n, err := strconv.ParseUint(s, 10, 31); return err == nil && n > 0 }},
		KindWhole:    {"number", "a number from 0", func(s string) bool { _, err := strconv.ParseUint(s, 10, 31); return parses(s, err) }},
		KindSeed:     {"", "a whole number", func(s string) bool { _, err := strconv.ParseInt(s, 10, 64); return parses(s, err) }},
		KindCount:    {"", "2, >=2 or <=2", func(s string) bool { _, err := ParseCount(s); return parses(s, err) }},
		KindSpan:     {"delay", "1s, >=1s or <=1s", func(s string) bool { _, err := ParseSpan(s); return parses(s, err) }},
		KindDuration: {"", "250ms, 1s, 1m30s, 24h or 45d", func(s string) bool { _, err := ParseDuration(s); return parses(s, err) }},
		KindSpeed: {"", "a number from 0.1 to 100, or 0 for at once", func(s string) bool {
			v, err := strconv.ParseFloat(s, 64)
			return err == nil && !math.IsNaN(v) && (v == 0 || v >= 0.1 && v <= 100)
		}},
		KindStatus: {"HTTP status", "a number from 100 to 599, or none", func(s string) bool {
			n, err := strconv.Atoi(s)
			return s == "none" || err == nil && n >= 100 && n <= 599
		}},
		KindRun:     {"", "a number from 1, or a run's id", func(s string) bool { n, err := strconv.Atoi(s); return err != nil || n > 0 }},
		KindName:    {"", "letters, digits, - and _", func(s string) bool { return s != "" && !strings.ContainsFunc(s, notOfName) }},
		KindField:   {"field", "a field of the payload, as orderId or order.id", func(s string) bool { return shapes[KindName].valid(strings.ReplaceAll(s, ".", "_")) }},
		KindURLPath: {"path", "a path that begins with /, as /jobs", func(s string) bool { return strings.HasPrefix(s, "/") }},
		KindPointer: {"JSON pointer", "a pointer that begins with /, as /jobId", func(s string) bool { return strings.HasPrefix(s, "/") }},
		KindRecord: {"", "COLLECTION/ID, as jobs/job_1, or jobs/* for the whole collection", func(s string) bool {
			collection, id, _ := CutRecord(s)
			return collection != "" && id != ""
		}},
	}
}

func notOfName(r rune) bool {
	return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// notValid says that a value is not one of its kind, and how to write one.
func notValid(k Kind, value string) *Error {
	s := shapes[k]
	if s.noun == "" {
		s.noun = string(k)
	}
	return &Error{Message: fmt.Sprintf("not a valid %s: %s; write %s", s.noun, quoted(value), s.write)}
}

// CutRecord splits a record's name into its collection and its id, which is the last segment.
func CutRecord(s string) (collection, id string, ok bool) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

// validate says what is wrong with a word as a value of a kind; nil if nothing that this package can see.
func validate(k Kind, choices []string, w word) *Error {
	var offer []string
	switch k {
	case KindChoice:
		offer = choices
	case KindVerb:
		offer = verbNames(func(*Verb) bool { return true })
	case KindRefused:
		offer = verbNames(func(v *Verb) bool { return v.Refusable })
	}
	s, judged := shapes[k]
	switch {
	case offer != nil && (w.json || !slices.Contains(offer, w.text)):
		return &Error{Message: "unknown word " + quoted(w.text), Suggest: alternatives(w.text, offer)}
	case offer != nil:
		return nil
	case w.text == "" && k != KindWord && k != KindValue && k != KindKey:
		return &Error{Message: "an empty " + string(k) + " is not valid here"}
	case w.quoted && takesJSON[k] == jsonOrName && strings.ContainsAny(w.text[:1], "{["):
		return &Error{Message: "JSON needs no quotes here: write " + Short(compact(w.text))}
	case w.json && takesJSON[k] == "":
		return &Error{Message: "JSON is not valid here: write a " + string(k)}
	case judged && !s.valid(w.text):
		return notValid(k, w.text)
	}
	return nil
}

// jsonOrName marks the kinds that are JSON or the name of something: no name begins with a bracket.
const jsonOrName = "or a name"

// takesJSON are the kinds for which an object or an array is valid.
var takesJSON = map[Kind]string{KindValue: "or text", KindText: "or text", KindPayload: jsonOrName, KindFault: jsonOrName, KindContract: jsonOrName}
