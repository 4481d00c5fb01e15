package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/woml"
)

// admit asks for a run and gives back its id, or the refusal's code.
func (l *lab) admit(workflow, key, payload string) (run, code string) {
	r, err := l.eng.Admit(engine.Delivery{Workflow: workflow, Trigger: "start", Key: key, Payload: json.RawMessage(payload)})
	var e *engine.Error
	switch {
	case errors.As(err, &e):
		return "", e.Code
	case err != nil:
		l.t.Error(err)
	}
	return r.Run, ""
}

func TestAFullQueueTakesNobody(t *testing.T) {
	t.Parallel()
	starter := workflowOf("starter", `retry="2"`, `return await services.workflows.start("orders", {});`)
	l := newLab(t, nil, document(`<config concurrency="1" />`, slow), starter)
	l.replies(answer{broken: "hang"})
	l.start()
	var first, parent string
	l.run(func() {
		for i := range 10_001 {
			run, code := l.admit("orders", fmt.Sprintf("evt-%d", i), `{}`)
			if code != "" {
				t.Errorf("delivery %d: %s", i+1, code)
				return
			}
			if i == 0 {
				first = run
			}
		}
		if _, code := l.admit("orders", "one more", `{}`); code != "WOML_POLICY_QUEUE_FULL" {
			t.Errorf("one more than the queue holds: %q", code)
		}
		if run, code := l.admit("orders", "evt-0", `{}`); run != first || code != "" {
			t.Errorf("a redelivery of what was taken: %q %q, want %s", run, code, first)
		}
		parent, _ = l.admit("starter", "", `{}`)
		_ = l.clk.Sleep(t.Context(), 5*time.Second)
		l.eng.Kill()
	})
	r := l.get(parent)
	if c := r.Steps[0].Attempts[0].Calls[0]; c.Code != "WOML_POLICY_QUEUE_FULL" || c.Next != engine.NextAgain {
		t.Errorf("the child's start ended %s, %s", c.Code, c.Next)
	}
	if n := len(r.Steps[0].Attempts); n != 2 {
		t.Errorf("the parent made %d attempts, want its 2", n)
	}
}

// A run without a policy waits for nobody, however many there are.
func TestWithoutALimitNobodyQueues(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|return 1;`))
	l.start()
	l.run(func() {
		for range 10_050 {
			if _, err := l.eng.Submit(engine.Delivery{Workflow: "orders"}); err != nil {
				t.Error(err)
				return
			}
		}
	})
}

func TestACancelledRunLeavesTheQueue(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document(`<config concurrency="1" />`, slow))
	l.replies(answer{commit: true, status: 201, body: `{}`, after: time.Second})
	l.start()
	var ids [3]string
	l.run(func() {
		for i := range ids {
			ids[i], _ = l.admit("orders", "", `{}`)
		}
		if err := l.eng.Cancel(engine.Cancellation{Run: ids[1]}); err != nil {
			t.Error(err)
		}
	})
	second, third := l.get(ids[1]), l.get(ids[2])
	if second.Status != engine.StatusCancelled || len(second.Steps) != 0 || second.Reconcile || second.Code != "WOML_SCRIPT_CANCELLED" {
		t.Errorf("the queued run %s with %d steps, code %s", second.Status, len(second.Steps), second.Code)
	}
	if d := third.StartedAt.Sub(third.AdmittedAt); third.Status != engine.StatusSucceeded || d != time.Second {
		t.Errorf("the third run %s after waiting %v, want the second's turn", third.Status, d)
	}
}

// A run that is cancelled while nobody carries it out never asks for its slot, and keeps none.
func TestARunCancelledBeforeItAskedKeepsNoSlot(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document(`<config concurrency="1" />`, slow))
	l.replies(answer{broken: "hang"}, answer{commit: true, status: 201, body: `{}`})
	var ids [2]string
	l.start()
	l.run(func() {
		for i := range ids {
			ids[i], _ = l.admit("orders", "", `{}`)
		}
		_ = l.clk.Sleep(t.Context(), time.Second)
		l.eng.Kill()
	})
	l.start()
	var last string
	l.run(func() {
		if err := l.eng.Cancel(engine.Cancellation{Run: ids[1]}); err != nil {
			t.Error(err)
		}
		last, _ = l.admit("orders", "", `{}`)
	})
	if r := l.get(ids[1]); r.Status != engine.StatusCancelled {
		t.Errorf("the queued run %s", r.Status)
	}
	if r := l.get(last); r.Status != engine.StatusSucceeded {
		t.Errorf("the next run %s: the cancelled one keeps the slot", r.Status)
	}
}

func TestTheRatesWindowOutlivesTheWorker(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document(`<config rate-limit="2/10s" />`, slow))
	l.replies(answer{commit: true, status: 201, body: `{}`})
	runs := l.submit(2)
	l.run(func() {
		_ = l.clk.Sleep(t.Context(), 4*time.Second)
		l.eng.Kill()
	})
	third := l.submit(1)[0]
	if d := third.StartedAt.Sub(runs[0].StartedAt); d != 10*time.Second {
		t.Errorf("the third run started %v after the first, want the window of 10s", d)
	}
	l.eng.Kill()
	l.run(func() { _ = l.clk.Sleep(t.Context(), time.Minute) })
	if late := l.submit(1)[0]; late.StartedAt != late.AdmittedAt {
		t.Errorf("a run after an empty window waited %v", late.StartedAt.Sub(late.AdmittedAt))
	}
}

// The document that is loaded says the limits, also while runs of a former one are at work.
func TestRunsOfTwoVersionsShareTheirLimit(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document(`<config concurrency="1" />`, slow))
	took := []time.Duration{time.Second, 5 * time.Second, time.Second}
	l.world.answer = func(n int, _ seen) answer { return answer{commit: true, status: 201, body: `{}`, after: took[n]} }
	l.start()
	edited, _ := woml.Parse([]byte(document(`<config concurrency="2" queue="other.lane" />`, slow)))
	var ids [3]string
	l.run(func() {
		ids[0], _ = l.admit("orders", "", `{}`)
		l.eng.Load(edited)
		ids[1], _ = l.admit("orders", "", `{}`)
		ids[2], _ = l.admit("orders", "", `{}`)
	})
	for i, want := range []time.Duration{0, 0, time.Second} {
		if r := l.get(ids[i]); r.StartedAt.Sub(r.AdmittedAt) != want {
			t.Errorf("run %d started after %v, want %v", i+1, r.StartedAt.Sub(r.AdmittedAt), want)
		}
	}
}

// A parent whose slot is taken while it waits for a child still ends at its timeout.
func TestATimeoutDoesNotWaitForASlot(t *testing.T) {
	t.Parallel()
	config := `<config concurrency="1" timeout="5s" />`
	parent := document(config, `|if (context.payload.hog) { await services.http.request({method: "POST", url: "http://p.test/", json: {}, timeout: "1h"}); }
return await services.workflows.call("child", context.payload);`)
	l := newLab(t, nil, parent, workflowOf("child", "", post))
	l.world.answer = func(n int, s seen) answer {
		if n == 0 {
			return answer{commit: true, status: 201, body: `{"id":"j"}`, after: 2 * time.Second}
		}
		return answer{broken: "hang"}
	}
	l.start()
	var first string
	l.run(func() {
		first, _ = l.admit("orders", "", `{"orderId":"o1"}`)
		_ = l.clk.Sleep(t.Context(), time.Second)
		_, _ = l.admit("orders", "", `{"hog":true}`)
	})
	r := l.get(first)
	if d := r.EndedAt.Sub(r.StartedAt); r.Code != "WOML_WORKFLOW_TIMED_OUT" || d != 5*time.Second {
		t.Errorf("the parent ended %s after %v, want its timeout of 5s", r.Code, d)
	}
}
