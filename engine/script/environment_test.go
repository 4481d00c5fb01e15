package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var order = Input{
	Payload: json.RawMessage(`{"orderId":"order-42","lines":[{"sku":"a"}]}`),
	Steps:   map[string]json.RawMessage{"reserve": json.RawMessage(`{"ok":true}`), "charge": json.RawMessage(`7`)},
	Extra:   map[string]json.RawMessage{"error": json.RawMessage(`{"code":"X"}`)},
	Attempt: Attempt{Number: 2, MaxAttempts: 3, IdempotencyKey: "sha256:9f3a"},
}

func TestWhatAScriptSees(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`return context`, `{"payload":{"orderId":"order-42","lines":[{"sku":"a"}]},"trigger":{"orderId":"order-42","lines":[{"sku":"a"}]},"steps":{"charge":7,"reserve":{"ok":true}},"error":{"code":"X"}}`},
		{`return context.trigger === context.payload`, `true`},
		{`return context.steps.reserve.ok`, `true`},
		{`return typeof context.steps.later`, `"undefined"`},
		{`return attempt`, `{"number":2,"maxAttempts":3,"idempotencyKey":"sha256:9f3a"}`},
		{`return [context.payload.lines, context, context.steps, attempt].map(Object.isFrozen)`, `[true,true,true,true]`},
		{`return context.payload.lines.map((line) => line.sku)`, `["a"]`},
		{`return { ...context.payload, extra: 1 }.extra`, `1`},
		{`const { http } = services; return typeof http.request`, `"function"`},
		{`return Object.keys(services)`, `["db","http","workflows"]`},
		{`return Object.keys(globalThis)`, `[]`},
		{`return [typeof require, typeof process, typeof setImmediate]`, `["undefined","undefined","undefined"]`},
		{`globalThis.fetch = () => "mine"; return fetch()`, `"mine"`},
		{`return services?.nothing === undefined`, `true`},
	} {
		got := runWith(t, newHost(), c[0], order)
		if shown := valueOrError(got); !strings.HasPrefix(shown, c[1]) {
			t.Errorf("%s gives %s, want %s", c[0], shown, c[1])
		}
	}
}

func valueOrError(r Result) string {
	if r.Err != nil {
		return "error: " + r.Err.Message
	}
	return string(r.Value)
}

func TestWhatAScriptCannotChange(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		`context.payload.orderId = 1`, `context.payload.more = 1`, `delete context.payload.orderId`, `context.steps.reserve.ok = false`,
		`context.steps.mine = 1`, `context.payload = {}`, `context.more = 1`, `context.payload.lines.push(1)`, `context.payload.lines[0].sku = "b"`,
		`context = {}`, `attempt.number = 1`, `attempt = {}`, `services.http = {}`, `services.mine = {}`, `services.http.request = () => {}`,
		`delete services.http`, `services = {}`, `secrets.TOKEN = "x"`, `secrets = {}`, `WomlServiceError = Error`,
		`services.db({ driver: "sqlite", connection: "x" }).query = 1`,
	} {
		h := newHost()
		h.secrets["TOKEN"] = "s3cret"
		// First use, then the change: a name is made when it is first used.
		got := runWith(t, h, `void context, void attempt, void services, void secrets, void WomlServiceError; `+src+`; return "changed"`, order)
		if codeOf(got) != CodeThrown || !strings.HasPrefix(got.Err.Message, "TypeError: ") {
			t.Errorf("%s gives %s %v, want a TypeError", src, got.Value, got.Err)
		}
	}
}

func TestTheContextHasALimit(t *testing.T) {
	t.Parallel()
	big := json.RawMessage(`"` + strings.Repeat("x", 60) + `"`)
	for _, c := range []struct {
		in   Input
		want string
	}{
		{Input{Payload: big, Limits: Limits{Context: 62}}, ""},
		{Input{Payload: big, Limits: Limits{Context: 61}}, CodeContextTooLarge},
		{Input{Payload: big, Steps: map[string]json.RawMessage{"a": big}, Limits: Limits{Context: 100}}, CodeContextTooLarge},
		{Input{Extra: map[string]json.RawMessage{"a": big}, Limits: Limits{Context: 10}}, CodeContextTooLarge},
		{Input{Payload: json.RawMessage(`"` + strings.Repeat("x", 1<<20-2) + `"`)}, ""},
		{Input{Payload: json.RawMessage(`"` + strings.Repeat("x", 1<<20-1) + `"`)}, CodeContextTooLarge},
	} {
		h := newHost()
		got := runWith(t, h, `services.http.request({}); return 1`, c.in)
		if code := codeOf(got); code != c.want || (code != "" && len(h.started) > 0) {
			t.Errorf("limit %d: %v, want %q", c.in.Limits.Context, got.Err, c.want)
		}
	}
}

func TestSecretsAreReadByNameAndNeverPrinted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, want string }{
		{`return secrets.TOKEN.length`, `15`},
		{`return [Object.keys(secrets), JSON.stringify(secrets), String(secrets), "TOKEN" in secrets, Object.entries(secrets)]`, `[[],"{}","[object Object]",false,[]]`},
		{`for (const name in secrets) return name; return "none"`, `"none"`},
		{`return { ...secrets }`, `{}`},
		{`return secrets.MISSING`, `error: TypeError: the secret MISSING is not set; set it in the environment or in the secrets file`},
		{`throw new Error("token is " + secrets.TOKEN)`, `error: token is [secret TOKEN]`},
		{`throw secrets.TOKEN`, `error: the script threw "[secret TOKEN]"`},
		{`throw { token: secrets.TOKEN }`, `error: the script threw {token: "[secret TOKEN]"}`},
		{`throw new Error("at http://a/?t=" + encodeURIComponent(secrets.TOKEN))`, `error: at http://a/?t=[secret TOKEN]`},
		{`throw new Error(JSON.stringify([secrets.TOKEN]))`, `error: ["[secret TOKEN]"]`},
		{`throw new Error(secrets.LONGER + " " + secrets.TOKEN)`, `error: [secret LONGER] [secret TOKEN]`},
		{`throw new Error("x".repeat(1020) + secrets.TOKEN)`, `error: ` + strings.Repeat("x", 1020) + `[se…`},
		{`await services.http.request({}); return 1`, `error: no answer from ?t=s3cret "/ token`}, // never handed out: not ours to hide
		{`secrets.TOKEN; await services.http.request({}); return 1`, `error: no answer from ?t=[secret TOKEN]`},
		{`return { [secrets.TOKEN]: undefined }`, `error: the script's result is not JSON: result["[secret TOKEN]"] is undefined`},
	} {
		h := newHost()
		h.secrets = map[string]string{"TOKEN": `s3cret "/ token`, "LONGER": `my s3cret "/ token`, "EMPTY": ""}
		h.answer = failing(ServiceError{Code: "X", Message: `no answer from ?t=s3cret "/ token`})
		if got := valueOrError(run(t, h, c.src)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s gives %s, want %s", c.src, got, c.want)
		}
	}
}

func TestTheConsoleWritesToTheHostsLog(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`console.log("order", 42, true, null, undefined)`, `log: order 42 true null undefined`},
		{`console.info({ a: 1, "b c": ["x", { d: 1n }] })`, `info: {a: 1, "b c": ["x", {d: 1n}]}`},
		{`console.warn(new TypeError("bad"), new Date(0), /x/g, Symbol("s"), () => 1)`, `warn: TypeError: bad Thu Jan 01 1970`},
		{`console.error(new Map([[1, 2]]), new Set([1]), Promise.resolve(), secrets, services.http)`, `error: [Map of 1] [Set of 1] [Promise] [secrets] [services.http]`},
		{`console.debug("%s has %d of %i, %f%% %o %j", "a", 3.7, "4", 1.5, { a: 1 }, "rest")`, `debug: a has 3 of 4, 1.5% {a: 1} %j rest`},
		{`console.log("100%", "%s")`, `log: 100% %s`},
		{`console.log({ get a() { throw 1 } }, new (class Order { id = 1 })(), new Proxy({}, {}))`, `log: {a: [getter]} Order {id: 1} [Proxy]`},
		{`const o = {}; o.o = o; console.log(o)`, `log: {o: {o: {o: {o: {o: …}}}}}`},
		{`console.log("token", secrets.TOKEN)`, `log: token [secret TOKEN]`},
		{`console.log()`, `log: `},
		{`console.log(Array(1000).fill(7))`, `log: [7` + strings.Repeat(", 7", 99) + `, …]`},
	} {
		h := newHost()
		h.secrets["TOKEN"] = "s3cret"
		got := run(t, h, c[0]+"; return 1")
		if len(h.logs) != 1 || !strings.HasPrefix(h.logs[0], c[1]) {
			t.Errorf("%s logs %q %v, want %q", c[0], h.logs, got.Err, c[1])
		}
	}
	h := newHost()
	run(t, h, `console.log("é".repeat(20000)); return 1`)
	if got := strings.Count(h.logs[0], "é"); got != MaxLog-1 {
		t.Errorf("a long line is cut to %d characters, want %d", got, MaxLog-1)
	}
}

func TestTheUsualGlobals(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`return [btoa("h\xe9"), atob(" aOk "), atob("aOk=")]`, `["aOk=","hé","hé"]`},
		{`try { btoa("€") } catch (e) { return e.name }`, `"TypeError"`},
		{`try { atob("a") } catch (e) { return e.message }`, `"atob: the text is not base64"`},
		{`return [...new TextEncoder().encode("é€😀\ud800")]`, `[195,169,226,130,172,240,159,152,128,239,191,189]`},
		{`return new TextDecoder().decode(new Uint8Array([239, 187, 191, 195, 169, 255]))`, "\"é\ufffd\""},
		{`try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.message }`, `"the data is not valid UTF-8"`},
		{`try { new TextDecoder("latin1") } catch (e) { return e.name }`, `"RangeError"`},
		{`const o = { at: new Date(5), list: [1, , 3], map: new Map([["k", { v: 1 }]]) }; o.self = o; const c = structuredClone(o);
		  return [c !== o, c.self === c, c.at.getTime(), 1 in c.list, c.list.length, c.map.get("k").v]`, `[true,true,5,false,3,1]`},
		{`const c = structuredClone([new Set([1]), /x/gi, new Uint8Array([1, 2, 3]).subarray(1), new RangeError("r"), Object(2n)]); return [[...c[0]], String(c[1]), [...c[2]], c[3] instanceof RangeError]`, `[[1],"/x/gi",[2,3],true]`},
		{`try { structuredClone({ f() {} }) } catch (e) { return e.message }`, `"structuredClone: a function cannot be cloned"`},
		{`const seen = []; queueMicrotask(() => seen.push(2)); seen.push(1); await null; return seen`, `[1,2]`},
		{`return crypto.getRandomValues(new Uint8Array(4)).some((b) => b !== 0)`, `true`},
		{`return /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())`, `true`},
		{`return [new Date().toISOString(), Date.now(), new Date(Date.UTC(2020, 0, 1)).toISOString()]`, `["2026-01-02T03:04:05.000Z",1767323045000,"2020-01-01T00:00:00.000Z"]`},
		{`const c = new AbortController(); const seen = []; c.signal.addEventListener("abort", () => seen.push("told")); c.abort("why"); c.abort("again");
		  try { c.signal.throwIfAborted() } catch (e) { return [e, seen, AbortSignal.any([c.signal]).aborted] }`, `["why",["told"],true]`},
		{`const r = new Response("body", { status: 201, headers: { a: "b" } }); return [r.status, r.headers.get("A"), await r.text()]`, `[201,"b","body"]`},
		{`const h = new Headers({ B: "1" }); h.append("b", "2"); h.set("a", "3"); h.delete("none"); return [[...h.keys()], [...h.values()], h.has("B")]`, `[["a","b"],["3","1, 2"],true]`},
	} {
		if got := valueOrError(run(t, newHost(), c[0])); got != c[1] {
			t.Errorf("%s\n gives %s\n want  %s", c[0], got, c[1])
		}
	}
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, base, want string }{
		{"http://EXAMPLE.com:80/a/./b/../c?x=1#y", "", "http://example.com/a/c?x=1#y"},
		{"https://user:pa%20ss@h:8443", "", "https://user:pa%20ss@h:8443/"},
		{"  http://h/a b\n\"<>`{}é?q='\"#f ` ", "", "http://h/a%20b%22%3C%3E%60%7B%7D%C3%A9?q=%27%22#f%20%60"},
		{`http:\\h\a`, "", "http://h/a"},
		{"http:h/a", "", "http://h/a"},
		{"http://h/%2e%2E/a/%2e", "", "http://h/a/"},
		{"http://[::1]:4040/", "", "http://[::1]:4040/"},
		{"http://127.0.0.1:4040/jobs", "", "http://127.0.0.1:4040/jobs"},
		{"http://h/a?", "", "http://h/a?"},
		{"http://h/a?#", "", "http://h/a?#"},
		{"b", "http://h/a/c?q#f", "http://h/a/b"},
		{"/b", "http://h/a/c?q#f", "http://h/b"},
		{"?r", "http://h/a/c?q#f", "http://h/a/c?r"},
		{"#g", "http://h/a/c?q#f", "http://h/a/c?q#g"},
		{"", "http://h/a/c?q#f", "http://h/a/c?q"},
		{"//i/x#g", "https://h/a", "https://i/x#g"},
		{"../../..", "http://h/a/b/c", "http://h/"},
		{"mailto:a@b", "", "mailto:a@b"},
		{"urn:x:y?z", "", "urn:x:y?z"},
		{"jdbc://h:1/x/../y", "", "jdbc://h:1/y"},
		{"/relative", "", `error: TypeError: "/relative" is not a URL: it has no scheme, and there is no base`},
		{"x", "mailto:a@b", `error: TypeError: "x" is not a URL: its base cannot be a base`},
		{"http://h:99999/", "", `error: TypeError: "http://h:99999/" is not a URL: its port is not a number up to 65535`},
		{"http://", "", `error: TypeError: "http://" is not a URL: its host is not valid`},
		{"http://a b/", "", `error: TypeError: "http://a b/" is not a URL: its host is not valid`},
		{"http://1.2.3/", "", "http://1.2.0.3/"},
		{"http://bücher.de/", "", "http://xn--bcher-kva.de/"},
		{"http://1.2.3.256/", "", `error: TypeError: "http://1.2.3.256/" is not a URL: its host is not valid`},
		{"file:///a/../b", "", "file:///b"},
		{"http://[::1%25en0]/", "", `error: TypeError: "http://[::1%25en0]/" is not a URL: its host is not valid`},
	} {
		base := "undefined"
		if c.base != "" {
			base = fmt.Sprintf("%q", c.base)
		}
		text, _ := json.Marshal(c.url)
		got := valueOrError(run(t, newHost(), fmt.Sprintf(`const u = new URL(%s, %s); return u.href === new URL(u.href).href ? u.href : "it changes again"`, text, base)))
		if strings.Trim(got, `"`) != c.want && got != fmt.Sprintf("%q", c.want) && got != quoted(c.want) {
			t.Errorf("new URL(%q, %q) is %s, want %s", c.url, c.base, got, c.want)
		}
	}
}

func quoted(s string) string { return string(appendText(nil, s)) }

func TestURLPartsAndParameters(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`const u = new URL("http://u:p@h:81/a?b=1#c"); return [u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.origin, u.pathname, u.search, u.hash]`,
			`["http:","u","p","h:81","h","81","http://h:81","/a","?b=1","#c"]`},
		{`const u = new URL("http://h/"); u.searchParams.append("q", "a b&c"); u.searchParams.set("é", 1); u.pathname = "x?y"; u.hash = "z"; u.port = "8080"; u.protocol = "https"; return u.href`,
			`"https://h:8080/x%3Fy?q=a+b%26c&%C3%A9=1#z"`},
		{`const u = new URL("http://h/?a=1"); u.search = "b=2#"; u.host = "i:9"; u.hostname = "bad host"; u.username = "m@e"; return [u.href, u.searchParams.get("b")]`,
			`["http://m%40e@i:9/?b=2%23","2#"]`},
		{`return JSON.stringify({ u: new URL("http://h") })`, `"{\"u\":\"http://h/\"}"`},
		{`const u = new URL("http://h/?#"); return [u.search, u.hash, [...u.searchParams]]`, `["","",[]]`},
		{`return [URL.canParse("x"), URL.parse("x"), URL.parse("http://h").href]`, `[false,null,"http://h/"]`},
		{`const p = new URLSearchParams("?a=1&b=%zz&a=%C3%A9+x&=&c"); return [[...p], p.get("a"), p.getAll("a"), p.has("c"), p.get("d"), p.size]`,
			`[[["a","1"],["b","%zz"],["a","é x"],["",""],["c",""]],"1",["1","é x"],true,null,5]`},
		{`const p = new URLSearchParams([["b", 1], ["a", 2], ["b", 3]]); p.sort(); const sorted = String(p); p.set("b", 4); p.delete("a"); return [sorted, String(p)]`, `["a=2&b=1&b=3","b=4"]`},
		{`return String(new URLSearchParams({ a: "*-._~ ", n: 1 }))`, `"a=*-._%7E+&n=1"`},
	} {
		if got := valueOrError(run(t, newHost(), c[0])); got != c[1] {
			t.Errorf("%s\n gives %s\n want  %s", c[0], got, c[1])
		}
	}
}

func TestTheSameInputGivesTheSameRun(t *testing.T) {
	t.Parallel()
	const src = `
		console.log(Math.random(), crypto.randomUUID(), Date.now());
		await Promise.all([5, 3, 4].map((n) => new Promise((done) => setTimeout(done, n))));
		const r = await services.http.request({ id: crypto.randomUUID(), m: Object.fromEntries(new Map([["b", 1], ["a", 2]])) });
		return [Math.random(), [...crypto.getRandomValues(new Uint8Array(12))], Date.now(), Object.keys(context.steps), r]`
	history := func(seed int64) []string {
		h := newHost()
		in := order
		in.Seed = seed
		got := runWith(t, h, src, in)
		all := append([]string{valueOrError(got)}, h.logs...)
		all = append(all, h.events...)
		for _, c := range h.started {
			all = append(all, show(c))
		}
		return all
	}
	first := history(7)
	for range 20 {
		if again := history(7); !slices.Equal(first, again) {
			t.Fatalf("two runs differ:\n%q\n%q", first, again)
		}
	}
	other := history(8)
	if first[0] == other[0] || first[1] == other[1] {
		t.Errorf("another seed gives the same: %q", other)
	}
	if !slices.Equal(withoutIDs(first), withoutIDs(other)) {
		t.Errorf("another seed changes more than random values:\n%q\n%q", first, other)
	}
}

// withoutIDs keeps what the host was asked, without what is random in it.
func withoutIDs(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return strings.Contains(s, "-4") || strings.HasPrefix(s, "[0.") })
}

// What Math.random gives does not depend on how often crypto was asked, and the first numbers of a seed never change:
// recorded runs are repeated with them.
func TestRandomStreamsArePartOfTheRecord(t *testing.T) {
	t.Parallel()
	got := runWith(t, newHost(), `const id = crypto.randomUUID(); return [Math.random(), id]`, Input{Seed: 1})
	alone := runWith(t, newHost(), `return [Math.random(), crypto.randomUUID()]`, Input{Seed: 1})
	want := `[0.3402859786606234,"10f5ee56-86a5-45c4-acec-7d07adc3ce9d"]`
	if string(got.Value) != string(alone.Value) || string(got.Value) != want {
		t.Errorf("seed 1 gives %s and %s, want %s", got.Value, alone.Value, want)
	}
}
