package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"

	"faultlab/engine/clock"
)

// The key's formula, written out: the canonical JSON has its members sorted and no space.
func TestStepKeyFormula(t *testing.T) {
	t.Parallel()
	canonical := `{"contract":"woml.step-effect","definitionHash":"sha256:ab","nodeId":"charge","runId":"run_1","version":1}`
	sum := sha256.Sum256([]byte(canonical))
	want := "sha256:" + hex.EncodeToString(sum[:])
	if got := stepKey("sha256:ab", "charge", "run_1"); got != want {
		t.Errorf("key %s, want %s", got, want)
	}
	for _, other := range []string{stepKey("sha256:ac", "charge", "run_1"), stepKey("sha256:ab", "refund", "run_1"), stepKey("sha256:ab", "charge", "run_2")} {
		if other == want {
			t.Error("another identity has the same key")
		}
	}
}

// Whatever the names hold, the key is that of the canonical JSON.
func TestStepKeyIsThatOfCanonicalJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\"\\/\b\t\n\v\f\r\x00\x1f\x7f<>&\u2028é€😀"))))
		identity := map[string]any{"contract": "woml.step-effect", "definitionHash": text.Draw(t, "definition"), "nodeId": text.Draw(t, "node"),
			"runId": text.Draw(t, "run"), "version": 1}
		raw, err := json.Marshal(identity)
		if err != nil {
			t.Fatal(err)
		}
		if got := stepKey(identity["definitionHash"].(string), identity["nodeId"].(string), identity["runId"].(string)); got != digestJSON(raw) {
			t.Errorf("key %s of %s", got, raw)
		}
	})
}

func TestDigestOfPartsKeepsThemApart(t *testing.T) {
	t.Parallel()
	seen := map[string][]string{}
	for _, parts := range [][]string{{}, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"ab", ""}, {"", "ab"}, {"\x02ab"}, {"\x01a\x01b"}} {
		d := digestParts(parts...)
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %q have one digest", parts, other)
		}
		seen[d] = parts
	}
}

func TestDigestIgnoresLayoutAndOrder(t *testing.T) {
	t.Parallel()
	a, b := digestJSON([]byte(`{"a":1,"b":[true,null]}`)), digestJSON([]byte(" { \"b\" : [ true,null ],\n\"a\": 1.0 } "))
	if a != b {
		t.Errorf("%s and %s differ", a, b)
	}
	if digestJSON([]byte(`{"a":2}`)) == a {
		t.Error("another value has the same digest")
	}
}

func TestRequestIDReadsWhatItWrote(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := RequestID{Run: "run_" + rapid.StringMatching(`[0-9a-f]{12}`).Draw(t, "run"), Step: rapid.StringMatching(`[a-z][A-Za-z0-9]*`).Draw(t, "step"),
			Undo: rapid.Bool().Draw(t, "undo"), Attempt: rapid.IntRange(1, 99).Draw(t, "attempt"), Number: rapid.IntRange(1, 99).Draw(t, "n"), Lookup: rapid.Bool().Draw(t, "lookup")}
		if got, ok := ParseRequestID(id.String()); !ok || got != id {
			t.Fatalf("%s reads as %+v", id, got)
		}
	})
	for _, bad := range []string{"", "abc", "run/step/1", "run/step/x/1", "run/step/1/lx", "run/step/0/1", "/a/1/1", "a//1/1", "a/b/1/1/1"} {
		if _, ok := ParseRequestID(bad); ok {
			t.Errorf("%q is taken for a request id", bad)
		}
	}
}

// Ids of one moment begin alike, and are no more likely to be the same.
func TestIDsOfOneMomentStandTogether(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(time.Unix(2*0xabcd, 0))
	defer clk.Close()
	for seed, want := range map[int64]string{0: `^run_cd[0-9a-f]{12}$`, 7: `^run_[0-9a-f]{12}$`} {
		e := New(Options{Clock: clk, History: NewMemory(), Seed: seed})
		seen := map[string]bool{}
		for range 100 {
			id, _ := e.newID()
			if !regexp.MustCompile(want).MatchString(id) || seen[id] {
				t.Fatalf("seed %d: %s is not new, or not %s", seed, id, want)
			}
			seen[id] = true
		}
	}
}
