package plain

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

func canonical(raw string) string { return string(Canonical([]byte(raw))) }

func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":2}`, `{ "b": 2, "a": 1 }`, true},
		{`{"n":1}`, `{"n":1.0}`, true},
		{`{"n":100}`, `{"n":1e2}`, true},
		{`{"n":0}`, `{"n":-0}`, true},
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`, false},
		{`{"n":9007199254740993}`, `{"n":9007199254740993.0}`, true},
		{`{"n":90071992547409930}`, `{"n":9007199254740993e1}`, true},
		{`{"n":123456789012345678901234567890}`, `{"n":123456789012345678901234567891}`, false},
		{`{"n":0.1}`, `{"n":0.10000000000000001}`, false},
		{`{"n":-9007199254740993}`, `{"n":9007199254740993}`, false},
		{`{"n":9007199254740993}`, `{"n":"9007199254740993"}`, false},
		{`{"n":9007199254740993}`, `{"n":"number 9007199254740993e0"}`, false},
		{`{"n":9007199254740993,"t":"x"}`, `{"n":9007199254740993,"t":"text x"}`, false},
		{`{"n":1e400}`, `{"n":1e401}`, false},
	} {
		if same := canonical(r.a) == canonical(r.b); same != r.same {
			t.Errorf("%s and %s: the same is %v", r.a, r.b, same)
		}
	}
}

func TestCanonicalIsRFC8785WhereADoubleHoldsTheNumbers(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{"b":[1,2.5,"x",null,true],"a":{"n":1e21}}`, `{"n":9007199254740992}`, `{"amount":0.1,"big":123456789012345680000}`} {
		want, err := jcs.Transform([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		if canonical(raw) != string(want) {
			t.Errorf("%s is not in the canonical form", raw)
		}
	}
}

func TestNumbersAreComparedExactly(t *testing.T) {
	t.Parallel()
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,19})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		a := number.Draw(t, "a")
		b := rapid.OneOf(number, rapid.Just(a), rapid.Just(a+"0"), rapid.Just("1"+a)).Draw(t, "b")
		if !json.Valid([]byte(a)) || !json.Valid([]byte(b)) {
			return
		}
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if same := canonical(a) == canonical(b); same != (x.Cmp(y) == 0) {
			t.Fatalf("%s and %s: the same is %v", a, b, same)
		}
	})
}
