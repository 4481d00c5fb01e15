package engine_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

// crashAt delivers one payload and kills the engine the first time that something
// passes the point, or with an empty point after the given time. It gives back the run's id.
func (l *lab) crashAt(p clock.Point, after time.Duration) string {
	l.t.Helper()
	eng := l.start()
	var id string
	if p != "" {
		l.clk.SetGate(func(at clock.Point, _ string) clock.Verdict {
			if at == p {
				eng.Kill()
			}
			return clock.Pass
		})
	}
	l.run(func() {
		r, err := eng.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(`{"orderId":"o1"}`)})
		if err != nil {
			l.t.Error(err)
			return
		}
		id = r.Run
		if p == "" {
			_ = l.clk.Sleep(l.t.Context(), after)
			eng.Kill()
		}
	})
	l.clk.SetGate(nil)
	return id
}

// restart makes a new engine on the same history and lets it recover.
func (l *lab) restart(id string) *engine.Run {
	l.t.Helper()
	eng := l.start()
	l.run(func() {
		if err := eng.Recover(); err != nil {
			l.t.Error(err)
		}
	})
	return l.get(id)
}

func TestRecoveryDecidesByWhatIsOnDisk(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name    string
		answers []answer
		point   clock.Point
		after   time.Duration
		status  engine.Status
		belief  engine.Belief
		posts   int
	}{
		{"before the send: the start is on disk, so it may have been sent", []answer{created}, clock.AtSend, 0, engine.StatusFailed, engine.BeliefUnknown, 0},
		{"after the effect, before the answer", []answer{{commit: true, broken: "hang"}}, "", time.Second, engine.StatusFailed, engine.BeliefUnknown, 1},
		{"after the answer, before it is on disk", []answer{created}, clock.AtRecord, 0, engine.StatusFailed, engine.BeliefUnknown, 1},
		{"during the backoff", []answer{refused, created}, "", 500 * time.Millisecond, engine.StatusSucceeded, engine.BeliefDone, 2},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", retry3+post))
			l.replies(r.answers...)
			id := l.crashAt(r.point, r.after)
			if l.get(id).Status.Ended() {
				t.Fatal("the run ended before the crash")
			}
			run := l.restart(id)
			if b := run.StepBelief(run.Steps[0]); run.Status != r.status || b != r.belief || l.world.posts() != r.posts {
				t.Errorf("run %s, believes %s, %d writes; want %s, %s, %d", run.Status, b, l.world.posts(), r.status, r.belief, r.posts)
			}
		})
	}
}

func TestABackoffKeepsItsDueTimeAndItsDocument(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.replies(refused, created)
	id := l.crashAt("", 300*time.Millisecond)
	edited, _ := woml.Parse([]byte(document("", `retry="3"|throw new Error("edited");`)))
	l.docs = []*woml.Document{edited}
	run := l.restart(id)
	a := run.Steps[0].Attempts
	if run.Status != engine.StatusSucceeded || len(a) != 2 {
		t.Fatalf("run %s after %d attempts: %s", run.Status, len(a), run.Message)
	}
	if d := a[1].StartedAt.Sub(a[0].EndedAt); d != time.Second {
		t.Errorf("attempt 2 came after %v, want the 1s that was due before the crash", d)
	}
}

func TestAFinishedStepNeverRunsAgain(t *testing.T) {
	t.Parallel()
	second := `|const r = await services.http.request({method: "POST", url: "http://provider.test/notices", json: {notice: 1},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}); return r.data;`
	l := newLab(t, nil, document("", retry3+post, second))
	l.replies(created, answer{commit: true, broken: "hang"}, created)
	id := l.crashAt("", time.Second)
	run := l.restart(id)
	if len(run.Steps[0].Attempts) != 1 || l.world.posts() != 2 {
		t.Errorf("%d attempts of the finished step, %d writes", len(run.Steps[0].Attempts), l.world.posts())
	}
	run, err := l.settle(id, engine.Record, false)
	if err != nil || run.Status != engine.StatusSucceeded {
		t.Errorf("after the record: %s, %v", run.Status, err)
	}
}

// A crash after the answer is on disk: the journal has it, so no look-up is needed to go on.
func TestAKnownAnswerCanBeRecordedWithoutALookUp(t *testing.T) {
	t.Parallel()
	slow := `const r = await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {orderId: context.payload.orderId},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}, {name: "create"});
await new Promise(done => setTimeout(done, 1000));
return {job: r.data.id};`
	l := newLab(t, nil, document("", retry3+slow))
	l.replies(created)
	id := l.crashAt("", 500*time.Millisecond)
	run := l.restart(id)
	if run.Status != engine.StatusFailed || run.Reconcile || run.StepBelief(run.Steps[0]) != engine.BeliefDone {
		t.Fatalf("run %s, reconcile %v, believes %s", run.Status, run.Reconcile, run.StepBelief(run.Steps[0]))
	}
	var err error
	l.run(func() { err = l.eng.Resolve(engine.Resolution{Run: id, Decision: engine.Record}) })
	run = l.get(id)
	if err != nil || run.Status != engine.StatusSucceeded || string(run.Steps[0].Result) != `{"job":"job_1"}` || l.world.posts() != 1 {
		t.Errorf("%s (%s), %v, result %s, %d writes", run.Status, run.Message, err, run.Steps[0].Result, l.world.posts())
	}
}

// A crash in the middle of the first new call after a record: that call is decided as any other.
func TestACrashWhileAJournalIsPlayed(t *testing.T) {
	t.Parallel()
	second := `await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {orderId: "o2"},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey + "-2"}}, {name: "second"}); `
	l := newLab(t, nil, document("", retry3+strings.Replace(post, "return", second+"return", 1)))
	l.replies(dropped, answer{commit: true, broken: "hang"})
	id := l.once(`{"orderId":"o1"}`).ID
	l.run(func() {
		if _, err := l.eng.Lookup(t.Context(), id, "", engine.LookupOptions{}); err != nil {
			t.Error(err)
		}
		if err := l.eng.Resolve(engine.Resolution{Run: id, Decision: engine.Record}); err != nil {
			t.Error(err)
		}
		_ = l.clk.Sleep(t.Context(), time.Second)
		l.eng.Kill()
	})
	run := l.restart(id)
	if run.Status != engine.StatusFailed || !run.Reconcile || len(run.Doubts(run.Steps[0])) != 1 {
		t.Fatalf("after the crash: run %s, reconcile %v, %d doubts; want one", run.Status, run.Reconcile, len(run.Doubts(run.Steps[0])))
	}
	run, err := l.settle(id, engine.Record, false)
	if err != nil || run.Status != engine.StatusSucceeded || l.world.posts() != 2 {
		t.Errorf("after the second record: run %s, %v, %d writes", run.Status, err, l.world.posts())
	}
}

// A timer that the journal did not bring to its end goes on beside the first new call, and does not end at once.
func TestATimerOutlivesTheJournal(t *testing.T) {
	t.Parallel()
	guarded := `const slow = new Promise((_, no) => setTimeout(() => no(new Error("too slow")), 4000));
const send = (n) => Promise.race([slow, services.http.request({method: "POST", url: "http://provider.test/jobs", json: {orderId: "o1"},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey + n}}, {name: "n" + n})]);
await send(1);
await send(2);
return 1;`
	for _, r := range []struct {
		after time.Duration // of the second answer
		want  engine.Status
	}{{3 * time.Second, engine.StatusSucceeded}, {5 * time.Second, engine.StatusFailed}} {
		l := newLab(t, nil, document("", "|"+guarded))
		l.replies(dropped, answer{commit: true, status: 201, body: `{"id":"job_2"}`, after: r.after})
		run, err := l.settle(l.once(`{"orderId":"o1"}`).ID, engine.Record, false)
		if err != nil || run.Status != r.want {
			t.Errorf("an answer after %v: run %s (%s), %v", r.after, run.Status, run.Message, err)
		}
	}
}

func TestAScriptThatIsNotRepeatableSaysSo(t *testing.T) {
	t.Parallel()
	calls := 0
	l := newLab(t, nil, document("", `|const r = await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {n: Number(secrets.N)},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}); return r.data;`))
	l.options = func(o *engine.Options) {
		o.Secrets = func(string) (string, bool) { calls++; return string(rune('0' + calls)), true }
	}
	l.replies(dropped)
	run, err := l.settle(l.once(`{"orderId":"o1"}`).ID, engine.Record, true)
	if err != nil {
		t.Fatal(err)
	}
	a := run.Steps[0].Last()
	if a.Code != "FAULTLAB_SCRIPT_NOT_REPEATABLE" || run.Status != engine.StatusFailed || l.world.posts() != 1 {
		t.Fatalf("attempt ended %s, run %s, %d writes", a.Code, run.Status, l.world.posts())
	}
	l.run(func() {
		err = l.eng.Resolve(engine.Resolution{Run: run.ID, Decision: engine.Record, Result: json.RawMessage(`{"job":"by hand"}`)})
	})
	run = l.get(run.ID)
	if err != nil || run.Status != engine.StatusSucceeded || string(run.Steps[0].Result) != `{"job":"by hand"}` {
		t.Errorf("by hand: %v, run %s, result %s", err, run.Status, run.Steps[0].Result)
	}
}

// A crash in a step that had written nothing yet: it is not tried again by itself, and
// one more attempt is allowed, under the same key and with what earlier steps did.
func TestAnAttemptThatWroteNothingCanBeResubmitted(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ name, script, result string }{
		{"before it called anything", `await new Promise(done => setTimeout(done, 2000)); return context.steps.step1.job + attempt.number;`, `"job_12"`},
		{"during a read", `return (await services.http.request({url: "http://p.test/slow"})).data.id + attempt.number;`, `"slow2"`},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+post, retry3+r.script))
			l.world.answer = func(_ int, s seen) answer {
				if s.path == "/slow" {
					return answer{status: 200, body: `{"id":"slow"}`, after: 2 * time.Second}
				}
				return created
			}
			id := l.crashAt("", time.Second)
			run := l.restart(id)
			if a := run.Steps[1].Last(); run.Status != engine.StatusFailed || run.Reconcile || a.N != 1 || a.Next != engine.NextStop || !strings.Contains(run.Message, "resubmit") {
				t.Fatalf("after the crash: run %s, attempt %d, next %s: %s", run.Status, a.N, a.Next, run.Message)
			}
			var abandoned, resubmitted error
			l.run(func() {
				abandoned = l.eng.Resolve(engine.Resolution{Run: id, Decision: engine.Abandon})
				resubmitted = l.eng.Resolve(engine.Resolution{Run: id, Decision: engine.Resubmit})
			})
			if !isRefused(abandoned) || resubmitted != nil {
				t.Fatalf("abandon: %v; resubmit: %v", abandoned, resubmitted)
			}
			run = l.get(id)
			s := run.Steps[1]
			if run.Status != engine.StatusSucceeded || string(s.Result) != r.result || len(s.Attempts) != 2 || s.Attempts[0].Key != s.Attempts[1].Key {
				t.Errorf("run %s, result %s after %d attempts, want %s after 2 (%s)", run.Status, s.Result, len(s.Attempts), r.result, run.Message)
			}
			if n := l.world.posts(); n != 1 {
				t.Errorf("%d writes, want the first step's alone", n)
			}
		})
	}
}

// unreadable is a history of which one run cannot be read.
type unreadable struct {
	engine.History
	run string
}

func (u unreadable) Events(run string) ([]engine.Event, error) {
	if run == u.run {
		return nil, errors.New("its history is damaged")
	}
	return u.History.Events(run)
}

func TestARunThatCannotBeReadStandsInNobodysWay(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.replies(refused, refused, created)
	first, second := l.crashAt("", time.Millisecond), l.crashAt("", time.Millisecond)
	l.hist = unreadable{l.hist, first}
	eng := l.start()
	l.run(func() {
		var left engine.LeftError
		if err := eng.Recover(); !errors.As(err, &left) || len(left) != 1 || !strings.Contains(err.Error(), first) {
			t.Errorf("recovery says %v, want that %s was left", err, first)
		}
	})
	if run := l.get(second); run.Status != engine.StatusSucceeded {
		t.Errorf("the other run %s", run.Status)
	}
}
