package timeline_test

import (
	"faultlab/scenarios/timeline"
	"strings"
	"testing"
)

// The wire tells what happened in its own words: why the caller stopped waiting, what it refused to send, and which key
// a request carries, wherever it stands.
func TestTheWireSaysWhatHappened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, lines, document, want string }{
		{"aborted by the script", "fault hang-before-commit|trigger aGo|wait", single("", `const c = new AbortController(); setTimeout(() => c.abort(), 100);
			await fetch("http://127.0.0.1:4040/jobs", { method: "POST", headers: { "Idempotency-Key": "k" }, body: "{}", signal: c.signal }); return {};`), "… no reply  the script aborted it after 100ms"},
		{"its own timeout", "fault hang-before-commit|trigger aGo|wait", single("", strings.Replace(post(`"k"`, "{}", ""), "json:", `timeout: "2s", json:`, 1)), "… no reply  gave up after 2s"},
		{"the run's timeout", "fault hang-before-commit|trigger aGo|wait", strings.Replace(single("", post(`"k"`, "{}", "")), "<triggers>", `<config timeout="2s" /><triggers>`, 1), "… no reply  the run's timeout after 2s"},
		{"an unknown option", "trigger aGo|wait", single("", strings.Replace(post(`"k"`, "{}", ""), "json:", "jsn:", 1)), `call refused  the request has no option "jsn"; did you mean "json"?`},
		{"an error of the script", "trigger aGo|wait", single("", `throw new Error("no stock");`), "script failed  no stock"},
		{"a key in a plain header", "trigger aGo|wait", single("", `await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/jobs", json: {}, headers: { "Idempotency-Key": "k" } }, { name: "c" }); return {};`), "POST /jobs  key k, in a plain header"},
		{"a long new key", "fault commit-then-error|trigger aGo|wait", single(thrice, post(`"order:order-42:589201" + attempt.number`, "{}", "")), "key …r:order-42:5892012 new"},
		{"a decomposed key", "trigger aGo|wait", single("", post(`"cafe\u0301"`, "{}", "")), `key cafe\u0301`},
		{"keys that look alike", "fault commit-then-error|trigger aGo|wait", single(thrice, post(`attempt.number === 1 ? "\u0061" : "\u0430"`, "{}", "")), `key \u0430 new`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := explainedCase{name: c.name, lines: c.lines, document: c.document}.play(t).Timeline().Latest()
			if text := timeline.WireText(v.Wire, v.Start); !strings.Contains(text, c.want) {
				t.Errorf("the wire does not say %q:\n%s", c.want, text)
			}
		})
	}
}
