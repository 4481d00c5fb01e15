package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWhatACallHandsToTheHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, want string }{
		{`await services.http.request({ url: "http://a/" })`, `http request "" - {"url":"http://a/"} -`},
		{`await services.http.request({ url: "u", method: "POST", json: { a: undefined, b: [1, null], c: new Date(0) } }, { name: "create-job" })`,
			`http request "create-job" - {"url":"u","method":"POST","json":{"b":[1,null],"c":"1970-01-01T00:00:00.000Z"}} -`},
		{`const http = services.http; await http.request({ url: "u", headers: Object.create({ inherited: 1 }) }, {})`, `http request "" - {"url":"u","headers":{}} -`},
		{`class Body { constructor() { this.a = Object("boxed"); this.n = Object(1.5) } get b() { return 1 } }; await services.http.request({ url: "u", json: new Body() })`,
			`http request "" - {"url":"u","json":{"a":"boxed","n":1.5}} -`},
		{`await services.http.request({ url: "u", json: { get computed() { return 7 }, toJSON: undefined } })`, `http request "" - {"url":"u","json":{"computed":7}} -`},
		{`await services.http.request({ url: "u", json: { toJSON() { return { total: 3 } } } })`, `http request "" - {"url":"u","json":{"total":3}} -`},
		{`await services.db({ driver: "sqlite", connection: "x.db" }).query({ sql: "select ?", params: [1] }, { name: "find" })`,
			`db query "find" {"driver":"sqlite","connection":"x.db"} {"sql":"select ?","params":[1]} -`},
		{`await services.db({ driver: "sqlite", connection: "x.db" }).execute({ params: [new Uint8Array([1, 2]), new Uint8Array([0, 1, 2, 3]).subarray(2).buffer, new Uint8Array([0, 1, 2]).subarray(1)] })`,
			`db execute "" {"driver":"sqlite","connection":"x.db"} {"params":[{"bytesBase64":"AQI="},{"bytesBase64":"AAECAw=="},{"bytesBase64":"AQI="}]} -`},
		{`await services.workflows.call("calculate-risk", { a: 1 }, { name: "risk", timeout: "10s" })`,
			`workflows call "risk" "calculate-risk" {"a":1} {"timeout":"10s"}`},
		{`await services.workflows.start("ship", {})`, `workflows start "" "ship" {} -`},
		{`await fetch("http://a/", { method: "post", body: "text", headers: { "X-B": " 2 ", "x-a": 1 } })`,
			`fetch request "" - {"url":"http://a/","headers":{"content-type":"text/plain;charset=UTF-8","x-a":"1","x-b":"2"},"method":"POST","text":"text"} -`},
		{`await fetch(new URL("/b?c#d", "http://a"), { redirect: "manual" })`,
			`fetch request "" - {"url":"http://a/b?c#d","redirect":"manual","headers":{},"method":"GET"} -`},
		{`await fetch("http://a/", { method: "PUT", body: new URLSearchParams({ a: "1 2", b: "é" }), headers: new Headers([["content-type", "x/y"]]) })`,
			`fetch request "" - {"url":"http://a/","headers":{"content-type":"x/y"},"method":"PUT","text":"a=1+2&b=%C3%A9"} -`},
		{`await fetch("http://a/", { method: "PATCH", body: new TextEncoder().encode("é") })`,
			`fetch request "" - {"url":"http://a/","headers":{},"method":"PATCH","bytesBase64":"w6k="} -`},
	} {
		h := newHost()
		h.answer = value(`{"status":200,"headers":{}}`)
		got := run(t, h, c.src+"; return 1")
		if got.Err != nil || len(h.started) != 1 {
			t.Errorf("%s: %d calls, %v", c.src, len(h.started), got.Err)
			continue
		}
		if shown := show(h.started[0]); shown != c.want {
			t.Errorf("%s\n hands %s\n want  %s", c.src, shown, c.want)
		}
	}
}

func show(c Call) string {
	orDash := func(b json.RawMessage) string {
		if b == nil {
			return "-"
		}
		return string(b)
	}
	return fmt.Sprintf("%s %s %q %s %s %s", c.Service, c.Operation, c.Name, orDash(c.Target), orDash(c.Input), orDash(c.Options))
}

func TestEveryDatabaseOperationIsACall(t *testing.T) {
	t.Parallel()
	h := newHost()
	got := run(t, h, `
		const db = services.db({ driver: "sqlite", connection: "x.db" });
		for (const name of Object.keys(db)) await db[name]({});
		return Object.keys(db)`)
	var asked []string
	for _, c := range h.started {
		asked = append(asked, c.Operation)
	}
	if want := []string{"delete", "execute", "insert", "query", "read", "transaction", "update"}; !slices.Equal(asked, want) {
		t.Errorf("the operations are %v %v, want %v", asked, got.Err, want)
	}
}

func TestBadInputRejectsAndNothingIsStarted(t *testing.T) {
	t.Parallel()
	const db = `services.db({ driver: "sqlite", connection: "x" })`
	for _, c := range []struct{ src, code, says string }{
		{`services.http.request()`, "WOML_HTTP_INPUT_INVALID", "the request is missing; pass an object"},
		{`services.http.request({ json: [1, undefined] })`, "WOML_HTTP_INPUT_INVALID", "the request.json[1] is undefined; leave it out or use null"},
		{`services.http.request({ json: { n: NaN } })`, "WOML_HTTP_INPUT_INVALID", "the request.json.n is NaN, which JSON does not have"},
		{`services.http.request({ json: { n: 1n } })`, "WOML_HTTP_INPUT_INVALID", "the request.json.n is a bigint; use String(value) or Number(value)"},
		{`services.http.request({ json: new Map() })`, "WOML_HTTP_INPUT_INVALID", "the request.json is a Map; use Object.fromEntries(map)"},
		{`services.http.request({ json: { p: Promise.resolve() } })`, "WOML_HTTP_INPUT_INVALID", "the request.json.p is a promise; await it first"},
		{`services.http.request({ json: () => 1 })`, "WOML_HTTP_INPUT_INVALID", "the request.json is a function, which JSON does not have"},
		{`services.http.request({ json: new Uint8Array(1) })`, "WOML_HTTP_INPUT_INVALID", "the request.json is binary data; send it as bytesBase64"},
		{`services.http.request({ json: secrets })`, "WOML_HTTP_INPUT_INVALID", "the request.json is the secrets object; name one: secrets.NAME"},
		{`const o = {}; o.o = o; return services.http.request(o)`, "WOML_HTTP_INPUT_INVALID", "the request.o contains itself"},
		{`services.http.request({ text: "x".repeat(5 << 20) })`, "WOML_HTTP_INPUT_INVALID", "the request is larger than 4194304 bytes of JSON"},
		{`services.http.request({}, "create")`, "WOML_HTTP_INPUT_INVALID", `the options are not an object; pass {name: "..."}`},
		{`services.http.request({}, { name: "Create" })`, "WOML_HTTP_INPUT_INVALID", `the name "Create" is not one: it takes a lower-case letter, then up to 127 of a-z, 0-9, dot, dash and underscore`},
		{`services.http.request({}, { name: 5 })`, "WOML_HTTP_INPUT_INVALID", `the name 5 is not one: it takes a lower-case letter, then up to 127 of a-z, 0-9, dot, dash and underscore`},
		{`services.http.request({}, { timeout: "1s" })`, "WOML_HTTP_INPUT_INVALID", `the last argument of services.http.request has no option "timeout"; it takes name`},
		{db + `.query({}, { cancel: true })`, "WOML_DATABASE_INPUT_INVALID", `the last argument of services.db.query has no option "cancel"; it takes name`},
		{db + `.query()`, "WOML_DATABASE_INPUT_INVALID", "the request is missing; pass an object"},
		{`services.db("x.db")`, "WOML_DATABASE_INPUT_INVALID", `services.db takes an object: {driver: "sqlite", connection: "..."}`},
		{`services.db()`, "WOML_DATABASE_INPUT_INVALID", `services.db's target is missing; pass an object`},
		{`services.workflows.call()`, "WOML_WORKFLOW_INPUT_INVALID", "services.workflows.call takes the workflow's id, a string, first"},
		{`services.workflows.call("a")`, "WOML_WORKFLOW_INPUT_INVALID", "the request is missing; pass an object"},
		{`services.workflows.start("a", {}, { timeout: "1s" })`, "WOML_WORKFLOW_INPUT_INVALID", `the last argument of services.workflows.start has no option "timeout"; it takes name`},
		{`services.workflows.call("a", {}, { timout: "1s" })`, "WOML_WORKFLOW_INPUT_INVALID", `the last argument of services.workflows.call has no option "timout"; did you mean "timeout"?`},
		{`fetch("http://a/", { header: { a: "b" } })`, CodeThrown, `TypeError: fetch has no option "header"; did you mean "headers"?`},
		{`services.http.request({ get url() { throw new RangeError("no url") } })`, CodeThrown, "RangeError: no url"},
		{`fetch("http://a/", { body: { a: 1 } })`, CodeThrown, "TypeError: the body is an object; pass JSON.stringify(object)"},
		{`fetch("http://a/", { body: "x" })`, CodeThrown, "TypeError: a GET request takes no body"},
		{`fetch("http://a/", { headers: { "a b": "c" } })`, CodeThrown, `TypeError: "a b" is not the name of a header`},
		{`fetch("http://a/", { headers: { a: "b\nc" } })`, CodeThrown, `TypeError: a header's value contains a line break`},
		{`fetch("http://a/", { signal: AbortSignal.abort() })`, CodeThrown, `AbortError: This operation was aborted`},
	} {
		h := newHost()
		src := c.src
		if !strings.Contains(src, "return") {
			src = "return " + src
		}
		got := run(t, h, src)
		if len(h.started) != 0 || codeOf(got) != c.code || got.Err.Message != c.says {
			t.Errorf("%s: %d calls, %v, want none and %s: %s", c.src, len(h.started), got.Err, c.code, c.says)
		}
		if e := got.Err.Service; e != nil && !strings.HasPrefix(e.Service, "services.") {
			t.Errorf("%s: the error names the service %q, which scripts write otherwise", c.src, e.Service)
		}
	}
}

func TestARefusalOfTheHostRejectsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHost()
	h.refuse = func(c Call) *ServiceError {
		return &ServiceError{Code: "WOML_HTTP_INPUT_INVALID", Message: "method is not one", Service: c.Service, Operation: c.Operation}
	}
	got := run(t, h, `
		const first = services.http.request({ method: "?" });
		let seen;
		try { await first } catch (e) { seen = e }
		return [seen instanceof WomlServiceError, seen.code, seen.message]`)
	if string(got.Value) != `[true,"WOML_HTTP_INPUT_INVALID","method is not one"]` {
		t.Errorf("the script saw %s %v", got.Value, got.Err)
	}
}

func TestAFailedCallIsAWomlServiceErrorWithItsFields(t *testing.T) {
	t.Parallel()
	h := newHost()
	h.answer = failing(ServiceError{Code: "WOML_HTTP_TIMED_OUT", Message: "no answer in 10s", Service: "http", Operation: "request",
		CallID: "call_1", Retryable: true, Ambiguous: true, Details: json.RawMessage(`{"method":"POST","origin":"http://a"}`), Cause: "not shown"})
	got := run(t, h, `
		try { await services.http.request({}) } catch (e) {
			const own = Object.fromEntries(Object.entries(e).filter(([k]) => k !== "stack"));
			return { own, name: e.name, text: String(e), error: e instanceof Error, woml: e instanceof WomlServiceError, frozen: Object.isFrozen(e.details) };
		}`)
	want := `{"own":{"code":"WOML_HTTP_TIMED_OUT","service":"http","operation":"request","callId":"call_1","retryable":true,"ambiguous":true,` +
		`"details":{"method":"POST","origin":"http://a"}},"name":"WomlServiceError","text":"WomlServiceError: no answer in 10s","error":true,"woml":true,"frozen":true}`
	if string(got.Value) != want {
		t.Errorf("the script saw\n %s %v, want\n %s", got.Value, got.Err, want)
	}
}

func TestCallsRunAtTheSameTimeAndCompleteInTheirOwnOrder(t *testing.T) {
	t.Parallel()
	h := newHost()
	h.answer = func(id int, c Call) (after time.Duration, done Completion) {
		return ms(100 / id), Completion{Value: json.RawMessage(fmt.Sprint(id))}
	}
	got := run(t, h, `
		const order = [];
		const note = (n) => order.push(n);
		const all = await Promise.all([1, 2, 3].map(() => services.http.request({}).then((n) => (note(n), n))));
		return { all, order }`)
	if string(got.Value) != `{"all":[1,2,3],"order":[3,2,1]}` {
		t.Errorf("gives %s %v", got.Value, got.Err)
	}
	if want := []string{"start 1 http.request", "start 2 http.request", "start 3 http.request"}; !slices.Equal(h.events, want) {
		t.Errorf("the host saw %v, want %v", h.events, want)
	}
}

func TestFetchGivesAResponse(t *testing.T) {
	t.Parallel()
	head := json.RawMessage(`{"status":404,"statusText":"Not Found","url":"http://a/x","redirected":true,"headers":{"content-type":"application/json","x":"1, 2"}}`)
	cut := &ServiceError{Code: "WOML_FETCH_BODY", Message: "the connection was reset after 3 bytes", Ambiguous: true}
	for _, c := range []struct {
		src  string
		done Completion
		want string
	}{
		{`return [r.status, r.statusText, r.ok, r.url, r.redirected, r.headers.get("X"), r.headers.get("none"), [...r.headers]]`, Completion{Value: head},
			`[404,"Not Found",false,"http://a/x",true,"1, 2",null,[["content-type","application/json"],["x","1, 2"]]]`},
		{`return [r.bodyUsed, await r.json(), r.bodyUsed]`, Completion{Value: head, Body: []byte(`{"a":[1]}`)}, `[false,{"a":[1]},true]`},
		{`return await r.text()`, Completion{Value: head, Body: []byte("\ufeffh\xffi")}, "\"h\ufffdi\""},
		{`return [...new Uint8Array(await r.clone().arrayBuffer()), ...(await r.bytes())]`, Completion{Value: head, Body: []byte{0, 255}}, `[0,255,0,255]`},
		{`await r.text(); return r.text().catch(String)`, Completion{Value: head}, `"TypeError: the response's body has already been read"`},
		{`return r.json().catch((e) => e.name)`, Completion{Value: head, Body: []byte(`{"a":`)}, `"SyntaxError"`},
		{`return r.text().catch((e) => [String(e), e.cause.code, e.cause.ambiguous])`, Completion{Value: head, Body: []byte("abc"), BodyErr: cut},
			`["TypeError: reading the body failed: the connection was reset after 3 bytes","WOML_FETCH_BODY",true]`},
	} {
		h := newHost()
		h.answer = func(int, Call) (time.Duration, Completion) { return ms(1), c.done }
		got := run(t, h, `const r = await fetch("http://a/x"); `+c.src)
		if string(got.Value) != c.want {
			t.Errorf("%s gives %s %v, want %s", c.src, got.Value, got.Err, c.want)
		}
	}
}

func TestAnAbortedFetchIsCancelledAndStillAwaited(t *testing.T) {
	t.Parallel()
	h := newHost()
	h.answer = func(int, Call) (time.Duration, Completion) {
		return ms(500), Completion{Err: &ServiceError{Code: "X", Message: "cancelled"}}
	}
	got := run(t, h, `return fetch("http://a/", { signal: AbortSignal.timeout(100) }).catch((e) => [e.name, Date.now() - `+fmt.Sprint(epoch.UnixMilli())+`])`)
	if string(got.Value) != `["TimeoutError",100]` {
		t.Errorf("gives %s %v", got.Value, got.Err)
	}
	want := []string{"timer 1 100ms", "start 2 fetch.request", "cancel 2"}
	if !slices.Equal(h.events, want) || !h.now.Equal(epoch.Add(ms(500))) {
		t.Errorf("the host saw %v until %v, want %v until the call's end", h.events, h.now, want)
	}
	if len(got.Unhandled) != 0 {
		t.Errorf("the script was told, yet %v is unhandled", got.Unhandled)
	}
}
