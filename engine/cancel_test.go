package engine_test

import (
	"strings"
	"testing"
	"time"

	"faultlab/engine"
)

// stepsOf is a workflow without triggers, each step given by its attributes and script.
func stepsOf(id string, steps ...string) string {
	doc := document("", steps...)
	doc = strings.Replace(doc, `id="orders"`, `id="`+id+`"`, 1)
	return strings.Replace(doc, `<triggers><manual id="start" /></triggers>`, "", 1)
}

// A cancel with a child at work reaches the child first, and --keep reaches it too: what stands is listed and not undone.
func TestACancelThatKeepsReachesTheChildren(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name          string
		keep          bool
		after         string
		parent, child string // what stands
	}{
		{"undone, the child's effect first", false, "charges holds jobs releases refunds", "", ""},
		{"kept, the child's effect too", true, "charges holds jobs", "step1", "step1"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), "|"+calls),
				stepsOf("child", "|"+doing("holds")+"~~~"+doing("releases"), `retry="3" retry-backoff="fixed" retry-delay="1m"|`+doing("jobs")))
			l.answering(turn{"/jobs", answer{status: 429, body: "{}"}})
			l.start()
			var id string
			l.run(func() {
				id, _ = l.admit("orders", "", `{"orderId":"o1"}`)
				_ = l.clk.Sleep(t.Context(), 5*time.Second)
				if err := l.eng.Cancel(engine.Cancellation{Run: id, Keep: r.keep}); err != nil {
					t.Error(err)
				}
			})
			p := l.get(id)
			c := l.get(p.Steps[1].Attempts[0].Calls[0].Child)
			if p.Status != engine.StatusCancelled || c.Status != engine.StatusCancelled || p.Reconcile || c.Reconcile || l.writes() != r.after {
				t.Errorf("the parent %s, the child %s, after %s; want both cancelled after %s", p.Status, c.Status, l.writes(), r.after)
			}
			if got, below := strings.Join(p.Stands, " "), strings.Join(c.Stands, " "); got != r.parent || below != r.child {
				t.Errorf("of the parent %q stands, of the child %q; want %q and %q", got, below, r.parent, r.child)
			}
		})
	}
}

// Before the undoing a cancel begins it; while it goes on, and after it, there is nothing to cancel, and --keep stops nothing.
func TestACancelAroundTheUndoing(t *testing.T) {
	t.Parallel()
	const forward, undone = "charges holds jobs", " releases refunds"
	for _, r := range []struct {
		name    string
		after   time.Duration // since the admission; the job and each inverse take two seconds
		keep    bool
		refused bool
		status  engine.Status
		writes  string
	}{
		{"before, while the request is out", time.Second, false, false, engine.StatusCancelled, forward + undone},
		{"before, and what was done is kept", time.Second, true, false, engine.StatusCancelled, forward},
		{"while the first inverse is out", 3 * time.Second, false, true, engine.StatusFailed, forward + undone},
		{"while the first inverse is out, to keep the rest", 3 * time.Second, true, true, engine.StatusFailed, forward + undone},
		{"while the last inverse is out", 5 * time.Second, true, true, engine.StatusFailed, forward + undone},
		{"after the last inverse", time.Minute, false, true, engine.StatusFailed, forward + undone},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), "|"+doing("holds")+"~~~"+doing("releases"), "|"+doing("jobs")))
			slow := answer{commit: true, status: 201, body: `{"id":"made"}`, after: 2 * time.Second}
			l.answering(turn{"/jobs", answer{status: 422, body: "{}", after: 2 * time.Second}}, turn{"/releases", slow}, turn{"/refunds", slow})
			l.start()
			var id string
			l.run(func() {
				id, _ = l.admit("orders", "", `{"orderId":"o1"}`)
				_ = l.clk.Sleep(t.Context(), r.after)
				if err := l.eng.Cancel(engine.Cancellation{Run: id, Keep: r.keep}); isRefused(err) != r.refused {
					t.Errorf("the cancel gave %v", err)
				}
			})
			run := l.get(id)
			if run.Reconcile { // the request that was given up
				if l.writes() != forward {
					t.Errorf("undone while a write is unknown: %s", l.writes())
				}
				var err error
				if run, err = l.settle(id, engine.Abandon, true); err != nil {
					t.Fatal(err)
				}
			}
			if run.Status != r.status || run.Reconcile || l.writes() != r.writes {
				t.Errorf("run %s, reconcile %v, after %s; want %s after %s", run.Status, run.Reconcile, l.writes(), r.status, r.writes)
			}
		})
	}
}

// Of three inverses one is refused: the other two are made, and what then stands is listed.
func TestARefusedInverseAmongThree(t *testing.T) {
	t.Parallel()
	for i, refusedPath := range []string{"/refunds", "/releases", "/returns"} {
		l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), "|"+doing("holds")+"~~~"+doing("releases"),
			"|"+doing("parcels")+"~~~"+doing("returns"), "|"+doing("jobs")))
		l.answering(turn{"/jobs", answer{status: 422, body: "{}"}}, turn{refusedPath, answer{status: 404, body: "{}"}})
		run := l.once(`{"orderId":"o1"}`)
		want := "step" + string(rune('1'+i))
		if got := strings.Join(run.Stands, " "); l.writes() != "charges holds parcels jobs returns releases refunds" || got != want || run.Reconcile {
			t.Errorf("%s refused: %s, %q stands, reconcile %v; want all three tried, and %s to stand", refusedPath, l.writes(), got, run.Reconcile, want)
		}
		for n, s := range run.Steps[:3] {
			if b := run.StepBelief(s); (b == engine.BeliefCompensated) == (n == i) {
				t.Errorf("%s refused: step %d is %s", refusedPath, n+1, b)
			}
		}
	}
}

// An inverse that a child makes counts as the step's own: what it undid does not stand, and what it could not undo does.
func TestAnInverseMadeByAChild(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name      string
		refund    answer
		decision  engine.Decision // where it is unknown
		stands    string
		belief    engine.Belief
		reconcile bool
	}{
		{"made", created, "", "", engine.BeliefCompensated, false},
		{"refused", answer{status: 422, body: "{}"}, "", "step1", engine.BeliefDone, false},
		{"unknown, and it had happened", dropped, engine.Record, "", engine.BeliefCompensated, false},
		{"unknown, and it had not happened", lost, engine.Abandon, "step1", engine.BeliefDone, false},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+`return await services.workflows.call("undo", context.payload);`, "|"+doing("jobs")),
				workflowOf("undo", "", doing("refunds")))
			l.answering(turn{"/jobs", answer{status: 422, body: "{}"}}, turn{"/refunds", r.refund})
			run := l.once(`{"orderId":"o1"}`)
			if r.decision != "" {
				if !run.Reconcile || run.Waits == nil {
					t.Errorf("run %s, reconcile %v, waits for %v", run.Status, run.Reconcile, run.Waits)
				}
				if _, err := l.settle(l.youngest(t), r.decision, false); err != nil {
					t.Fatal(err)
				}
				run = l.get(run.ID)
			}
			if got := strings.Join(run.Stands, " "); got != r.stands || run.StepBelief(run.Steps[0]) != r.belief || run.Reconcile || strings.Count(l.writes(), "refunds") != 1 {
				t.Errorf("%q stands, %s, reconcile %v after %s: %s", got, run.StepBelief(run.Steps[0]), run.Reconcile, l.writes(), run.Message)
			}
		})
	}
}

// Numbers that no script can tell apart are told apart between two deliveries.
func TestADeliveryWithANumberBeyondScripts(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|return 1;"))
	l.start()
	admit := func(payload string) (run, code string) {
		l.run(func() { run, code = l.admit("orders", "evt-1", payload) })
		return run, code
	}
	first, _ := admit(`{"amount":9007199254740993}`)
	if again, code := admit(`{"amount":9007199254740993.0}`); again != first || code != "" {
		t.Errorf("the same number, written otherwise: run %q, %q", again, code)
	}
	if _, code := admit(`{"amount":9007199254740992}`); code != "WOML_TRIGGER_IDEMPOTENCY_CONFLICT" {
		t.Errorf("the number before it: %q, want a conflict", code)
	}
}

// What a delivery is accepted with, a script can pass on as it is: in a request, to a child and as a result.
func TestAnAcceptedPayloadCanBePassedOn(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	for _, r := range []struct {
		payload  string
		accepted bool
	}{
		{nested(499), true}, {nested(500), false},
		{`{"a":1e308}`, true}, {`{"a":1e309}`, false},
		{`{"a":"\ud83d\ude00"}`, true}, {`{"a":"\ud83d"}`, false},
		{`{"a":"\u0000","__proto__":1,"":2}`, true},
		{`{"a":"` + strings.Repeat(`<`, 1_000_000) + `"}`, true},
	} {
		l := newLab(t, nil, document("", `|await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {payload: context.payload}, idempotency: {header: "Idempotency-Key", value: "k"}});
await services.workflows.call("child", {payload: context.payload}); return {payload: context.payload};`), workflowOf("child", "", `return context.payload;`))
		l.replies(created)
		l.start()
		var id, code string
		l.run(func() { id, code = l.admit("orders", "evt-1", r.payload) })
		if accepted := code == ""; accepted != r.accepted {
			t.Errorf("%.40s: accepted %v (%s)", r.payload, accepted, code)
		} else if !accepted {
			continue
		}
		if run := l.get(id); run.Status != engine.StatusSucceeded {
			t.Errorf("%.40s: accepted, and then %s: %s", r.payload, run.Status, run.Message)
		}
	}
}
