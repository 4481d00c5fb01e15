package contract

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"faultlab/faultprovider/jsondoc"
)

func TestPresetsAreValidAndSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	want := []string{"seed", "stripe-v1", "ietf", "client-token", "paypal", "repeatable", "conflict-with-id",
		"success-only", "locked-after-500", "accept-once", "ignores-key"}
	if got := Names(); !slices.Equal(got, want) {
		t.Errorf("presets %v, want %v", got, want)
	}
	for _, c := range Presets() {
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if c.Title == "" || c.Note == "" || len(c.Assumptions) == 0 {
			t.Errorf("%s has no title, no note or no assumptions", c.Name)
		}
		for _, rule := range c.Rules() {
			if !strings.HasSuffix(rule, ".") || strings.Contains(rule, "  ") || strings.Contains(rule, "%!") {
				t.Errorf("%s: %q is not a sentence", c.Name, rule)
			}
		}
	}
}

func TestPresetsCannotBeSpoilt(t *testing.T) {
	t.Parallel()
	c, _ := Preset("client-token")
	c.Scope.Fields[0] = "spoilt"
	c.Assumptions[0] = "spoilt"
	if again, _ := Preset("client-token"); again.Scope.Fields[0] != "region" || again.Assumptions[0] == "spoilt" {
		t.Error("a change to a preset's copy reached the preset")
	}
	if _, ok := Preset("no-such"); ok {
		t.Error("there is a preset no-such")
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"seed": `The key travels in the header Idempotency-Key.
A POST without a key is answered with 400 idempotency_key_required.
A key is any text.
A key is the same key within one route.
Payloads are compared as re-serialized JSON, the order of keys counts; a changed one is answered with 422 idempotency_key_reused_with_different_payload.
A key is known for ever.
What counts under a key is the record that it made; after a 5xx the key is free and executes again.
A repeat gets the record as it is now, with 200.
While the first request is in flight, a second waits and is then answered as a repeat.
An operation is looked up at /{collection}/by-idempotency-key/{key}.`,
		"repeatable": `The key travels in the header Repeatability-Request-ID, the time of the first attempt in Repeatability-First-Sent.
A POST without a key executes.
A key is any text.
A key is the same key within one account, route.
The payload is not compared.
A key is known for 5 min around the client's own time; afterwards it is answered with 412.
Stored under a key: results of 2xx, 4xx; after a 5xx the key is free and executes again.
A repeat gets the stored result.
While the first request is in flight, a second is answered with 409 request_in_progress.
There is no look-up by key; a record can be read by its id.`,
		"ignores-key": `No key is looked for: every write executes.
Records are listed by /{collection}?field=....`,
	} {
		c, _ := Preset(name)
		if got := strings.Join(c.Rules(), "\n"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	c, err := Parse([]byte(`{"extends":"paypal","key":{"maxLength":10,"overlong":"truncate","syntax":"uuid"},"inFlight":{"lease":"90s"},
		"lookUp":{"by":"filter","filter":"k","lag":"2m"},"hints":{"retryAfter":"1s","shouldRetry":"Should-Retry"},"afterError":"kept"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"A key is a UUID, up to 10 characters; a longer one is cut, and may become another's.",
		"A key is known for 3 h, 45 days for payments, 45 days for refunds from the first request; afterwards it is new again.",
		"While the first request is in flight, a second is answered with 409 request_in_progress, for at most 1m30s.",
		"Records are listed by /{collection}?k=..., as it was 2 min ago.",
		"Errors carry Retry-After 1s and Should-Retry with true or false.",
		"What counts under a key is the record that it made; after a 5xx the key executes again, for the same payload only.",
	} {
		if !slices.Contains(c.Rules(), want) {
			t.Errorf("no rule %q in\n%s", want, strings.Join(c.Rules(), "\n"))
		}
	}
}

func TestAContractSurvivesItsFile(t *testing.T) {
	t.Parallel()
	for _, c := range Presets() {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v in its own file %s", c.Name, err, text)
			continue
		}
		if len(got.Store) == 0 {
			got.Store = nil
		}
		if !reflect.DeepEqual(got, c) {
			t.Errorf("%s came back as\n%+v", c.Name, got)
		}
	}
}

func TestParseExtends(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte(`{"extends":"stripe-v1","name":"mine","retention":{"for":"1h"},"scope":["account","field:zone"]}`))
	if err != nil {
		t.Fatal(err)
	}
	stripe, _ := Preset("stripe-v1")
	if c.Name != "mine" || c.RetentionOf("jobs").Hours() != 1 || c.Scope.Route || c.Scope.Fields[0] != "zone" || c.Mismatch != stripe.Mismatch {
		t.Errorf("got %+v", c)
	}
	if c, err := Parse([]byte(`{}`)); err != nil || c.Name != "own" || c.Missing.Status != 400 {
		t.Errorf("an empty file is %+v, %v; want the rules of seed", c, err)
	}
	if c, err := Parse([]byte(`{"retention":{"collections":{"refunds":"45d"}}}`)); err != nil || c.RetentionOf("refunds").Hours() != 1080 || c.RetentionOf("jobs") != 0 {
		t.Errorf("retention by collection: %+v, %v", c.Retention, err)
	}
}

func TestParseRefusesWithThePlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                     `1:1: unexpected end, a value is missing`,
		`[]`:                   `1:1: an object is needed here, not a list`,
		`{"retenton":{}}`:      `1:2: unknown field "retenton": did you mean "retention"?`,
		`{"key":{"length":1}}`: `1:9: unknown field "length": did you mean "maxLength"?`,
		"{\n \"mismatch\": {\"do\": \"explode\"}}":            `2:21: "do" must be one of reject, replay-first, execute, not "explode"`,
		`{"extends":"stripe"}`:                                `1:12: there is no preset "stripe": did you mean "stripe-v1"?`,
		`{"extends":"zebra"}`:                                 `1:12: there is no preset "zebra"; the presets are ` + strings.Join(Names(), ", "),
		`{"scope":["rout"]}`:                                  `1:11: "scope" holds account, method, route and field:NAME, not "rout"`,
		`{"scope":[1]}`:                                       `1:11: "scope" holds strings`,
		`{"retention":{"from":"client-clock"}}`:               `1:22: retention.from: the client's clock needs carrier.firstSent`,
		`{"store":["2xx"]}`:                                   `1:10: store: a replay that is the "stored-reply" stores "2xx" at least, any other replay stores nothing`,
		`{"store":["3xx"]}`:                                   `1:10: store: must be one of 2xx, 4xx, 5xx`,
		`{"extends":"stripe-v1","afterError":"locked"}`:       `1:37: afterError: a 5xx that is stored is neither kept nor locked`,
		`{"missing":{"do":"reject","status":400,"error":""}}`: `1:36: missing.status: "reject" needs a status from 400 to 599 and an error`,
		`{"carrier":{"name":"no header"}}`:                    `1:20: carrier.name: the name of a header is needed`,
		`{"replay":{"do":"conflict-with-id"}}`:                `1:11: replay.status: a status from 200 to 299 is needed, from 400 to 499 for a conflict; 0 is that of the first result`,
		`{"replay":{"marker":"Replayed"}}`:                    `1:21: replay.marker: a header is written "Name: value"`,
		`{"fingerprint":{"by":"fields"}}`:                     `1:16: fingerprint.fields: fields belong to by "fields", and to nothing else`,
		`{"name":"two words"}`:                                `1:9: name: a name of one word is needed`,
		`{"lookUp":{"filter":"k"}}`:                           `1:21: lookUp.filter: a filter belongs to by "filter"`,
		`{"key":{"overlong":"truncate"}}`:                     `1:20: key.overlong: there is nothing to truncate to without maxLength`,
		`{"key":{"status":200}}`:                              `1:18: key.status: a bad key is refused with a status from 400 to 599; 0 is 400`,
		`{"hints":{"shouldRetry":"a b"}}`:                     `1:25: hints.shouldRetry: the name of a header is needed`,
		`{"name":"a","name":"b"}`:                             `1:13: field "name" is given twice`,
		`{"retention":{"from":"client-clock"},"carrier":{"firstSent":"First-At"}}`: `1:22: retention.from: the client's clock needs retention.for`,
	} {
		_, err := Parse([]byte(text))
		var at *jsondoc.Error
		if !errors.As(err, &at) || err.Error() != want {
			t.Errorf("%s\n\tgot  %v\n\twant %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range Presets() {
		text, err := json.Marshal(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"extends":"ietf","retention":{"for":"1h"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text)
		if err != nil {
			var at *jsondoc.Error
			if !errors.As(err, &at) || at.Line < 1 || at.Column < 1 || at.Msg == "" {
				t.Fatalf("%q: %v does not say where", text, err)
			}
			return
		}
		if err := c.Check(); err != nil {
			t.Fatalf("%q was accepted, but %v", text, err)
		}
		c.Rules()
		out, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(out); err != nil || again.Name != c.Name {
			t.Fatalf("%q became %s: %v", text, out, err)
		}
	})
}
