package script

import (
	"errors"
	"strings"
	"testing"
)

func TestSyntaxErrorsHaveTheirPlaceInTheScript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		src          string
		line, column int
		says         string
	}{
		{"return { broken: ; }", 1, 18, "unexpected token ;"},
		{"\n  return 1 +;\n", 2, 13, "unexpected token ;"},
		{"const é = '𝄞', x = ;", 1, 21, "unexpected token ;"}, // columns are UTF-16 units
		{"if (true) {", 1, 12, "it ends too early, or its braces do not match"},
		{"return 1\n}", 2, 2, "it ends too early, or its braces do not match"},
		{"with (context) { return payload; }", 1, 1, "with"}, // strict mode
		{"let a = 1; let a = 2;", 1, 16, "already been declared"},
		{"return 1 }); f(async function () {", 1, 1, "its braces do not match"},
		{"})(); (async function () {", 1, 1, "its braces do not match"},
		{"}, async function () {", 1, 1, "its braces do not match"},
		{"})(async function () {", 1, 1, "its braces do not match"},
	} {
		_, err := Compile(c.src)
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeSyntax {
			t.Errorf("%q: error is %v, not a syntax error", c.src, err)
			continue
		}
		if e.Line != c.line || e.Column != c.column || !strings.Contains(e.Message, c.says) {
			t.Errorf("%q: %d:%d %q, want %d:%d and %q", c.src, e.Line, e.Column, e.Message, c.line, c.column, c.says)
		}
	}
}

func TestWhatIsAllowedInABody(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"return 1 // the end":                  "1",
		"return 1 /* } */":                     "1",
		"return typeof this":                   `"undefined"`, // strict mode
		"return await Promise.resolve(2)":      "2",
		"function f() { return 4 } return f()": "4",
		"class A { #x = 5; get x() { return this.#x } } return new A().x": "5",
	} {
		if got := run(t, newHost(), src); string(got.Value) != want {
			t.Errorf("%q gives %s %v, want %s", src, got.Value, got.Err, want)
		}
	}
}

func TestATextIsCompiledOnce(t *testing.T) {
	t.Parallel()
	a, _ := Compile("return 'the same text'")
	b, _ := Compile("return 'the same text'")
	if a != b {
		t.Error("the same text was compiled twice")
	}
}
