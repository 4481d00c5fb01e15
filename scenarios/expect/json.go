package expect

import (
	"bytes"
	"encoding/json"
	"faultlab/engine"
	"faultlab/faultprovider"
	"faultlab/scenarios/lang"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

func (s selection) result() observed {
	m := matches{what: "result"}
	part := s.part(0)
	for _, r := range s.runs() {
		raw := lastResult(r.Run, s.Option("step"))
		if raw == nil {
			continue
		}
		met, seen := part.of(raw)
		m.add(met || part.value == `"effect"` && s.isEffect(part.in(raw)), fmt.Sprintf("%s in run %d", seen, r.n))
	}
	return m.observed()
}

// part is the part of a JSON document that an expectation speaks of, and the value that it claims; empty: any.
type part struct{ pointer, value string }

// part reads an optional pointer and value off the arguments from the i-th.
func (s selection) part(i int) part {
	if strings.HasPrefix(s.Arg(i), "/") {
		return part{s.Arg(i), s.Arg(i + 1)}
	}
	return part{"", s.Arg(i)}
}

// in is the part of a document; nil if there is none.
func (p part) in(raw json.RawMessage) json.RawMessage {
	found, _ := at(raw, p.pointer)
	return found
}

// of reports whether a document has the part, as claimed, and what was seen there.
func (p part) of(raw json.RawMessage) (met bool, seen string) {
	found, ok := at(raw, p.pointer)
	if !ok {
		return false, "nothing at " + p.pointer
	}
	return p.value == "" || same(found, []byte(p.value)), lang.Short(string(found))
}

// lastResult is the result of the last step that has one, or of the one named.
func lastResult(r *engine.Run, step string) json.RawMessage {
	for i := len(r.Steps) - 1; i >= 0; i-- {
		if s := r.Steps[i]; s.Result != nil && (step == "" && !s.Undo || nameOf(s) == step) {
			return s.Result
		}
	}
	return nil
}

// isEffect reports whether a JSON value is the id of a record in the ledger.
func (s selection) isEffect(raw json.RawMessage) bool {
	var id string
	return json.Unmarshal(raw, &id) == nil &&
		slices.ContainsFunc(s.Effects, func(e faultprovider.Effect) bool { return e.ID == id })
}

// at is the part of a JSON document that a pointer names (RFC 6901); ok is false if there is none.
func at(raw json.RawMessage, pointer string) (part json.RawMessage, ok bool) {
	if pointer == "" {
		return raw, true
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		var object map[string]json.RawMessage
		var array []json.RawMessage
		if json.Unmarshal(raw, &object) == nil {
			if raw, ok = object[token]; !ok {
				return nil, false
			}
			continue
		}
		n, err := strconv.Atoi(token)
		if json.Unmarshal(raw, &array) != nil || err != nil || n < 0 || n >= len(array) {
			return nil, false
		}
		raw = array[n]
	}
	return raw, true
}

// same reports whether two JSON texts have the same value: members in any order, 1 and 1.0 alike.
func same(a, b []byte) bool {
	x, ok := decode(a)
	y, fine := decode(b)
	return ok && fine && equal(x, y)
}

func decode(raw []byte) (any, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err == nil
}

func equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equal)
	case json.Number:
		y, ok := b.(json.Number)
		return ok && equalNumber(x, y)
	}
	return a == b
}

// equalNumber compares numbers as a script would: as 64-bit floating point, and
// exactly where both are written without point and exponent.
func equalNumber(a, b json.Number) bool {
	x, fine := new(big.Int).SetString(a.String(), 10)
	y, ok := new(big.Int).SetString(b.String(), 10)
	if fine && ok {
		return x.Cmp(y) == 0
	}
	f, err := a.Float64()
	g, wrong := b.Float64()
	return err == nil && wrong == nil && f == g
}
