package engine_test

import (
	"errors"
	"reflect"
	"testing"

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
			b.Source = a.Source
			got = b
		}
		if !reflect.DeepEqual(got, f) {
			t.Fatalf("%s came back as\n%+v", data, got)
		}
	})
}

type foreign struct{}

func (foreign) Kind() engine.Kind { return "foreign" }

func TestFactsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	var unknown *engine.UnknownKindError
	if _, err := engine.EncodeFact(foreign{}); !errors.As(err, &unknown) {
		t.Errorf("a kind that nobody knows: %v", err)
	}
	for _, f := range []engine.Fact{nil, engine.Decided{Result: []byte(`{"a":`)}} {
		if data, err := engine.EncodeFact(f); err == nil {
			t.Errorf("%+v was written as %s", f, data)
		}
	}
}
