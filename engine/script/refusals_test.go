package script

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

// What the runtime does not have, or would get wrong, is refused by name: where the script is compiled, else where it
// is met.
func TestWhatTheRuntimeLacksIsRefusedByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		src, says    string
		line, column int
	}{
		{"\nfor await (const x of []) {}", "for await is not supported", 2, 5},
		{"async function* g() {}", "async generators are not supported", 1, 1},
		{"const o = { async *g() {} }", "async generators are not supported", 1, 20},
		{"class A { async * g() {} }", "async generators are not supported", 1, 11},
		{"let x = 1; <!-- note", "HTML comments", 1, 12},
		{"let x = 1, y = 2\nreturn x <!--y", "HTML comments", 2, 10},
		{"let x = 1\n--> note", "HTML comments", 2, 3},
		{`return /\p{Emoji}/u.test("a")`, `the Unicode property "Emoji" is not supported`, 1, 8},
		{"return 1 + /a/v", "the flag v", 1, 12},
		{"const f = () => { return /(?:(a)|b)+/ }", "a capturing group that an iteration can skip", 1, 26},
		{"return [/(?=.*(b))(a)/]", "a capturing group behind one in a lookahead", 1, 9},
		{"return /(?i:a)/", "flags within a regular expression", 1, 8},
		{"@dec class A {}", "decorators are not supported", 1, 1},
	} {
		_, err := Compile(c.src)
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeUnsupported || !strings.Contains(e.Message, c.says) {
			t.Errorf("%q: %v, want %s and %q", c.src, err, CodeUnsupported, c.says)
			continue
		}
		if e.Line != c.line || e.Column != c.column {
			t.Errorf("%q: at %d:%d, want %d:%d", c.src, e.Line, e.Column, c.line, c.column)
		}
	}
	for _, c := range []struct{ src, says string }{
		{`return new RegExp("\\p{Emoji}", "u").test("a")`, `SyntaxError: the Unicode property "Emoji" is not supported`},
		{`return /a/.constructor("a", "v").test("a")`, "SyntaxError: the flag v"},
		{`"b".match(/b/); return RegExp.$1`, "RegExp.$1 is not supported"},
		{`return eval("1")`, "eval is not supported"},
		{`return new Function("return 1")()`, "Function is not supported"},
		{`return (async () => 1).constructor("return 1")()`, "AsyncFunction is not supported"},
		{`return (1).toLocaleString("de-DE")`, "toLocaleString with a locale or options is not supported"},
		{`return new Date(0).toLocaleDateString()`, "toLocaleDateString of a date is not supported"},
		{`return "a".localeCompare("b", "sv")`, "localeCompare with a locale or options is not supported"},
		{`return "i".toLocaleUpperCase("tr")`, "toLocaleUpperCase in tr is not supported"},
	} {
		if got := run(t, newHost(), c.src); codeOf(got) != CodeUnsupported || !strings.Contains(got.Err.Message, c.says) {
			t.Errorf("%s\n gives %s %v, want %s and %q", c.src, got.Value, got.Err, CodeUnsupported, c.says)
		}
	}
	caught := run(t, newHost(), `try { new RegExp("\\p{Nope}", "u") } catch (e) { return [e.name, e.code, e instanceof SyntaxError] }`)
	if string(caught.Value) != `["SyntaxError","WOML_SCRIPT_FEATURE_UNSUPPORTED",true]` {
		t.Errorf("the script catches %s %v", caught.Value, caught.Err)
	}
}

// ECMA-262 leaves all but one format of dates to the engine. What engines read alike is read; else it is no date.
func TestATextIsADateWhereEnginesAgree(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2024-01-02T03:04:05Z":                  "2024-01-02T03:04:05.000Z",
		"2024-01-02T03:04:05.1+02:00":           "2024-01-02T01:04:05.100Z",
		"2024-01":                               "2024-01-01T00:00:00.000Z",
		"2024-01-02T24:00:00Z":                  "2024-01-03T00:00:00.000Z",
		"2024-01-02 03:04:05Z":                  "2024-01-02T03:04:05.000Z",
		"Tue, 02 Jan 2024 03:04:05 GMT":         "2024-01-02T03:04:05.000Z",
		"Tue Jan 02 2024 03:04:05 GMT+0200 (X)": "2024-01-02T01:04:05.000Z",
		"Jan 2, 2024 3:04 PM UTC":               "2024-01-02T15:04:00.000Z",
		"2 January 2024 10:00 EST":              "2024-01-02T15:00:00.000Z",
		"1/2/2024 00:00 UTC":                    "2024-01-02T00:00:00.000Z",
		"Jan 32, 2024":                          "none", // the runtime alone reads the first of January
		"Mon, 01 Jan 2024 00:00:00 CET":         "none",
		"2024-01-02T03:04:05,1Z":                "none",
		"2024-02-00":                            "none",
		"2024-01-02T25:00:00Z":                  "none",
		"20240102":                              "none",
		"tomorrow":                              "none",
		"":                                      "none",
	} {
		src := `const d = new Date(context.payload.text), same = Date.parse(context.payload.text);
			if (!Object.is(d.getTime(), same) || !(d instanceof Date) || d.constructor !== Date) return "odd";
			return Number.isNaN(same) ? "none" : d.toISOString()`
		got := runWith(t, newHost(), src, Input{Payload: []byte(`{"text":` + strconv.Quote(text) + `}`)})
		if string(got.Value) != strconv.Quote(want) {
			t.Errorf("%q is %s %v, want %s", text, got.Value, got.Err, want)
		}
	}
}

// A rewritten regular expression shows what the script wrote.
func TestARegularExpressionShowsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`return String(/\bx.y/m)`:                                        `"/\\bx.y/m"`,
		`return new RegExp("\\p{L}/", "u").source`:                       `"\\p{L}\\/"`,
		`return [/\b/.source, structuredClone(/a.b/).source]`:            `["\\b","a.b"]`,
		`const r = /\bx/; return "a x".replace(new RegExp(r, "g"), "y")`: `"a y"`,
	} {
		if got := run(t, newHost(), src); string(got.Value) != want {
			t.Errorf("%s\n gives %s %v, want %s", src, got.Value, got.Err, want)
		}
	}
}
