package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/clock"
)

// begin makes a new engine on the same history, which recovers nothing, and does f with it.
func (l *lab) begin(f func(*engine.Engine)) {
	l.t.Helper()
	eng := l.start()
	l.run(func() { f(eng) })
}

func TestACancelledBackoffSendsNothingMore(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.replies(refused, created)
	id := l.crashAt("", 300*time.Millisecond)
	l.begin(func(e *engine.Engine) {
		if err := e.Cancel(engine.Cancellation{Run: id, Inbox: "command-1"}); err != nil {
			t.Error(err)
		}
	})
	run := l.get(id)
	if run.Status != engine.StatusCancelled || l.world.posts() != 1 {
		t.Errorf("run %s, %d writes; want cancelled, and the one before the crash", run.Status, l.world.posts())
	}
	l.begin(func(e *engine.Engine) {
		if err := e.Cancel(engine.Cancellation{Run: id}); !isRefused(err) {
			t.Errorf("a second cancel gave %v", err)
		}
	})
}

func TestTwoCancelsEndARunOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.replies(refused, created)
	id := l.crashAt("", 300*time.Millisecond)
	l.begin(func(e *engine.Engine) {
		for range 2 {
			l.clk.Go("cancel", func() {
				if err := e.Cancel(engine.Cancellation{Run: id}); err != nil && !isRefused(err) {
					t.Error(err)
				}
			})
		}
	})
	events, err := l.hist.Events(id)
	if err != nil {
		t.Fatal(err)
	}
	ends := 0
	for _, e := range events {
		if e.Fact.Kind() == engine.KindEnded {
			ends++
		}
	}
	if ends != 1 || engine.Fold(events).Status != engine.StatusCancelled {
		t.Errorf("%d ends, %s; want one, cancelled", ends, engine.Fold(events).Status)
	}
}

func TestARunThatHasEndedIsNotCancelled(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+post))
	l.replies(created)
	var cancelled error
	l.options = func(o *engine.Options) {
		o.Observe = func(events []engine.Event) {
			if e := events[0]; e.Fact.Kind() == engine.KindEnded { // not on disk yet
				l.clk.Go("cancel", func() { cancelled = l.eng.Cancel(engine.Cancellation{Run: e.Run}) })
			}
		}
	}
	run := l.once(`{"orderId":"o1"}`)
	if !isRefused(cancelled) || run.Status != engine.StatusSucceeded {
		t.Errorf("the cancel gave %v, run %s; want a refusal, and the end as it was", cancelled, run.Status)
	}
}

func TestDecideLetsARunThatIsAtWorkBe(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+post))
	l.replies(answer{commit: true, status: 201, body: `{"id":"job_1"}`, after: 3 * time.Second})
	l.start()
	var id string
	l.run(func() {
		r, err := l.eng.Admit(engine.Delivery{Workflow: "orders", Payload: []byte(`{"orderId":"o1"}`)})
		if err != nil {
			t.Error(err)
			return
		}
		id = r.Run
		_ = l.clk.Sleep(t.Context(), time.Second)
		if decided, err := l.eng.Decide(id); decided || err != nil {
			t.Errorf("decided %v, %v", decided, err)
		}
	})
	if run := l.get(id); run.Status != engine.StatusSucceeded {
		t.Errorf("run %s (%s)", run.Status, run.Message)
	}
}

// contexts counts those that were made and not ended.
type contexts struct {
	clock.Clock
	open int
}

func (c *contexts) WithCancel(parent context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := c.Clock.WithCancel(parent)
	c.open++
	return ctx, func(cause error) {
		if ctx.Err() == nil {
			c.open--
		}
		cancel(cause)
	}
}

func TestWhatIsAskedOfAnEndedRunLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+post))
	l.replies(dropped)
	count := &contexts{Clock: l.clk}
	l.options = func(o *engine.Options) { o.Clock = count }
	id := l.once(`{"orderId":"o1"}`).ID
	l.run(func() {
		if _, err := l.eng.Lookup(t.Context(), id, "", engine.LookupOptions{}); err != nil {
			t.Error(err)
		}
		if err := l.eng.Resolve(engine.Resolution{Run: id, Decision: engine.Abandon}); !isRefused(err) {
			t.Errorf("abandoned what was found: %v", err)
		}
		if err := l.eng.Resolve(engine.Resolution{Run: id, Decision: engine.Escalate, Reason: "by the test"}); err != nil {
			t.Error(err)
		}
		if err := l.eng.Cancel(engine.Cancellation{Run: id}); !isRefused(err) {
			t.Errorf("cancelled what has ended: %v", err)
		}
	})
	if count.open != 2 {
		t.Errorf("%d contexts are open, want the engine's own: its end and its rest", count.open)
	}
}

func TestDecideEndsAnOpenAttemptAndLetsOtherRunsBe(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name    string
		answer  answer
		decided bool
		status  engine.Status
	}{
		{"in the middle of an attempt", answer{commit: true, broken: "hang"}, true, engine.StatusFailed},
		{"while a retry is due", refused, false, engine.StatusWaiting},
		{"when it has ended", created, false, engine.StatusSucceeded},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", retry3+post))
			l.replies(r.answer)
			id := l.crashAt("", 300*time.Millisecond)
			l.begin(func(e *engine.Engine) {
				if decided, err := e.Decide(id); err != nil || decided != r.decided {
					t.Errorf("decided %v, %v", decided, err)
				}
			})
			if run := l.get(id); run.Status != r.status || l.world.posts() != 1 {
				t.Errorf("run %s after %d writes, want %s after 1", run.Status, l.world.posts(), r.status)
			}
		})
	}
}

// An empty word, a shell's variable that is not set, is the beginning of every id.
func TestNoRunIsMeantByNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+post))
	l.replies(created)
	run := l.once(`{"orderId":"o1"}`)
	if _, err := l.eng.Get(""); !errors.Is(err, engine.ErrNoRun) {
		t.Errorf("no id at all: %v", err)
	}
	for _, id := range []string{run.ID, run.ID[:7], run.ID[4:7]} {
		if got, err := l.eng.Get(id); err != nil || got.ID != run.ID {
			t.Errorf("by %q: %v", id, err)
		}
	}
}

func TestARerunNeedsNoLoadedDocument(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.replies(created, created)
	first := l.once(`{"orderId":"o1"}`)
	l.docs = nil
	l.options = func(o *engine.Options) { o.Seed = 8 } // other ids than the first engine's
	var again engine.Receipt
	l.begin(func(e *engine.Engine) {
		var err error
		if again, err = e.Rerun(first.ID, "command-1"); err != nil {
			t.Error(err)
		}
	})
	run := l.get(again.Run)
	if run.Status != engine.StatusSucceeded || run.Admitted.RerunOf != first.ID || run.Admitted.Inbox != "command-1" {
		t.Errorf("run %s, rerun of %q, by command %q", run.Status, run.Admitted.RerunOf, run.Admitted.Inbox)
	}
	if run.Steps[0].Attempts[0].Key == first.Steps[0].Attempts[0].Key {
		t.Error("the rerun has the first run's key")
	}
}

// A cancel that comes while a worker takes a run up ends the attempt that a crash left open.
func TestACancelWhileARunIsTakenUp(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|await new Promise(done => setTimeout(done, 1000)); `+post))
	l.replies(created)
	id := l.crashAt("", 300*time.Millisecond)
	l.begin(func(e *engine.Engine) {
		l.clk.Go("cancel", func() {
			if err := e.Cancel(engine.Cancellation{Run: id}); err != nil {
				t.Error(err)
			}
		})
		if err := e.Recover(); err != nil {
			t.Error(err)
		}
	})
	run := l.get(id)
	if a := run.Steps[0].Last(); run.Status != engine.StatusCancelled || run.Reconcile || a.Outcome != engine.Failed || l.world.posts() != 0 {
		t.Errorf("run %s, reconcile %v, attempt %q, %d writes", run.Status, run.Reconcile, a.Outcome, l.world.posts())
	}
}

// A cancel that comes once the run looks for others, to undo what it has done, still counts: with --keep all stands.
func TestACancelAtTheLastMoment(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{true, false} {
		business := strings.Replace(doing("jobs"), "attempt.idempotencyKey", `"job-" + context.payload.orderId`, 1)
		l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"), "|"+business))
		h := &meanwhile{History: l.hist}
		l.hist = h
		l.answering(turn{"/jobs", answer{status: 404, body: "{}"}})
		l.start()
		var id string
		l.run(func() {
			h.f = func() {
				if err := l.eng.Cancel(engine.Cancellation{Run: id, Keep: keep}); err != nil {
					t.Error(err)
				}
			}
			id, _ = l.admit("orders", "", `{"orderId":"o1"}`)
		})
		want := map[bool]string{true: "P/charges P/jobs", false: "P/charges P/jobs P/refunds"}[keep]
		if run := l.get(id); run.Status != engine.StatusCancelled || run.Reconcile || l.written() != want {
			t.Errorf("keep %v: run %s, reconcile %v after %s, want %s", keep, run.Status, run.Reconcile, l.written(), want)
		}
	}
}

// A run whose attempt a crash left open and that is cancelled while it waits for a slot ends that attempt too.
func TestACancelWhileARunThatWasLeftWaitsForItsSlot(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document(`<config concurrency="1" />`, `|await new Promise(done => setTimeout(done, 1000)); `+post))
	l.replies(created)
	id := l.crashAt("", 300*time.Millisecond)
	l.begin(func(e *engine.Engine) {
		if _, err := e.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(`{"orderId":"o2"}`)}); err != nil {
			t.Error(err)
		}
		_ = l.clk.Sleep(t.Context(), 100*time.Millisecond) // the new run has the slot
		if err := e.Recover(); err != nil {
			t.Error(err)
		}
		_ = l.clk.Sleep(t.Context(), 100*time.Millisecond)
		if err := e.Cancel(engine.Cancellation{Run: id}); err != nil {
			t.Error(err)
		}
	})
	run := l.get(id)
	if a := run.Steps[0].Last(); run.Status != engine.StatusCancelled || run.Reconcile || a.Outcome != engine.Failed {
		t.Errorf("run %s, reconcile %v, attempt %q", run.Status, run.Reconcile, a.Outcome)
	}
}
