package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
)

// A run that sent a key which another run's use has left unknown undoes nothing. It goes on
// by itself when that is settled, also after a crash.
func TestAnUnknownUseOfTheSameKeyHoldsBack(t *testing.T) {
	t.Parallel()
	business := func(path string) string {
		return strings.Replace(doing(path), "attempt.idempotencyKey", `"`+path+`-" + context.payload.orderId`, 1)
	}
	for _, r := range []struct {
		name     string
		other    string // payload of the run whose job is unknown
		decision engine.Decision
		crash    bool // between the end of the second run and the decision
		held     bool
		after    string
	}{
		{"and it had happened", `{"orderId":"o1"}`, engine.Record, false, true, "charges jobs charges jobs refunds"},
		{"and it had not happened", `{"orderId":"o1"}`, engine.Abandon, false, true, "charges jobs charges jobs refunds refunds"},
		{"and the worker was killed", `{"orderId":"o1"}`, engine.Abandon, true, true, "charges jobs charges jobs refunds refunds"},
		{"of another key", `{"orderId":"o2"}`, engine.Abandon, false, false, "charges jobs charges jobs refunds refunds"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+business("charges")+"~~~"+doing("refunds"), "|"+business("jobs")))
			first := lost
			if r.decision == engine.Record {
				first = dropped
			}
			jobs := 0
			l.world.answer = func(_ int, s seen) answer {
				switch {
				case s.method == "GET" && l.world.effects[s.path[strings.LastIndex(s.path, "/")+1:]] != "":
					return answer{status: 200, body: `{"id":"job_1","orderId":"o1"}`}
				case s.method == "GET":
					return answer{status: 404, body: "{}"}
				case s.path != "/jobs":
					return created
				}
				if jobs++; jobs == 1 {
					return first
				}
				return answer{status: 404, body: "{}"}
			}
			unknown := l.once(r.other)
			var id string
			l.run(func() { id, _ = l.admit("orders", "", `{"orderId":"o1"}`) })
			run := l.get(id)
			if run.Status != engine.StatusFailed || run.Reconcile != r.held || r.held && (*run.Waits != engine.Wait{Run: unknown.ID, Key: "jobs-o1"} || l.writes() != "charges jobs charges jobs") {
				t.Errorf("run %s, reconcile %v, waits for %v after %s: %s", run.Status, run.Reconcile, run.Waits, l.writes(), run.Message)
			}
			if r.crash {
				l.eng.Kill()
				l.restart(id)
			}
			if _, err := l.settle(unknown.ID, r.decision, true); err != nil {
				t.Error(err)
			}
			run = l.get(id)
			l.listed(t, id)
			if run.Status != engine.StatusFailed || run.Reconcile || run.Waits != nil || l.writes() != r.after {
				t.Errorf("settled: run %s, reconcile %v, waits for %v after %s, want %s", run.Status, run.Reconcile, run.Waits, l.writes(), r.after)
			}
		})
	}
}

// A request of another run that is still out under the key holds back too.
func TestAUseOfTheSameKeyThatIsOutHoldsBack(t *testing.T) {
	t.Parallel()
	business := strings.Replace(doing("jobs"), "attempt.idempotencyKey", `"job-" + context.payload.orderId`, 1)
	l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), "|"+business))
	jobs := 0
	l.world.answer = func(_ int, s seen) answer {
		if s.path != "/jobs" {
			return created
		}
		if jobs++; jobs == 1 {
			return answer{commit: true, status: 201, body: `{"id":"job_1"}`, after: 5 * time.Second}
		}
		return answer{status: 404, body: "{}"}
	}
	l.start()
	var second string
	l.run(func() {
		l.admit("orders", "", `{"orderId":"o1"}`)
		_ = l.clk.Sleep(t.Context(), time.Second)
		second, _ = l.admit("orders", "", `{"orderId":"o1"}`)
		_ = l.clk.Sleep(t.Context(), time.Second)
		if l.writes() != "charges jobs charges jobs" {
			t.Errorf("while it is out: %s", l.writes())
		}
	})
	if run := l.get(second); run.Reconcile || l.writes() != "charges jobs charges jobs refunds" {
		t.Errorf("run %s, reconcile %v after %s", run.Status, run.Reconcile, l.writes())
	}
}

// A key that a child sent counts as its parent's: while another run's use of it is unknown, the parent undoes nothing.
func TestAnUnknownUseOfAChildsKeyHoldsItsParentBack(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name   string
		owner  bool // the worker that decides is the one that carried the runs out
		levels int
	}{
		{"decided by the owner", true, 1}, {"by another process", false, 1}, {"a child's child", true, 2}, {"by another process, a child's child", false, 2},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := family(t, r.levels, calls, created)
			only := &l.docs[r.levels].Workflow.Steps[0]
			only.Script.Source = strings.Replace(only.Script.Source, "attempt.idempotencyKey", `"job-" + context.payload.orderId`, 1)
			jobs := 0
			usual := l.world.answer
			l.world.answer = func(n int, s seen) answer {
				if s.path != "/jobs" {
					return usual(n, s)
				}
				if jobs++; jobs == 1 {
					return lost
				}
				return answer{status: 404, body: "{}"}
			}
			l.once(`{"orderId":"o1"}`)
			unknown := l.youngest(t)
			var id string
			l.run(func() { id, _ = l.admit("orders", "", `{"orderId":"o1"}`) })
			run := l.get(id)
			if !run.Reconcile || run.Waits == nil || *run.Waits != (engine.Wait{Run: unknown, Key: "job-o1"}) || l.writes() != "charges jobs charges jobs" {
				t.Errorf("run %s, waits for %v after %s: %s", run.Status, run.Waits, l.writes(), run.Message)
			}
			if !r.owner {
				l.start()
			}
			if ids, err := l.eng.Followers(unknown); err != nil || !slices.Contains(ids, id) {
				t.Errorf("%v go on once it is settled, %v", ids, err)
			}
			if _, err := l.settle(unknown, engine.Abandon, true); err != nil {
				t.Error(err)
			}
			run = l.get(id)
			l.listed(t, id)
			if run.Reconcile || strings.Count(l.writes(), "refunds") != 2 {
				t.Errorf("settled: run %s, waits for %v after %s", run.Status, run.Waits, l.writes())
			}
		})
	}
}

// Each inverse looks for itself: another run's request may have gone out while the one before it was made.
func TestAnUnknownUseBetweenTwoInverses(t *testing.T) {
	t.Parallel()
	charge := strings.Replace(doing("charges"), "attempt.idempotencyKey", `"charge-" + context.payload.orderId`, 1)
	l := newLab(t, nil, document("", "|"+charge+"~~~"+doing("refunds"), "|"+doing("holds")+"~~~"+doing("releases"), "|"+doing("jobs")))
	charges := 0
	l.world.answer = func(_ int, s seen) answer {
		switch s.path {
		case "/charges":
			if charges++; charges == 2 {
				return lost
			}
		case "/releases":
			return answer{commit: true, status: 201, body: `{"id":"job_1"}`, after: 5 * time.Second}
		case "/jobs":
			return answer{status: 404, body: "{}"}
		}
		if s.method == "GET" {
			return answer{status: 200, body: `{"id":"job_1","orderId":"o1"}`}
		}
		return created
	}
	l.start()
	var first, second string
	l.run(func() {
		first, _ = l.admit("orders", "", `{"orderId":"o1"}`)
		_ = l.clk.Sleep(t.Context(), time.Second)
		second, _ = l.admit("orders", "", `{"orderId":"o1"}`)
	})
	run := l.get(first)
	if l.listed(t, first); !run.Reconcile || run.Waits == nil || run.Waits.Run != second || l.writes() != "charges holds jobs releases charges" {
		t.Errorf("run %s, waits for %v after %s", run.Status, run.Waits, l.writes())
	}
	if _, err := l.settle(second, engine.Escalate, false); err != nil || strings.Contains(l.writes(), "refunds") {
		t.Errorf("escalated: %s, %v", l.writes(), err)
	}
	if _, err := l.settle(second, engine.Record, true); err != nil {
		t.Error(err)
	}
	if run = l.get(first); run.Reconcile || !strings.Contains(l.writes(), "refunds") {
		t.Errorf("settled: run %s, waits for %v after %s", run.Status, run.Waits, l.writes())
	}
}
