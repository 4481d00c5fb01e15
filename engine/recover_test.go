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

// A crash after the answer is on disk and before the step's end: the same attempt goes on from its journal.
func TestAnAttemptGoesOnFromItsJournal(t *testing.T) {
	t.Parallel()
	sleep := `await new Promise(done => setTimeout(done, 2000)); `
	flaky := workflowOf("child", `retry="2" retry-backoff="fixed" retry-delay="3s"`, `await services.http.request({url: "http://p.test/flaky"}); return "child";`)
	for _, r := range []struct {
		name, script, result string
		posts                int
		paths                string
	}{
		{"before it called anything", sleep + `return attempt.number;`, `1`, 0, ""},
		{"after an answer", strings.Replace(post, "return", sleep+"return", 1), `{"job":"job_1","attempt":1}`, 1, "P/jobs"},
		{"during a read, which is made again", `const r = await services.http.request({url: "http://p.test/slow"}); return r.data.id;`, `"slow"`, 0, "G/slow G/slow"},
		{"during a read, after an answer", strings.Replace(post, "return", `const s = await services.http.request({url: "http://p.test/slow"}); return`, 1), `{"job":"job_1","attempt":1}`, 1, "P/jobs G/slow G/slow"},
		{"before the next write, a normal send", strings.Replace(post, "return", sleep+strings.NewReplacer("const r", "const n", `"create"`, `"note"`, "/jobs", "/notes").Replace(post)+"//", 1), `{"job":"job_1","attempt":1}`, 2, "P/jobs P/notes"},
		{"while a child waited for its retry", `return await services.workflows.call("child", {});`, `"child"`, 0, "G/flaky G/flaky"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", retry3+r.script), flaky)
			l.world.answer = func(n int, s seen) answer {
				switch {
				case s.path == "/slow":
					return answer{status: 200, body: `{"id":"slow"}`, after: 2 * time.Second}
				case s.path == "/flaky" && n == 0:
					return refused
				}
				return created
			}
			run := l.restart(l.crashAt("", time.Second))
			s := run.Steps[0]
			if run.Status != engine.StatusSucceeded || len(s.Attempts) != 1 || string(s.Result) != r.result || l.world.posts() != r.posts || l.paths() != r.paths {
				t.Errorf("run %s (%s), result %s after %d attempts, %s; want %s after 1, %s", run.Status, run.Message, s.Result, len(s.Attempts), l.paths(), r.result, r.paths)
			}
			for _, c := range s.Attempts[0].Calls {
				if !c.Ended {
					t.Errorf("call %d has no end", c.N())
				}
			}
		})
	}
}

// A script that is not repeatable does not go on after a crash. The run is listed, nothing
// of it is undone, and it can be resubmitted: what is done is not sent again.
func TestWhatCannotGoOnFromItsJournalWaitsForAPerson(t *testing.T) {
	t.Parallel()
	random := `const note = await services.http.request({url: "http://provider.test/rate?n=" + secrets.N}); ` +
		strings.Replace(post, "return", `await new Promise(done => setTimeout(done, 2000)); return`, 1)
	l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), retry3+random))
	n := 0
	l.options = func(o *engine.Options) {
		n++
		now := n
		o.Secrets = func(string) (string, bool) { return string(rune('0' + now)), true }
	}
	l.world.answer = func(int, seen) answer { return created }
	id := l.crashAt("", time.Second)
	run := l.restart(id)
	if run.Status != engine.StatusFailed || !run.Reconcile || run.Steps[1].Last().Code != "FAULTLAB_SCRIPT_NOT_REPEATABLE" || strings.Contains(l.paths(), "refunds") {
		t.Fatalf("run %s, reconcile %v, %s: %s", run.Status, run.Reconcile, run.Steps[1].Last().Code, l.paths())
	}
	var err error
	l.run(func() { err = l.eng.Resolve(engine.Resolution{Run: id, Decision: engine.Resubmit}) })
	run = l.get(id)
	if err != nil || run.Status != engine.StatusSucceeded || l.world.posts() != 2 {
		t.Errorf("%s (%s), %v, %s; want it succeeded by what was done", run.Status, run.Message, err, l.paths())
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

// What a script does else than before is refused before the decision is written, and its result can be given by hand.
func TestARecordThatCannotBeCarriedOnIsRefused(t *testing.T) {
	t.Parallel()
	rate := `await services.http.request({method: "POST", url: "http://provider.test/rates", json: {n: secrets.N}, idempotency: {header: "Idempotency-Key", value: "rate"}}, {name: "rate"}); `
	for _, r := range []struct {
		name, script, why string
		secrets           []string // at the run and at the decision; empty: not set
	}{
		{"another call sends something else", rate + post, "not repeatable", []string{"1", "2"}},
		{"the script throws on the record", strings.Replace(post, "return", `if (r.status !== 201) throw new Error("unexpected " + r.status); return`, 1), "unexpected 200", nil},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), retry3+r.script))
			life := -1
			l.options = func(o *engine.Options) {
				life++
				now := life
				o.Secrets = func(string) (string, bool) { return r.secrets[now], r.secrets[now] != "" }
			}
			l.world.answer = func(_ int, s seen) answer {
				switch {
				case s.method == "GET":
					return answer{status: 200, body: `{"id":"job_1","orderId":"o1"}`}
				case s.path == "/jobs":
					return dropped
				}
				return created
			}
			before := l.once(`{"orderId":"o1"}`)
			var err error
			l.begin(func(e *engine.Engine) {
				if _, err = e.Lookup(t.Context(), before.ID, "", engine.LookupOptions{}); err == nil {
					err = e.Resolve(engine.Resolution{Run: before.ID, Decision: engine.Record})
				}
			})
			run := l.get(before.ID)
			now, _ := l.eng.Situation(run, run.Unsettled()[0])
			if now.Advice() != engine.AdviseResult || now.Ruling(engine.Record, false).Permission != engine.Denied || now.Ruling(engine.Record, true).Permission != engine.Allowed || !strings.Contains(now.Sentence(), "--result") {
				t.Errorf("advised: %s, %s", now.Advice(), now.Sentence())
			}
			if !isRefused(err) || !strings.Contains(err.Error(), r.why) || !strings.Contains(err.Error(), "--result") {
				t.Fatalf("the record gave %v; want it refused, and to hear of %q and --result", err, r.why)
			}
			if !run.Reconcile || len(run.Doubts(run.Steps[1])[0].Evidence) != 1 || strings.Contains(l.paths(), "refunds") {
				t.Fatalf("run %s, reconcile %v: %s; want it unknown with its evidence", run.Status, run.Reconcile, l.paths())
			}
			l.run(func() {
				err = l.eng.Resolve(engine.Resolution{Run: run.ID, Decision: engine.Record, Result: json.RawMessage(`{"job":"by hand"}`)})
			})
			run = l.get(run.ID)
			if err != nil || run.Status != engine.StatusSucceeded || string(run.Steps[1].Result) != `{"job":"by hand"}` || strings.Contains(l.paths(), "refunds") {
				t.Errorf("by hand: %v, run %s, result %s: %s", err, run.Status, run.Steps[1].Result, l.paths())
			}
		})
	}
}

// What a decision lets follow needs its secrets, and without them nothing is decided.
func TestADecisionNeedsTheSecretsOfWhatFollows(t *testing.T) {
	t.Parallel()
	withToken := func(name, script string) string {
		return strings.Replace(script, `json:`, `headers: {"X-Token": secrets.`+name+`}, json:`, 1)
	}
	l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+withToken("REFUND", doing("refunds")), "|"+withToken("JOB", doing("jobs")), "|"+withToken("NOTE", doing("notes"))))
	there := true
	l.world.answer = func(_ int, s seen) answer {
		switch {
		case s.path == "/jobs":
			return dropped
		case s.method == "GET" && there:
			return replay
		case s.method == "GET":
			return answer{status: 404, body: "{}"}
		}
		return created
	}
	missing := ""
	l.options = func(o *engine.Options) {
		o.Secrets = func(name string) (string, bool) { return "value", name != missing }
	}
	run := l.once(`{"orderId":"o1"}`)
	for _, r := range []struct {
		decision engine.Decision
		missing  string
		refused  bool
	}{
		{engine.Record, "JOB", true}, {engine.Record, "NOTE", true}, {engine.Resubmit, "NOTE", true}, {engine.Abandon, "REFUND", true},
		{engine.Escalate, "JOB", false}, {engine.Record, "REFUND", false},
	} {
		missing, there = r.missing, r.decision == engine.Record
		before := l.get(run.ID)
		var err error
		l.begin(func(e *engine.Engine) {
			missing = ""
			_, err = e.Lookup(t.Context(), run.ID, "", engine.LookupOptions{})
			missing = r.missing
			if err == nil {
				err = e.Resolve(engine.Resolution{Run: run.ID, Decision: r.decision, Reason: "by the test", Force: true})
			}
		})
		after := l.get(run.ID)
		if isRefused(err) != r.refused || r.refused && (!strings.Contains(err.Error(), r.missing) || after.Last != before.Last+1) {
			t.Errorf("%s without %s gave %v", r.decision, r.missing, err)
		}
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
