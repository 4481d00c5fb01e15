package lang

import (
	"errors"
	"math"
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
		return 0, errors.New("a duration is written as 250ms, 1s, 1m30s, 24h or 45d")
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
	for _, op := range []string{">=", "<="} {
		if r, ok := strings.CutPrefix(s, op); ok {
			return op, r
		}
	}
	return "", s
}

// ParseCount reads a count: 2, >=2 or <=2.
func ParseCount(s string) (Bound[int], error) {
	op, n := cutOp(s)
	v, err := strconv.ParseUint(n, 10, 31)
	if err != nil {
		return Bound[int]{}, errors.New("a count is written as 2, >=2 or <=2")
	}
	return Bound[int]{op, int(v)}, nil
}

// ParseSpan reads a delay: 1s, >=1s or <=1s.
func ParseSpan(s string) (Bound[time.Duration], error) {
	op, d := cutOp(s)
	v, err := ParseDuration(d)
	if err != nil {
		return Bound[time.Duration]{}, errors.New("a delay is written as 1s, >=1s or <=1s")
	}
	return Bound[time.Duration]{op, v}, nil
}

// rules says for the kinds that this package can decide by itself what is wrong
// with a value; nil if nothing is.
var rules = map[Kind]func(string) error{
	KindNumber: func(s string) error {
		if n, err := strconv.ParseUint(s, 10, 31); err != nil || n == 0 {
			return errors.New("a number from 1 belongs here")
		}
		return nil
	},
	KindWhole: func(s string) error {
		if _, err := strconv.ParseUint(s, 10, 31); err != nil {
			return errors.New("a number from 0 belongs here")
		}
		return nil
	},
	KindRecord: func(s string) error {
		if collection, id, ok := CutRecord(s); !ok || collection == "" || id == "" {
			return errors.New("a record is written as jobs/job_1, and all of a collection as jobs/*")
		}
		return nil
	},
	KindSeed: func(s string) error {
		if _, err := strconv.ParseInt(s, 10, 64); err != nil {
			return errors.New("a seed is a whole number")
		}
		return nil
	},
	KindCount:    func(s string) error { _, err := ParseCount(s); return err },
	KindSpan:     func(s string) error { _, err := ParseSpan(s); return err },
	KindDuration: func(s string) error { _, err := ParseDuration(s); return err },
	KindSpeed: func(s string) error {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(v) || v != 0 && (v < 0.1 || v > 100) {
			return errors.New("a speed is a number from 0.1 to 100, or 0 for at once")
		}
		return nil
	},
	KindStatus: func(s string) error {
		if n, err := strconv.Atoi(s); s != "none" && (err != nil || n < 100 || n > 599) {
			return errors.New("an HTTP status from 100 to 599 belongs here, or none")
		}
		return nil
	},
	KindRun: func(s string) error {
		if n, err := strconv.Atoi(s); err == nil && n < 1 {
			return errors.New("runs are numbered from 1")
		}
		return nil
	},
	KindName: func(s string) error {
		if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !isName(r) }) {
			return errors.New("a name has letters, digits, - and _ only")
		}
		return nil
	},
	KindField: func(s string) error {
		if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !isName(r) && r != '.' }) {
			return errors.New("a field of the payload is written as orderId or order.id")
		}
		return nil
	},
	KindURLPath: func(s string) error {
		if !strings.HasPrefix(s, "/") {
			return errors.New("a path begins with /, as /jobs")
		}
		return nil
	},
	KindPointer: func(s string) error {
		if !strings.HasPrefix(s, "/") {
			return errors.New("a JSON pointer begins with /, as /jobId")
		}
		return nil
	},
}

// CutRecord parts a record's name into its collection and its id, which is the last segment.
func CutRecord(s string) (collection, id string, ok bool) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

func isName(r rune) bool {
	return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// mistake says what is wrong with a word in a place of this kind; nil if nothing that this package can see.
func mistake(k Kind, choices []string, w word) *Error {
	var offer []string
	switch k {
	case KindChoice:
		offer = choices
	case KindVerb:
		offer = verbNames(func(*Verb) bool { return true })
	case KindRefused:
		offer = verbNames(func(v *Verb) bool { return v.Refusable })
	}
	if offer != nil {
		for _, o := range offer {
			if o == w.text && !w.json {
				return nil
			}
		}
		return &Error{Message: "unknown word " + quoted(w.text), Suggest: fitting(w.text, offer)}
	}
	if w.text == "" && k != KindWord && k != KindValue && k != KindKey {
		return &Error{Message: "an empty " + string(k) + " fits nothing here"}
	}
	if w.quoted && jsonAlone[k] && (strings.HasPrefix(w.text, "{") || strings.HasPrefix(w.text, "[")) {
		return &Error{Message: "JSON stands without quotes here: write " + Short(compact(w.text))}
	}
	if w.json && !takesJSON[k] {
		return &Error{Message: "JSON does not fit here, a " + string(k) + " does"}
	}
	if rule := rules[k]; rule != nil {
		if err := rule(w.text); err != nil {
			return &Error{Message: quoted(w.text) + " does not fit: " + err.Error()}
		}
	}
	return nil
}

// jsonAlone are the kinds that are JSON or the name of something: no name begins with a bracket.
var jsonAlone = map[Kind]bool{KindPayload: true, KindFault: true, KindContract: true}

// takesJSON are the kinds that an object or an array fits.
var takesJSON = map[Kind]bool{KindValue: true, KindPayload: true, KindFault: true, KindContract: true, KindText: true}
