package engine

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPayloadFlaw(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}" }
	for _, r := range []struct{ payload, flaw string }{
		{`{"orderId":"order-1","amount":12.50,"big":9007199254740993}`, ""},
		{`{"n":1.7976931348623157e308,"small":1e-400}`, ""},
		{`{"n":1e400}`, "number"},
		{`{"n":[-1e309]}`, "number"},
		{`{"n":` + strings.Repeat("9", 400) + `}`, "number"},
		{`{"s":"1e400 \"1e400\""}`, ""},
		{`{"s":"\ud83d\ude00"}`, ""},
		{`{"s":"\ud83d"}`, "surrogate"},
		{`{"s":"\ude00\ud83d"}`, "surrogate"},
		{`{"s":"\ud83dx\ude00"}`, "surrogate"},
		{`{"s":"\ud83d\n\ude00"}`, "surrogate"},
		{`{"s":"\ud83d\ud83d\ude00"}`, "surrogate"},
		{`{"\ud83d":1}`, "surrogate"},
		{`{"s":"\\ud83d"}`, ""},
		{deep(maxDelivered), ""},
		{deep(maxDelivered + 1), "nested"},
	} {
		if got := payloadFlaw([]byte(r.payload), maxDelivered); (got == "") != (r.flaw == "") || !strings.Contains(got, r.flaw) {
			t.Errorf("%.60s: %q, want something about %q", r.payload, got, r.flaw)
		}
	}
}

// A text has half of a pair exactly where reading and writing it again changes it.
func TestHalfPairsAreThoseThatDoNotComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := `{"s":"` + strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{`\ud83d`, `\ude00`, `\u0041`, `\\`, `\n`, `x`, `é`})).Draw(t, "text"), "") + `"}`
		var v struct{ S string }
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if lost := strings.ContainsRune(v.S, utf8.RuneError); lost != (payloadFlaw([]byte(text), maxDelivered) != "") {
			t.Fatalf("%s: read as %q, and the flaw is %q", text, v.S, payloadFlaw([]byte(text), maxDelivered))
		}
	})
}
