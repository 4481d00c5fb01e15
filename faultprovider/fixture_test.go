package faultprovider

import (
	"net/http"
	"strings"
	"testing"

	"faultlab/faultprovider/contract"
)

// TestFixture is the wire surface of the reference fixture: statuses, bodies and log lines.
func TestFixture(t *testing.T) {
	t.Parallel()
	var lines []string
	for shell := range shells {
		t.Run(shell, func(t *testing.T) {
			lines = nil
			l := newLab(t, shell, Options{Observe: func(e Entry) {
				if text := e.Text(); text != "" {
					lines = append(lines, "[provider] "+text)
				}
			}})
			l.run(func() { fixtureStory(l) })
			l.want("log", strings.Join(lines, "\n"), `[provider] key=key-A NEW fault=fail-before-commit
[provider] key=key-A NEW fault=none
[provider] key=key-A REPLAY job=`+idAt(l, 0)+`
[provider] key=key-A REJECTED (payload changed)
[provider] key=key-B NEW fault=commit-then-error
[provider] key=key-B REPLAY job=`+idAt(l, 1)+`
[provider] key=key-C NEW fault=commit-then-drop
[provider] key=key-E NEW fault=none
[provider] key=key-E REPLAY job=`+idAt(l, 3))
		})
	}
}

func idAt(l *lab, n int) string {
	jobs := l.p.Records("jobs")
	if n >= len(jobs) {
		return "no such job"
	}
	return jobs[n].ID
}

func fixtureStory(l *lab) {
	post := func(key, body string) string {
		return l.send(http.MethodPost, "/jobs", body, with{"idempotency-key", key})
	}
	job := func(n int, rest string) string { return `{"id":"` + idAt(l, n) + `"` + rest + `}` }

	l.want("queue", l.send(http.MethodPost, "/_test/faults", `{"faults":["fail-before-commit"]}`), `200 {"faults":["fail-before-commit"]}`)
	l.want("A fails", post("key-A", `{"orderId":"order-1"}`), `503 {"error":"temporarily_unavailable"}`)
	l.want("no jobs", l.send(http.MethodGet, "/_test/jobs", ""), `200 {"count":0,"jobs":[]}`)
	l.want("A again", post("key-A", `{"orderId":"order-1"}`), `201 `+job(0, `,"orderId":"order-1"`))
	l.want("A replayed", post("key-A", ` {"orderId" : "order-1"} `), `200 `+job(0, `,"orderId":"order-1"`))
	l.want("A changed", post("key-A", `{"orderId":"order-9"}`), `422 {"error":"idempotency_key_reused_with_different_payload"}`)

	l.send(http.MethodPost, "/_test/faults", `{"faults":["commit-then-error","commit-then-drop"]}`)
	l.want("B", post("key-B", `{"orderId":"order-2","amount":1}`), `503 {"error":"temporarily_unavailable"}`)
	l.want("B again", post("key-B", `{"orderId":"order-2","amount":1}`), `200 `+job(1, `,"orderId":"order-2"`))
	l.want("C", post("key-C", `{"orderId":{"n":1.0}}`), "reset")
	l.want("C found", l.send(http.MethodGet, "/jobs/by-idempotency-key/key-C", ""), `200 `+job(2, `,"orderId":{"n":1}`))

	l.want("D unknown", l.send(http.MethodGet, "/jobs/by-idempotency-key/key-D", ""), `404 {"error":"not_found"}`)
	l.want("no key", l.send(http.MethodPost, "/jobs", `{"orderId":"order-3"}`), `400 {"error":"idempotency_key_required"}`)
	l.want("no key and no JSON", l.send(http.MethodPost, "/jobs", `{`), `400 {"error":"idempotency_key_required"}`)
	l.want("no body", post("key-E", ""), `201 `+job(3, ""))
	l.want("no body is an empty object", post("key-E", "{}"), `200 `+job(3, ""))
	for _, where := range []string{"/", "/jobs", "/_test/nothing", "/jobs/"} {
		l.want(where, l.send(http.MethodGet, where, ""), `404 {"error":"not_found"}`)
	}
	l.want("clear", l.send(http.MethodPost, "/_test/faults", ""), `200 {"faults":[]}`)
	l.want("jobs", l.send(http.MethodGet, "/_test/jobs", ""), `200 {"count":4,"jobs":[`+
		`{"key":"key-A","id":"`+idAt(l, 0)+`","orderId":"order-1"},{"key":"key-B","id":"`+idAt(l, 1)+`","orderId":"order-2"},`+
		`{"key":"key-C","id":"`+idAt(l, 2)+`","orderId":{"n":1}},{"key":"key-E","id":"`+idAt(l, 3)+`"}]}`)
}

// TestPayloadIdentity is a row for each pair of payloads, and whether it is the same one by each way to compare.
func TestPayloadIdentity(t *testing.T) {
	t.Parallel()
	const same, other = "200", "422"
	for _, c := range []struct {
		name, first, second    string
		json, canonical, bytes string
	}{
		{"equal", `{"a":1}`, `{"a":1}`, same, same, same},
		{"white space", `{"a":1}`, "{ \"a\" :\n1 }", same, same, other},
		{"1 and 1.0", `{"a":1}`, `{"a":1.0}`, same, same, other},
		{"1 and 1e0", `{"a":1}`, `{"a":1e0}`, same, same, other},
		{"0 and -0", `{"a":0}`, `{"a":-0}`, same, same, other},
		{"beyond a double", `{"a":9007199254740993}`, `{"a":9007199254740992}`, same, same, other},
		{"1 and the string 1", `{"a":1}`, `{"a":"1"}`, other, other, other},
		{"order of keys", `{"a":1,"b":2}`, `{"b":2,"a":1}`, other, same, other},
		{"order of keys that are numbers", `{"2":1,"1":2}`, `{"1":2,"2":1}`, same, same, other},
		{"order of a list", `{"a":[1,2]}`, `{"a":[2,1]}`, other, other, other},
		{"duplicates, the last counts", `{"a":1,"a":2}`, `{"a":2}`, same, same, other},
		{"escapes", `{"a":"\u00e9"}`, `{"a":"é"}`, same, same, other},
		{"NFC and NFD", `{"a":"é"}`, "{\"a\":\"e\u0301\"}", other, other, other},
		{"null and nothing", `{"a":null}`, `{}`, other, other, other},
		{"no body and an empty object", ``, `{}`, same, same, other},
		{"upper and lower case", `{"a":"x"}`, `{"a":"X"}`, other, other, other},
		{"lone surrogates", `{"a":"\ud800"}`, `{"a":"\uD800"}`, same, same, other},
	} {
		for by, want := range map[contract.By]string{contract.ByJSON: c.json, contract.ByCanonical: c.canonical, contract.ByBytes: c.bytes} {
			t.Run(c.name+"/"+string(by), func(t *testing.T) {
				t.Parallel()
				rules := preset(t, "seed")
				rules.Fingerprint.By = by
				l := newLab(t, "simulated", Options{Contract: rules})
				l.run(func() {
					key := with{"Idempotency-Key", "k"}
					if first := l.send(http.MethodPost, "/jobs", c.first, key); !strings.HasPrefix(first, "201 ") {
						t.Fatal(first)
					}
					if got := l.send(http.MethodPost, "/jobs", c.second, key); !strings.HasPrefix(got, want+" ") {
						t.Errorf("%s, then %s: %s, want %s", c.first, c.second, got, want)
					}
				})
			})
		}
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	inBoth(t, Options{}, func(l *lab) {
		key := with{"Idempotency-Key", "k"}
		l.want("not JSON", l.send(http.MethodPost, "/jobs", `{"a":}`, key),
			`400 {"error":"invalid_json","message":"1:6: unexpected '}', a value is missing"}`)
		l.want("too large", l.send(http.MethodPost, "/jobs", `"`+strings.Repeat("x", MaxBody)+`"`, key),
			`413 {"error":"body_too_large","message":"a body has at most 1 MiB"}`)
		l.want("as large as may be", brief("", l.send(http.MethodPost, "/jobs", `"`+strings.Repeat("x", MaxBody-2)+`"`, key)), "201 new")
		l.want("other method", l.send(http.MethodPatch, "/jobs/1", `{}`, key), `404 {"error":"not_found"}`)
		l.want("put to nothing", l.send(http.MethodPut, "/jobs", `{}`, key), `404 {"error":"not_found"}`)
		l.want("broken escape", l.send(http.MethodGet, "/jobs/by-idempotency-key/%25zz", ""), `404 {"error":"not_found"}`)
		l.want("log", l.kinds(), strings.Join([]string{
			"received", "rejected:body-is-not-JSON", "reply:400",
			"received", "rejected:body-too-large", "reply:413",
			"received", "new:none", "commit", "reply:201",
			"received", "rejected:no-such-route", "reply:404",
			"received", "rejected:no-such-route", "reply:404",
			"received", "look-up", "reply:404",
		}, " "))
	})
}

func TestKeysNeedEncodingInALookUp(t *testing.T) {
	t.Parallel()
	inBoth(t, Options{}, func(l *lab) {
		for _, c := range []struct{ key, escaped string }{
			{"a/b", "a%2Fb"}, {"a b?c#d", "a%20b%3Fc%23d"}, {"100%", "100%25"}, {"sha256:9f3a", "sha256:9f3a"}, {"é", "%C3%A9"},
		} {
			first := l.send(http.MethodPost, "/jobs", "{}", with{"Idempotency-Key", c.key})
			l.want(c.key, brief(first, l.send(http.MethodGet, "/jobs/by-idempotency-key/"+c.escaped, "")), "200 same")
		}
		// Node sends characters up to 0xff as one byte each.
		latin := l.send(http.MethodPost, "/jobs", "{}", with{"Idempotency-Key", "caf\xe9"})
		l.want("a byte for a letter", brief(latin, l.send(http.MethodGet, "/jobs/by-idempotency-key/caf%C3%A9", "")), "200 same")
		l.want("an unescaped slash", brief("", l.send(http.MethodGet, "/jobs/by-idempotency-key/a/b", "")), "200 new")
	})
}
