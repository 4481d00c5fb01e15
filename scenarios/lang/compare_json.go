package lang

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

func (c chosen) result() sight {
	t := tally{what: "result"}
	pointer, value := "", c.arg(0)
	if strings.HasPrefix(value, "/") {
		pointer, value = value, c.arg(1)
	}
	for _, r := range c.runs() {
		raw := lastResult(r, c.option("step"))
		if raw == nil {
			continue
		}
		part, ok := at(raw, pointer)
		seen := "nothing at " + pointer
		if ok {
			seen = short(string(part))
		}
		t.add(ok && (value == "" || same(part, []byte(value)) || value == `"effect"` && c.isEffect(part)), fmt.Sprintf("%s in run %d", seen, r.n))
	}
	return t.sight()
}

// lastResult is the result of the last step that has one, or of the one named.
func lastResult(r numbered, step string) json.RawMessage {
	for i := len(r.Steps) - 1; i >= 0; i-- {
		if s := r.Steps[i]; s.Result != nil && (step == "" && !s.Undo || s.name() == step) {
			return s.Result
		}
	}
	return nil
}

// isEffect reports whether a JSON value is the id of a record in the ledger.
func (c chosen) isEffect(raw json.RawMessage) bool {
	var id string
	return json.Unmarshal(raw, &id) == nil &&
		slices.ContainsFunc(c.Effects(), func(e EffectFact) bool { return e.ID == id })
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
