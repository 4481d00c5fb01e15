package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"faultlab/engine"
)

const slow = `|const r = await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {n: context.payload.n},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}); return r.data;`

// submit admits n runs at once and gives back their ends, in the order of admission.
func (l *lab) submit(n int) []*engine.Run {
	l.t.Helper()
	l.start()
	var ids []string
	l.run(func() {
		for i := range n {
			r, err := l.eng.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
			if err != nil {
				l.t.Error(err)
				return
			}
			ids = append(ids, r.Run)
		}
	})
	var runs []*engine.Run
	for _, id := range ids {
		runs = append(runs, l.get(id))
	}
	return runs
}

func TestConcurrencyAndOrder(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]time.Duration{`<config concurrency="1" />`: 3 * time.Second, `<config concurrency="2" />`: 2 * time.Second, "": time.Second} {
		l := newLab(t, nil, document(limit, slow))
		l.replies(answer{commit: true, status: 201, body: `{}`, after: time.Second})
		runs := l.submit(3)
		if d := runs[2].EndedAt.Sub(runs[0].AdmittedAt); d != want {
			t.Errorf("%q: three runs took %v, want %v", limit, d, want)
		}
		for i := 1; i < len(runs); i++ {
			if runs[i].StartedAt.Before(runs[i-1].StartedAt) {
				t.Errorf("%q: run %d started before run %d", limit, i+1, i)
			}
		}
	}
}

func TestASlotIsFreeDuringTheBackoff(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document(`<config concurrency="1" />`, retry3+post))
	l.replies(refused, created, created)
	runs := l.submit(2)
	if !runs[1].EndedAt.Before(runs[0].EndedAt) {
		t.Errorf("the second run ended at %v, the first at %v: it waited for a backoff", runs[1].EndedAt, runs[0].EndedAt)
	}
}

func TestRateIsARollingWindowOfFirstStarts(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document(`<config rate-limit="2/10s" />`, slow))
	l.replies(answer{commit: true, status: 201, body: `{}`})
	runs := l.submit(5)
	for i, want := range []time.Duration{0, 0, 10 * time.Second, 10 * time.Second, 20 * time.Second} {
		if d := runs[i].StartedAt.Sub(runs[0].AdmittedAt); d != want {
			t.Errorf("run %d started after %v, want %v", i+1, d, want)
		}
	}
}

func TestTheRunsTimeoutCountsFromItsStart(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document(`<config concurrency="1" timeout="5s" />`, slow))
	l.replies(answer{commit: true, status: 201, body: `{}`, after: 4 * time.Second}, answer{commit: true, status: 201, body: `{}`, after: 6 * time.Second})
	runs := l.submit(2)
	if runs[0].Status != engine.StatusSucceeded {
		t.Errorf("the first run %s: %s", runs[0].Status, runs[0].Message)
	}
	second := runs[1]
	if second.Code != "WOML_WORKFLOW_TIMED_OUT" || !second.Reconcile || second.Steps[0].Last().Outcome != engine.Unknown {
		t.Errorf("the second run %s with %s, reconcile %v", second.Status, second.Code, second.Reconcile)
	}
	if d := second.EndedAt.Sub(second.StartedAt); d != 5*time.Second {
		t.Errorf("it ran for %v, want its timeout of 5s, queueing left out", d)
	}
}

func TestABackoffPastTheTimeoutStopsAtOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document(`<config timeout="2s" />`, `retry="5" retry-backoff="fixed" retry-delay="3s"|`+post))
	l.replies(refused)
	run := l.once(`{"orderId":"o1"}`)
	a := run.Steps[0].Last()
	if a.N != 1 || a.Next != engine.NextStop || a.Reason != "the next attempt would be due after the run's timeout" {
		t.Errorf("attempt %d, next %s: %s", a.N, a.Next, a.Reason)
	}
}

func TestScriptLimits(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ name, script, code string }{
		{"never ends", `while (true) {}`, "WOML_SCRIPT_TIMEOUT"},
		{"waits for a timer too long", `await new Promise(done => setTimeout(done, 6000)); return 1;`, "WOML_SCRIPT_TIMEOUT"},
		{"waits for what cannot come", `await new Promise(() => {}); return 1;`, "WOML_SCRIPT_TIMEOUT"},
		{"returns nothing", `const x = 1;`, "WOML_SCRIPT_NON_JSON_RESULT"},
		{"returns a date", `return {at: new Date()};`, "WOML_SCRIPT_NON_JSON_RESULT"},
		{"returns too much", `return "x".repeat(1100000);`, "WOML_SCRIPT_RESULT_TOO_LARGE"},
		{"recurses", `const f = () => f(); f();`, "WOML_SCRIPT_STACK_TOO_DEEP"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", retry3+r.script))
			run := l.once(`{}`)
			a := run.Steps[0].Attempts
			if len(a) != 1 || a[0].Code != r.code || a[0].Message == "" {
				t.Errorf("%d attempts, the last %s: %s; want one and %s", len(a), a[len(a)-1].Code, a[len(a)-1].Message, r.code)
			}
			if run.Reconcile || run.StepBelief(run.Steps[0]) != engine.BeliefNotDone {
				t.Error("a step that sent nothing needs reconciling")
			}
		})
	}
}

func TestAThrowIsRepeatedWhileNothingIsDoneWithoutAKey(t *testing.T) {
	t.Parallel()
	unkeyed := `await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {}}); `
	for _, r := range []struct {
		name, script string
		attempts     int
	}{
		{"its own throw", `throw new Error("not today");`, 3},
		{"after a keyed effect", post[:len(post)-len("return {job: r.data.id, attempt: attempt.number};")] + `throw new Error("later");`, 3},
		{"after an unkeyed effect", unkeyed + `throw new Error("later");`, 1},
	} {
		l := newLab(t, nil, document("", retry3+r.script))
		l.replies(created)
		run := l.once(`{"orderId":"o1"}`)
		if n := len(run.Steps[0].Attempts); n != r.attempts || run.Status != engine.StatusFailed {
			t.Errorf("%s: %d attempts, run %s; want %d", r.name, n, run.Status, r.attempts)
		}
	}
}

func TestASwallowedDropIsUnknown(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+`try { `+post+` } catch (e) { return {gaveUp: true}; }`))
	l.replies(dropped)
	run := l.once(`{"orderId":"o1"}`)
	if a := run.Steps[0].Last(); a.Outcome != engine.Unknown || !run.Reconcile {
		t.Errorf("the attempt %s, reconcile %v", a.Outcome, run.Reconcile)
	}
}

// A script can settle its own doubt, by reading the key back.
func TestAScriptSettlesItsOwnDoubt(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|try { `+post+` } catch (e) {
  const seen = await services.http.request({url: "http://provider.test/jobs/by-idempotency-key/" + attempt.idempotencyKey});
  return {job: seen.data.id};
}`))
	l.replies(dropped)
	run := l.once(`{"orderId":"o1"}`)
	if run.Status != engine.StatusSucceeded || run.StepBelief(run.Steps[0]) != engine.BeliefDone || l.world.posts() != 1 {
		t.Errorf("run %s, believes %s, %d writes", run.Status, run.StepBelief(run.Steps[0]), l.world.posts())
	}
}

func TestCloseWaitsForTheWorker(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", slow))
	l.replies(answer{broken: "hang"})
	l.start()
	l.run(func() {
		r, err := l.eng.Admit(engine.Delivery{Workflow: "orders"})
		if err != nil {
			t.Error(err)
			return
		}
		_ = l.clk.Sleep(context.Background(), time.Second)
		l.eng.Close()
		if run := l.get(r.Run); run.Status.Ended() {
			t.Errorf("a killed run %s", run.Status)
		}
	})
}
