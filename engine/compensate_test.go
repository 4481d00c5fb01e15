package engine_test

import (
	"strings"
	"testing"
	"time"

	"faultlab/engine"
)

func doing(path string) string {
	return `const r = await services.http.request({method: "POST", url: "http://provider.test/` + path + `", json: {orderId: context.payload.orderId},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}); return {id: r.data.id};`
}

// order runs a saga of two effects and a third step, and answers by path.
func order(t *testing.T, answers map[string]answer) (*lab, *engine.Run) {
	l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), "|"+doing("holds")+"~~~"+doing("releases"), "|"+doing("jobs")))
	l.world.answer = func(_ int, s seen) answer {
		if s.method == "GET" {
			return answer{status: 404, body: "{}"}
		}
		if a, ok := answers[s.path]; ok {
			return a
		}
		return created
	}
	return l, l.once(`{"orderId":"o1"}`)
}

func (l *lab) paths() string {
	var p []string
	for _, s := range l.world.seen {
		p = append(p, s.method[:1]+s.path)
	}
	return strings.Join(p, " ")
}

func TestCompensation(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name      string
		answers   map[string]answer
		paths     string
		beliefs   string
		reconcile bool
	}{
		{"clean, the newest first", map[string]answer{"/jobs": {status: 422, body: "{}"}}, "P/charges P/holds P/jobs P/releases P/refunds", "compensated compensated not-done done done", false},
		{"held back by an unknown", map[string]answer{"/jobs": lost}, "P/charges P/holds P/jobs", "done done unknown", true},
		{"itself unknown", map[string]answer{"/jobs": {status: 422, body: "{}"}, "/releases": lost}, "P/charges P/holds P/jobs P/releases", "done done not-done unknown", true},
		{"one refused, which does not stop the others", map[string]answer{"/jobs": {status: 422, body: "{}"}, "/releases": {status: 404, body: "{}"}}, "P/charges P/holds P/jobs P/releases P/refunds", "compensated done not-done not-done done", false},
		{"not needed", nil, "P/charges P/holds P/jobs", "done done done", false},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l, run := order(t, r.answers)
			var beliefs []string
			for _, s := range run.Steps {
				beliefs = append(beliefs, string(run.StepBelief(s)))
			}
			if got := strings.Join(beliefs, " "); got != r.beliefs || l.paths() != r.paths || run.Reconcile != r.reconcile {
				t.Errorf("%s; believes %s; reconcile %v\nwant %s; %s; %v", l.paths(), got, run.Reconcile, r.paths, r.beliefs, r.reconcile)
			}
		})
	}
}

func TestCompensationGoesOnAfterTheUnknownIsSettled(t *testing.T) {
	t.Parallel()
	l, run := order(t, map[string]answer{"/jobs": lost})
	run, err := l.settle(run.ID, engine.Abandon, false)
	if err != nil {
		t.Fatal(err)
	}
	if want := "P/charges P/holds P/jobs G/jobs/by-idempotency-key/" + run.Steps[2].Attempts[0].Key + " P/releases P/refunds"; l.paths() != want {
		t.Errorf("%s\nwant %s", l.paths(), want)
	}
	if run.Status != engine.StatusFailed || run.Reconcile {
		t.Errorf("run %s, reconcile %v", run.Status, run.Reconcile)
	}
}

func TestACompensationHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	l, _ := order(t, map[string]answer{"/jobs": {status: 422, body: "{}"}})
	keys := map[string]string{}
	for _, s := range l.world.seen {
		if other, used := keys[s.key]; used {
			t.Errorf("%s and %s share a key", other, s.path)
		}
		keys[s.key] = s.path
	}
}

// A run that took too long has failed for good like any other: what it finished is undone, unless something of it is unknown.
func TestARunThatTakesTooLongIsCompensated(t *testing.T) {
	t.Parallel()
	wait := `|await services.http.request({method: METHOD, url: "http://provider.test/stock"}); return 1;`
	for method, want := range map[string]struct {
		paths     string
		reconcile bool
	}{
		`"GET"`:  {"P/charges G/stock P/refunds", false},
		`"POST"`: {"P/charges P/stock", true},
	} {
		l := newLab(t, nil, document(`<config timeout="5s" />`, "|"+doing("charges")+"~~~"+doing("refunds"), strings.Replace(wait, "METHOD", method, 1)))
		l.world.answer = func(_ int, s seen) answer {
			if s.path == "/stock" {
				return answer{broken: "hang"}
			}
			return created
		}
		run := l.once(`{"orderId":"o1"}`)
		if l.paths() != want.paths || run.Reconcile != want.reconcile {
			t.Errorf("%s: %s, reconcile %v; want %s, %v", method, l.paths(), run.Reconcile, want.paths, want.reconcile)
		}
		if run.Status != engine.StatusFailed || run.Code != "WOML_WORKFLOW_TIMED_OUT" || run.FailedAt != "step2" {
			t.Errorf("%s: the run %s at %q with %s", method, run.Status, run.FailedAt, run.Code)
		}
	}
}

func TestACancelComesTooLateForACompensation(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), "|"+doing("jobs")))
	var cancelled error
	l.world.answer = func(_ int, s seen) answer {
		switch s.path {
		case "/jobs":
			return answer{status: 422, body: "{}"}
		case "/refunds":
			run, _ := engine.ParseRequestID(s.id)
			l.clk.Go("cancel", func() { cancelled = l.eng.Cancel(engine.Cancellation{Run: run.Run}) })
			return answer{commit: true, status: 201, body: `{"id":"r"}`, after: time.Second}
		}
		return created
	}
	run := l.once(`{"orderId":"o1"}`)
	if !isRefused(cancelled) || run.Status != engine.StatusFailed || run.Reconcile || run.StepBelief(run.Steps[0]) != engine.BeliefCompensated {
		t.Errorf("cancelled with %v; run %s, reconcile %v; want it refused, and the run undone to its end", cancelled, run.Status, run.Reconcile)
	}
}

// A cancel ends what waits, and then undoes like a failure once nothing is unknown.
func TestACancelUndoesWhatTheRunHasDone(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name      string
		job       answer
		keep      bool
		paths     string
		stands    string
		reconcile bool
	}{
		{"while a retry is due", refused, false, "P/charges P/jobs P/refunds", "", false},
		{"with what it did to be kept", refused, true, "P/charges P/jobs", "step1", false},
		{"while a request is out, which becomes unknown", answer{broken: "hang"}, false, "P/charges P/jobs", "step1", true},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), retry3+doing("jobs")))
			l.world.answer = func(_ int, s seen) answer {
				if s.path == "/jobs" && s.method == "POST" {
					return r.job
				}
				if s.method == "GET" {
					return answer{status: 404, body: "{}"}
				}
				return created
			}
			l.start()
			var id string
			l.run(func() {
				a, err := l.eng.Admit(engine.Delivery{Workflow: "orders", Payload: []byte(`{"orderId":"o1"}`)})
				if err != nil {
					t.Error(err)
				}
				id = a.Run
				_ = l.clk.Sleep(t.Context(), 500*time.Millisecond)
				if err := l.eng.Cancel(engine.Cancellation{Run: id, Keep: r.keep}); err != nil {
					t.Error(err)
				}
			})
			run := l.get(id)
			// A 503 that is given up proves nothing: only what was refused for good does.
			if r.job.status == 503 && run.Reconcile {
				var err error
				if run, err = l.settle(id, engine.Abandon, false); err != nil {
					t.Fatal(err)
				}
				r.paths = strings.Replace(r.paths, "P/jobs", "P/jobs G/jobs/by-idempotency-key/"+run.Steps[1].Attempts[0].Key, 1)
			}
			if got := strings.Join(run.Stands, " "); l.paths() != r.paths || got != r.stands || run.Reconcile != r.reconcile || run.Status != engine.StatusCancelled {
				t.Errorf("%s; %s stands; reconcile %v; run %s\nwant %s; %s; %v; cancelled", l.paths(), got, run.Reconcile, run.Status, r.paths, r.stands, r.reconcile)
			}
		})
	}
}

// Abandoned after the run's timeout: the inverse has its own retry policy, which that timeout does not end.
func TestAnInverseIsRetriedAfterTheRunsTimeout(t *testing.T) {
	t.Parallel()
	doc := strings.Replace(document(`<config timeout="10m" />`, "|"+doing("charges")+"~~~"+doing("refunds"), "|"+doing("jobs")),
		"<compensate>", `<compensate retry="3" retry-delay="1s" retry-backoff="fixed">`, 1)
	l := newLab(t, nil, doc)
	refunds := 0
	l.world.answer = func(_ int, s seen) answer {
		switch {
		case s.method == "GET":
			return answer{status: 404, body: "{}"}
		case s.path == "/jobs":
			return lost
		case s.path == "/refunds":
			if refunds++; refunds == 1 {
				return answer{status: 429, body: "{}"}
			}
		}
		return created
	}
	run := l.once(`{"orderId":"o1"}`)
	l.run(func() { _ = l.clk.Sleep(t.Context(), 11*time.Minute) })
	run, err := l.settle(run.ID, engine.Abandon, false)
	if err != nil || run.StepBelief(run.Steps[0]) != engine.BeliefCompensated || run.Code == "WOML_WORKFLOW_TIMED_OUT" {
		t.Errorf("%v; %s, the charge is %s (%s); want it compensated, and the run failed by its job", err, l.paths(), run.StepBelief(run.Steps[0]), run.Code)
	}
}

// What a compensation still has to do is done after a crash, and after a decision.
func TestACompensationGoesOn(t *testing.T) {
	t.Parallel()
	doc := strings.Replace(document("", "|"+doing("charges")+"~~~"+doing("refunds"), "|"+doing("jobs")),
		"<compensate>", `<compensate retry="2" retry-delay="1s" retry-backoff="fixed">`, 1)
	for _, r := range []struct {
		name    string
		refunds []answer
		crash   bool
	}{
		{"a due retry, after a crash", []answer{refused, created}, true},
		{"a resubmit, which is really sent", []answer{lost, created}, false},
		{"a resubmit after a retry", []answer{refused, refused, created}, false},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, doc)
			n := 0
			l.world.answer = func(_ int, s seen) answer {
				switch {
				case s.method == "GET":
					return answer{status: 404, body: "{}"}
				case s.path == "/jobs":
					return answer{status: 422, body: "{}"}
				case s.path == "/refunds":
					n++
					return r.refunds[n-1]
				}
				return created
			}
			var run *engine.Run
			if r.crash {
				run = l.restart(l.crashAt("", 500*time.Millisecond))
			} else {
				var err error
				if run, err = l.settle(l.once(`{"orderId":"o1"}`).ID, engine.Resubmit, false); err != nil {
					t.Fatal(err)
				}
			}
			if b := run.StepBelief(run.Steps[0]); b != engine.BeliefCompensated || n != len(r.refunds) || len(run.Stands) > 0 {
				t.Errorf("the charge is %s after %d refunds were sent, %v stands: %s", b, n, run.Stands, l.paths())
			}
		})
	}
}

// What a history alone says of a run as a whole: what is believed done counts as standing.
func TestBelievedVerdicts(t *testing.T) {
	t.Parallel()
	rejected := answer{status: 422, body: "{}"}
	for _, r := range []struct {
		name    string
		answers map[string]answer
		want    engine.RunVerdict
	}{
		{"all done", nil, engine.RunWhole},
		{"undone", map[string]answer{"/jobs": rejected}, engine.RunNothing},
		{"one inverse refused", map[string]answer{"/jobs": rejected, "/releases": {status: 404, body: "{}"}}, engine.RunHalfDone},
		{"one inverse unknown", map[string]answer{"/jobs": rejected, "/releases": lost}, engine.RunUnresolved},
		{"held back by an unknown", map[string]answer{"/jobs": lost}, engine.RunUnresolved},
		{"the first step refused", map[string]answer{"/charges": rejected}, engine.RunNothing},
	} {
		l, run := order(t, r.answers)
		if got, err := run.BelievedVerdict(l.hist); err != nil || got != r.want {
			t.Errorf("%s: %q, %v, want %q", r.name, got, err, r.want)
		}
	}
}

// A rerun under the same keys is answered with what the first run undid: nothing of it stands.
func TestWhatAnotherRunUndidDoesNotStand(t *testing.T) {
	t.Parallel()
	under := func(path string) string {
		return strings.Replace(doing(path), "attempt.idempotencyKey", `"`+path+`"`, 1)
	}
	l := newLab(t, nil, document("", "|"+under("charges")+"~~~"+under("refunds"), "|"+under("jobs")))
	refuse := true
	l.world.answer = func(_ int, s seen) answer {
		if s.path == "/jobs" && refuse {
			return answer{status: 422, body: "{}"}
		}
		return created
	}
	first := l.once(`{"orderId":"o1"}`)
	refuse = false
	second := l.once(`{"orderId":"o1"}`)
	undone, err := second.UndoneIn(l.hist, second.Operations(second.Steps[0])[0])
	if err != nil || undone != first.ID {
		t.Errorf("undone in %q, %v, want %s", undone, err, first.ID)
	}
	for run, want := range map[*engine.Run]engine.RunVerdict{first: engine.RunNothing, second: engine.RunHalfDone} {
		if got, err := run.BelievedVerdict(l.hist); err != nil || got != want {
			t.Errorf("run %s %s: %q, %v, want %q", run.ID, run.Status, got, err, want)
		}
	}
}
