package engine_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"faultlab/engine"
)

var errLimit = errors.New("the test's limit")

// A drain begins nothing new and waits for what is out: the next start finds no unknown, and each request is sent once.
func TestADrainWaitsForWhatIsOut(t *testing.T) {
	t.Parallel()
	slowly := answer{commit: true, status: 201, body: `{"id":"job_1"}`, after: 3 * time.Second}
	twice := `await ` + sending("a", `"k-a"`, "a") + `; await ` + sending("b", `"k-b"`, "b") + `; return 1;`
	for _, r := range []struct {
		name, script string
		answer       answer
		limit        time.Duration
		whole        bool
		before       string // the writes when it is drained
		after        string // when the next worker is done
		unknown      bool
	}{
		{"a request that is out, and not the next one", twice, slowly, 8 * time.Second, true, "P/a", "P/a P/b", false},
		{"two at once", `await Promise.all([` + sending("a", `"k-a"`, "a") + `, ` + sending("b", `"k-b"`, "b") + `]); return 1;`, slowly, 8 * time.Second, true, "P/a P/b", "P/a P/b", false},
		{"a retry that is due later", twice, refused, 8 * time.Second, true, "P/a", "P/a P/a P/b", false},
		{"a script's timer", `await ` + sending("a", `"k-a"`, "a") + `; await new Promise(done => setTimeout(done, 4000)); return 1;`, created, 8 * time.Second, true, "P/a", "P/a", false},
		{"a child's request, for which its parent waits", `return await services.workflows.call("child", context.payload);`, slowly, 8 * time.Second, true, "P/a", "P/a", false},
		{"no longer than its limit", twice, answer{commit: true, broken: "hang"}, 2 * time.Second, false, "P/a", "P/a", true},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", retry3+r.script), workflowOf("child", "", `await `+sending("a", `"k-a"`, "a")+`; return 1;`))
			first := true
			l.world.answer = func(int, seen) answer {
				if first || r.answer.after > 0 {
					first = false
					return r.answer
				}
				return created
			}
			eng := l.start()
			var id string
			l.run(func() {
				a, err := eng.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(`{"orderId":"o1"}`)})
				if err != nil {
					t.Error(err)
				}
				id = a.Run
				_ = l.clk.Sleep(t.Context(), 500*time.Millisecond)
				if out := eng.Out(); len(out) > 0 != (r.answer.after > 0 || r.answer.broken != "") {
					t.Errorf("out: %v", out)
				}
				ctx, done := l.clk.WithTimeout(t.Context(), r.limit, errLimit)
				defer done(nil)
				if whole := eng.Drain(ctx); whole != r.whole {
					t.Errorf("drained whole: %v", whole)
				}
				if _, err := eng.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(`{}`)}); err == nil {
					t.Error("a run was admitted")
				}
				eng.Kill()
			})
			if got := l.written(); got != r.before {
				t.Errorf("drained after %s, want %s", got, r.before)
			}
			run := l.restart(id)
			if got := l.written(); got != r.after || run.Reconcile != r.unknown || !r.unknown && run.Status != engine.StatusSucceeded {
				t.Errorf("then %s, run %s (%s), reconcile %v; want %s", got, run.Status, run.Message, run.Reconcile, r.after)
			}
		})
	}
}
