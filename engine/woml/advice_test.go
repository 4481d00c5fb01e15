package woml

import (
	"strings"
	"testing"
)

// advice is a document that is accepted with these warnings, the first of them
// at the mark.
type advice struct {
	name     string
	document string
	codes    []string
}

var (
	keyed    = `idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey }`
	unkeyed  = []string{"WOML_WRITE_WITHOUT_IDEMPOTENCY"}
	changing = []string{"WOML_IDEMPOTENCY_VALUE_UNSTABLE"}
)

func retrying(script string) string {
	return inSteps(`<step id="one" retry="2"><script>` + script + `</script></step>`)
}

func valued(before, value string) string {
	return inScript(before + `services.http.request({ method: "POST", url, idempotency: { header: "K", value: ` + value + ` } });`)
}

var warnings = []advice{
	{"a write without a key", retrying(mark + `services.http.request({ method: "POST", url: "http://x" });`), unkeyed},
	{"a delete without a key", retrying(`return await ` + mark + "services.http.request({ method: `DELETE` });"), unkeyed},
	{"a write by a kept service", retrying(`const http = services.http; ` + mark + `http.request({ "method": "PUT" });`), unkeyed},
	{"a write by a kept operation", retrying(`const { request: send } = services.http; ` + mark + `send({ method: "PUT" });`), unkeyed},
	{"a write from a kept request", retrying(`const r = { method: "PATCH" }; ` + mark + `services.http.request(r);`), unkeyed},
	{"a write by a kept method", retrying(`const m = "POST"; ` + mark + `services.http.request({ method: m });`), unkeyed},
	{"two writes", retrying(mark + `services.http.request({ method: "POST" }); services.http.request({ method: "POST" });`), append(unkeyed, unkeyed...)},
	{"a write by fetch", retrying(mark + `fetch("http://x", { method: "post" });`), unkeyed},
	{"a write by the global fetch", retrying(mark + `globalThis.fetch("http://x", { method: "PUT", headers: { "Idempotency-Key": "a" } });`), unkeyed},
	{"a write in an inverse", inSteps(`<step id="one"><script>1</script><compensate retry="2"><script>` + mark + `services.http.request({ method: "POST" });</script></compensate></step>`), unkeyed},

	{"a random key", valued("", mark+"crypto.randomUUID()"), changing},
	{"a random key of the global object", valued("", mark+"globalThis.crypto.randomUUID()"), changing},
	{"a key from a random number", valued("", mark+`"k" + Math.random()`), changing},
	{"a key from the time", valued("", mark+"`k-${Date.now()}`"), changing},
	{"a key from a new date", valued("", mark+"String(new Date())"), changing},
	{"a key from the attempt", valued("", mark+"attempt.number"), changing},
	{"a key from the attempt in a text", valued("", mark+`attempt.idempotencyKey + "-" + attempt.number`), changing},
	{"a random key through a const", valued("const key = crypto.randomUUID(); ", mark+"key"), changing},
	{"a random key through a const in a text", valued("const id = Date.now(); ", mark+`"k" + id`), changing},
	{"a random key through a function", valued("const make = () => crypto.randomUUID(); ", mark+"make()"), changing},
	{"the attempt taken apart", valued("const { number } = attempt; ", mark+`"k" + number`), changing},
	{"a random key in kept options", inScript(`const idempotency = { field: "key", value: ` + mark + `Math.random() }; services.http.request({ method: "POST", idempotency });`), changing},
	{"a random key under its short name", inScript(`const value = Math.random(); services.http.request({ idempotency: { header: "K", ` + mark + `value } });`), changing},

	{"a with statement", inScript(mark + "with (context) { return payload; }"), []string{"WOML_SCRIPT_STRICT_MODE"}},
	{"a deleted variable", inScript("delete " + mark + "a;"), []string{"WOML_SCRIPT_STRICT_MODE"}},
	{"a number with a leading zero", inScript("return " + mark + "010;"), []string{"WOML_SCRIPT_STRICT_MODE"}},
	{"a script that ends its function", inScript("return 1; " + mark + "} function extra() { return services; "), []string{"WOML_SCRIPT_OUTSIDE_STEP"}},
	{"another database", inScript(`const db = services.db({ driver: ` + mark + `"postgres", connection: secrets.URL });`), []string{"WOML_DATABASE_DRIVER_NOT_RUN"}},
	{"several in the order of the script", retrying(mark + `services.http.request({ method: "POST" }); with (a) { fetch(b, { method: "PUT" }); }`),
		[]string{"WOML_WRITE_WITHOUT_IDEMPOTENCY", "WOML_SCRIPT_STRICT_MODE", "WOML_WRITE_WITHOUT_IDEMPOTENCY"}},
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, w := range warnings {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			text, line, column := marked(t, w.document)
			doc, diags := Parse([]byte(text))
			if doc == nil {
				t.Fatalf("refused: %+v", diags)
			}
			equalCodes(t, diags, w.codes)
			for _, d := range diags {
				readable(t, d)
				if d.Severity != severityWarning || d.Hint == "" {
					t.Errorf("not a warning with a hint: %+v", d)
				}
			}
			if len(diags) == 0 {
				return
			}
			if d := diags[0]; d.Line != line || d.Column != column {
				t.Errorf("%s at %d:%d, want %d:%d", d.Code, d.Line, d.Column, line, column)
			}
		})
	}
}

// What is safe, or cannot be told, is not warned of.
func TestNoWarning(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"a keyed write":                retrying(`services.http.request({ method: "POST", ` + keyed + ` });`),
		"a write keyed in its body":    retrying(`services.http.request({ method: "POST", idempotency: { field: "key", value: "a" } });`),
		"a read":                       retrying(`services.http.request({ method: "GET" }); services.http.request({}); fetch("http://x"); fetch("http://x", { method: "head" });`),
		"a write that is not retried":  inScript(`services.http.request({ method: "POST" }); fetch(a, { method: "POST" });`),
		"a computed method":            retrying(`services.http.request({ method: context.payload.method });`),
		"a request from elsewhere":     retrying(`services.http.request(context.payload); fetch(a, b);`),
		"a spread request":             retrying(`services.http.request({ method: "POST", ...keyed });`),
		"a kept key":                   retrying(`const idempotency = make(); services.http.request({ method: "POST", idempotency });`),
		"another request":              retrying(`other.http.request({ method: "POST" }); request({ method: "POST" });`),
		"a name that is assigned":      retrying(`let http = services.http; http = other; http.request({ method: "POST" });`),
		"a name that means two":        retrying(`{ const http = other; http.request({ method: "POST" }); } { const http = services.http; }`),
		"a kept member of a list":      retrying(`const r = clients["http"]; r.request({ method: "POST" });`),
		"a stable key":                 valued("", `"fulfillment:" + context.payload.orderId`),
		"a stable key through a const": valued("const key = context.payload.orderId; const at = Date.now(); ", "key"),
		"a date of its own":            valued("class Date {} ", "Date.now()"),
		"an attempt of its own":        valued("const f = (attempt) => attempt; ", "attempt.number"),
		"a member called Date":         valued("", "context.payload.Date + context.Math.random"),
		"sqlite":                       inScript(`services.db({ driver: "sqlite", connection: "a.db" }).query({ text: "SELECT 1" });`),
		"two manual triggers":          inTriggers(`<manual id="a"/><manual id="b"/>`),
		"zero and octal":               inScript("return [0, 0.5, 0o10, 0x1f];"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if doc, diags := Parse([]byte(document)); doc == nil || len(diags) > 0 {
				t.Errorf("%s\n%+v", document, diags)
			}
		})
	}
}

// A warning says how many attempts there are, and errors come before it.
func TestWarningsSayWhatCanHappen(t *testing.T) {
	t.Parallel()
	_, diags := Parse([]byte(inSteps(`<step id="one" retry="7"><script>fetch(a, { method: "put" });</script></step><step id="one"><script>1</script></step>`)))
	equalCodes(t, diags, []string{"WOML_DUPLICATE_ID", "WOML_WRITE_WITHOUT_IDEMPOTENCY"})
	if last := diags[len(diags)-1]; !strings.Contains(last.Message, "PUT by fetch") || !strings.Contains(last.Message, "up to 7 times") {
		t.Errorf("the warning does not say it: %s", last.Message)
	}
}
