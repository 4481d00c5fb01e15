package engine_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/assume"
)

// What one step under a key comes to, by what the provider answers.
func TestOneStep(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name     string
		answers  []answer
		status   engine.Status
		outcomes string
		belief   engine.Belief
		posts    int
		effects  int
	}{
		{"done at once", []answer{created}, engine.StatusSucceeded, "succeeded", engine.BeliefDone, 1, 1},
		{"A: 503 before the commit", []answer{refused, created}, engine.StatusSucceeded, "failed succeeded", engine.BeliefDone, 2, 1},
		{"B: 503 after the commit", []answer{hidden, replay}, engine.StatusSucceeded, "failed succeeded", engine.BeliefDone, 2, 1},
		{"C: dropped after the commit", []answer{dropped}, engine.StatusFailed, "unknown", engine.BeliefUnknown, 1, 1},
		{"F: dropped before the commit", []answer{lost}, engine.StatusFailed, "unknown", engine.BeliefUnknown, 1, 0},
		{"timed out", []answer{{broken: "hang"}}, engine.StatusFailed, "unknown", engine.BeliefUnknown, 1, 0},
		{"body cut", []answer{{commit: true, status: 201, body: `{"id"`, broken: "cut"}}, engine.StatusFailed, "unknown", engine.BeliefUnknown, 1, 1},
		{"body not JSON", []answer{{commit: true, status: 201, body: `<html>`}}, engine.StatusFailed, "unknown", engine.BeliefUnknown, 1, 1},
		{"never sent, then done", []answer{{broken: "refused"}, created}, engine.StatusSucceeded, "failed succeeded", engine.BeliefDone, 1, 1},
		{"never sent at all", []answer{{broken: "refused"}}, engine.StatusFailed, "failed failed failed", engine.BeliefNotDone, 0, 0},
		{"503 until the budget ends", []answer{refused}, engine.StatusFailed, "failed failed failed", engine.BeliefUnknown, 3, 0},
		{"422: the key is taken", []answer{{status: 422, body: `{}`}}, engine.StatusFailed, "failed", engine.BeliefNotDone, 1, 0},
		{"404", []answer{{status: 404, body: `{}`}}, engine.StatusFailed, "failed", engine.BeliefNotDone, 1, 0},
		{"409 may say that it exists", []answer{{status: 409, body: `{}`}}, engine.StatusFailed, "failed", engine.BeliefUnknown, 1, 0},
		{"409 in flight, then done", []answer{{status: 409, header: map[string]string{"Retry-After": "2"}, body: `{}`}, replay}, engine.StatusSucceeded, "failed succeeded", engine.BeliefDone, 2, 0},
		{"a redirect of a write", []answer{{status: 307, header: map[string]string{"Location": "/elsewhere"}}}, engine.StatusFailed, "unknown", engine.BeliefUnknown, 1, 0},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", retry3+post))
			l.replies(r.answers...)
			run := l.once(`{"orderId":"o1"}`)
			var outcomes []string
			for _, a := range run.Steps[0].Attempts {
				outcomes = append(outcomes, string(a.Outcome))
			}
			if got := strings.Join(outcomes, " "); run.Status != r.status || got != r.outcomes {
				t.Errorf("run %s, attempts %s; want %s, %s (%s)", run.Status, got, r.status, r.outcomes, run.Message)
			}
			if b := run.StepBelief(run.Steps[0]); b != r.belief {
				t.Errorf("believes %s, want %s", b, r.belief)
			}
			if run.Reconcile != (r.belief == engine.BeliefUnknown) {
				t.Errorf("reconcile %v while it believes %s", run.Reconcile, r.belief)
			}
			if n := l.world.posts(); n != r.posts || len(l.world.effects) != r.effects {
				t.Errorf("%d writes arrived and %d effects were made, want %d and %d", n, len(l.world.effects), r.posts, r.effects)
			}
			for _, s := range l.world.seen {
				if s.key != l.world.seen[0].key {
					t.Error("the key changed between attempts")
				}
			}
		})
	}
}

func TestRetriesComeWhenTheyAreDue(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.replies(answer{status: 503, header: map[string]string{"Retry-After": "4"}, body: "{}"}, refused, created)
	a := l.once(`{"orderId":"o1"}`).Steps[0].Attempts
	if d := a[1].StartedAt.Sub(a[0].EndedAt); d != 4*time.Second {
		t.Errorf("attempt 2 came %v after attempt 1, want the 4s of Retry-After", d)
	}
	if d := a[2].StartedAt.Sub(a[1].EndedAt); d != 2*time.Second {
		t.Errorf("attempt 3 came %v after attempt 2, want 2s", d)
	}
}

// lookup and resolve as a person does, and the run afterwards.
func (l *lab) settle(run string, d engine.Decision, force bool) (*engine.Run, error) {
	l.t.Helper()
	var err error
	l.run(func() {
		if _, err = l.eng.Lookup(l.t.Context(), run, "", engine.LookupOptions{}); err == nil {
			err = l.eng.Resolve(engine.Resolution{Run: run, Decision: d, Reason: "by the test", Force: force})
		}
	})
	return l.get(run), err
}

func TestRecordGoesOnDownstream(t *testing.T) {
	t.Parallel()
	next := `|const r = await services.http.request({method: "POST", url: "http://provider.test/notices", json: {job: context.steps.step1.job},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}); return {sent: context.steps.step1.job};`
	l := newLab(t, nil, document("", retry3+post, next))
	l.replies(dropped, created)
	run := l.once(`{"orderId":"o1"}`)
	if run.Status != engine.StatusFailed || !run.Reconcile {
		t.Fatalf("before: %s, reconcile %v", run.Status, run.Reconcile)
	}
	run, err := l.settle(run.ID, engine.Record, false)
	if err != nil {
		t.Fatal(err)
	}
	if run.Status != engine.StatusSucceeded || run.Reconcile || !run.Steps[0].ByRecord {
		t.Errorf("after: %s, %q", run.Status, run.Message)
	}
	if got := string(run.Steps[0].Result); got != `{"job":"job_1","attempt":1}` {
		t.Errorf("the step's result is %s", got)
	}
	if n := l.world.posts(); n != 2 {
		t.Errorf("%d writes arrived, want the dropped one and the notice", n)
	}
	if s := l.world.seen[2]; s.path != "/notices" || s.body != `{"job":"job_1"}` {
		t.Errorf("downstream sent %s %s", s.path, s.body)
	}
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name    string
		first   answer
		decide  engine.Decision
		force   bool
		refused string
		status  engine.Status
		belief  engine.Belief
		posts   int
	}{
		{"record what is there", dropped, engine.Record, false, "", engine.StatusSucceeded, engine.BeliefDone, 1},
		{"resubmit what is not there", lost, engine.Resubmit, false, "", engine.StatusSucceeded, engine.BeliefDone, 2},
		{"abandon what is not there", lost, engine.Abandon, false, "", engine.StatusFailed, engine.BeliefNotDone, 1},
		{"escalate", lost, engine.Escalate, false, "", engine.StatusFailed, engine.BeliefUnknown, 1},
		{"record what is not there", lost, engine.Record, true, "nothing to record", engine.StatusFailed, engine.BeliefUnknown, 1},
		{"resubmit what is there", dropped, engine.Resubmit, false, "do not send it again", engine.StatusFailed, engine.BeliefUnknown, 1},
		{"resubmit what is there, by force", dropped, engine.Resubmit, true, "do not send it again", engine.StatusFailed, engine.BeliefUnknown, 1},
		{"abandon what is there", dropped, engine.Abandon, false, "it happened", engine.StatusFailed, engine.BeliefUnknown, 1},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", retry3+post))
			l.replies(r.first, created)
			run, err := l.settle(l.once(`{"orderId":"o1"}`).ID, r.decide, r.force)
			var no *engine.Refused
			if (r.refused != "") != errors.As(err, &no) || no != nil && !strings.Contains(no.Why, r.refused) {
				t.Errorf("refused with %v, want %q", err, r.refused)
			}
			if b := run.StepBelief(run.Steps[0]); run.Status != r.status || b != r.belief || l.world.posts() != r.posts {
				t.Errorf("run %s, believes %s, %d writes; want %s, %s, %d", run.Status, b, l.world.posts(), r.status, r.belief, r.posts)
			}
			if unknown := run.Code == "FAULTLAB_OPERATION_UNKNOWN"; unknown != (r.belief == engine.BeliefUnknown) {
				t.Errorf("the run ended with %q: %s", run.Code, run.Message)
			}
			if r.force && r.refused == "" && run.Steps[0].Attempts[0].Calls[0].Decision().Forced == "" {
				t.Error("the history does not say that force was used")
			}
		})
	}
}

func TestADecisionNeedsEvidenceFirst(t *testing.T) {
	t.Parallel()
	for _, d := range []engine.Decision{engine.Record, engine.Resubmit, engine.Abandon} {
		l := newLab(t, nil, document("", retry3+post))
		l.replies(dropped)
		run := l.once(`{"orderId":"o1"}`)
		var err error
		l.run(func() { err = l.eng.Resolve(engine.Resolution{Run: run.ID, Decision: d}) })
		if err == nil || !strings.Contains(err.Error(), "look it up first") {
			t.Errorf("%s without a look-up: %v", d, err)
		}
		if got := l.get(run.ID); got.Last != run.Last {
			t.Errorf("%s: the refusal wrote to the history", d)
		}
	}
}

func TestARefusalDoesNotAskForALookUpThatThereIsNot(t *testing.T) {
	t.Parallel()
	declared, err := assume.Parse([]byte(`{"origins":{"*":{"lookup":"none"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(t, nil, document("", retry3+post))
	l.options = func(o *engine.Options) { o.Assume = declared }
	l.replies(dropped)
	run := l.once(`{"orderId":"o1"}`)
	call := run.Steps[0].Attempts[0].Calls[0]
	for _, d := range []engine.Decision{engine.Record, engine.Resubmit, engine.Abandon} {
		s := run.Situation(call, engine.UseOf(call, run), declared, l.clk.Now())
		if r := s.Ruling(d, false); r.Permission == engine.Allowed || !strings.Contains(r.Why, "has no look-up") {
			t.Errorf("%s: %+v", d, r)
		}
	}
	if engine.Askable(call, declared) || !engine.Askable(call, nil) {
		t.Error("the assumed contract does not say whether the call can be looked up")
	}
}

func TestALookUpNeedsAnAddress(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.replies(dropped)
	run := l.once(`{"orderId":"o1"}`)
	for _, at := range []string{"provider.test/jobs/{key}", "localhost:4040/jobs/{key}", "ftp://provider.test/{key}", "http://%/{key}"} {
		var err error
		l.run(func() { _, err = l.eng.Lookup(t.Context(), run.ID, "", engine.LookupOptions{URL: at}) })
		if !isRefused(err) || l.get(run.ID).Last != run.Last {
			t.Errorf("a look-up at %s gave %v", at, err)
		}
	}
}

// Two doubts in one attempt: the run goes on when both are recorded, and until then every list says so.
func TestARunWaitsForTheRecordOfEachDoubt(t *testing.T) {
	t.Parallel()
	both := `const send = (n) => services.http.request({method: "POST", url: "http://provider.test/jobs", json: {orderId: "o1"},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey + n}}, {name: "n" + n}).catch(() => {});
await Promise.all([send(1), send(2)]);
return 1;`
	l := newLab(t, nil, document("", "|"+both))
	l.replies(dropped)
	run := l.once(`{"orderId":"o1"}`)
	keys := []string{run.Steps[0].Attempts[0].Calls[0].Key, run.Steps[0].Attempts[0].Calls[1].Key}
	for i, key := range keys {
		var err error
		l.run(func() {
			if _, err = l.eng.Lookup(t.Context(), run.ID, key, engine.LookupOptions{}); err == nil {
				err = l.eng.Resolve(engine.Resolution{Run: run.ID, Key: key, Decision: engine.Record})
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		run = l.get(run.ID)
		list, err := l.hist.Runs(engine.Query{})
		if err != nil {
			t.Fatal(err)
		}
		if s := list[0]; s.Status != run.Status || s.Reconcile != run.Reconcile || !s.Ended.Equal(run.EndedAt) {
			t.Errorf("after record %d the list says %s, reconcile %v, ended %v; the run is %s, %v, %v", i+1, s.Status, s.Reconcile, s.Ended, run.Status, run.Reconcile, run.EndedAt)
		}
	}
	if run.Status != engine.StatusSucceeded {
		t.Errorf("run %s (%s)", run.Status, run.Message)
	}
}

func TestResubmitIsOneMoreAttemptBeyondTheBudget(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+post))
	l.replies(lost, refused, created)
	run, err := l.settle(l.once(`{"orderId":"o1"}`).ID, engine.Resubmit, false)
	if err != nil {
		t.Fatal(err)
	}
	a := run.Steps[0].Attempts
	if len(a) != 2 || a[1].By != "resubmit" || a[1].Key != a[0].Key || a[1].Next == engine.NextRetry {
		t.Errorf("%d attempts, the last %+v", len(a), a[len(a)-1])
	}
	if run.Status != engine.StatusFailed || !run.Reconcile {
		t.Errorf("run %s, reconcile %v: a 503 proves nothing", run.Status, run.Reconcile)
	}
}

func TestCancelInFlightIsUnknown(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.replies(answer{broken: "hang"})
	l.start()
	var id string
	l.run(func() {
		id, _ = l.admit("orders", "", `{"orderId":"o1"}`)
		_ = l.clk.Sleep(t.Context(), time.Second)
		if err := l.eng.Cancel(engine.Cancellation{Run: id}); err != nil {
			t.Error(err)
		}
	})
	run := l.get(id)
	if run.Status != engine.StatusCancelled || !run.Reconcile || run.Steps[0].Attempts[0].Outcome != engine.Unknown {
		t.Errorf("run %s, reconcile %v, attempt %s", run.Status, run.Reconcile, run.Steps[0].Attempts[0].Outcome)
	}
	if d := run.EndedAt.Sub(run.AdmittedAt); d != time.Second {
		t.Errorf("ended %v after its admission, want at the cancel", d)
	}
}

// While the cancel is on its way to the disk the run may come to its next step.
func TestNothingStartsAfterACancel(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+post, "|"+post))
	l.replies(answer{commit: true, status: 201, body: `{"id":"job_1"}`, after: time.Second})
	l.start()
	var id string
	l.run(func() {
		id, _ = l.admit("orders", "", `{"orderId":"o1"}`)
		l.clk.AfterFunc(0, func() { // after the request has begun to wait
			_ = l.clk.Sleep(t.Context(), time.Second)
			if err := l.eng.Cancel(engine.Cancellation{Run: id}); err != nil {
				t.Error(err)
			}
		})
	})
	events, err := l.hist.Events(id)
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	for _, e := range events {
		kind := e.Fact.Kind()
		if asked = asked || kind == engine.KindCancelAsked; asked && (kind == engine.KindAttemptStarted || kind == engine.KindRequestSent) {
			t.Errorf("after the cancel comes %s", kind)
		}
	}
	if run := l.get(id); run.Status != engine.StatusCancelled || !asked {
		t.Errorf("run %s", run.Status)
	}
}

func TestTwoDeliveriesMakeOneRun(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.replies(created)
	l.start()
	runs := map[string]int{}
	duplicates, conflict := 0, error(nil)
	l.run(func() {
		for range 5 {
			l.clk.Go("sender", func() {
				r, err := l.eng.Admit(engine.Delivery{Workflow: "orders", Trigger: "start", Key: "evt-1", Payload: json.RawMessage(`{"orderId":"o1"}`)})
				if err != nil {
					t.Error(err)
				}
				runs[r.Run]++
				if r.Duplicate {
					duplicates++
				}
			})
		}
	})
	l.run(func() {
		_, conflict = l.eng.Admit(engine.Delivery{Workflow: "orders", Trigger: "start", Key: "evt-1", Payload: json.RawMessage(`{"orderId":"o2"}`)})
	})
	if len(runs) != 1 || duplicates != 4 {
		t.Errorf("%d runs, %d duplicates", len(runs), duplicates)
	}
	var e *engine.Error
	if !errors.As(conflict, &e) || e.Code != "WOML_TRIGGER_IDEMPOTENCY_CONFLICT" {
		t.Errorf("a changed payload: %v", conflict)
	}
}
