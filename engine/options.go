package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"faultlab/engine/script"
)

// option is a key that an object may have, and where its value goes: to a text, a
// number, JSON, or whatever else encoding/json can fill.
type option struct {
	name string
	into any
}

// options reads an object whose keys are known, as they are written: encoding/json
// alone would take "URL" for "url". What is left out stays as it is.
func options(what string, raw json.RawMessage, known ...option) error {
	if !json.Valid(raw) || bytes.TrimSpace(raw)[0] != '{' {
		return fmt.Errorf("%s is not an object", what)
	}
	for name, value := range members(raw) {
		i := slices.IndexFunc(known, func(o option) bool { return o.name == name })
		if i < 0 {
			return &unknownOption{what, name, namesOf(known)}
		}
		// A null is a body that says null; of anything else it is a value that got lost on the way.
		lost := string(value) == "null" && name != "json"
		if !fill(known[i].into, value) || lost {
			return fmt.Errorf("%s of %s cannot be %s", name, what, shown(value))
		}
	}
	return nil
}

// fill sets what target points to; texts without escapes and JSON, which most are, without encoding/json.
func fill(target any, value json.RawMessage) bool {
	switch t := target.(type) {
	case *json.RawMessage:
		*t = value
		return true
	case *string:
		if plainText(value) {
			*t = string(value[1 : len(value)-1])
			return true
		}
	}
	return json.Unmarshal(value, target) == nil
}

// plainText reports whether a value is a text of printable ASCII without escapes.
func plainText(value []byte) bool {
	return value[0] == '"' && !bytes.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' || r == '\\' })
}

// unknownOption is an option that an object has and that there is none of.
type unknownOption struct {
	what, name string
	known      []string
}

func (e *unknownOption) Error() string { return script.UnknownOption(e.what, e.name, e.known) }

// refuseInput refuses a call for what is wrong with its input.
func refuseInput(c script.Call, code string, err error) *script.ServiceError {
	e := refuse(c, code, err.Error())
	var unknown *unknownOption
	e.UnknownOption = errors.As(err, &unknown)
	return e
}

func namesOf(known []option) []string {
	names := make([]string, len(known))
	for i, o := range known {
		names[i] = o.name
	}
	slices.Sort(names)
	return names
}

// shown is a value in an error's sentence, shortened.
func shown(raw json.RawMessage) string {
	const most = 40
	if r := []rune(string(raw)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(raw)
}

// members are those of an object, in its order. text must be JSON.
func members(text []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		rest := text[bytes.IndexByte(text, '{')+1:]
		for {
			rest = bytes.TrimLeft(rest, " \t\r\n,")
			if len(rest) == 0 || rest[0] == '}' {
				return
			}
			n := valueEnd(rest)
			var name string
			fill(&name, json.RawMessage(rest[:n]))
			rest = bytes.TrimLeft(rest[n:], " \t\r\n:")
			n = valueEnd(rest)
			if !yield(name, json.RawMessage(rest[:n])) {
				return
			}
			rest = rest[n:]
		}
	}
}

// valueEnd is where the value ends with which valid JSON begins.
func valueEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // of what is around a number, true, false or null
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}
