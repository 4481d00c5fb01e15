package engine_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
)

// headers is a wire that remembers the headers and the query of the last look-up.
type headers struct {
	http.RoundTripper
	asked http.Header
	query url.Values
}

func (h *headers) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet {
		h.asked, h.query = req.Header.Clone(), req.URL.Query()
	}
	return h.RoundTripper.RoundTrip(req)
}

// A look-up is answered only to who may ask: it carries what the write carried, and what the contract says goes first.
func TestALookUpCarriesTheCredentialsOfTheWrite(t *testing.T) {
	t.Parallel()
	const secret = "t0p-secret"
	for _, r := range []struct {
		name, headers, assume string
		want                  map[string]string // of the look-up; empty: not there
		written               []string          // in the history, bodies apart
	}{
		{"a secret", `{authorization: "Bearer " + secrets.TOKEN}`, `{}`, map[string]string{"Authorization": "Bearer " + secret}, []string{"Authorization: Bearer [secret TOKEN]"}},
		{"a literal token", `{authorization: "Bearer l1teral"}`, `{}`, map[string]string{"Authorization": "Bearer l1teral"}, nil},
		{"an API key and a cookie", `{"x-api-key": secrets.TOKEN, cookie: "s=" + secrets.TOKEN}`, `{}`,
			map[string]string{"X-Api-Key": secret, "Cookie": "s=" + secret}, []string{"X-Api-Key: [secret TOKEN]", "Cookie: s=[secret TOKEN]"}},
		{"what carries none", `{"x-trace": "t1", "content-type": "application/json"}`, `{}`, map[string]string{"X-Trace": "", "Content-Type": "", "Idempotency-Key": ""}, nil},
		{"the contract's own", `{authorization: "Bearer " + secrets.TOKEN}`, `{"headers": {"authorization": "Basic {{secrets.READER}}", "accept": "application/hal+json"}}`,
			map[string]string{"Authorization": "Basic " + secret, "Accept": "application/hal+json"}, nil},
		{"a look-up elsewhere", `{authorization: "Bearer " + secrets.TOKEN}`, `{"lookup": "http://reports.test/{key}"}`, map[string]string{"Authorization": ""}, nil},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", `|await services.http.request({method: "POST", url: "http://p.test/jobs", json: {orderId: "o1"}, headers: `+r.headers+`,
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}); return 1;`))
			wire := &headers{RoundTripper: l.world}
			l.options = func(o *engine.Options) {
				o.Transport, o.Assume = wire, declare(t, `{"origins":{"http://p.test":`+r.assume+`}}`)
				o.Secrets = func(string) (string, bool) { return secret, true }
			}
			l.replies(dropped)
			run := l.once(`{}`)
			l.run(func() {
				if _, err := l.eng.Lookup(t.Context(), run.ID, "", engine.LookupOptions{}); err != nil {
					t.Error(err)
				}
			})
			for name, want := range r.want {
				if got := wire.asked.Get(name); got != want {
					t.Errorf("the look-up carries %s: %q, want %q", name, got, want)
				}
			}
			told := l.told(run.ID, &strings.Builder{})
			if strings.Contains(told, secret) || strings.Contains(told, "l1teral") {
				t.Errorf("a credential is written down:\n%s", told)
			}
			for _, line := range r.written {
				if !strings.Contains(told, line) {
					t.Errorf("%q is not in:\n%s", line, told)
				}
			}
		})
	}
}

// A literal credential is kept as a body is, and goes with it once the step is settled.
func TestALiteralCredentialGoesWithTheBody(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|await services.http.request({method: "POST", url: "http://p.test/jobs", json: {orderId: "o1"}, headers: {authorization: "Bearer l1teral"},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}); return 1;`))
	l.replies(dropped)
	run := l.once(`{}`)
	if got := run.Steps[0].Attempts[0].Calls[0].Requests[0]; !slices.Equal(got.Secret, []string{"Authorization: Bearer l1teral"}) || string(got.Body) != `{"orderId":"o1"}` {
		t.Errorf("kept while it is unknown: %q, %s", got.Secret, got.Body)
	}
	run, err := l.settle(run.ID, engine.Record, false)
	if got := run.Steps[0].Attempts[0].Calls[0].Requests[0]; err != nil || got.Secret != nil || got.Body != nil {
		t.Errorf("kept once it is settled: %q, %s, %v", got.Secret, got.Body, err)
	}
}

// A key is looked up by its value, not by the form in which a header carries it.
func TestALookUpNamesTheKeysValue(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ key, carrier, assume, path string }{
		{`"order 7"`, `header: "Idempotency-Key"`, `{}`, "/jobs/by-idempotency-key/order%207"},
		{`"a\"b"`, `header: "Idempotency-Key"`, `{}`, "/jobs/by-idempotency-key/a%22b"},
		{`"order 7"`, `header: "Idempotency-Key"`, `{"lookupKey": "as-sent"}`, "/jobs/by-idempotency-key/%22order%207%22"},
		{`"order 7"`, `field: "token"`, `{}`, "/jobs/by-idempotency-key/%22order%207%22"},
		{`say "7"`, `header: "Idempotency-Key"`, `{}`, "/jobs/by-idempotency-key/say%20%227%22"},
		{`a+b&c=d/e%f#g h`, `header: "Idempotency-Key"`, `{"lookup": "{url}/{key}"}`, "/jobs/a+b&c=d%2Fe%25f%23g%20h"},
		{`a+b&c=d/e%f#g h`, `header: "Idempotency-Key"`, `{"lookup": "{url}?all=1&key={key}"}`, "/jobs?all=1&key=a%2Bb%26c%3Dd%2Fe%25f%23g%20h"},
	} {
		l := newLab(t, nil, document("", `|await services.http.request({method: "POST", url: "http://p.test/jobs", json: {orderId: "o1"},
  idempotency: {`+r.carrier+`, value: context.payload.key}}); return 1;`))
		var asked string
		l.world.answer = func(_ int, s seen) answer { return dropped }
		l.options = func(o *engine.Options) {
			o.Assume = declare(t, `{"origins":{"*":`+r.assume+`}}`)
			o.Transport = asking{l.world, &asked}
		}
		run := l.once(`{"key":` + strconv.Quote(r.key) + `}`)
		l.run(func() { _, _ = l.eng.Lookup(t.Context(), run.ID, "", engine.LookupOptions{}) })
		if asked != r.path {
			t.Errorf("%s in %s under %s is looked up at %s, want %s", r.key, r.carrier, r.assume, asked, r.path)
		}
	}
}

// asking remembers where the last look-up asked, as it stands in the request line.
type asking struct {
	http.RoundTripper
	at *string
}

func (a asking) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet {
		*a.at = req.URL.RequestURI()
	}
	return a.RoundTripper.RoundTrip(req)
}

// Nobody knows whether there is a route at an address that was only assumed, until a record was found there.
func TestNoRecordIsProvenWhereOneWasFoundBefore(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.options = func(o *engine.Options) { o.Assume = nil }
	l.replies(lost, dropped, lost)
	l.start()
	look := func() (ev engine.EvidenceAt) {
		t.Helper()
		l.run(func() {
			run, _ := l.admit("orders", "", `{"orderId":"o1"}`)
			l.eng.Ended(run).Wait()
			found, err := l.eng.Lookup(t.Context(), run, "", engine.LookupOptions{})
			if err != nil || len(found) != 1 {
				t.Fatalf("%v, %v", found, err)
			}
			ev = found[0]
		})
		return ev
	}
	for i, want := range []struct {
		found    engine.Found
		unproven bool
	}{{engine.FoundNoRecord, true}, {engine.FoundRecord, false}, {engine.FoundNoRecord, false}} {
		if ev := look(); ev.Found != want.found || ev.Unproven != want.unproven {
			t.Errorf("look-up %d: %s, unproven %v, want %v", i+1, ev.Found, ev.Unproven, want)
		}
	}
}

// Evidence counts if it was asked for after the end of the last request under its key, by any run.
func TestEvidenceIsOlderThanARequestOfAnotherRun(t *testing.T) {
	t.Parallel()
	shared := strings.ReplaceAll(post, "attempt.idempotencyKey", `"order-" + context.payload.orderId`)
	l := newLab(t, nil, document("", retry3+shared))
	l.replies(lost, lost)
	first := l.once(`{"orderId":"o1"}`)
	abandon := func() error {
		return l.eng.Resolve(engine.Resolution{Run: first.ID, Decision: engine.Abandon})
	}
	l.run(func() {
		if _, err := l.eng.Lookup(t.Context(), first.ID, "", engine.LookupOptions{}); err != nil {
			t.Error(err)
		}
		second, _ := l.admit("orders", "", `{"orderId":"o1"}`)
		l.eng.Ended(second).Wait()
		if err := abandon(); !isRefused(err) || !strings.Contains(err.Error(), "no evidence newer") {
			t.Errorf("abandoned on what was looked up before another run asked: %v", err)
		}
		if _, err := l.eng.Lookup(t.Context(), first.ID, "", engine.LookupOptions{}); err != nil {
			t.Error(err)
		}
		if err := abandon(); err != nil {
			t.Errorf("looked up again: %v", err)
		}
	})
}

// What was asked while the request was still out says nothing about what came after.
func TestEvidenceFromWhileTheRequestWasOut(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.world.answer = func(_ int, s seen) answer {
		if s.method == "GET" {
			return answer{status: 404, body: `{}`}
		}
		return answer{broken: "reset", after: 2 * time.Second}
	}
	l.start()
	l.run(func() {
		run, _ := l.admit("orders", "", `{"orderId":"o1"}`)
		_ = l.clk.Sleep(t.Context(), time.Second)
		if _, err := l.eng.Lookup(t.Context(), run, "", engine.LookupOptions{}); err != nil {
			t.Error(err)
		}
		l.eng.Ended(run).Wait()
		if err := l.eng.Resolve(engine.Resolution{Run: run, Decision: engine.Abandon}); !isRefused(err) {
			t.Errorf("abandoned: %v", err)
		}
	})
}

func TestALookUpOfASettledStepAsksAboutThatStep(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+doing("charges"), "|"+doing("jobs")))
	l.replies(created)
	run := l.once(`{"orderId":"o1"}`)
	for _, step := range []string{"step1", "step2"} {
		l.run(func() {
			found, err := l.eng.Lookup(t.Context(), run.ID, "", engine.LookupOptions{Step: step})
			if err != nil || len(found) != 1 || found[0].Step != step || found[0].Found != engine.FoundRecord || found[0].Match != engine.Matches {
				t.Errorf("%s: %+v, %v", step, found, err)
			}
		})
	}
	l.run(func() {
		if _, err := l.eng.Lookup(t.Context(), run.ID, "", engine.LookupOptions{Step: "step3"}); !isRefused(err) {
			t.Errorf("a step that sent nothing: %v", err)
		}
	})
}

// Credentials in the query of the write travel with its look-up, as those in headers do: to its origin alone, and nothing else of the query.
func TestALookUpCarriesTheCredentialsInTheQuery(t *testing.T) {
	t.Parallel()
	const secret = "t0p+secret&"
	for _, r := range []struct{ name, query, assume, want string }{
		{"a secret under any name", `"?who=" + encodeURIComponent(secrets.TOKEN) + "&page=2"`, `{}`, "who=t0p%2Bsecret%26"},
		{"literal tokens, and no other parameter", `"?api_key=l1teral&author=me&access_token=t&dry=1"`, `{}`, "access_token=t&api_key=l1teral"},
		{"beside the query of the look-up", `"?api_key=l1teral"`, `{"lookup": "{url}?key={key}"}`, "api_key=l1teral&key=k"},
		{"which names it itself", `"?api_key=l1teral"`, `{"lookup": "{url}?key={key}&api_key=reader"}`, "api_key=reader&key=k"},
		{"elsewhere", `"?api_key=l1teral"`, `{"lookup": "http://reports.test/{key}"}`, ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", `|await services.http.request({method: "POST", url: "http://p.test/jobs" + `+r.query+`, json: {orderId: "o1"},
  idempotency: {header: "Idempotency-Key", value: "k"}}); return 1;`))
			wire := &headers{RoundTripper: l.world}
			l.options = func(o *engine.Options) {
				o.Transport, o.Assume = wire, declare(t, `{"origins":{"http://p.test":`+r.assume+`}}`)
				o.Secrets = func(string) (string, bool) { return secret, true }
			}
			l.replies(dropped)
			run := l.once(`{}`)
			l.run(func() {
				if _, err := l.eng.Lookup(t.Context(), run.ID, "", engine.LookupOptions{}); err != nil {
					t.Error(err)
				}
			})
			if got := wire.query.Encode(); got != r.want {
				t.Errorf("the look-up asks with %s, want %s", got, r.want)
			}
			if told := l.told(run.ID, &strings.Builder{}); strings.Contains(told, "t0p") {
				t.Errorf("a secret is written down:\n%s", told)
			}
		})
	}
}
