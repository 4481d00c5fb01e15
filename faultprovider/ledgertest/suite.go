// Package ledgertest has the tests that every faultprovider.Ledger must pass, and a ledger in memory for tests.
package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"faultlab/engine/clock"
	"faultlab/faultprovider"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
)

// Opener opens one and the same ledger: what an earlier call returned was closed, or killed, before.
type Opener func(t *testing.T) faultprovider.Ledger

// Run runs the suite. fresh makes a ledger that is empty and returns what opens it.
func Run(t *testing.T, fresh func(t *testing.T) Opener) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, open Opener){
		"what is appended is loaded again, in order":            testRoundTrip,
		"appends that meet keep their own order":                testConcurrentAppends,
		"a reset forgets everything, for good":                  testReset,
		"an error of who loads ends the loading":                testLoadError,
		"a provider that starts again answers as it did before": testRestart,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh(t))
		})
	}
}

var at = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

// changes are three changes that have every field, the second one replacing what the first one said.
func changes() []faultprovider.Change {
	job := faultprovider.Effect{
		ID: "job_1", Collection: "jobs", Operation: faultprovider.Create, Key: "k \x00é\u2028<", RequestID: "run/step/1/1",
		Fingerprint: "00112233445566778899aabbccddeeff", Body: json.RawMessage(`{"id":"job_1","orderId":"é"}`), CommittedAt: at,
	}
	gone := job
	gone.UndoneBy, gone.Gone = "deletion_1", true
	deletion := faultprovider.Effect{
		ID: "deletion_1", Collection: "jobs", Operation: faultprovider.Delete, Of: "job_1", Gone: true,
		Body: json.RawMessage(`{"id":"deletion_1","of":"job_1","deleted":true}`), CommittedAt: at.Add(time.Second),
	}
	key := faultprovider.KeyRecord{
		Scope: "ffeeddccbbaa99887766554433221100", Key: job.Key, Fingerprint: job.Fingerprint, EffectID: job.ID, Collection: job.Collection,
		Status: 201, FirstSeen: at, Completed: at,
	}
	locked := key
	locked.Status, locked.Body, locked.Locked, locked.Completed = 503, []byte(`{"error":"x"}`), true, at.Add(time.Minute)
	return []faultprovider.Change{
		{Effects: []faultprovider.Effect{job}, Keys: []faultprovider.KeyRecord{key}, Entries: []faultprovider.Entry{
			{Seq: 1, At: at, Kind: faultprovider.Commit, Request: 1, RequestID: job.RequestID, Method: "POST", Path: "/jobs?x=1", Collection: "jobs",
				Key: job.Key, Fault: "none", EffectID: job.ID, Status: 201, Note: "note"},
		}},
		{Keys: []faultprovider.KeyRecord{locked}, Effects: []faultprovider.Effect{deletion, gone}},
		{Entries: []faultprovider.Entry{{Seq: 2, At: at, Kind: faultprovider.GaveUp, Request: 2}, {Seq: 3, At: at, Kind: faultprovider.Replied, Request: 3}}},
	}
}

// ledger folds changes, as Change says that they fold.
type ledger struct {
	Effects map[string]faultprovider.Effect
	Keys    map[string]faultprovider.KeyRecord
	Entries []faultprovider.Entry
}

func fold(cs []faultprovider.Change) ledger {
	l := ledger{Effects: map[string]faultprovider.Effect{}, Keys: map[string]faultprovider.KeyRecord{}}
	for _, c := range cs {
		for _, e := range c.Effects {
			l.Effects[e.Collection+"/"+e.ID] = e
		}
		for _, k := range c.Keys {
			l.Keys[k.Scope] = k
		}
		l.Entries = append(l.Entries, c.Entries...)
	}
	return l
}

// holds loads a ledger and compares the fold of its changes.
func holds(t *testing.T, l faultprovider.Ledger, want ...faultprovider.Change) {
	t.Helper()
	if got, want := fold(load(t, l)), fold(want); !reflect.DeepEqual(got, want) {
		t.Errorf("loaded\n%+v\nwant\n%+v", got, want)
	}
}

func load(t *testing.T, l faultprovider.Ledger) (cs []faultprovider.Change) {
	t.Helper()
	if err := l.Load(func(c faultprovider.Change) error { cs = append(cs, c); return nil }); err != nil {
		t.Fatalf("load: %v", err)
	}
	return cs
}

// add appends changes and waits for each.
func add(t *testing.T, l faultprovider.Ledger, cs ...faultprovider.Change) {
	t.Helper()
	for _, c := range cs {
		if ticket := l.Append(c); ticket != nil && ticket.Wait() != nil {
			t.Fatalf("a change did not become durable: %v", ticket.Wait())
		}
	}
}

func testRoundTrip(t *testing.T, open Opener) {
	l := open(t)
	holds(t, l)
	add(t, l, changes()...)
	holds(t, l, changes()...)
	holds(t, open(t), changes()...)
}

func testConcurrentAppends(t *testing.T, open Opener) {
	const writers, each = 8, 50
	l := open(t)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range each {
				ticket := l.Append(faultprovider.Change{Entries: []faultprovider.Entry{{Seq: int64(w*each + n), Request: int64(w)}}})
				if n%10 == 9 && ticket != nil && ticket.Wait() != nil {
					t.Error("a change did not become durable")
				}
			}
		})
	}
	all.Wait()
	next := map[int64]int64{}
	for _, c := range load(t, open(t)) {
		for _, e := range c.Entries {
			if e.Seq != e.Request*each+next[e.Request] {
				t.Fatalf("writer %d: change %d comes where %d should", e.Request, e.Seq%each, next[e.Request])
			}
			next[e.Request]++
		}
	}
	for w := range int64(writers) {
		if next[w] != each {
			t.Errorf("writer %d: %d of %d changes", w, next[w], each)
		}
	}
}

func testReset(t *testing.T, open Opener) {
	l := open(t)
	add(t, l, changes()...)
	if err := l.Reset(); err != nil {
		t.Fatal(err)
	}
	add(t, l, changes()[0])
	holds(t, open(t), changes()[0])
}

func testLoadError(t *testing.T, open Opener) {
	l := open(t)
	add(t, l, changes()[0])
	stop := errors.New("enough")
	if err := l.Load(func(faultprovider.Change) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("loading ended with %v, want the error of who loads", err)
	}
}

// testRestart plays a story with one provider, and has another one on the same ledger say the same.
func testRestart(t *testing.T, open Opener) {
	for _, c := range contract.Presets() {
		l := open(t)
		if err := l.Reset(); err != nil {
			t.Fatal(err)
		}
		before := provider(t, l, c)
		story(t, before, &c)
		answers, effects, log := repeats(t, before, &c), before.Effects(), before.Log(0)
		after := provider(t, open(t), c)
		if got := after.Effects(); !reflect.DeepEqual(got, effects) {
			t.Errorf("%s: the effects are\n%+v\nwere\n%+v", c.Name, got, effects)
		}
		if got := after.Log(0); !reflect.DeepEqual(got, log) {
			t.Errorf("%s: the log has %d entries, had %d", c.Name, len(got), len(log))
		}
		if c.Name == "ignores-key" {
			continue // every repeat is a new operation there
		}
		if got := repeats(t, after, &c); !reflect.DeepEqual(got, answers) {
			t.Errorf("%s: repeats are answered with\n%v\nwere\n%v", c.Name, got, answers)
		}
	}
}

func provider(t *testing.T, l faultprovider.Ledger, c faultprovider.Contract) *faultprovider.Provider {
	t.Helper()
	p, err := faultprovider.New(faultprovider.Options{Clock: clock.NewWall(), Ledger: l, Contract: c, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func story(t *testing.T, p *faultprovider.Provider, c *faultprovider.Contract) {
	t.Helper()
	for n, name := range []string{"none", "commit-then-error", "commit-then-drop", "fail-before-commit", "bad-request"} {
		f, _ := fault.Named(name)
		p.QueueFaults([]faultprovider.Fault{f})
		send(t, p, http.MethodPost, "/jobs", c, fmt.Sprint("k", n))
	}
	send(t, p, http.MethodPut, "/plans/gold", c, "put-1")
	send(t, p, http.MethodPut, "/plans/gold", c, "put-2")
	send(t, p, http.MethodDelete, "/plans/gold", c, "")
}

// repeats are the answers to everything that is answered by what is known. What was forgotten executes, once.
func repeats(t *testing.T, p *faultprovider.Provider, c *faultprovider.Contract) (out []string) {
	t.Helper()
	for n := range 3 {
		out = append(out, send(t, p, http.MethodPost, "/jobs", c, fmt.Sprint("k", n)),
			send(t, p, http.MethodGet, fmt.Sprint("/jobs/by-idempotency-key/k", n), c, ""))
	}
	return append(out, send(t, p, http.MethodGet, "/plans/gold", c, ""), send(t, p, http.MethodGet, "/_test/jobs", c, ""))
}

func send(t *testing.T, p *faultprovider.Provider, method, path string, c *faultprovider.Contract, key string) string {
	t.Helper()
	body := `{"orderId":"order-42"}`
	if key != "" && c.Carrier.In == contract.InBody {
		body = fmt.Sprintf(`{"orderId":"order-42",%q:%q}`, c.Carrier.Name, key)
	}
	req, err := http.NewRequest(method, "http://provider"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" && c.Carrier.In == contract.InHeader {
		if c.Key.Syntax == contract.StructuredString {
			key = `"` + key + `"`
		}
		req.Header.Set(c.Carrier.Name, key)
		if c.Carrier.FirstSent != "" {
			req.Header.Set(c.Carrier.FirstSent, clock.NewWall().Now().UTC().Format(http.TimeFormat))
		}
	}
	resp, err := p.Transport().RoundTrip(req)
	if err != nil {
		return "no answer"
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %s: %d %s", method, path, resp.StatusCode, text)
}
