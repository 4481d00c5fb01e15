package assume

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(`{"origins": {"HTTP://Pay.test:80": {"enforces": false, "retention": "24h", "conflict": "in-flight", "keyTaken": [400], "idempotent": ["put"], "lookup": "{origin}/find?k={key}", "headers": {"Authorization": "Bearer {{secrets.TOKEN}}"}}, "*": {"lookup": "none"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Of("http://pay.test/v1/charges")
	if !c.Declared || c.Enforces || c.Retention != 24*time.Hour || !c.InFlight || !c.TakesKey(400) || c.TakesKey(422) || !c.Repeats("PUT") {
		t.Errorf("declared %+v", c)
	}
	if at, ok := c.LookupURL("http://pay.test/v1/charges?x=1", "a/b c"); !ok || at != "http://pay.test/find?k=a%2Fb%20c" {
		t.Errorf("look-up at %s, %v", at, ok)
	}
	if _, ok := s.Of("https://other.test/x").LookupURL("https://other.test/x", "k"); ok {
		t.Error("a contract without a look-up has one")
	}
}

func TestDefault(t *testing.T) {
	t.Parallel()
	var none *Set
	c := none.Of("http://127.0.0.1:4040/jobs")
	if c.Declared || !c.Enforces || c.Retention != 0 || c.InFlight || !c.TakesKey(422) {
		t.Errorf("default %+v", c)
	}
	if at, _ := c.LookupURL("http://127.0.0.1:4040/jobs", "sha256:ab"); at != "http://127.0.0.1:4040/jobs/by-idempotency-key/sha256:ab" {
		t.Errorf("look-up at %s", at)
	}
	if _, ok := c.LookupURL("http://127.0.0.1:4040/jobs", ""); ok {
		t.Error("a request without a key can be looked up by it")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"origins": {"*": {"enforce": true}}}`:                          `unknown field "enforce"`,
		`{"origins": {"*": {"retention": "soon"}}}`:                      "is not a valid duration",
		`{"origins": {"*": {"retention": "-1h"}}}`:                       "is not a valid duration",
		`{"origins": {"*": {"conflict": "maybe"}}}`:                      "neither in-flight nor exists",
		`{"origins": {"*": {"carrier": {}}}}`:                            "carrier is",
		`{"origins": {"*": {"carrier": {"header": "A", "field": "b"}}}}`: "carrier is",
		`{"origins": {"*": {"carrier": "header"}}}`:                      "1:",
		`{"origins": {"localhost": {}}}`:                                 "write scheme, host and port",
		`{"origins": {"*": {"lookup": "http://x/"}}}`:                    "has no place for",
		`{"origins": {"*": {"items": "data"}}}`:                          "is not a JSON pointer",
		`{"origins": {"*": {"lookupKey": "raw"}}}`:                       "neither value nor as-sent",
		"{\"origins\": {\n  \"*\": {\"enforces\": 1}}}":                  "2:",
		"{\"origins\": {\n  \"*\": {\"enforces\": true}}, }":             "2:",
		``: "1:1: nothing is there; ",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"origins": {"*": {"lookup": "none"}, "http://a:1": {"retention": "1h"}}}`), "http://a:1/x?y#z", "k/é")
	f.Fuzz(func(t *testing.T, data []byte, url, key string) {
		s, err := Parse(data)
		if (s == nil) != (err != nil) {
			t.Fatal("a set and an error, or neither")
		}
		c := s.Of(url)
		c.LookupURL(url, key)
	})
}

func TestProtects(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		contract      string
		header, field string
		want          bool
	}{
		{`{}`, "Idempotency-Key", "", true},
		{`{}`, "", "token", true},
		{`{"carrier": {"header": "PayPal-Request-Id"}}`, "paypal-request-id", "", true},
		{`{"carrier": {"header": "PayPal-Request-Id"}}`, "Idempotency-Key", "", false},
		{`{"carrier": {"header": "PayPal-Request-Id"}}`, "", "PayPal-Request-Id", false},
		{`{"carrier": {"field": "token"}}`, "", "token", true},
		{`{"carrier": {"field": "token"}}`, "", "Token", false},
		{`{"carrier": {"field": "token"}}`, "token", "", false},
		{`{"enforces": false, "carrier": {"field": "token"}}`, "", "token", false},
	} {
		s, err := Parse([]byte(`{"origins": {"*": ` + r.contract + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Of("http://p.test/").Protects(r.header, r.field); got != r.want {
			t.Errorf("%s, with the key in %q or %q: %v", r.contract, r.header, r.field, got)
		}
	}
}

func TestLookups(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		contract string
		declared bool
		at       string // of the key a+b&c=d/e%f#g h, sent to http://p.test/v1/jobs?x=1
	}{
		{`{}`, false, "http://p.test/v1/jobs/by-idempotency-key/a+b&c=d%2Fe%25f%23g%20h"},
		{`{"retention": "24h"}`, false, "http://p.test/v1/jobs/by-idempotency-key/a+b&c=d%2Fe%25f%23g%20h"},
		{`{"enforces": true}`, true, "http://p.test/v1/jobs/by-idempotency-key/a+b&c=d%2Fe%25f%23g%20h"},
		{`{"enforces": false}`, false, "http://p.test/v1/jobs/by-idempotency-key/a+b&c=d%2Fe%25f%23g%20h"},
		{`{"enforces": false, "lookup": "{origin}/find/{key}?k={key}"}`, true, "http://p.test/find/a+b&c=d%2Fe%25f%23g%20h?k=a%2Bb%26c%3Dd%2Fe%25f%23g%20h"},
		{`{"lookup": "{url}?token={key}"}`, true, "http://p.test/v1/jobs?token=a%2Bb%26c%3Dd%2Fe%25f%23g%20h"},
	} {
		s, err := Parse([]byte(`{"origins": {"*": ` + r.contract + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		c := s.Of("http://p.test/v1/jobs")
		if at, ok := c.LookupURL("http://p.test/v1/jobs?x=1", "a+b&c=d/e%f#g h"); !ok || at != r.at || c.LookedUp != r.declared {
			t.Errorf("%s: declared %v, look-up at %s, want %v, %s", r.contract, c.LookedUp, at, r.declared, r.at)
		}
	}
}

func TestUnquoted(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		`"k1"`: "k1", `"a b"`: "a b", `"a\"b\\c"`: `a"b\c`,
		`k1`: "", `""`: "", `"`: "", `"k1`: "", `"a"b"`: "", `"a\b"`: "", `"a\"`: "", "\"a\tb\"": "", `"ü"`: "",
	} {
		if got, ok := Unquoted(key); got != want || ok != (want != "") {
			t.Errorf("%s is %q, %v; want %q", key, got, ok, want)
		}
	}
}
