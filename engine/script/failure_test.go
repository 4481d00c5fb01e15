package script

import (
	"strings"
	"testing"
)

func TestWhatAScriptThrew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		src          string
		says         string
		line, column int
	}{
		{"throw new Error('boom')", "boom", 1, 7},
		{"\n\n  throw new TypeError('boom')", "TypeError: boom", 3, 9},
		{"const é = '😀'; throw new Error('boom')", "boom", 1, 23},
		{"\nfunction f() {\n  null.x;\n}\nf()", "TypeError: Cannot read property 'x' of undefined", 3, 8},
		{"await null;\n  nope()", "ReferenceError: nope is not defined", 2, 7},
		{"JSON.parse('{')", "SyntaxError: Unexpected end of JSON input (EOF)", 1, 11},
		{"class Odd extends Error { name = 'Odd' }\nthrow new Odd('x')", "Odd: x", 2, 7},
		{"throw new Error('')", "Error", 1, 7},
		{"const e = new Error('a'); e.message = 'b'; e.stack = 'mine'; throw e", "b", 0, 0},
		{"throw 5", "the script threw 5", 0, 0},
		{"throw 'text'", `the script threw "text"`, 0, 0},
		{"throw undefined", "the script threw undefined", 0, 0},
		{"throw { code: 7 }", "the script threw {code: 7}", 0, 0},
		{"throw { get code() { throw 1 } }", "the script threw {code: [getter]}", 0, 0},
		{"const e = new Error(); Object.defineProperty(e, 'message', { get() { throw 1 } }); throw e", "the script threw an error that cannot be shown", 0, 0},
		{"await Promise.all([1, Promise.reject(new RangeError('r'))])", "RangeError: r", 1, 38},
		{"setTimeout(() => {\n  throw new Error('in a timer') }, 5); await new Promise(() => {})", "in a timer", 2, 9},
		{"new URL('/x')", `TypeError: "/x" is not a URL: it has no scheme, and there is no base`, 1, 1},
		{"throw new Error('y'.repeat(2000))", strings.Repeat("y", MaxMessage-1) + "…", 1, 7},
	} {
		got := run(t, newHost(), c.src)
		if codeOf(got) != CodeThrown || got.Err.Message != c.says || got.Err.Service != nil {
			t.Errorf("%s\n gives %s %v, want %q", c.src, got.Value, got.Err, c.says)
			continue
		}
		if got.Err.Line != c.line || got.Err.Column != c.column {
			t.Errorf("%s\n is at %d:%d, want %d:%d", c.src, got.Err.Line, got.Err.Column, c.line, c.column)
		}
	}
}

func TestAnUncaughtFailureOfACallKeepsItsCode(t *testing.T) {
	t.Parallel()
	failure := ServiceError{Code: "WOML_HTTP_STATUS_REJECTED", Message: "status 503", Service: "http", Operation: "request", Retryable: true}
	for _, c := range []struct {
		what, src    string
		code, says   string
		service      bool
		line, column int
	}{
		{"awaited", "\nreturn await services.http.request({})", failure.Code, "status 503", true, 2, 35},
		{"returned", "return services.http.request({})", failure.Code, "status 503", true, 1, 29},
		{"thrown again", "try { await services.http.request({}) } catch (e) { e.code = 'mine'; e.message = 'changed'; throw e }", failure.Code, "status 503", true, 1, 34},
		{"from a helper", "async function f() {\n  return services.http.request({})\n}\nreturn f()", failure.Code, "status 503", true, 2, 31},
		{"as the cause of the script's own error", "try { await services.http.request({}) } catch (cause) { throw new Error('no job', { cause }) }", CodeThrown, "no job", true, 1, 63},
		{"swallowed, then another error", "try { await services.http.request({}) } catch {}\nthrow new Error('mine')", CodeThrown, "mine", false, 2, 7},
		{"made by the script itself", "throw new WomlServiceError('fake', { code: 'X', ambiguous: false })", CodeThrown, "WomlServiceError: fake", false, 1, 7},
		{"from fetch, an error like any other", "\n\nreturn await fetch('http://a/')", CodeThrown, "TypeError: fetch failed: status 503", true, 3, 19},
	} {
		h := newHost()
		h.answer = failing(failure)
		got := run(t, h, c.src)
		if codeOf(got) != c.code || got.Err.Message != c.says || (got.Err.Service != nil) != c.service {
			t.Errorf("%s: %+v, want %s %q, service %v", c.what, got.Err, c.code, c.says, c.service)
			continue
		}
		if got.Err.Line != c.line || got.Err.Column != c.column {
			t.Errorf("%s: at %d:%d, want %d:%d", c.what, got.Err.Line, got.Err.Column, c.line, c.column)
		}
		if c.service && (got.Err.Service.Code != failure.Code || got.Err.Service.Message != failure.Message) {
			t.Errorf("%s: the service error is %+v", c.what, got.Err.Service)
		}
	}
}
