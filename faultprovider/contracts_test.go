package faultprovider

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"faultlab/faultprovider/contract"
)

const order = `"orderId":"order-42","amount":120,"region":"eu"`

// probes ask one question each of a provider that keeps a contract. The answer names the record of the first post "same",
// any other "new".
var probes = map[string]func(l *lab, c *Contract) string{
	"replay": func(l *lab, c *Contract) string {
		first := l.post(c, "jobs", "k", order)
		return brief(first, l.post(c, "jobs", "k", order))
	},
	"503, nothing stored": func(l *lab, c *Contract) string {
		l.faults("fail-before-commit")
		first := l.post(c, "jobs", "k", order)
		return brief(first, l.post(c, "jobs", "k", order))
	},
	"503 after the commit": func(l *lab, c *Contract) string {
		l.faults("commit-then-error")
		l.post(c, "jobs", "k", order)
		first := l.p.Effects()[0].ID
		return brief(first, l.post(c, "jobs", "k", order)) + ", " + strconv.Itoa(len(l.p.Effects())) + " effect"
	},
	"400": func(l *lab, c *Contract) string {
		l.faults("bad-request")
		first := l.post(c, "jobs", "k", order)
		return brief(first, l.post(c, "jobs", "k", order))
	},
	"429": func(l *lab, c *Contract) string {
		l.faults("rate-limited")
		first := l.post(c, "jobs", "k", order)
		return brief(first, l.post(c, "jobs", "k", order))
	},
	"dropped after the commit": func(l *lab, c *Contract) string {
		l.faults("commit-then-drop")
		l.post(c, "jobs", "k", order)
		return brief(l.p.Effects()[0].ID, l.post(c, "jobs", "k", order))
	},
	"changed payload": func(l *lab, c *Contract) string {
		first := l.post(c, "jobs", "k", order)
		return brief(first, l.post(c, "jobs", "k", `"orderId":"order-43","region":"eu"`))
	},
	"other key order": func(l *lab, c *Contract) string {
		first := l.post(c, "jobs", "k", order)
		return brief(first, l.post(c, "jobs", "k", `"region":"eu","amount":120,"orderId":"order-42"`))
	},
	"in flight": func(l *lab, c *Contract) string {
		l.faults("slow-commit")
		var first string
		l.v.Go("the first", func() { first = l.post(c, "jobs", "k", order) })
		l.pass(time.Second)
		second := l.post(c, "jobs", "k", order)
		l.pass(patience)
		return brief(first, second)
	},
	"after 4 min": func(l *lab, c *Contract) string { return l.after(c, 4*time.Minute) },
	"after 5 min": func(l *lab, c *Contract) string { return l.after(c, 5*time.Minute) },
	"after 4 h":   func(l *lab, c *Contract) string { return l.after(c, 4*time.Hour) },
	"after 24 h":  func(l *lab, c *Contract) string { return l.after(c, 24*time.Hour) },
	"after 1000 days": func(l *lab, c *Contract) string {
		return l.after(c, 1000*24*time.Hour)
	},
	"no key": func(l *lab, _ *Contract) string {
		return brief("", l.send(http.MethodPost, "/jobs", "{"+order+"}"))
	},
	"key of 65": func(l *lab, c *Contract) string { return brief("", l.post(c, "jobs", strings.Repeat("k", 65), order)) },
	"key of 256": func(l *lab, c *Contract) string {
		return brief("", l.post(c, "jobs", strings.Repeat("k", 256), order))
	},
	"key unquoted": func(l *lab, c *Contract) string {
		plain := *c
		plain.Key.Syntax = contract.Raw
		return brief("", l.post(&plain, "jobs", "k", order))
	},
	"key not ASCII": func(l *lab, c *Contract) string { return brief("", l.post(c, "jobs", "ké", order)) },
	"key in other case": func(l *lab, c *Contract) string {
		first := l.post(c, "jobs", "k", order)
		return brief(first, l.post(c, "jobs", "K", order))
	},
	"other route": func(l *lab, c *Contract) string {
		first := l.post(c, "jobs", "k", order)
		return brief(first, l.post(c, "charges", "k", order))
	},
	"other account": func(l *lab, c *Contract) string {
		first := l.post(c, "jobs", "k", order)
		body, headers := keyed(c, "k", order, l.v.Now())
		return brief(first, l.send(http.MethodPost, "/jobs", body, append(headers, with{"Authorization", "Bearer two"})...))
	},
	"other region": func(l *lab, c *Contract) string {
		first := l.post(c, "jobs", "k", order)
		return brief(first, l.post(c, "jobs", "k", strings.Replace(order, `"eu"`, `"us"`, 1)))
	},
	"look-up by key": func(l *lab, c *Contract) string {
		first := l.post(c, "jobs", "k", order)
		return brief(first, l.send(http.MethodGet, "/jobs/by-idempotency-key/k", ""))
	},
	"look-up by list": func(l *lab, c *Contract) string {
		first := l.post(c, "things", "k", order)
		return brief(first, l.send(http.MethodGet, "/things?clientToken=k&region=eu", ""))
	},
	"look-up by list, of a job": func(l *lab, c *Contract) string {
		l.post(c, "jobs", "k", order)
		return brief("", l.send(http.MethodGet, "/jobs?clientToken=k&region=eu", ""))
	},
	"look-up by list, in another region": func(l *lab, c *Contract) string {
		l.post(c, "jobs", "k", order)
		return brief("", l.send(http.MethodGet, "/jobs?clientToken=k&region=us", ""))
	},
	"look-up by list, of another order": func(l *lab, c *Contract) string {
		l.post(c, "jobs", "k", order)
		return brief("", l.send(http.MethodGet, "/jobs?clientToken=k&region=eu&orderId=order-43", ""))
	},
	"look-up by field": func(l *lab, c *Contract) string {
		first := l.post(c, "jobs", "k", order)
		return brief(first, l.send(http.MethodGet, "/jobs?orderId=order-42", ""))
	},
	"read by id": func(l *lab, c *Contract) string {
		first := l.post(c, "jobs", "k", order)
		return brief(first, l.send(http.MethodGet, "/jobs/"+idOf(first), ""))
	},
}

// after repeats a post so much later; the time of the first attempt stays what it was.
func (l *lab) after(c *Contract, d time.Duration) string {
	body, headers := keyed(c, "k", order, l.v.Now())
	first := l.send(http.MethodPost, "/jobs", body, headers...)
	l.pass(d)
	return brief(first, l.send(http.MethodPost, "/jobs", body, headers...))
}

// idOf finds the id of a record in an answer.
func idOf(answer string) string {
	_, rest, ok := strings.Cut(answer, `"id":"`)
	if !ok {
		return answer
	}
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// brief is an answer in a few words: its status, its error, and whether it has the record of the first answer or another.
func brief(first, answer string) string {
	status, rest, _ := strings.Cut(answer, " ")
	out := status
	var body struct {
		ID     string
		Error  string
		Status string
		Data   []json.RawMessage
	}
	if json.NewDecoder(strings.NewReader(rest)).Decode(&body) != nil {
		return answer
	}
	if body.Error != "" {
		out += " " + body.Error
	}
	if body.Status != "" {
		out += " " + body.Status
	}
	switch {
	case body.Data != nil:
		out += " list of " + strconv.Itoa(len(body.Data))
	case body.ID != "" && body.ID == idOf(first):
		out += " same"
	case body.ID != "":
		out += " new"
	}
	if strings.Contains(rest, "Idempotent-Replayed: true") {
		out += " marked"
	}
	return out
}

// TestContracts is one table a preset: what a caller gets.
func TestContracts(t *testing.T) {
	t.Parallel()
	const (
		executes   = "201 new"
		inProgress = "409 request_in_progress"
	)
	table := map[string]map[string]string{
		"seed": {
			"replay": "200 same", "503, nothing stored": executes, "503 after the commit": "200 same, 1 effect", "400": executes,
			"429": executes, "dropped after the commit": "200 same",
			"changed payload": "422 idempotency_key_reused_with_different_payload",
			"other key order": "422 idempotency_key_reused_with_different_payload",
			"in flight":       "200 same", "after 1000 days": "200 same",
			"no key": "400 idempotency_key_required", "key of 256": executes, "key not ASCII": executes, "key in other case": executes,
			"other route": executes, "other account": "200 same", "look-up by key": "200 same", "look-up by field": "404 not_found", "read by id": "200 same",
		},
		"stripe-v1": {
			"replay": "201 same marked", "503, nothing stored": "503 temporarily_unavailable marked",
			"503 after the commit": "503 temporarily_unavailable marked, 1 effect", "400": "400 bad_request marked", "429": executes,
			"dropped after the commit": "201 same marked", "changed payload": "400 idempotency_error", "other key order": "201 same marked",
			"in flight": "409 idempotency_key_in_use", "after 4 h": "201 same marked", "after 24 h": executes,
			"no key": executes, "key of 256": "400 idempotency_key_invalid", "key of 65": executes, "other route": executes,
			"other account": executes, "look-up by key": "404 not_found", "read by id": "200 same",
		},
		"ietf": {
			"replay": "201 same", "503, nothing stored": "503 temporarily_unavailable", "503 after the commit": "503 temporarily_unavailable, 1 effect",
			"400": "400 bad_request", "429": executes, "dropped after the commit": "201 same",
			"changed payload": "422 idempotency_key_reused_with_different_payload", "other key order": "201 same",
			"in flight": inProgress, "after 4 h": "201 same", "after 24 h": executes,
			"no key": "400 idempotency_key_required", "key unquoted": "400 idempotency_key_invalid", "key not ASCII": "400 idempotency_key_invalid",
			"other route": executes, "other account": "201 same", "look-up by key": "200 same",
		},
		"client-token": {
			"replay": "200 same", "503, nothing stored": executes, "503 after the commit": "200 same, 1 effect", "400": executes,
			"dropped after the commit": "200 same", "changed payload": "400 IdempotentParameterMismatch", "other key order": "200 same",
			"in flight": inProgress, "after 1000 days": "200 same", "no key": executes, "key of 65": "400 idempotency_key_invalid",
			"key not ASCII": "400 idempotency_key_invalid", "key in other case": executes, "other region": executes, "other account": executes,
			"other route": executes, "look-up by key": "404 not_found", "look-up by list": "200 list of 1", "look-up by field": "200 list of 1",
			"look-up by list, of a job": "200 list of 1", "look-up by list, in another region": "200 list of 0",
			"look-up by list, of another order": "200 list of 0",
		},
		"paypal": {
			"replay": "200 same", "503, nothing stored": executes, "503 after the commit": "200 same, 1 effect", "dropped after the commit": "200 same",
			"changed payload": "200 same", "in flight": inProgress, "after 5 min": "200 same", "after 4 h": executes, "no key": executes,
			"other route": executes, "look-up by key": "404 not_found", "read by id": "200 same",
		},
		"repeatable": {
			"replay": "201 same", "503, nothing stored": executes, "503 after the commit": "201 new, 2 effect", "400": "400 bad_request",
			"429": executes, "dropped after the commit": "201 same", "changed payload": "201 same", "in flight": inProgress,
			"after 5 min": "201 same", "after 4 h": "412 request_expired", "no key": executes, "other route": executes, "look-up by key": "404 not_found",
		},
		"conflict-with-id": {
			"replay": "409 already_exists same", "503, nothing stored": executes, "503 after the commit": "409 already_exists same, 1 effect",
			"dropped after the commit": "409 already_exists same", "changed payload": "409 already_exists same", "in flight": inProgress,
			"after 1000 days": "409 already_exists same", "no key": executes, "read by id": "200 same", "look-up by key": "404 not_found",
		},
		"success-only": {
			"replay": "201 same", "503, nothing stored": executes, "503 after the commit": "201 new, 2 effect", "400": executes,
			"dropped after the commit": "201 same", "changed payload": "201 same", "in flight": inProgress, "after 4 h": "201 same", "after 24 h": executes,
			"no key": executes, "other route": "201 same", "other account": executes, "look-up by key": "404 not_found",
		},
		"locked-after-500": {
			"replay": "200 same", "503, nothing stored": "409 idempotency_key_locked", "503 after the commit": "409 idempotency_key_locked, 1 effect",
			"400": executes, "429": executes, "dropped after the commit": "200 same", "changed payload": "200 same", "in flight": inProgress,
			"after 4 h": "200 same", "after 24 h": executes, "no key": executes, "look-up by key": "200 same",
		},
		"accept-once": {
			"replay": "200 accepted", "503, nothing stored": executes, "503 after the commit": "200 accepted, 1 effect",
			"dropped after the commit": "200 accepted", "changed payload": "200 accepted", "in flight": "200 accepted",
			"after 4 min": "200 accepted", "after 5 min": executes, "no key": executes, "look-up by key": "404 not_found",
		},
		"ignores-key": {
			"replay": executes, "503, nothing stored": executes, "503 after the commit": "201 new, 2 effect", "400": executes,
			"dropped after the commit": executes, "changed payload": executes, "in flight": executes, "no key": executes,
			"other route": executes, "look-up by key": "404 not_found", "look-up by field": "200 list of 1",
		},
	}
	for _, name := range contract.Names() {
		if len(table[name]) == 0 {
			t.Errorf("no row for the preset %s", name)
		}
	}
	for probe := range probes {
		if !slices.ContainsFunc(contract.Names(), func(name string) bool { return table[name][probe] != "" }) {
			t.Errorf("no preset is asked about %q", probe)
		}
	}
	for name, row := range table {
		for probe, want := range row {
			t.Run(name+"/"+probe, func(t *testing.T) {
				t.Parallel()
				c := preset(t, name)
				inBoth(t, Options{Contract: c}, func(l *lab) {
					l.want(name+", "+probe, probes[probe](l, &c), want)
				})
			})
		}
	}
}

// TestKnobs asks the same of contracts that no preset has.
func TestKnobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, knobs, probe, want string }{
		{"mismatch executes", `{"mismatch":{"do":"execute"}}`, "changed payload", "201 new"},
		{"mismatch replays", `{"mismatch":{"do":"replay-first"}}`, "changed payload", "200 same"},
		{"bytes", `{"fingerprint":{"by":"bytes"}}`, "other key order", "422 idempotency_key_reused_with_different_payload"},
		{"canonical", `{"fingerprint":{"by":"canonical"}}`, "other key order", "200 same"},
		{"chosen fields", `{"fingerprint":{"by":"fields","fields":["region"]}}`, "changed payload", "200 same"},
		{"chosen fields differ", `{"fingerprint":{"by":"fields","fields":["orderId"]}}`, "changed payload", "422 idempotency_key_reused_with_different_payload"},
		{"in flight 503", `{"inFlight":{"do":"reject","status":503,"error":"busy"}}`, "in flight", "503 busy"},
		{"in flight executes", `{"inFlight":{"do":"execute"}}`, "in flight", "201 new"},
		{"in flight waits, but not longer than the lease", `{"inFlight":{"lease":"2s"}}`, "in flight", "201 new"},
		{"expired 412", `{"retention":{"for":"4m","expired":"refuse"}}`, "after 4 min", "412 idempotency_key_expired"},
		{"retention of this collection", `{"retention":{"for":"1m","collections":{"jobs":"1h"}}}`, "after 5 min", "200 same"},
		{"kept after a 5xx", `{"afterError":"kept"}`, "503, nothing stored", "201 new"},
		{"overlong key is cut", `{"key":{"maxLength":9,"overlong":"truncate"}}`, "key of 256", "201 new"},
		{"uuid", `{"key":{"syntax":"uuid"}}`, "key of 65", "400 idempotency_key_invalid"},
		{"a status and an error for bad keys", `{"key":{"syntax":"uuid","status":422,"error":"bad_key"}}`, "key of 65", "422 bad_key"},
		{"a status for overlong keys", `{"key":{"maxLength":9,"status":413}}`, "key of 256", "413 idempotency_key_invalid"},
		{"an error for overlong keys", `{"key":{"maxLength":9,"error":"key_too_long"}}`, "key of 256", "400 key_too_long"},
		{"scope of everything", `{"scope":[]}`, "other route", "200 same"},
		{"scope of an account", `{"scope":["account"]}`, "other account", "201 new"},
		{"scope of a field", `{"scope":["field:region"],"fingerprint":{"by":"none"}}`, "other region", "201 new"},
		{"replay with the first status", `{"replay":{"status":0}}`, "replay", "201 same"},
		{"replay marked", `{"replay":{"marker":"Idempotent-Replayed: true"}}`, "replay", "200 same marked"},
		{"look-up lags", `{"lookUp":{"lag":"1m"}}`, "look-up by key", "404 not_found"},
		{"client's clock, expired executes", `{"extends":"repeatable","retention":{"expired":"new-operation"}}`, "after 4 h", "201 new"},
		{"key in the path", `{"carrier":{"in":"path"}}`, "no key", "400 idempotency_key_required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rules, err := contract.Parse([]byte(c.knobs))
			if err != nil {
				t.Fatal(err)
			}
			inBoth(t, Options{Contract: rules}, func(l *lab) {
				l.want(c.knobs+", "+c.probe, probes[c.probe](l, &rules), c.want)
			})
		})
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	rules, err := contract.Parse([]byte(`{"inFlight":{"do":"reject","status":409,"error":"busy"},"hints":{"retryAfter":"1500ms","shouldRetry":"should-retry"}}`))
	if err != nil {
		t.Fatal(err)
	}
	inBoth(t, Options{Contract: rules}, func(l *lab) {
		l.faults("slow-commit", "fail-before-commit", "rate-limited")
		l.v.Go("another", func() { l.post(&rules, "jobs", "k", order) })
		l.pass(time.Second)
		l.want("in flight", l.post(&rules, "jobs", "k", order), `409 {"error":"busy"} Retry-After: 2 Should-Retry: true`)
		l.want("503", l.post(&rules, "jobs", "k2", order), `503 {"error":"temporarily_unavailable"} Should-Retry: true`)
		l.want("429", l.post(&rules, "jobs", "k3", order), `429 {"error":"rate_limited"} Retry-After: 2 Should-Retry: true`)
		l.want("no key", l.send(http.MethodPost, "/jobs", "{}"), `400 {"error":"idempotency_key_required"} Should-Retry: false`)
	})
}

func TestPathCarriesTheKey(t *testing.T) {
	t.Parallel()
	rules, err := contract.Parse([]byte(`{"carrier":{"in":"path"}}`))
	if err != nil {
		t.Fatal(err)
	}
	inBoth(t, Options{Contract: rules}, func(l *lab) {
		first := l.send(http.MethodPost, "/jobs/k-1", "{"+order+"}")
		l.want("repeat", brief(first, l.send(http.MethodPost, "/jobs/k-1", "{"+order+"}")), "200 same")
		l.want("look-up", brief(first, l.send(http.MethodGet, "/jobs/by-idempotency-key/k-1", "")), "200 same")
	})
}

// TestTheFirstToCompleteIsKept: where a second request executes too, the key belongs to whichever is done first.
func TestTheFirstToCompleteIsKept(t *testing.T) {
	t.Parallel()
	rules, err := contract.Parse([]byte(`{"inFlight":{"do":"execute"}}`))
	if err != nil {
		t.Fatal(err)
	}
	inBoth(t, Options{Contract: rules}, func(l *lab) {
		l.faults("slow-commit")
		l.v.Go("the first", func() { l.post(&rules, "jobs", "k", order) })
		l.pass(time.Second)
		second := l.post(&rules, "jobs", "k", order)
		l.want("before the first is done", brief(second, l.post(&rules, "jobs", "k", order)), "200 same")
		l.pass(patience)
		l.want("after it is done", brief(second, l.post(&rules, "jobs", "k", order)), "200 same")
	})
}

// TestChangedOperationLeavesTheKeyAlone: where a changed payload executes, the key still belongs to the first.
func TestChangedOperationLeavesTheKeyAlone(t *testing.T) {
	t.Parallel()
	rules, err := contract.Parse([]byte(`{"mismatch":{"do":"execute"}}`))
	if err != nil {
		t.Fatal(err)
	}
	inBoth(t, Options{Contract: rules}, func(l *lab) {
		first := l.post(&rules, "jobs", "k", order)
		l.want("changed", brief(first, l.post(&rules, "jobs", "k", `"orderId":"order-43"`)), "201 new")
		l.want("changed again", brief(first, l.post(&rules, "jobs", "k", `"orderId":"order-43"`)), "201 new")
		l.want("the first", brief(first, l.post(&rules, "jobs", "k", order)), "200 same")

		l.faults("slow-commit")
		l.v.Go("another first", func() { first = l.post(&rules, "jobs", "k2", order) })
		l.pass(time.Second)
		l.want("changed in flight", brief("", l.post(&rules, "jobs", "k2", `"orderId":"order-43"`)), "201 new")
		l.want("changed again", brief("", l.post(&rules, "jobs", "k2", `"orderId":"order-43"`)), "201 new")
		l.pass(patience)
		l.want("the first, done", brief(first, l.post(&rules, "jobs", "k2", order)), "200 same")
	})
}
