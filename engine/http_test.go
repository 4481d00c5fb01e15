package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
)

// outcomeOf runs one request and gives back what the script saw of it: the result or the error's fields.
func outcomeOf(t *testing.T, request string, answers ...answer) (string, *engine.Run) {
	t.Helper()
	l := newLab(t, nil, document("", `|try { const r = await services.http.request(`+request+`, {name: "it"}); return {status: r.status, ok: r.ok, data: r.data, redirected: r.redirected}; }
catch (e) { return {code: e.code, retryable: e.retryable, ambiguous: e.ambiguous, service: e.service}; }`))
	l.world.answer = plainAnswers(answers)
	run := l.once(`{}`)
	if s := run.Steps[0]; s.Done {
		return string(s.Result), run
	}
	a := run.Steps[0].Last()
	return a.Code + " " + string(a.Outcome), run
}

// plainAnswers answers the n-th request with the n-th answer, reads too.
func plainAnswers(list []answer) func(int, seen) answer {
	return func(n int, _ seen) answer { return list[min(n, len(list)-1)] }
}

const keyedPost = `{method: "POST", url: "http://p.test/jobs", json: {a: 1}, idempotency: {header: "Idempotency-Key", value: "k"}`

// The reference's table of failures, and where ours differs from it. An ambiguous
// failure that the script swallows leaves the attempt unknown, so its fields are
// read from the history there.
func TestHTTPFailures(t *testing.T) {
	t.Parallel()
	ok := answer{status: 200, body: `{}`}
	for _, r := range []struct {
		name    string
		answer  answer
		code    string
		read    string // retryable, ambiguous
		keyed   string
		unkeyed string
	}{
		{"404", answer{status: 404, body: `{}`}, "WOML_HTTP_STATUS_REJECTED", "no no", "no no", "no no"},
		{"429", answer{status: 429, body: `{}`}, "WOML_HTTP_STATUS_REJECTED", "yes no", "yes no", "yes no"},
		{"503", answer{status: 503, body: `{}`}, "WOML_HTTP_STATUS_REJECTED", "yes no", "yes no", "no yes"},
		{"never connected", answer{broken: "refused"}, "WOML_HTTP_TRANSPORT_FAILED", "yes no", "yes no", "yes no"},
		{"dropped", answer{broken: "reset"}, "WOML_HTTP_TRANSPORT_FAILED", "yes no", "no yes", "no yes"},
		{"timed out", answer{broken: "hang"}, "WOML_HTTP_TIMED_OUT", "yes no", "no yes", "no yes"},
		{"body cut", answer{status: 200, body: `{"a"`, broken: "cut"}, "WOML_HTTP_RESPONSE_FAILED", "no no", "no yes", "no yes"},
		{"not JSON", answer{status: 200, body: `<html>`}, "WOML_HTTP_RESPONSE_JSON_INVALID", "no no", "no yes", "no yes"},
		{"an empty 204", answer{status: 204}, "WOML_HTTP_RESPONSE_JSON_INVALID", "no no", "no yes", "no yes"},
		{"too large", answer{status: 200, body: `"` + strings.Repeat("x", 4<<20) + `"`}, "WOML_HTTP_RESPONSE_TOO_LARGE", "no no", "no yes", "no yes"},
		{"a redirect that is refused", answer{status: 302, header: map[string]string{"Location": "/x"}}, "WOML_HTTP_REDIRECT_REJECTED", "no no", "no yes", "no yes"},
	} {
		for kind, want := range map[string]string{"read": r.read, "keyed": r.keyed, "unkeyed": r.unkeyed} {
			t.Run(r.name+" to a "+kind, func(t *testing.T) {
				t.Parallel()
				request := map[string]string{
					"read":    `{url: "http://p.test/jobs", timeout: "2s", redirect: "error"}`,
					"keyed":   keyedPost + `, timeout: "2s"}`,
					"unkeyed": `{method: "POST", url: "http://p.test/jobs", json: {a: 1}, timeout: "2s"}`,
				}[kind]
				_, run := outcomeOf(t, request, r.answer, ok)
				c := run.Steps[0].Attempts[0].Calls[0]
				yes := map[bool]string{true: "yes", false: "no"}
				if got := yes[c.Next == engine.NextAgain] + " " + yes[c.Finding == engine.FoundAmbiguous]; c.Code != r.code || got != want {
					t.Errorf("%s, retryable and ambiguous %s; want %s, %s", c.Code, got, r.code, want)
				}
			})
		}
	}
}

func TestHTTPResults(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name, request string
		answer        answer
		want          string
	}{
		{"a method in small letters", `{url: "http://p.test/jobs", method: "get"}`, answer{status: 200, body: `{}`}, `{"status":200,"ok":true,"data":{},"redirected":false}`},
		{"a timeout in milliseconds", `{url: "http://p.test/jobs", timeout: 1500}`, answer{status: 200, body: `{}`}, `{"status":200,"ok":true,"data":{},"redirected":false}`},
		{"JSON by default", `{url: "http://p.test/jobs"}`, answer{status: 200, body: `{"a":1}`}, `{"status":200,"ok":true,"data":{"a":1},"redirected":false}`},
		{"text", `{url: "http://p.test/jobs", responseType: "text"}`, answer{status: 200, body: `<html>`}, `{"status":200,"ok":true,"data":"<html>","redirected":false}`},
		{"bytes", `{url: "http://p.test/jobs", responseType: "bytes"}`, answer{status: 200, body: "\x01\x02"}, `{"status":200,"ok":true,"data":{"bytesBase64":"AQI="},"redirected":false}`},
		{"a status that is accepted", `{url: "http://p.test/jobs", acceptedStatus: {minimum: 200, maximum: 499}}`, answer{status: 404, body: `{}`}, `{"status":404,"ok":false,"data":{},"redirected":false}`},
		{"a redirect by hand", `{url: "http://p.test/jobs", redirect: "manual", responseType: "text", acceptedStatus: {minimum: 200, maximum: 399}}`, answer{status: 302, header: map[string]string{"Location": "/x"}}, `{"status":302,"ok":false,"data":"","redirected":false}`},
	} {
		if got, _ := outcomeOf(t, r.request, r.answer); got != r.want {
			t.Errorf("%s: %s, want %s", r.name, got, r.want)
		}
	}
}

func TestRedirectsOfReadsAreRequestsOfTheirOwn(t *testing.T) {
	t.Parallel()
	moved := answer{status: 302, header: map[string]string{"Location": "/elsewhere"}}
	got, run := outcomeOf(t, `{url: "http://p.test/jobs"}`, moved, answer{status: 200, body: `{}`})
	if got != `{"status":200,"ok":true,"data":{},"redirected":true}` {
		t.Errorf("got %s", got)
	}
	if _, calls, requests := run.Counts(); calls != 1 || requests != 2 {
		t.Errorf("%d calls and %d requests, want 1 and 2", calls, requests)
	}
	away := answer{status: 302, header: map[string]string{"Location": "ftp://p.test/jobs"}}
	for _, r := range []struct {
		name, request string
		answer        answer
		why           string
		requests      int
	}{
		{"endless", `{url: "http://p.test/jobs", maximumRedirects: 3}`, moved, "302 asks to go elsewhere, after 3 redirects, and no more are followed", 4},
		{"not wanted", `{url: "http://p.test/jobs", redirect: "error"}`, moved, "302 asks to go elsewhere, and that was not asked for", 1},
		{"to another protocol", `{url: "http://p.test/jobs"}`, away, "302 asks to go elsewhere, to an address that is not http or https", 1},
	} {
		_, run := outcomeOf(t, r.request, r.answer)
		c := run.Steps[0].Last().Calls[0]
		if c.Code != "WOML_HTTP_REDIRECT_REJECTED" || !strings.HasSuffix(c.Message, r.why) || len(c.Requests) != r.requests {
			t.Errorf("%s: %s: %s, after %d requests", r.name, c.Code, c.Message, len(c.Requests))
		}
	}
	for _, location := range []string{"ftp://p.test/jobs", "http:///jobs", "http://:80/jobs"} {
		got, run := outcomeOf(t, `{url: "http://p.test/jobs"}`, answer{status: 302, header: map[string]string{"Location": location}}, answer{status: 200, body: `{}`})
		if _, _, requests := run.Counts(); requests != 1 || !strings.Contains(got, "WOML_HTTP_REDIRECT_REJECTED") {
			t.Errorf("a redirect to %s: %s after %d requests", location, got, requests)
		}
	}
}

func TestHTTPInput(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	for name, request := range map[string]string{
		"an unknown key":                      `{url: "http://p.test/", metod: "POST"}`,
		"no url":                              `{}`,
		"a url of another scheme":             `{url: "ftp://p.test/"}`,
		"a url too long":                      `{url: "http://p.test/" + ` + long(8200) + `}`,
		"a key in capitals":                   `{URL: "http://p.test/"}`,
		"a method that is none":               `{url: "http://p.test/", method: "PO ST"}`,
		"a method too long":                   `{url: "http://p.test/", method: ` + long(33) + `}`,
		"a user in the url":                   `{url: "http://u:p@p.test/"}`,
		"no text for a url":                   `{url: 5}`,
		"a null":                              `{url: "http://p.test/", method: "POST", json: {}, idempotency: null}`,
		"headers too many":                    `{url: "http://p.test/", headers: Object.fromEntries(Array.from({length: 129}, (_, i) => ["h" + i, "x"]))}`,
		"a header name too long":              `{url: "http://p.test/", headers: {[` + long(129) + `]: "x"}}`,
		"a header value too long":             `{url: "http://p.test/", headers: {a: ` + long(16385) + `}}`,
		"a header of the connection":          `{url: "http://p.test/", headers: {Host: "x"}}`,
		"a header of the engine":              `{url: "http://p.test/", headers: {"X-Request-Id": "x"}}`,
		"a control character":                 `{url: "http://p.test/", headers: {a: "\u0001"}}`,
		"query too long":                      `{url: "http://p.test/", query: Object.fromEntries(Array.from({length: 129}, (_, i) => ["q" + i, "x"]))}`,
		"a query value that is none":          `{url: "http://p.test/", query: {a: {}}}`,
		"an input too large":                  `{url: "http://p.test/", method: "POST", text: ` + long(100) + `.repeat(11000)}`,
		"an unknown key in a range":           `{url: "http://p.test/", acceptedStatus: {min: 200}}`,
		"an unknown key for a key":            `{url: "http://p.test/", method: "POST", idempotency: {header: "K", value: "v", ttl: 5}}`,
		"a key with a line break":             `{url: "http://p.test/", method: "POST", idempotency: {header: "K", value: "a\nb"}}`,
		"a key with a space at its end":       `{url: "http://p.test/", method: "POST", idempotency: {header: "K", value: "a "}}`,
		"a key in a header of the connection": `{url: "http://p.test/", method: "POST", idempotency: {header: "Host", value: "a"}}`,
		"a timeout too short":                 `{url: "http://p.test/", timeout: 0}`,
		"a timeout of half a millisecond":     `{url: "http://p.test/", timeoutMs: 0.5}`,
		"a timeout that is none":              `{url: "http://p.test/", timeout: {}}`,
		"two bodies":                          `{url: "http://p.test/", method: "POST", json: {}, text: ""}`,
		"a body with GET":                     `{url: "http://p.test/", json: {}}`,
		"bytes that are not base64":           `{url: "http://p.test/", method: "POST", bytesBase64: "!"}`,
		"a timeout without a unit":            `{url: "http://p.test/", timeout: "10"}`,
		"a timeout in days":                   `{url: "http://p.test/", timeout: "1d"}`,
		"a timeout too long":                  `{url: "http://p.test/", timeout: "25h"}`,
		"two timeouts":                        `{url: "http://p.test/", timeout: "1s", timeoutMs: 5}`,
		"a range upside down":                 `{url: "http://p.test/", acceptedStatus: {minimum: 300, maximum: 200}}`,
		"a status out of range":               `{url: "http://p.test/", acceptedStatus: {minimum: 99, maximum: 200}}`,
		"an unknown redirect":                 `{url: "http://p.test/", redirect: "maybe"}`,
		"too many redirects":                  `{url: "http://p.test/", maximumRedirects: 21}`,
		"an unknown response type":            `{url: "http://p.test/", responseType: "xml"}`,
		"an empty key":                        `{url: "http://p.test/", method: "POST", idempotency: {header: "K", value: ""}}`,
		"a key too long":                      `{url: "http://p.test/", method: "POST", idempotency: {header: "K", value: ` + long(257) + `}}`,
		"a key that is no text":               `{url: "http://p.test/", method: "POST", idempotency: {header: "K", value: 5}}`,
		"a key header given twice":            `{url: "http://p.test/", method: "POST", headers: {"k": "x"}, idempotency: {header: "K", value: "v"}}`,
		"header and field":                    `{url: "http://p.test/", method: "POST", json: {}, idempotency: {header: "K", field: "k", value: "v"}}`,
		"a field without a JSON body":         `{url: "http://p.test/", method: "POST", text: "x", idempotency: {field: "k", value: "v"}}`,
		"a field that is there":               `{url: "http://p.test/", method: "POST", json: {k: 1}, idempotency: {field: "k", value: "v"}}`,
		"a header that is none":               `{url: "http://p.test/", headers: {"a b": "x"}}`,
		"a header with a line break":          `{url: "http://p.test/", headers: {"a": "x\ny"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, run := outcomeOf(t, request, created)
			if !strings.Contains(got, "WOML_HTTP_INPUT_INVALID") {
				t.Errorf("got %s", got)
			}
			if _, calls, _ := run.Counts(); calls != 0 {
				t.Error("a refused call was written down")
			}
		})
	}
}

func TestTheKeyTravelsAsAskedFor(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|await services.http.request({method: "POST", url: "http://p.test/a", json: {amount: 1}, idempotency: {field: "clientToken", value: "k1"}}, {name: "a"});
await services.http.request({method: "POST", url: "http://p.test/b?x=1", query: {y: [2, true]}, headers: {"X-One": 1}, text: "hi", idempotency: {header: "Idempotency-Key", value: "k2"}}, {name: "b"});
return 1;`))
	l.replies(created)
	run := l.once(`{}`)
	if run.Status != engine.StatusSucceeded {
		t.Fatal(run.Message)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(l.world.seen[0].body), &body); err != nil || body["clientToken"] != "k1" || body["amount"] != 1.0 {
		t.Errorf("body %s", l.world.seen[0].body)
	}
	if s := l.world.seen[1]; s.key != "k2" || s.body != "hi" {
		t.Errorf("key %s, body %s", s.key, s.body)
	}
	if u := run.Steps[0].Attempts[0].Calls[1].Requests[0].URL; u != "http://p.test/b?x=1&y=2&y=true" {
		t.Errorf("url %s", u)
	}
}

func TestDeclaredContracts(t *testing.T) {
	t.Parallel()
	put := `|const r = await services.http.request({method: "PUT", url: "http://provider.test/jobs/o1", json: {orderId: "o1"}}, {name: "put"}); return r.data;`
	for _, r := range []struct {
		name, assume, step string
		answers            []answer
		outcome            engine.Outcome
		next               engine.Next
	}{
		{"a 503 where keys are not enforced is ambiguous", `{"origins":{"http://provider.test":{"enforces":false}}}`, retry3 + post, []answer{refused}, engine.Unknown, engine.NextReconcile},
		{"a 503 where keys are looked for elsewhere is ambiguous", `{"origins":{"*":{"carrier":{"header":"PayPal-Request-Id"}}}}`, retry3 + post, []answer{refused}, engine.Unknown, engine.NextReconcile},
		{"a 503 where keys are looked for there is repeated", `{"origins":{"*":{"carrier":{"header":"idempotency-key"}}}}`, retry3 + post, []answer{refused, created}, engine.Failed, engine.NextRetry},
		{"a drop of an idempotent PUT is repeated", `{"origins":{"http://provider.test":{"idempotent":["PUT"]}}}`, strings.Replace(put, "|", retry3, 1), []answer{lost, created}, engine.Failed, engine.NextRetry},
		{"a drop of any other PUT is not", `{"origins":{}}`, strings.Replace(put, "|", retry3, 1), []answer{lost, created}, engine.Unknown, engine.NextReconcile},
		{"a 409 that means in flight is repeated", `{"origins":{"*":{"conflict":"in-flight"}}}`, retry3 + post, []answer{{status: 409, body: "{}"}, replay}, engine.Failed, engine.NextRetry},
		{"no retry past the key's retention", `{"origins":{"*":{"retention":"500ms"}}}`, retry3 + post, []answer{refused, created}, engine.Failed, engine.NextStop},
	} {
		l := newLab(t, nil, document("", r.step))
		l.options = func(o *engine.Options) { o.Assume = declare(t, r.assume) }
		l.replies(r.answers...)
		a := l.once(`{"orderId":"o1"}`).Steps[0].Attempts[0]
		if a.Outcome != r.outcome || a.Next != r.next {
			t.Errorf("%s: %s, %s (%s)", r.name, a.Outcome, a.Next, a.Reason)
		}
	}
}

func TestAnOutlivedKeyIsNotResubmitted(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.options = func(o *engine.Options) { o.Assume = declare(t, `{"origins":{"*":{"retention":"24h"}}}`) }
	l.replies(lost, created)
	run := l.once(`{"orderId":"o1"}`)
	l.run(func() { _ = l.clk.Sleep(t.Context(), 25*time.Hour) })
	run, err := l.settle(run.ID, engine.Resubmit, false)
	if err == nil || !strings.Contains(err.Error(), "24h") {
		t.Fatalf("resubmitted after 25h: %v", err)
	}
	if run, err = l.settle(run.ID, engine.Resubmit, true); err != nil || run.Status != engine.StatusSucceeded {
		t.Errorf("by force: %v, run %s", err, run.Status)
	}
}

func TestFetchIsUnmanaged(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|const r = await fetch("http://p.test/jobs", {method: "POST", headers: {"Idempotency-Key": "k"}, body: JSON.stringify({a: 1})});
return {status: r.status, ok: r.ok, body: await r.json()};`))
	l.replies(answer{commit: true, status: 201, body: `{"id":"job_1"}`})
	run := l.once(`{}`)
	if got := string(run.Steps[0].Result); got != `{"status":201,"ok":true,"body":{"id":"job_1"}}` {
		t.Errorf("result %s (%s)", got, run.Message)
	}
	c := run.Steps[0].Attempts[0].Calls[0]
	if c.Effect != engine.UnkeyedWrite || len(c.Requests) != 1 {
		t.Errorf("a fetch with a key header is a %s with %d requests", c.Effect, len(c.Requests))
	}
}
