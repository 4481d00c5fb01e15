package faultprovider

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"faultlab/faultprovider/contract"
)

func TestAnyCollectionKeepsTheWholeBody(t *testing.T) {
	t.Parallel()
	inBoth(t, Options{}, func(l *lab) {
		key := with{"Idempotency-Key", "k"}
		charge := l.send(http.MethodPost, "/v1/charges", `{"amount":1.0,"id":"mine","note":"<&>","amount":2}`, key)
		id := idOf(charge)
		l.want("charge", charge, `201 {"id":"`+id+`","amount":2,"note":"<&>"}`)
		if !strings.HasPrefix(id, "charge_") || len(id) != len("charge_")+8 {
			l.t.Errorf("the id of a charge is %s", id)
		}
		l.want("read", l.send(http.MethodGet, "/v1/charges/"+id, ""), `200 {"id":"`+id+`","amount":2,"note":"<&>"}`)
		l.want("look-up", brief(charge, l.send(http.MethodGet, "/v1/charges/by-idempotency-key/k", "")), "200 same")
		l.want("another collection", brief(charge, l.send(http.MethodPost, "/entries", `[1,"x"]`, key)), "201 new")
		entry := l.p.Records("entries")[0]
		l.want("a list as body", string(entry.Body), `{"id":"`+entry.ID+`","body":[1,"x"]}`)
		if !strings.HasPrefix(entry.ID, "entry_") {
			l.t.Errorf("the id of an entry is %s", entry.ID)
		}
		l.want("read head", l.send(http.MethodHead, "/v1/charges/"+id, ""), "200  (length 48)")
	})
}

func TestSingular(t *testing.T) {
	t.Parallel()
	for collection, want := range map[string]string{
		"jobs": "job", "v1/charges": "charge", "entries": "entry", "boxes": "box", "addresses": "address", "branches": "branch",
		"access": "access", "sheep": "sheep", "Payment-Intents": "payment_intent", "s": "s", "jobs/job_1/cancel": "cancel",
	} {
		if got := recordName(collection); got != want {
			t.Errorf("one of %s is %s, want %s", collection, got, want)
		}
	}
}

// TestPutIsIdempotentByItself: a stable id needs no key.
func TestPutIsIdempotentByItself(t *testing.T) {
	t.Parallel()
	inBoth(t, Options{}, func(l *lab) {
		l.faults("commit-then-drop")
		l.want("dropped", l.send(http.MethodPut, "/jobs/order-42", `{"amount":1}`), "reset")
		l.want("read", l.send(http.MethodGet, "/jobs/order-42", ""), `200 {"id":"order-42","amount":1}`)
		l.want("again", l.send(http.MethodPut, "/jobs/order-42", `{"amount":1}`), `200 {"id":"order-42","amount":1}`)
		l.want("changed", l.send(http.MethodPut, "/jobs/order-42", `{"amount":2}`), `200 {"id":"order-42","amount":2}`)
		l.want("read", l.send(http.MethodGet, "/jobs/order-42", ""), `200 {"id":"order-42","amount":2}`)
		l.want("an id with odd characters", l.send(http.MethodPut, "/jobs/a%2Fb%22", `{}`), `201 {"id":"a/b\""}`)
		l.want("read it", l.send(http.MethodGet, "/jobs/a%2Fb%22", ""), `200 {"id":"a/b\""}`)
		if n := len(l.p.Effects()); n != 2 {
			l.t.Errorf("%d effects, want one for each id", n)
		}
		l.want("jobs", l.send(http.MethodGet, "/_test/jobs", ""),
			`200 {"count":2,"jobs":[{"key":null,"id":"order-42","amount":2},{"key":null,"id":"a/b\""}]}`)
	})
}

func TestPutUnderAKeyKeepsTheRules(t *testing.T) {
	t.Parallel()
	inBoth(t, Options{}, func(l *lab) {
		key := with{"Idempotency-Key", "k"}
		l.want("first", l.send(http.MethodPut, "/plans/gold", `{"price":1}`, key), `201 {"id":"gold","price":1}`)
		l.want("repeat", l.send(http.MethodPut, "/plans/gold", `{"price":1}`, key), `200 {"id":"gold","price":1}`)
		l.want("changed", brief("", l.send(http.MethodPut, "/plans/gold", `{"price":2}`, key)), "422 idempotency_key_reused_with_different_payload")
	})
}

// TestStoredReplyOutlivesAChange: what is stored is the first reply, not the record.
func TestStoredReplyOutlivesAChange(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"stripe-v1": `201 {"id":"gold","price":1}`, "client-token": `200 {"id":"gold","price":2,"clientToken":"k2"}`} {
		c := preset(t, name)
		inBoth(t, Options{Contract: c}, func(l *lab) {
			put := func(key, fields string) string {
				body, headers := keyed(&c, key, fields, l.v.Now())
				return l.send(http.MethodPut, "/plans/gold", body, headers...)
			}
			put("k1", `"price":1`)
			put("k2", `"price":2`)
			got, _, _ := strings.Cut(put("k1", `"price":1`), " Idempotent")
			l.want(name, got, want)
		})
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	inBoth(t, Options{}, func(l *lab) {
		first := l.send(http.MethodPost, "/jobs", `{"orderId":1}`, with{"Idempotency-Key", "k"})
		job := idOf(first)
		l.faults("commit-then-error", "commit-then-error")
		l.want("nothing there", brief("", l.send(http.MethodDelete, "/jobs/other", "")), "404 not_found")
		l.want("unproven", brief("", l.send(http.MethodDelete, "/jobs/"+job, "")), "503 temporarily_unavailable")
		l.want("again", brief("", l.send(http.MethodDelete, "/jobs/"+job, "")), "404 not_found")
		l.want("read", brief("", l.send(http.MethodGet, "/jobs/"+job, "")), "404 not_found")
		l.want("look-up", brief("", l.send(http.MethodGet, "/jobs/by-idempotency-key/k", "")), "404 not_found")
		l.want("jobs", l.send(http.MethodGet, "/_test/jobs", ""), `200 {"count":0,"jobs":[]}`)
		effects := l.p.Effects()
		if len(effects) != 2 || effects[1].Operation != Delete || effects[1].Of != job || effects[0].UndoneBy != effects[1].ID || !effects[0].Gone {
			l.t.Errorf("the ledger does not pair the job and its deletion: %+v", effects)
		}
		if left := l.p.Faults(); len(left) != 1 {
			l.t.Errorf("deletes of nothing took a fault: %v are left", left)
		}
		l.p.QueueFaults(nil)
		l.want("made anew", l.send(http.MethodPut, "/jobs/"+job, `{}`), `201 {"id":"`+job+`"}`)
		l.want("read again", l.send(http.MethodGet, "/jobs/"+job, ""), `200 {"id":"`+job+`"}`)
	})
}

func TestDeletionIsAnEffectOfItsOwn(t *testing.T) {
	t.Parallel()
	inBoth(t, Options{}, func(l *lab) {
		l.send(http.MethodPut, "/jobs/a", `{}`)
		got := l.send(http.MethodDelete, "/jobs/a", "")
		l.want("delete", got, `200 {"id":"`+idOf(got)+`","of":"a","deleted":true}`)
		l.want("read as it was", brief("", func() string {
			l.faults("look-up-stale")
			l.pass(time.Second)
			return l.send(http.MethodGet, "/jobs/a", "")
		}()), "404 not_found")
		l.pass(20 * time.Second)
		l.send(http.MethodPut, "/jobs/b", `{}`)
		l.pass(20 * time.Second)
		l.send(http.MethodDelete, "/jobs/b", "")
		l.faults("look-up-stale")
		l.pass(25 * time.Second) // 30 s ago b was there
		l.want("read as it was", l.send(http.MethodGet, "/jobs/b", ""), `200 {"id":"b"}`)
	})
}

// TestDeletionIsLookedUp: the record is gone, but the operation that removed it is known under its key.
func TestDeletionIsLookedUp(t *testing.T) {
	t.Parallel()
	inBoth(t, Options{}, func(l *lab) {
		l.send(http.MethodPut, "/jobs/a", `{}`)
		key := with{"Idempotency-Key", "k"}
		l.faults("commit-then-drop", "look-up-stale")
		l.want("dropped", l.send(http.MethodDelete, "/jobs/a", "", key), "reset")
		l.want("stale", brief("", l.send(http.MethodGet, "/jobs/a/by-idempotency-key/k", "")), "404 not_found")
		found := l.send(http.MethodGet, "/jobs/a/by-idempotency-key/k", "")
		l.want("look-up", found, `200 {"id":"`+l.p.Effects()[1].ID+`","of":"a","deleted":true}`)
		l.want("repeat", l.send(http.MethodDelete, "/jobs/a", "", key), found)
		l.want("read", brief("", l.send(http.MethodGet, "/jobs/a", "")), "404 not_found")
	})
}

// TestStaleReadOfWhatWasReplaced: it shows the record as it was before, and does not know the key that replaced it.
func TestStaleReadOfWhatWasReplaced(t *testing.T) {
	t.Parallel()
	inBoth(t, Options{Contract: preset(t, "ietf")}, func(l *lab) {
		const plan, byKey = "/plans/gold", "/plans/gold/by-idempotency-key/k"
		l.send(http.MethodPut, plan, `{"price":1}`)
		l.pass(time.Minute)
		l.faults("commit-then-drop", "look-up-stale", "look-up-stale")
		l.want("dropped", l.send(http.MethodPut, plan, `{"price":2}`, with{"Idempotency-Key", `"k"`}), "reset")
		l.want("stale read", l.send(http.MethodGet, plan, ""), `200 {"id":"gold","price":1}`)
		l.want("stale look-up", brief("", l.send(http.MethodGet, byKey, "")), "404 not_found")
		l.want("read", l.send(http.MethodGet, plan, ""), `200 {"id":"gold","price":2}`)
		l.pass(time.Minute)
		l.faults("look-up-stale", "look-up-stale")
		l.want("no longer stale", l.send(http.MethodGet, plan, ""), `200 {"id":"gold","price":2}`)
		l.want("look-up", l.send(http.MethodGet, byKey, ""), `200 {"id":"gold","price":2}`)
	})
}

// TestInversesNameWhatTheyUndo is a row for each way to say it.
func TestInversesNameWhatTheyUndo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, body string
		pairs      bool
	}{
		{"/refunds", `{"amount":1,"charge":"ID"}`, true},
		{"/v1/refunds", `{"charge":"ID"}`, true},
		{"/cancellations", `{"of":"ID"}`, true},
		{"/charges/ID/refund", `{}`, true},
		{"/charges/ID/cancel", ``, true},
		{"/adjustments", `{"undoes":"ID"}`, true},
		{"/refunds", `{"charge":"no such id"}`, false},
		{"/refunds", `{"nested":{"charge":"ID"}}`, false},
		{"/comments", `{"charge":"ID"}`, false},
		{"/adjustments", `{"undoes":"no such id"}`, false},
	} {
		t.Run(c.path+c.body, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "simulated", Options{})
			l.run(func() {
				charge := idOf(l.send(http.MethodPost, "/charges", `{"amount":1}`, with{"Idempotency-Key", "a"}))
				l.send(http.MethodPost, strings.ReplaceAll(c.path, "ID", charge), strings.ReplaceAll(c.body, "ID", charge), with{"Idempotency-Key", "b"})
				effects := l.p.Effects()
				if paired := effects[0].UndoneBy == effects[1].ID && effects[1].Of == charge; paired != c.pairs {
					t.Errorf("paired: %v\n%+v", paired, effects)
				}
				if effects[0].Gone {
					t.Error("a refund removed the charge")
				}
			})
		})
	}
}

func TestIDsComeFromTheSeedAndTheRequest(t *testing.T) {
	t.Parallel()
	ids := func(seed int64, order ...string) map[string]string {
		l := newLab(t, "simulated", Options{Seed: seed, Contract: preset(t, "ignores-key")})
		out := map[string]string{}
		l.run(func() {
			for _, id := range order {
				out[id] = idOf(l.sendAs(id, http.MethodPost, "/jobs", "{}", with{"Idempotency-Key", "k"}))
			}
		})
		return out
	}
	first := ids(1, "a", "b")
	if again := ids(1, "b", "a"); again["a"] != first["a"] || again["b"] != first["b"] || first["a"] == first["b"] {
		t.Errorf("%v and %v", first, again)
	}
	if other := ids(2, "a"); other["a"] == first["a"] {
		t.Error("two seeds gave one id")
	}
	l := newLab(t, "simulated", Options{Contract: preset(t, "ignores-key")})
	l.run(func() {
		seen := map[string]bool{}
		for range 100 {
			seen[idOf(l.sendAs("same", http.MethodPost, "/jobs", "{}"))] = true
			seen[idOf(l.sendAs("", http.MethodPost, "/jobs", "{}"))] = true
		}
		if len(seen) != 200 {
			t.Errorf("200 jobs have %d ids", len(seen))
		}
	})
}

func TestContractCanChangeInBetween(t *testing.T) {
	t.Parallel()
	inBoth(t, Options{}, func(l *lab) {
		seed := preset(t, "seed")
		first := l.post(&seed, "jobs", "k", order)
		conflict := preset(t, "conflict-with-id")
		conflict.Scope = contract.Scope{Route: true}
		conflict.Fingerprint = seed.Fingerprint
		if err := l.p.SetContract(conflict); err != nil {
			l.t.Error(err)
		}
		l.want("by the new rules", brief(first, l.post(&conflict, "jobs", "k", order)), "409 already_exists same")
		if err := l.p.SetContract(Contract{}); err == nil {
			l.t.Error("a contract without rules was taken")
		}
	})
}
