package engine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"faultlab/engine"
	"faultlab/engine/historytest"
)

func TestFactsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := historytest.Facts().Draw(t, "fact")
		data, err := engine.EncodeFact(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := engine.DecodeFact(f.Kind(), data)
		if err != nil {
			t.Fatal(err)
		}
		got = engine.WithBody(got, engine.Body(f))
		if a, ok := f.(engine.Admitted); ok {
			b := got.(engine.Admitted)
			b.Source, b.Assumed = a.Source, a.Assumed
			got = b
		}
		if !reflect.DeepEqual(got, f) {
			t.Fatalf("%s came back as\n%+v", data, got)
		}
	})
}

// However a fact is written, it is what encoding/json makes of it by its tags.
func TestFactsAreWrittenByTheirTags(t *testing.T) {
	t.Parallel()
	for _, f := range []engine.Fact{
		engine.Admitted{Workflow: "not UTF-8: \xff", Payload: []byte(" {\n\"a\": [1, \"<b>\"] }\t"), Parent: &engine.Parent{Name: "\xc3("}},
		engine.AttemptEnded{Due: time.Date(2026, 11, 30, 12, 0, 0, 1, time.FixedZone("", 3600)), Result: []byte("[ ]")},
		engine.CallEnded{Message: "\x7f\u2028\\", RetryAfter: -1},
	} {
		checkWritten(t, f)
	}
	rapid.Check(t, func(t *rapid.T) { checkWritten(t, historytest.Facts().Draw(t, "fact")) })
}

func checkWritten(t interface{ Fatalf(string, ...any) }, f engine.Fact) {
	got, err := engine.EncodeFact(f)
	if err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	if string(got)+"\n" != want.String() {
		t.Fatalf("written as\n%s\nand not\n%s", got, want.String())
	}
}

type foreign struct{}

func (foreign) Kind() engine.Kind { return "foreign" }

func TestFactsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	var unknown *engine.UnknownKindError
	if _, err := engine.EncodeFact(foreign{}); !errors.As(err, &unknown) {
		t.Errorf("a kind that nobody knows: %v", err)
	}
	for _, f := range []engine.Fact{nil, engine.Decided{Result: []byte(`{"a":`)}, engine.AttemptEnded{Result: []byte(`{"a":`)},
		engine.Admitted{Payload: []byte(`1 2`)}, engine.AttemptEnded{Due: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}} {
		if data, err := engine.EncodeFact(f); err == nil {
			t.Errorf("%+v was written as %s", f, data)
		}
	}
}
