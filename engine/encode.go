package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"faultlab/engine/plain"
)

// EncodeFact is the JSON form of a fact, for DecodeFact. What Body gives and an
// admission's Source are not in it. Text is kept as it is, except that bytes which
// are not UTF-8 become U+FFFD; a fact that holds malformed JSON is an error.
func EncodeFact(f Fact) ([]byte, error) {
	if f == nil {
		return nil, errors.New("encode a fact: there is none")
	}
	if _, ok := decoders[f.Kind()]; !ok {
		return nil, &UnknownKindError{Kind: f.Kind()}
	}
	e := encoders.Get().(*encoder)
	raw, ok, err := appendFact(e.fact[:0], f)
	if ok {
		e.fact, raw = raw, bytes.Clone(raw)
	} else {
		raw, err = encodeJSON(f)
	}
	e.keep()
	if err != nil {
		return nil, fmt.Errorf("encode a fact of kind %s: %w", f.Kind(), err)
	}
	return raw, nil
}

// encodeJSON is json.Marshal without escapes for HTML: results are given back byte for byte.
func encodeJSON(v any) ([]byte, error) {
	e := encoders.Get().(*encoder)
	defer e.keep()
	e.text.Reset()
	if err := e.json.Encode(v); err != nil {
		return nil, err
	}
	return bytes.Clone(bytes.TrimSuffix(e.text.Bytes(), []byte("\n"))), nil
}

type encoder struct {
	text bytes.Buffer
	json *json.Encoder
	fact []byte
}

// keep puts an encoder by for the next fact, unless a huge one has swollen it.
func (e *encoder) keep() {
	if e.text.Cap()+cap(e.fact) < 1<<17 {
		encoders.Put(e)
	}
}

// encoders are kept from one fact to the next: a run has a dozen.
var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.json = json.NewEncoder(&e.text)
	e.json.SetEscapeHTML(false)
	return e
}}

// Kinds lists all kinds of facts, by name.
func Kinds() []Kind { return plain.SortedKeys(decoders) }

// CommandOf gives the id of the command that a fact carries out; empty where no other
// process asked for it. A look-up changes nothing at the provider: its evidence names
// no command, and a crash before the answer lets it be asked again.
func CommandOf(f Fact) string {
	switch f := f.(type) {
	case Admitted:
		return f.Inbox
	case CancelAsked:
		return f.Inbox
	case Decided:
		return f.Inbox
	}
	return ""
}

// StepOf gives the step of a fact that has a body; empty for others.
func StepOf(f Fact) string {
	switch f := f.(type) {
	case RequestSent:
		return f.Step
	case CallEnded:
		return f.Step
	case Evidence:
		return f.Step
	}
	return ""
}

// SharedKey gives the key of a request that other runs may send too; empty for all other
// facts. A History finds runs by it.
func SharedKey(f Fact) string {
	if q, ok := f.(RequestSent); ok && q.Shared {
		return q.Key
	}
	return ""
}

// ProvenAddress gives the address of a look-up that found a record; empty for all other facts.
func ProvenAddress(f Fact) string {
	if ev, ok := f.(Evidence); ok && (ev.Found == FoundRecord || ev.Found == FoundSeveral) {
		return ev.Address
	}
	return ""
}

// maxNesting is how deep the JSON may nest that comes from outside: encoding/json
// reads ten times as much, and what is kept stands inside of more.
const maxNesting = 1000

// nesting is how deep arrays and objects nest in a text that is JSON.
func nesting(raw []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}
