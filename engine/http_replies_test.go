package engine_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
)

func TestHTTPDefaults(t *testing.T) {
	t.Parallel()
	hang := answer{broken: "hang"}
	_, run := outcomeOf(t, `{url: "http://p.test/jobs"}`, hang)
	c := run.Steps[0].Last().Calls[0]
	if d := c.EndedAt.Sub(c.StartedAt); d != 30*time.Second || c.Code != "WOML_HTTP_TIMED_OUT" || !strings.HasPrefix(c.Target, "GET ") {
		t.Errorf("%s ended %s after %v, want a GET that times out after 30s", c.Target, c.Code, d)
	}
	moved := answer{status: 302, header: map[string]string{"Location": "/elsewhere"}}
	_, run = outcomeOf(t, `{url: "http://p.test/jobs"}`, moved)
	if _, _, n := run.Counts(); n != 11 {
		t.Errorf("%d requests, want one and 10 redirects", n)
	}
}

// What a script sees of a failure, and never a body.
func TestServiceErrorFields(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name, call string
		answer     answer
		want       string
	}{
		{"a status", `services.http.request({method: "POST", url: "http://p.test:8080/jobs?token=t", json: {}, acceptedStatus: {minimum: 201, maximum: 201}}, {name: "x"})`,
			answer{status: 404, body: `{"why":"private"}`},
			`["WomlServiceError","WOML_HTTP_STATUS_REJECTED","services.http","request","call_1",false,false,{"method":"POST","origin":"http://p.test:8080","status":404},true]`},
		{"no reply to a read", `services.http.request({url: "http://p.test/jobs"})`, answer{broken: "refused"},
			`["WomlServiceError","WOML_HTTP_TRANSPORT_FAILED","services.http","request","call_1",true,false,{"method":"GET","origin":"http://p.test"},true]`},
		{"bad input", `services.http.request({url: "p.test"})`, answer{},
			`["WomlServiceError","WOML_HTTP_INPUT_INVALID","services.http","request","",false,false,{},true]`},
		{"a statement", `services.db({driver: "sqlite", connection: "x"}).query({text: "SELECT"})`, answer{},
			`["WomlServiceError","WOML_DATABASE_BUSY","services.db","query","call_1",true,false,{},true]`},
		{"a workflow", `services.workflows.call("nobody", {})`, answer{},
			`["WomlServiceError","WOML_WORKFLOW_TARGET_NOT_FOUND","services.workflows","call","call_1",false,false,{},true]`},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", `|try { await `+r.call+`; } catch (e) {
  return [e.name, e.code, e.service, e.operation, e.callId, e.retryable, e.ambiguous, e.details, e instanceof Error && !e.message.includes("private") && !e.message.includes("token")]; }`))
			l.options = func(o *engine.Options) { o.Database = failing{"WOML_DATABASE_BUSY", "locked"} }
			l.world.answer = plainAnswers([]answer{r.answer})
			run := l.once(`{}`)
			if got := string(run.Steps[0].Result); got != r.want {
				t.Errorf("got  %s (%s)\nwant %s", got, run.Message, r.want)
			}
		})
	}
}

func TestHTTPReplies(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name, request string
		answers       []answer
		give          string // of the result r
		want          string
	}{
		{"headers in small letters", `{url: "http://p.test/jobs"}`, []answer{{status: 200, body: `1`, header: map[string]string{"X-Job-Id": "7"}}}, `r.headers`, `{"content-type":"application/json","x-job-id":"7"}`},
		{"the address that answered", `{url: "http://p.test/jobs"}`, []answer{{status: 301, header: map[string]string{"Location": "http://q.test/there?a=1"}}, {status: 200, body: `1`}}, `[r.url, r.redirected]`, `["http://q.test/there?a=1",true]`},
		{"a HEAD", `{url: "http://p.test/jobs", method: "HEAD"}`, []answer{{status: 200}}, `r.data`, `null`},
		{"a 204 as text", `{url: "http://p.test/jobs", method: "DELETE", responseType: "text"}`, []answer{{status: 204}}, `r.data`, `""`},
		{"a write that follows", `{method: "POST", url: "http://p.test/jobs", json: {a: 1}, redirect: "follow"}`, []answer{{status: 307, header: map[string]string{"Location": "/there"}}, {status: 201, body: `2`}}, `[r.status, r.data]`, `[201,2]`},
		{"a write that follows a 303", `{method: "POST", url: "http://p.test/jobs", json: {a: 1}, redirect: "follow"}`, []answer{{status: 303, header: map[string]string{"Location": "/there"}}, {status: 200, body: `3`}}, `[r.status, r.data]`, `[200,3]`},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", `|const r = await services.http.request(`+r.request+`); return `+r.give+`;`))
			l.world.answer = plainAnswers(r.answers)
			run := l.once(`{}`)
			if got := string(run.Steps[0].Result); got != r.want {
				t.Errorf("got %s (%s), want %s", got, run.Message, r.want)
			}
			if len(l.world.seen) != len(r.answers) {
				t.Errorf("%d requests, want %d", len(l.world.seen), len(r.answers))
			}
		})
	}
}

// It runs alone: a script has 5 s of its own, in which the reply becomes a value.
func TestABodyAsLargeAsMayBe(t *testing.T) {
	l := newLab(t, nil, document("", `|const r = await services.http.request({url: "http://p.test/jobs"}); return r.data.length;`))
	l.world.answer = plainAnswers([]answer{{status: 200, body: `"` + strings.Repeat("x", 4<<20-2) + `"`}})
	if run := l.once(`{}`); string(run.Steps[0].Result) != "4194302" {
		t.Errorf("got %s (%s)", run.Steps[0].Result, run.Message)
	}
}

// Bytes that are no text are unreadable where text was asked for.
func TestAReplyThatIsNoText(t *testing.T) {
	t.Parallel()
	for kind, code := range map[string]string{"text": "WOML_HTTP_RESPONSE_TEXT_INVALID", "json": "WOML_HTTP_RESPONSE_JSON_INVALID", "bytes": ""} {
		_, run := outcomeOf(t, `{url: "http://p.test/jobs", responseType: "`+kind+`"}`, answer{status: 200, body: "\"\xff\""})
		if c := run.Steps[0].Last().Calls[0]; c.Code != code {
			t.Errorf("as %s: %q (%s), want %q", kind, c.Code, c.Message, code)
		}
	}
}

// fetch gives every status to the script, and its writes are unkeyed whatever their headers say.
func TestFetch(t *testing.T) {
	t.Parallel()
	post := `fetch("http://p.test/jobs", {method: "POST", headers: {"Idempotency-Key": "k"}, body: "{}"})`
	for _, r := range []struct {
		name, script string
		answers      []answer
		outcome      engine.Outcome
		result, code string
		requests     int
	}{
		{"a refusal", `const r = await ` + post + `; return [r.ok, r.status, await r.text()];`, []answer{{status: 404, body: `no`}}, engine.Succeeded, `[false,404,"no"]`, "", 1},
		{"a redirect of a read", `const r = await fetch("http://p.test/jobs"); return [r.redirected, r.url];`, []answer{{status: 302, header: map[string]string{"Location": "/there"}}, {status: 200, body: `1`}}, engine.Succeeded, `[true,"http://p.test/there"]`, "", 2},
		{"a 503 to a write", `const r = await ` + post + `; return r.status;`, []answer{{status: 503, body: `{}`}}, engine.Unknown, "", "FAULTLAB_OPERATION_UNKNOWN", 1},
		{"a dropped write", `await ` + post + `; return 1;`, []answer{dropped}, engine.Unknown, "", "WOML_SCRIPT_THROWN", 1},
		{"a dropped write that is swallowed", `try { await ` + post + `; } catch (e) { return e.name; }`, []answer{dropped}, engine.Unknown, "", "FAULTLAB_OPERATION_UNKNOWN", 1},
		{"a dropped read", `try { await fetch("http://p.test/jobs"); } catch (e) { return e.name; }`, []answer{{broken: "reset"}}, engine.Succeeded, `"TypeError"`, "", 1},
		{"a body cut", `const r = await fetch("http://p.test/jobs"); try { return await r.text(); } catch (e) { return e.name; }`, []answer{{status: 200, body: `1`, broken: "cut"}}, engine.Succeeded, `"TypeError"`, "", 1},
		{"a bad address", `try { await fetch("ftp://p.test"); } catch (e) { return e.name; }`, nil, engine.Succeeded, `"TypeError"`, "", 0},
		{"never connected", `try { await ` + post + `; } catch (e) { return e.name; }`, []answer{{broken: "refused"}}, engine.Succeeded, `"TypeError"`, "", 1},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+r.script))
			l.world.answer = plainAnswers(r.answers)
			run := l.once(`{}`)
			a := run.Steps[0].Last()
			_, _, requests := run.Counts()
			if a.Outcome != r.outcome || string(run.Steps[0].Result) != r.result || a.Code != r.code || requests != r.requests {
				t.Errorf("%s, %s, %s (%s), %d requests; want %s, %s, %s, %d", a.Outcome, run.Steps[0].Result, a.Code, a.Message, requests, r.outcome, r.result, r.code, r.requests)
			}
		})
	}
}

// A connection that is not there in time: nothing went out, so even a write may be sent again.
func TestATimeoutBeforeTheFirstByteWasNeverSent(t *testing.T) {
	t.Parallel()
	run := stepOnWall(t, `retry="2" retry-delay="1ms"|return (await services.http.request({method: "POST", url: "http://p.test/", json: {}, timeout: "20ms"})).status;`, "{}",
		func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() })
	c := run.Steps[0].Attempts[0].Calls[0]
	if c.Code != "WOML_HTTP_TIMED_OUT" || c.How != engine.HowNeverSent || c.Finding != engine.FoundNotDone || len(run.Steps[0].Attempts) != 2 || run.Reconcile {
		t.Errorf("%s, %s, %s after %d attempts", c.Code, c.How, c.Finding, len(run.Steps[0].Attempts))
	}
}
