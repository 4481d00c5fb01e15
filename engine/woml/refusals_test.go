package woml

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// mark stands in a document of a table where its diagnostic must point.
const mark = "▶"

// refusal is a document that is refused, and why: its first error has this
// code and stands at the mark.
type refusal struct {
	name     string
	document string
	code     string
}

// The parts that the tables put around what they are about.
func inWorkflow(children string) string {
	return `<woml><workflow id="demo">` + children + `</workflow></woml>`
}

func inTriggers(triggers string) string {
	return inWorkflow(`<triggers>` + triggers + `</triggers>` + oneStep)
}

func inSteps(steps string) string { return inWorkflow(`<steps>` + steps + `</steps>`) }

func inScript(script string) string {
	return inSteps(`<step id="one"><script>` + script + `</script></step>`)
}

func inSchema(schema string) string {
	return inTriggers(`<webhook id="in" path="/in" auth="none"><schema>` + schema + `</schema></webhook>`)
}

const (
	oneStep   = `<steps><step id="one"><script>return 1;</script></step></steps>`
	twoThings = `<config concurrency="1"/>` + oneStep
)

// tables are all the tables of refusals; warnings have one of their own.
var tables = map[string][]refusal{
	"markup": markupRefusals, "shape": shapeRefusals, "workflow": workflowRefusals,
	"triggers": triggerRefusals, "steps": stepRefusals, "script": scriptRefusals,
}

// marked takes the mark out of a document, and tells where it stood.
func marked(t *testing.T, document string) (text string, line, column int) {
	t.Helper()
	before, after, found := strings.Cut(document, mark)
	if !found || strings.Contains(after, mark) {
		t.Fatalf("the document has not one mark: %s", document)
	}
	line = strings.Count(before, "\n") + 1
	last := before[strings.LastIndex(before, "\n")+1:]
	return before + after, line, len(utf16.Encode([]rune(last))) + 1
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for table, refusals := range tables {
		for _, r := range refusals {
			t.Run(table+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				text, line, column := marked(t, r.document)
				doc, diags := Parse([]byte(text))
				if doc != nil || len(diags) == 0 {
					t.Fatalf("accepted: %s", text)
				}
				if d := diags[0]; d.Code != r.code || d.Line != line || d.Column != column {
					t.Errorf("refused with %s at %d:%d, want %s at %d:%d (%s)", d.Code, d.Line, d.Column, r.code, line, column, d.Message)
				}
				for _, d := range diags {
					readable(t, d)
				}
			})
		}
	}
}

// readable checks the form of what people read.
func readable(t *testing.T, d Diagnostic) {
	t.Helper()
	for _, sentence := range []string{d.Message, d.Hint} {
		if sentence != "" && !regexp.MustCompile(`(?s)^\S.*[.?]$`).MatchString(sentence) || strings.Contains(sentence, "\n") {
			t.Errorf("%s: not one sentence: %q", d.Code, sentence)
		}
	}
	if d.Message == "" || strings.Contains(d.Message, "%!") || strings.Contains(d.Hint, "%!") {
		t.Errorf("%s: broken message: %q, hint %q", d.Code, d.Message, d.Hint)
	}
}

// Every code that the package can report has a row in a table.
func TestEveryCodeIsTested(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, refusals := range tables {
		for _, r := range refusals {
			tested[r.code] = true
		}
	}
	for _, w := range warnings {
		for _, code := range w.codes {
			tested[code] = true
		}
	}
	reported := regexp.MustCompile(`"WOML_[A-Z_]+"`)
	count := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, quoted := range reported.FindAllString(string(text), -1) {
			code := strings.Trim(quoted, `"`)
			if count[code] = true; !tested[code] {
				t.Errorf("%s: no row of a table ends in %s", name, code)
			}
		}
	}
	if len(count) < 80 {
		t.Errorf("the package reports %d codes only", len(count))
	}
}

// What the reference accepts is accepted, odd as it may look.
func TestAccepted(t *testing.T) {
	t.Parallel()
	documents := map[string]string{
		"containers in any order":        inWorkflow(oneStep + `<triggers><manual id="go"/></triggers><config queue="a.1b"/>`),
		"no triggers":                    inWorkflow(twoThings),
		"a step and a trigger named one": inTriggers(`<manual id="one"/>`),
		"white space in an end tag":      `<woml><workflow id="demo">` + oneStep + `</workflow ></woml >`,
		"white space around it all":      "\n\t<woml>\r\n<workflow id='demo'>" + oneStep + "</workflow></woml>\n ",
		"comments everywhere":            "<!-- a --><woml><!-- b -- c --><workflow id='demo'>" + oneStep + "<!----></workflow></woml><!-- d -->",
		"a byte order mark":              "\ufeff" + inWorkflow(oneStep),
		"either quote":                   inSteps(`<step id='one' name='say "hi"' description="it's"><script>1</script></step>`),
		"raw markup in a value":          inSteps(`<step id="one" name="a < b > c & d"><script>1</script></step>`),
		"spaces around an equals sign":   inSteps("<step id = \"one\"\n name\t=\n'x'><script>1</script></step>"),
		"references in text":             inSchema(`{"description": "&amp; &lt; &#65; &#x42;"}`),
		"an id of 256 characters":        inSteps(`<step id="` + strings.Repeat("a", 256) + `"><script>1</script></step>`),
		"path /":                         inTriggers(`<webhook id="in" path="/" auth="none"/>`),
		"dot segments":                   inTriggers(`<webhook id="in" path="/a/../b" auth="none"/>`),
		"near a reserved path":           inTriggers(`<webhook id="in" path="/_womlish" auth="none"/>`),
		"a year":                         inWorkflow(`<config timeout="365d" rate-limit="1000000/365d" concurrency="1000000"/>` + oneStep),
		"retry of one":                   inSteps(`<step id="one" retry="1"><script>1</script></step>`),
		"a day between attempts":         inSteps(`<step id="one" retry="10" retry-delay="1d" retry-max-delay="24h"><script>1</script></step>`),
		"no retry but those after a 429": inSteps(`<step id="one" retry-throttled="100" retry-delay="1s"><script>1</script></step>`),
		"equal delays":                   inSteps(`<step id="one" retry="2" retry-delay="2s" retry-max-delay="2000ms"><script>1</script></step>`),
		"compensate before the script":   inSteps(`<step id="one"><compensate><script>1</script></compensate><script>1</script></step>`),
		"a schema with its dialect":      inSchema(`{"$schema": "https://json-schema.org/draft/2020-12/schema"}`),
		"a local reference":              inSchema(`{"$defs": {"a": {"$anchor": "b"}}, "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#b"}]}`),
		"a key twice in a schema":        inSchema(`{"type": "object", "type": "string"}`),
		"a pattern of JavaScript":        inSchema(`{"pattern": "^(?=a)(?!b)\\p{L}+$"}`),
		"unknown keywords in a schema":   inSchema(`{"x-owner": "us"}`),
		"an empty script":                inScript(""),
		"a script that closes itself":    inSteps(`<step id="one"><script/></step>`),
		"markup in a script":             inScript(`return "<step></SCRIPT></script ><!--" + a<b;`),
		"an escaped end":                 inScript(`return "<\/script>";`),
		"a comment on the last line":     inScript("return 1; // done"),
		"await":                          inScript("const a = await 1; for (const b of [a]) { await b; }"),
		"modern syntax":                  inScript("let a = b?.c ?? 5_000; a ||= 1n; class D { #e = 1; static f = 2; get g() { return this.#e } } return `${a}`;"),
		"regular expressions":            inScript(`return [/a+/gimsuy, /(?<=a)b(?!c)/, /\p{L}/u, /(a)\1/, /[/]/];`),
		"one name in two scopes":         inScript("const a = 1; { const a = 2; } for (let a of []) { let a; } try { } catch (e) { var e; }"),
		"var and function twice":         inScript("var a; var a; function a() {} function f(b, c) { var b; }"),
		"var over a parameter":           inScript("var context = 1; function f(attempt) { return attempt; }"),
		"its own console":                inScript("const console = 1;"),
		"services.http kept":             inScript("const http = services.http; return http.request({});"),
		"the result of services.db":      inScript(`const db = services.db({ driver: "sqlite" }); return db["query"];`),
		"names that only look reserved":  inScript("return { services: 1, secrets: 2 }.services + a.fetch + b.lifecycle;"),
		"fetch passed on":                inScript(`const request = fetch; return request("http://x"), globalThis["fetch"];`),
		"64 secrets":                     inScript(manySecrets(64)),
		"calls with computed arguments":  inScript("services.workflows.call(a, b, c); services.workflows.start(...a); services.workflows.call(`x-${a}`, b, { name: c, timeout: d });"),
		"timeouts of a call":             inScript(`services.workflows.call("a-b", {}, { timeout: "24h" }); services.workflows.call("a", {}, { timeout: 1500, name: "a.b-c_d" });`),
		"unstable things elsewhere":      inScript("return [Date.now(), Math.random(), attempt.number];"),
	}
	for name, document := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if doc, diags := Parse([]byte(document)); doc == nil || len(diags) > 0 {
				t.Errorf("%s\n%+v", document, diags)
			}
		})
	}
}

func manySecrets(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("secrets.S" + strconv.Itoa(i) + ";")
	}
	return b.String()
}
