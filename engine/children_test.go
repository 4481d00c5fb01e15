package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
)

func workflowOf(id, attributes, script string) string {
	return `<woml><workflow id="` + id + `" name="W" version="1.0.0"><steps><step id="only" name="Only" ` + attributes + `>` + scriptTags(script) + `</step></steps></workflow></woml>`
}

func TestChildren(t *testing.T) {
	t.Parallel()
	child := workflowOf("child", `retry="3" retry-backoff="fixed" retry-delay="1s"`, post)
	other := workflowOf("other", "", `return context.payload.empty ? null : "other";`)
	for _, r := range []struct {
		name, script string
		answers      []answer
		status       engine.Status
		result, code string
		posts        int
	}{
		{"called", `return await services.workflows.call("child", context.payload);`, []answer{created}, engine.StatusSucceeded, `{"job":"job_1","attempt":1}`, "", 1},
		{"called, and the child retries", `return await services.workflows.call("child", context.payload);`, []answer{hidden, replay}, engine.StatusSucceeded, `{"job":"job_1","attempt":2}`, "", 2},
		{"called again by the parent's retry: the same child", `await services.workflows.call("child", context.payload, {name: "it"}); if (attempt.number < 3) throw new Error("again"); return 1;`, []answer{created}, engine.StatusSucceeded, `1`, "", 1},
		{"called twice under two names", `await services.workflows.call("child", context.payload, {name: "a"}); await services.workflows.call("child", context.payload, {name: "b"}); return 1;`, []answer{created}, engine.StatusSucceeded, `1`, "", 2},
		{"started", `const s = await services.workflows.start("child", context.payload); return {duplicate: s.duplicate, workflow: s.workflowId};`, []answer{created}, engine.StatusSucceeded, `{"duplicate":false,"workflow":"child"}`, "", 1},
		{"a failed child stays failed", `return await services.workflows.call("child", context.payload);`, []answer{{status: 404, body: `{}`}}, engine.StatusFailed, "", "WOML_WORKFLOW_CALL_FAILED", 1},
		{"an unknown child", `return await services.workflows.call("child", context.payload);`, []answer{dropped}, engine.StatusFailed, "", "WOML_WORKFLOW_CALL_FAILED", 1},
		{"called again with another payload", `await services.workflows.call("child", {orderId: "o" + attempt.number}, {name: "it"}); throw new Error("again");`, []answer{created}, engine.StatusFailed, "", "WOML_WORKFLOW_CALL_IDEMPOTENCY_CONFLICT", 1},
		{"started and called: two children", `await services.workflows.start("child", context.payload); return (await services.workflows.call("child", context.payload)).job;`, []answer{created}, engine.StatusSucceeded, `"job_1"`, "", 2},
		{"two targets under one name: two children", `await services.workflows.call("child", context.payload, {name: "it"}); return (await services.workflows.call("other", {}, {name: "it"}));`, []answer{created}, engine.StatusSucceeded, `"other"`, "", 1},
		{"called twice without a name", `await services.workflows.call("child", context.payload); await services.workflows.call("child", context.payload);`, []answer{created}, engine.StatusFailed, "", "WOML_WORKFLOW_CALL_OPTIONS_INVALID", 1},
		{"called twice, once with a name", `await services.workflows.call("child", context.payload); await services.workflows.call("child", context.payload, {name: "a"});`, []answer{created}, engine.StatusFailed, "", "WOML_WORKFLOW_CALL_OPTIONS_INVALID", 1},
		{"two targets without a name", `await services.workflows.call("child", context.payload); return await services.workflows.call("other", {});`, []answer{created}, engine.StatusSucceeded, `"other"`, "", 1},
		{"a child that returns null", `return await services.workflows.call("other", {empty: true});`, nil, engine.StatusSucceeded, `null`, "", 0},
		{"a timeout that is none", `return await services.workflows.call("child", {}, {timeout: "so" + "on"});`, nil, engine.StatusFailed, "", "WOML_WORKFLOW_CALL_OPTIONS_INVALID", 0},
		{"a timeout too long", `return await services.workflows.call("child", {}, {timeout: 86400000 + 1});`, nil, engine.StatusFailed, "", "WOML_WORKFLOW_CALL_OPTIONS_INVALID", 0},
		{"an id that is none", `const id = ""; return await services.workflows.call(id, {});`, nil, engine.StatusFailed, "", "WOML_WORKFLOW_TARGET_INVALID", 0},
		{"a payload that is none", `const p = [1]; return await services.workflows.start("child", p);`, nil, engine.StatusFailed, "", "WOML_WORKFLOW_PAYLOAD_INVALID", 0},
		{"a payload too large", `return await services.workflows.start("child", {a: "x".repeat(1100000)});`, nil, engine.StatusFailed, "", "WOML_WORKFLOW_PAYLOAD_INVALID", 0},
		{"started by itself is no cycle", `if (context.payload.orderId === "o1") await services.workflows.start("parent", {orderId: "o2"}); return 1;`, nil, engine.StatusSucceeded, `1`, "", 0},
		{"no such workflow", `return await services.workflows.call("nobody", {});`, []answer{created}, engine.StatusFailed, "", "WOML_WORKFLOW_TARGET_NOT_FOUND", 0},
		{"itself", `return await services.workflows.call("parent", {});`, []answer{created}, engine.StatusFailed, "", "WOML_WORKFLOW_CALL_CYCLE", 0},
		{"too long", `return await services.workflows.call("child", context.payload, {timeout: "5s"});`, []answer{{broken: "hang"}}, engine.StatusFailed, "", "WOML_WORKFLOW_CALL_TIMED_OUT", 1},
		{"too long, in milliseconds", `return await services.workflows.call("child", context.payload, {timeout: 5000});`, []answer{{broken: "hang"}}, engine.StatusFailed, "", "WOML_WORKFLOW_CALL_TIMED_OUT", 1},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, workflowOf("parent", `retry="3" retry-backoff="fixed" retry-delay="1s"`, r.script), child, other)
			l.replies(r.answers...)
			run := l.once(`{"orderId":"o1"}`)
			l.listed(t, run.ID)
			a := run.Steps[0].Attempts
			if run.Status != r.status || string(run.Steps[0].Result) != r.result || l.world.posts() != r.posts {
				t.Errorf("run %s, result %s, %d writes; want %s, %s, %d (%s)", run.Status, run.Steps[0].Result, l.world.posts(), r.status, r.result, r.posts, run.Message)
			}
			if run.Reconcile {
				t.Error("the parent needs reconciling: what nobody knows is the child's")
			}
			if r.code != "" && !slices.ContainsFunc(a, func(a *engine.Attempt) bool { return a.Code == r.code }) {
				t.Errorf("code %s after %d attempts, want %s", a[len(a)-1].Code, len(a), r.code)
			}
		})
	}
}

func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	var docs []string
	for i := range 40 {
		id := "w" + strings.Repeat("x", i)
		docs = append(docs, workflowOf(id, "", `return await services.workflows.call("`+id+`x", {});`))
	}
	l := newLab(t, nil, docs...)
	run := l.once(`{}`)
	if run.Status != engine.StatusFailed || !strings.Contains(run.Message, "failed") {
		t.Errorf("run %s: %s", run.Status, run.Message)
	}
	runs, err := l.hist.Runs(engine.Query{})
	if err != nil || len(runs) != 33 {
		t.Errorf("%d runs, %v; want the first and 32 below it", len(runs), err)
	}
}

func TestASlotIsFreeWhileAChildRuns(t *testing.T) {
	t.Parallel()
	parent := strings.Replace(workflowOf("parent", "", `return await services.workflows.call("child", {});`), "<steps>", `<config concurrency="1" queue="shared" /><steps>`, 1)
	child := strings.Replace(workflowOf("child", "", `return 1;`), "<steps>", `<config concurrency="1" queue="shared" /><steps>`, 1)
	l := newLab(t, nil, parent, child)
	if run := l.once(`{}`); run.Status != engine.StatusSucceeded {
		t.Errorf("run %s: %s", run.Status, run.Message)
	}
}

// What a parent was waiting for goes on without it, and nothing of the parent is unknown.
func TestACancelledParentLeavesItsChild(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|return await services.workflows.call("child", context.payload);`), workflowOf("child", "", post))
	l.replies(answer{commit: true, status: 201, body: `{"id":"job_1"}`, after: 5 * time.Second})
	l.start()
	var parent string
	l.run(func() {
		parent, _ = l.admit("orders", "", `{"orderId":"o1"}`)
		_ = l.clk.Sleep(t.Context(), time.Second)
		if err := l.eng.Cancel(engine.Cancellation{Run: parent}); err != nil {
			t.Error(err)
		}
	})
	p := l.get(parent)
	c := l.get(p.Steps[0].Attempts[0].Calls[0].Child)
	if p.Status != engine.StatusCancelled || p.Reconcile || p.EndedAt.Sub(p.StartedAt) != time.Second || c.Status != engine.StatusSucceeded {
		t.Errorf("the parent %s after %v, reconcile %v; the child %s", p.Status, p.EndedAt.Sub(p.StartedAt), p.Reconcile, c.Status)
	}
}

// Until a child is settled its parent undoes nothing. Then the parent is resubmitted, and meets the child again.
func TestAParentOfAnUnknownChildWaitsForItToBeSettled(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name     string
		child    answer
		decision engine.Decision
		status   engine.Status
		paths    string // after all
	}{
		{"it had happened", dropped, engine.Record, engine.StatusSucceeded, "P/charges P/jobs"},
		{"it had not happened", lost, engine.Abandon, engine.StatusFailed, "P/charges P/jobs P/refunds"},
	} {
		l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), retry3+`return await services.workflows.call("child", context.payload);`), workflowOf("child", "", post))
		l.world.answer = func(_ int, s seen) answer {
			if s.method == "GET" && r.decision == engine.Abandon {
				return answer{status: 404, body: `{}`}
			}
			if s.path == "/jobs" {
				return r.child
			}
			return created
		}
		parent := l.once(`{"orderId":"o1"}`)
		child := parent.Steps[1].Last().Calls[0].Child
		if parent.Status != engine.StatusFailed || parent.Code != "WOML_WORKFLOW_CALL_FAILED" || l.paths() != "P/charges P/jobs" || !strings.Contains(parent.Message, "nothing is undone before "+child) {
			t.Errorf("%s: the parent %s with %s after %s: %s", r.name, parent.Status, parent.Code, l.paths(), parent.Message)
		}
		if _, err := l.settle(child, r.decision, true); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		var err error
		l.run(func() { err = l.eng.Resolve(engine.Resolution{Run: parent.ID, Decision: engine.Resubmit}) })
		asked := "G/jobs/by-idempotency-key/" + l.get(child).Steps[0].Last().Key
		if parent = l.get(parent.ID); err != nil || parent.Status != r.status || strings.Replace(l.paths(), " "+asked, "", 1) != r.paths {
			t.Errorf("%s, and settled: the parent %s (%s) after %s: %v", r.name, parent.Status, parent.Message, l.paths(), err)
		}
	}
}
