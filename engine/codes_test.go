package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"faultlab/engine"
)

// The reference's table of how an attempt fails: the attempt's code, and the run's.
func TestAttemptCodes(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 600_000)
	for _, r := range []struct {
		name     string
		document string
		payload  string
		answer   answer
		after    time.Duration // when the run is cancelled; 0 for never
		attempts int
		code     string
		run      string
	}{
		{"threw", document("", `|throw new Error("no");`), `{}`, created, 0, 1, "WOML_SCRIPT_THROWN", "WOML_SCRIPT_THROWN"},
		{"threw until the budget was used up", document("", retry3+`throw new Error("no");`), `{}`, created, 0, 3, "WOML_SCRIPT_THROWN", "WOML_STEP_RETRIES_EXHAUSTED"},
		{"is empty", document("", `|`), `{}`, created, 0, 1, "WOML_SCRIPT_NON_JSON_RESULT", "WOML_SCRIPT_NON_JSON_RESULT"},
		{"context too large", document("", `|return context.payload.big;`, `|return 1;`), `{"big":"` + big + `"}`, created, 0, 1, "WOML_SCRIPT_CONTEXT_TOO_LARGE", "WOML_SCRIPT_CONTEXT_TOO_LARGE"},
		{"a call failed", document("", `|`+post), `{}`, answer{status: 404, body: `{}`}, 0, 1, "WOML_HTTP_STATUS_REJECTED", "WOML_HTTP_STATUS_REJECTED"},
		{"a call failed until the budget was used up", document("", retry3+post), `{}`, refused, 0, 3, "WOML_HTTP_STATUS_REJECTED", "WOML_STEP_RETRIES_EXHAUSTED"},
		{"a call failed and says stop", document("", retry3+post), `{}`, answer{status: 404, body: `{}`}, 0, 1, "WOML_HTTP_STATUS_REJECTED", "WOML_HTTP_STATUS_REJECTED"},
		{"a call failed and nobody knows", document("", retry3+post), `{}`, dropped, 0, 1, "WOML_HTTP_TRANSPORT_FAILED", "FAULTLAB_OPERATION_UNKNOWN"},
		{"cancelled", document("", retry3+`await new Promise(done => setTimeout(done, 4000)); return 1;`), `{}`, created, time.Second, 1, "WOML_SCRIPT_CANCELLED", "WOML_SCRIPT_CANCELLED"},
		{"cancelled while a call was open", document("", retry3+post), `{}`, answer{broken: "hang"}, time.Second, 1, "WOML_SCRIPT_CANCELLED", "WOML_SCRIPT_CANCELLED"},
		{"cancelled during the backoff", document("", retry3+post), `{}`, refused, 500 * time.Millisecond, 1, "WOML_HTTP_STATUS_REJECTED", "WOML_SCRIPT_CANCELLED"},
		{"the run's timeout", document(`<config timeout="2s" />`, retry3+`await new Promise(done => setTimeout(done, 4000)); return 1;`), `{}`, created, 0, 1, "WOML_WORKFLOW_TIMED_OUT", "WOML_WORKFLOW_TIMED_OUT"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, r.document)
			l.replies(r.answer)
			l.start()
			var id string
			l.run(func() {
				if id, _ = l.admit("orders", "", r.payload); r.after > 0 {
					_ = l.clk.Sleep(t.Context(), r.after)
					if err := l.eng.Cancel(engine.Cancellation{Run: id}); err != nil {
						t.Error(err)
					}
				}
			})
			run := l.get(id)
			last := run.Steps[len(run.Steps)-1]
			if a := last.Last(); len(last.Attempts) != r.attempts || a.Code != r.code || a.Message == "" || run.Code != r.run || run.Message == "" {
				t.Errorf("%d attempts, the last %s (%s), the run %s (%s); want %d, %s, %s", len(last.Attempts), a.Code, a.Message, run.Code, run.Message, r.attempts, r.code, r.run)
			}
		})
	}
}

func TestInterruptedCodes(t *testing.T) {
	t.Parallel()
	for script, call := range map[string]string{
		post: "WOML_CAPABILITY_INTERRUPTED",
	} {
		l := newLab(t, nil, document("", retry3+script))
		l.replies(answer{broken: "hang"})
		run := l.restart(l.crashAt("", time.Second))
		a := run.Steps[0].Last()
		if a.Code != "WOML_STEP_INTERRUPTED" || a.Next == engine.NextRetry || run.Status != engine.StatusFailed {
			t.Errorf("the attempt %s, %s, the run %s", a.Code, a.Next, run.Status)
		}
		for _, c := range a.Calls {
			if c.Code != call || c.Finding != engine.FoundAmbiguous {
				t.Errorf("the call %s, %s", c.Code, c.Finding)
			}
		}
	}
}

// How a request that is given up ends, by how far it came.
func TestCancelledRequests(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name, request string
		answer        answer
		code          string
		finding       engine.Finding
	}{
		{"a read", `{url: "http://p.test/jobs"}`, answer{broken: "hang"}, "WOML_HTTP_CANCELLED", engine.FoundNothing},
		{"a write", keyedPost + `}`, answer{broken: "hang"}, "WOML_HTTP_CANCELLED", engine.FoundAmbiguous},
		{"a write, in its body", keyedPost + `}`, answer{status: 201, body: `{"id":`, broken: "stall"}, "WOML_HTTP_CANCELLED", engine.FoundAmbiguous},
		{"a write that timed out in its body", keyedPost + `, timeout: "100ms"}`, answer{status: 201, body: `{"id":`, broken: "stall"}, "WOML_HTTP_RESPONSE_FAILED", engine.FoundAmbiguous},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", `|await services.http.request(`+r.request+`, {name: "it"}); return 1;`))
			l.replies(r.answer)
			l.world.answer = plainAnswers([]answer{r.answer})
			l.start()
			var id string
			l.run(func() {
				id, _ = l.admit("orders", "", `{}`)
				_ = l.clk.Sleep(t.Context(), time.Second)
				_ = l.eng.Cancel(engine.Cancellation{Run: id}) // refused where it has ended
			})
			c := l.get(id).Steps[0].Last().Calls[0]
			if c.Code != r.code || c.Finding != r.finding || c.Next == engine.NextRetry {
				t.Errorf("%s (%s), %s", c.Code, c.Message, c.Finding)
			}
		})
	}
}

func TestALongMessageIsCut(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|throw new Error("é".repeat(5000));`))
	m := l.once(`{}`).Steps[0].Last().Message
	if n := utf8.RuneCountInString(m); n != 1024 || !utf8.ValidString(m) {
		t.Errorf("the message has %d characters", n)
	}
}

// How often an attempt may call, and which of its writes may go without a name.
func TestCallLimits(t *testing.T) {
	t.Parallel()
	read, unnamed := `await services.http.request({url: "http://p.test/"});`, `await services.http.request({method: "POST", url: "http://p.test/", json: {}});`
	named := strings.Replace(unnamed, "json: {}}", `json: {}}, {name: "n"}`, 1)
	sql := `await services.db({driver: "sqlite", connection: "x"}).execute({text: "INSERT"});`
	for _, r := range []struct {
		name, script string
		code         string
		calls        int
	}{
		{"32 calls", `for (let i = 0; i < 32; i++) { ` + read + ` } return 1;`, "", 32},
		{"33 calls", `for (let i = 0; i < 33; i++) { ` + read + ` } return 1;`, "FAULTLAB_CALL_LIMIT", 32},
		{"reads without a name", read + read + `return 1;`, "", 2},
		{"a write without a name", unnamed + `return 1;`, "", 1},
		{"two writes without a name", unnamed + unnamed, "WOML_HTTP_INPUT_INVALID", 1},
		{"a write without a name and one with", unnamed + named + `return 1;`, "", 2},
		{"a write with a name and one without", named + unnamed + `return 1;`, "", 2},
		{"writes of two services without a name", unnamed + sql + `return 1;`, "", 2},
		{"writes of two operations without a name", sql + strings.Replace(sql, `execute({text: "INSERT"})`, `insert({table: "t", values: {}})`, 1) + `return 1;`, "", 2},
		{"two statements without a name", sql + sql, "WOML_DATABASE_INPUT_INVALID", 1},
		{"queries without a name", strings.Repeat(strings.Replace(sql, "execute", "query", 1), 2) + `return 1;`, "", 2},
		{"fetches have no names", strings.Repeat(`await fetch("http://p.test/", {method: "POST"});`, 2) + `return 1;`, "", 2},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+r.script))
			l.options = func(o *engine.Options) { o.Database = &working{} }
			l.world.answer = plainAnswers([]answer{{status: 200, body: `{}`}})
			a := l.once(`{}`).Steps[0].Last()
			if a.Code != r.code || len(a.Calls) != r.calls {
				t.Errorf("%q (%s) after %d calls, want %q after %d", a.Code, a.Message, len(a.Calls), r.code, r.calls)
			}
		})
	}
}

// A retry begins to count anew.
func TestEachAttemptHasItsOwnCalls(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+`for (let i = 0; i < 20; i++) { await services.http.request({url: "http://p.test/"}); }
if (attempt.number < 3) throw new Error("again"); return 1;`))
	l.world.answer = plainAnswers([]answer{{status: 200, body: `{}`}})
	if run := l.once(`{}`); run.Status != engine.StatusSucceeded {
		t.Errorf("run %s: %s", run.Status, run.Message)
	}
}

func TestPayloadLimits(t *testing.T) {
	t.Parallel()
	most := fmt.Sprintf(`{"a":%q}`, strings.Repeat("x", engine.MaxPayload-8))
	l := newLab(t, nil, document("", `|return context.payload.a.length;`))
	l.start()
	for payload, code := range map[string]string{most: "", most[:len(most)-1] + " }": "WOML_TRIGGER_PAYLOAD_TOO_LARGE", `[]`: "WOML_TRIGGER_PAYLOAD_INVALID",
		`{"a":`: "WOML_TRIGGER_PAYLOAD_INVALID", "{\"a\":\"\xff\"}": "WOML_TRIGGER_PAYLOAD_INVALID", ` {"a":""}`: "",
		`{"a":` + strings.Repeat("[", 499) + strings.Repeat("]", 499) + `}`: "", `{"a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`: "WOML_TRIGGER_PAYLOAD_INVALID"} {
		l.run(func() {
			if _, got := l.admit("orders", "", payload); got != code {
				t.Errorf("a payload of %d bytes: %q, want %q", len(payload), got, code)
			}
		})
	}
	runs, err := l.hist.Runs(engine.Query{})
	if err != nil || len(runs) != 3 || !json.Valid([]byte(most)) {
		t.Errorf("%d runs, %v: a refusal makes none", len(runs), err)
	}
	for _, r := range runs {
		if r.Status != engine.StatusSucceeded {
			t.Errorf("run %s: %s", r.Status, l.get(r.Run).Message)
		}
	}
}

// What nests too deep to be kept is refused where it comes from.
func TestNestingLimits(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, r := range []struct {
		name, script string
		reply        string
		code         string
	}{
		{"a result", `return JSON.parse("[".repeat(1000) + "]".repeat(1000));`, "", ""},
		{"a result too deep", `return JSON.parse("[".repeat(1001) + "]".repeat(1001));`, "", "WOML_SCRIPT_NON_JSON_RESULT"},
		{"a request too deep", `await services.http.request({method: "POST", url: "http://p.test/", json: JSON.parse("[".repeat(1001) + "]".repeat(1001))});`, "", "WOML_HTTP_INPUT_INVALID"},
		{"a reply", `return (await services.http.request({url: "http://p.test/"})).data;`, nested(1000), ""},
		{"a reply with brackets in its text", `return (await services.http.request({url: "http://p.test/"})).data.length;`, `"\"` + strings.Repeat("[{", 1000) + `"`, ""},
		{"a reply too deep", `return (await services.http.request({url: "http://p.test/"})).data;`, nested(1001), "WOML_HTTP_RESPONSE_JSON_INVALID"},
	} {
		l := newLab(t, nil, document("", "|"+r.script))
		l.world.answer = plainAnswers([]answer{{status: 200, body: r.reply}})
		if a := l.once(`{}`).Steps[0].Last(); a.Code != r.code {
			t.Errorf("%s: %q (%s), want %q", r.name, a.Code, a.Message, r.code)
		}
	}
}

// Waiting for a managed call is none of the script's 5 s; what it computes and sleeps is.
func TestWaitingForCallsIsNotTheScriptsTime(t *testing.T) {
	t.Parallel()
	call := `await services.http.request({url: "http://p.test/", timeout: "10s"});`
	sleep := `await new Promise(done => setTimeout(done, 3000));`
	for _, r := range []struct{ name, script, code string }{
		{"two slow calls", call + call + `return 1;`, ""},
		{"a sleep between two slow calls", call + sleep + call + `return 1;`, ""},
		{"two sleeps", sleep + sleep + `return 1;`, "WOML_SCRIPT_TIMEOUT"},
		{"two sleeps around a slow call", sleep + call + sleep + `return 1;`, "WOML_SCRIPT_TIMEOUT"},
		{"a sleep beside a slow call", `const done = new Promise(done => setTimeout(done, 6000)); ` + call + `await done; return 1;`, ""},
	} {
		l := newLab(t, nil, document("", "|"+r.script))
		l.world.answer = plainAnswers([]answer{{status: 200, body: `{}`, after: 8 * time.Second}})
		if a := l.once(`{}`).Steps[0].Last(); a.Code != r.code {
			t.Errorf("%s: %q (%s), want %q", r.name, a.Code, a.Message, r.code)
		}
	}
}

// A timer that comes due while the script computes can still be cleared: the script has not seen it yet.
func TestATimerIsClearedAfterItsTime(t *testing.T) {
	t.Parallel()
	run := onWall(t, `let ran = 0;
const timer = setTimeout(() => { ran++ }, 1), until = Date.now() + 30;
while (until > Date.now()) {}
clearTimeout(timer);
await new Promise((done) => setTimeout(done, 1));
return ran;`, `{}`)
	if s := run.Steps[0]; string(s.Result) != "0" {
		t.Errorf("the result is %s (%s), want that the timer never ran", s.Result, run.Message)
	}
}
