package engine_test

import (
	"strings"
	"testing"

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
		{"itself failed", map[string]answer{"/jobs": {status: 422, body: "{}"}, "/releases": {status: 404, body: "{}"}}, "P/charges P/holds P/jobs P/releases", "done done not-done not-done", false},
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

func TestACancelEndsACompensation(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), "|"+doing("jobs")))
	var cancelled error
	l.world.answer = func(_ int, s seen) answer {
		switch s.path {
		case "/jobs":
			return answer{status: 422, body: "{}"}
		case "/refunds":
			run, _ := engine.ParseRequestID(s.id)
			l.clk.Go("cancel", func() { cancelled = l.eng.Cancel(run.Run, "") })
			return answer{broken: "hang"}
		}
		return created
	}
	run := l.once(`{"orderId":"o1"}`)
	if cancelled != nil || run.Status != engine.StatusCancelled || !run.Reconcile {
		t.Errorf("cancelled with %v; run %s, reconcile %v; want a cancelled run that needs it", cancelled, run.Status, run.Reconcile)
	}
}
