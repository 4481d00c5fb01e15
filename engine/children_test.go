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
			if run.Reconcile != (run.Waits != nil) {
				t.Errorf("reconcile %v of a parent that waits for %v: what nobody knows is the child's", run.Reconcile, run.Waits)
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

// family is a saga of a charge, a child and a note. The child makes the job by itself or,
// two levels down, by one of its own.
func family(t *testing.T, levels int, call string, job answer) *lab {
	parent := document("", "|"+doing("charges")+"~~~"+doing("refunds"), `retry="2" retry-backoff="fixed" retry-delay="1s"|`+call, "|"+doing("notes"))
	docs := []string{parent, workflowOf("child", "", post)}
	if levels == 2 {
		docs = []string{parent, workflowOf("child", "", `return await services.workflows.call("grandchild", context.payload);`), workflowOf("grandchild", "", post)}
	}
	l := newLab(t, nil, docs...)
	l.world.answer = func(_ int, s seen) answer {
		switch {
		case s.method == "GET" && l.world.effects[s.path[strings.LastIndex(s.path, "/")+1:]] != "":
			return answer{status: 200, body: `{"id":"job_1","orderId":"o1"}`}
		case s.method == "GET":
			return answer{status: 404, body: "{}"}
		case s.path == "/jobs":
			return job
		}
		return created
	}
	return l
}

const (
	calls   = `return await services.workflows.call("child", context.payload);`
	catches = `try { return await services.workflows.call("child", context.payload); } catch (e) { return {caught: e.code}; }`
	hurries = `return await services.workflows.call("child", context.payload, {timeout: "2s"});`
)

// writes are the requests that were no look-ups.
func (l *lab) writes() string {
	var p []string
	for _, s := range l.world.seen {
		if s.method != "GET" {
			p = append(p, s.path[1:])
		}
	}
	return strings.Join(p, " ")
}

// youngest is the run that was admitted last.
func (l *lab) youngest(t *testing.T) string {
	runs, err := l.hist.Runs(engine.Query{Limit: 1})
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	return runs[0].Run
}

// Nothing of a run is undone, and nobody calls it settled, while something below it is
// unknown. Then it goes on by itself.
func TestAChildHoldsItsParent(t *testing.T) {
	t.Parallel()
	slow := answer{broken: "hang"}
	for _, r := range []struct {
		name     string
		levels   int
		script   string
		job      answer
		before   string // what was written before the decision
		decision engine.Decision
		status   engine.Status
		after    string
	}{
		{"it had happened", 1, calls, dropped, "charges jobs", engine.Record, engine.StatusSucceeded, "charges jobs notes"},
		{"it had not happened", 1, calls, lost, "charges jobs", engine.Abandon, engine.StatusFailed, "charges jobs refunds"},
		{"it is sent once more", 1, calls, lost, "charges jobs", engine.Resubmit, engine.StatusFailed, "charges jobs jobs"},
		{"of a child's child, and it had happened", 2, calls, dropped, "charges jobs", engine.Record, engine.StatusSucceeded, "charges jobs notes"},
		{"of a child's child, and it had not happened", 2, calls, lost, "charges jobs", engine.Abandon, engine.StatusFailed, "charges jobs refunds"},
		{"caught by the script, and it had happened", 1, catches, dropped, "charges jobs", engine.Record, engine.StatusSucceeded, "charges jobs notes"},
		{"caught by the script, and it had not happened", 1, catches, lost, "charges jobs", engine.Abandon, engine.StatusSucceeded, "charges jobs notes"},
		{"unknown after the parent's last wait", 1, hurries, slow, "charges jobs", engine.Abandon, engine.StatusFailed, "charges jobs refunds"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := family(t, r.levels, r.script, r.job)
			parent := l.once(`{"orderId":"o1"}`)
			child := parent.Steps[1].Attempts[0].Calls[0].Child
			if parent.Status != engine.StatusFailed || !parent.Reconcile || parent.Waits == nil || parent.Waits.Run != child || l.writes() != r.before {
				t.Errorf("the parent %s, reconcile %v, waits for %v after %s; want it to wait for %s after %s", parent.Status, parent.Reconcile, parent.Waits, l.writes(), child, r.before)
			}
			for _, d := range []engine.Decision{engine.Record, engine.Resubmit, engine.Abandon} {
				if err := l.eng.Resolve(engine.Resolution{Run: parent.ID, Decision: d, Force: true}); err == nil || !strings.Contains(err.Error(), "waits for "+child) {
					t.Errorf("%s of the parent: %v", d, err)
				}
			}
			if follow, err := l.eng.Followers(child); err != nil || !slices.Equal(follow, []string{parent.ID}) {
				t.Errorf("%v go on once the child is settled, %v", follow, err)
			}
			if _, err := l.settle(l.youngest(t), r.decision, true); err != nil {
				t.Error(err)
			}
			parent = l.get(parent.ID)
			l.listed(t, parent.ID)
			if parent.Status != r.status || l.writes() != r.after || parent.Reconcile != (r.decision == engine.Resubmit) {
				t.Errorf("settled: the parent %s, reconcile %v, after %s; want %s after %s (%s)", parent.Status, parent.Reconcile, l.writes(), r.status, r.after, parent.Message)
			}
		})
	}
}

// A child that was cut short or ended badly after its parent had given up waiting lets the parent undo, and no sooner.
func TestAChildThatEndsAfterTheLastWait(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name   string
		job    answer
		status engine.Status
		writes string
	}{
		{"fails", answer{status: 404, body: "{}", after: 9 * time.Second}, engine.StatusFailed, "charges jobs refunds"},
		{"succeeds", answer{commit: true, status: 201, body: `{"id":"job_1"}`, after: 9 * time.Second}, engine.StatusSucceeded, "charges jobs notes"},
	} {
		l := family(t, 1, hurries, r.job)
		parent := l.once(`{"orderId":"o1"}`)
		l.listed(t, parent.ID)
		if parent.Status != r.status || parent.Reconcile || l.writes() != r.writes {
			t.Errorf("%s: the parent %s, reconcile %v, after %s: %s", r.name, parent.Status, parent.Reconcile, l.writes(), parent.Message)
		}
		if took := parent.EndedAt.Sub(parent.StartedAt); took != 9*time.Second {
			t.Errorf("%s: it ended after %v", r.name, took)
		}
	}
}

// After a crash the same attempt goes on and meets the same child, whose retry is due or whose request was out.
func TestACrashWhileAChildRuns(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name   string
		job    answer
		at     time.Duration
		status engine.Status
		writes string
	}{
		{"its retry is due", refused, 500 * time.Millisecond, engine.StatusSucceeded, "charges jobs jobs notes"},
		{"its request is out", answer{broken: "hang"}, 500 * time.Millisecond, engine.StatusFailed, "charges jobs refunds"},
		{"it has ended, and is unknown", lost, 500 * time.Millisecond, engine.StatusFailed, "charges jobs refunds"},
	} {
		for _, levels := range []int{1, 2} {
			l := family(t, levels, calls, r.job)
			first := l.world.answer
			l.world.answer = func(n int, s seen) answer {
				if s.path == "/jobs" && strings.Contains(l.writes(), "jobs") {
					return created
				}
				return first(n, s)
			}
			l.docs[levels].Workflow.Steps[0].Retry.Max = 3
			eng := l.start()
			var parent string
			l.run(func() {
				parent, _ = l.admit("orders", "", `{"orderId":"o1"}`)
				_ = l.clk.Sleep(t.Context(), r.at)
				eng.Kill()
			})
			p := l.restart(parent)
			if p.Reconcile {
				if _, err := l.settle(l.youngest(t), engine.Abandon, true); err != nil {
					t.Fatal(err)
				}
				p = l.get(parent)
			}
			l.listed(t, parent)
			if p.Status != r.status || l.writes() != r.writes || len(p.Steps[1].Attempts) != 1 {
				t.Errorf("%s, %d levels: %s with %d attempts after %s: %s", r.name, levels, p.Status, len(p.Steps[1].Attempts), l.writes(), p.Message)
			}
		}
	}
}

// A cancel asks the children first. What the run did is undone once nothing below it is unknown.
func TestACancelAsksTheChildren(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name   string
		job    answer
		before string // what was written before the decision; empty where none is needed
		after  string
	}{
		{"whose retry is due", answer{status: 429, body: "{}"}, "", "charges jobs refunds"},
		{"whose request is out", answer{broken: "hang"}, "charges jobs", "charges jobs refunds"},
	} {
		for _, levels := range []int{1, 2} {
			l := family(t, levels, calls, r.job)
			l.docs[levels].Workflow.Steps[0].Retry.Max = 3
			if r.before == "" {
				l.docs[levels].Workflow.Steps[0].Retry.Delay = time.Minute
			}
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
			if p.Reconcile != (r.before != "") || p.Reconcile && l.writes() != r.before {
				t.Errorf("%s, %d levels: the parent %s, reconcile %v after %s: %s", r.name, levels, p.Status, p.Reconcile, l.writes(), p.Message)
			}
			if p.Reconcile {
				if _, err := l.settle(l.youngest(t), engine.Abandon, true); err != nil {
					t.Error(err)
				}
				p = l.get(parent)
			}
			c := l.get(p.Steps[1].Attempts[0].Calls[0].Child)
			l.listed(t, parent)
			if p.Status != engine.StatusCancelled || p.Reconcile || c.Status != engine.StatusCancelled || l.writes() != r.after {
				t.Errorf("%s, %d levels: the parent %s, reconcile %v, the child %s after %s: %s", r.name, levels, p.Status, p.Reconcile, c.Status, l.writes(), p.Message)
			}
		}
	}
}

// The parent's own doubt is settled after its child's: it takes up what became of the child while it still has its slot.
func TestARunThatGoesOnFromItsEndHasItsSlot(t *testing.T) {
	t.Parallel()
	own := `try { await services.http.request({method: "POST", url: "http://provider.test/own", json: {orderId: context.payload.orderId}, timeout: "10s", idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}); } catch (e) { }`
	l := newLab(t, nil, document(`<config concurrency="1" />`, "|"+own+`return await services.workflows.call("child", context.payload);`), workflowOf("child", "", post))
	l.replies(dropped)
	parent := l.once(`{"orderId":"o1"}`)
	calls := parent.Steps[0].Last().Calls
	for _, id := range []string{calls[1].Child, parent.ID} {
		if _, err := l.settle(id, engine.Record, false); err != nil {
			t.Fatal(err)
		}
	}
	if parent = l.get(parent.ID); parent.Status != engine.StatusSucceeded || parent.Reconcile {
		t.Errorf("the parent %s (%s), reconcile %v", parent.Status, parent.Message, parent.Reconcile)
	}
}

func TestARunThatWaitsForAnotherHasNothingToDecide(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|return await services.workflows.call("child", context.payload);`), workflowOf("child", "", post))
	l.replies(dropped)
	parent := l.once(`{"orderId":"o1"}`)
	if parent.Waits == nil || len(parent.Unsettled()) > 0 {
		t.Errorf("it waits for %+v, and %d calls can be decided about", parent.Waits, len(parent.Unsettled()))
	}
}
