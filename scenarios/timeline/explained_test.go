package timeline_test

import (
	"strings"
	"testing"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
)

// explainedCase is a small scenario, and what it is explained by.
type explainedCase struct {
	name, lines string
	document    string
	operation   string // its name; empty for the first
	want        string
}

const (
	enforcing = `assume {"origins":{"http://127.0.0.1:4040":{"enforces":true}}}`
	thrice    = `retry="3" retry-delay="1s" retry-backoff="fixed"`
)

// explained are cases that the catalogue has no scenario for, each with the whole explanation.
var explained = []explainedCase{
	{"failed after it was made", `subject orderId|fault {"name":"replay-error","on":{"requests":"replay","times":3}}|trigger aGo {"orderId":"o"}|wait|trigger aGo {"orderId":"o"}|wait`,
		single(thrice, post(`"k"`, "{}", "")), "",
		"The first run made the job. A later one asked for it again under the same key and failed; the key kept it from making another. What was sent under k is not settled. Look it up by its key."},
	{"nothing is kept after an error", "contract success-only|fault commit-then-error|trigger aGo|wait", single(thrice, post(`"k"`, "{}", "")), "",
		"The key was the same, and the provider kept nothing under it: the second request was a new operation to it: 2 jobs."},
	{"undone by the first run", `subject orderId|fault {"name":"bad-request","on":{"collection":"jobs","times":1}}|trigger aGo {"orderId":"o"}|wait|trigger aGo {"orderId":"o"}|wait`,
		flow("a", steps("charge: "+strings.Replace(making("charges"), "attempt.idempotencyKey", `"c"`, 1)+"~~~"+refunding("charge"), "job: "+making("jobs"))), "charge",
		"The charge was undone: it does not stand, and the caller believes that it does."},
	{"an inverse that was only said to be made", `fault {"name":"bad-request","on":{"collection":"jobs"}}|fault {"name":"phantom-success","on":{"collection":"refunds"}}|trigger aGo|wait`,
		flow("a", steps("charge: "+making("charges")+"~~~"+refunding("charge"), "job: "+making("jobs"))), "charge",
		"The charge is there and its inverse is missing. The caller believes that it was undone."},
	{"another token", `contract {"scope":["account","route"]}|fault commit-then-error|trigger aGo|wait`, single(thrice, post(`"k"`, "{}", `Authorization: "Bearer " + attempt.number`)), "",
		"The key was the same, and the account (the Authorization header) was not. To this provider that is part of the key, so the second request was a new operation: 2 jobs."},
	{"another zone", `contract {"scope":["field:region"]}|fault commit-then-error|trigger aGo|wait`, single(thrice, post(`"k"`, "{ region: attempt.number }", "")), "",
		"The key was the same, and the scoping field of the body (as a zone) was not. To this provider that is part of the key, so the second request was a new operation: 2 jobs."},
	{"another payload", `contract {"mismatch":{"do":"execute"}}|fault commit-then-error|trigger aGo|wait`, single(thrice, post(`"k"`, "{ n: attempt.number }", "")), "",
		"The key was the same and the payload was not. This provider takes another payload for another operation: 2 jobs."},
	{"a key that is forgotten at once", `contract {"retention":{"for":"500ms"}}|fault commit-then-error|trigger aGo|wait`, single(thrice, post(`"k"`, "{}", "")), "",
		"The key was the same, and the provider had forgotten it when the request came again: 2 jobs."},
	{"a key in a plain header", `subject orderId|contract ignores-key|trigger aGo {"orderId":"o"}|wait|trigger aGo {"orderId":"o"}|wait`,
		single("", `const r = await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/jobs", json: {}, headers: { "Idempotency-Key": "k" } }, { name: "create" }); return { id: r.data.id };`), "",
		"A key was sent and the provider read none, so each request was a new operation to it: 2 jobs."},
	{"turned away", "fault rate-limited|trigger aGo|wait", single("", post(`"k"`, "{}", "")), "",
		"The provider turned it away and made no job: both sides agree. It may be asked again later."},
	{"the attempts after it failed", `fault {"name":"replay-error","on":{"requests":"replay"}}|trigger aGo|wait`,
		single(thrice, `if (attempt.number === 3) return {}; `+send("/jobs", "create", `"k"`, "{}")+` throw new Error("after");`), "",
		"An earlier attempt made the job, and the attempts after it failed. The same key kept them from making another."},
	{"a locked key", "contract locked-after-500|" + enforcing + "|fault fail-before-commit|trigger aGo|wait|lookup", single(thrice, post(`"k"`, "{}", "")), "",
		"Nobody can prove what happened, because the look-up found no record, and the last answer under the key was 409: escalate it to a person who can find out by other means."},
	{"found", "fault commit-then-drop|trigger aGo|wait|lookup", single("", post(`"k"`, `{ orderId: "o" }`, "")), "",
		"The look-up found the job. It happened: record it, and the run goes on with it."},
	{"a look-up without an answer", "fault commit-then-drop look-up-drop|trigger aGo|wait|lookup", single("", post(`"k"`, "{}", "")), "",
		"Nobody answered, so nothing is proved: look it up again."},
	{"looked up, then sent again", "fault commit-then-drop look-up-not-found replay-drop|" + enforcing + "|trigger aGo|wait|lookup|resubmit|wait", single("", post(`"k"`, "{}", "")), "",
		"Sent, and nobody answered. The job is there, which the caller cannot see. Look it up by its key."},
	{"given up by the script", "fault hang-before-commit|trigger aGo|wait",
		single("", `const c = new AbortController(); setTimeout(() => c.abort(), 100); await fetch("http://127.0.0.1:4040/jobs", { method: "POST", headers: { "Idempotency-Key": "k" }, body: "{}", signal: c.signal }); return {};`), "",
		"The script gave the request up while it was out. The ledger holds no job yet, which the caller cannot see. Nobody can prove what happened, because there is no evidence, and what is assumed of the provider has no look-up for it: escalate it to a person who can find out by other means."},
	{"ended by the run's timeout", "fault hang-before-commit|trigger aGo|wait",
		strings.Replace(single("", post(`"k"`, "{}", "")), "<triggers>", `<config timeout="2s" /><triggers>`, 1), "",
		"The run's timeout ended it while the request was out. The ledger holds no job yet, which the caller cannot see. Look it up by its key."},
	{"a child that failed", "fault bad-request|trigger aGo|wait", flow("a", steps(`s: const r = await services.workflows.call("b", {}, { name: "b" }); return r;`)), "s",
		"The step sent nothing itself: it called another workflow, and what that run sent is told there."},
	{"an inverse that is unknown", `fault {"name":"bad-request","on":{"collection":"jobs"}}|fault {"name":"commit-then-drop","on":{"collection":"refunds"}}|trigger aGo|wait`,
		flow("a", steps("charge: "+making("charges")+"~~~"+refunding("charge"), "job: "+making("jobs"))), "charge",
		"The charge was made, and whether its compensation has undone it is unknown: settle the compensation."},
	{"an inverse that was refused", `fault {"name":"bad-request","on":{"collection":"jobs"}}|fault {"name":"bad-request","on":{"collection":"refunds"}}|trigger aGo|wait`,
		flow("a", steps("charge: "+making("charges")+"~~~"+refunding("charge"), "job: "+making("jobs"))), "charge",
		"The charge is there, and its compensation did not undo it. Undo it by other means."},
}

// post is a script that makes a job under a key.
func post(key, body, header string) string {
	if header != "" {
		header = "headers: { " + header + " }, "
	}
	return `const r = await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/jobs", json: ` + body + `, ` + header +
		`idempotency: { header: "Idempotency-Key", value: ` + key + ` } }, { name: "create" }); return { id: r.data.id };`
}

// single is a document of one step.
func single(attributes, script string) string {
	return flow("a", `<step id="create" `+attributes+`><script>`+script+`</script></step>`)
}

const jobChild = `<woml><workflow id="b" name="B"><triggers><manual id="bGo" /></triggers><steps><step id="job"><script>const r = await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/jobs", json: {}, idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } }, { name: "job" }); return { id: r.data.id };</script></step></steps></workflow></woml>`

// play plays the case to its end.
func (c explainedCase) play(t *testing.T) *scenarios.Bench {
	t.Helper()
	text := "title " + c.name + "\n" + strings.ReplaceAll(c.lines, "|", "\n") + "\n-- a.woml --\n" + c.document + "\n-- b.woml --\n" + jobChild + "\n"
	s, err := lang.Parse("case.txtar", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b := benchOf(t, s, scenarios.Options{})
	b.Play()
	rest(t, b)
	return b
}

func TestCasesAreExplained(t *testing.T) {
	t.Parallel()
	for _, c := range explained {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := c.play(t).Timeline().Latest()
			for _, o := range v.Operations {
				if c.operation == "" || o.Name() == c.operation {
					if o.Why != c.want {
						t.Errorf("%s\n got  %s\n want %s\n%s", o.Verdict, o.Why, c.want, timeline.WireText(v.Wire, v.Start))
					}
					return
				}
			}
			t.Errorf("there is no operation %q", c.operation)
		})
	}
}
