package engine_test

import (
	"strings"
	"testing"

	"faultlab/engine"
)

// meanwhile is a history beside which something else happens just after a decision has read
// which runs sent its key, and before it is written down.
type meanwhile struct {
	engine.History
	f func()
}

func (h *meanwhile) KeyRuns(key string) ([]string, error) {
	runs, err := h.History.KeyRuns(key)
	if f := h.f; f != nil {
		h.f = nil
		f()
	}
	return runs, err
}

const businessPost = `const r = await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {orderId: context.payload.orderId},
  idempotency: {header: "Idempotency-Key", value: "job-" + context.payload.orderId}}, {name: "create"}); return {job: r.data.id};`

// The check of a decision and its append are one step: what another run does under the key
// in between is newer than the evidence.
func TestADecisionIsJudgedByWhatIsWrittenUntilItsAppend(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name    string
		between func(l *lab, other string) error
	}{
		{"nothing in between", nil},
		{"another run's request", func(l *lab, _ string) error {
			l.admit("orders", "", `{"orderId":"o1"}`)
			return l.clk.Sleep(l.t.Context(), 1)
		}},
		{"another run's resubmit, not sent yet", func(l *lab, other string) error {
			return l.eng.Resolve(engine.Resolution{Run: other, Decision: engine.Resubmit})
		}},
		{"a look-up that found it", func(l *lab, _ string) error {
			l.world.effects["job-o1"] = `{"orderId":"o1"}`
			run, err := l.hist.Runs(engine.Query{})
			if err != nil {
				return err
			}
			_, err = l.eng.Lookup(l.t.Context(), run[len(run)-1].Run, "", engine.LookupOptions{})
			return err
		}},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+businessPost))
			h := &meanwhile{History: l.hist}
			l.hist = h
			l.replies(lost, lost, created)
			l.options = func(o *engine.Options) {
				o.Assume = declare(t, `{"origins":{"http://provider.test":{"enforces":true}}}`)
			}
			first := l.once(`{"orderId":"o1"}`).ID
			var second string
			var err error
			l.run(func() { second, _ = l.admit("orders", "", `{"orderId":"o1"}`) })
			l.run(func() {
				for _, id := range []string{first, second} {
					if _, err := l.eng.Lookup(t.Context(), id, "", engine.LookupOptions{}); err != nil {
						t.Error(err)
					}
				}
				if r.between != nil {
					h.f = func() {
						if err := r.between(l, second); err != nil {
							t.Error(err)
						}
					}
				}
				err = l.eng.Resolve(engine.Resolution{Run: first, Decision: engine.Abandon})
			})
			if isRefused(err) != (r.between != nil) {
				t.Errorf("the decision: %v", err)
			}
		})
	}
}

// Of two deciders on one key, one of whom sends it again, the other one is refused until that has ended and was looked up.
func TestTwoDecidersOnOneKey(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+businessPost))
	l.replies(lost, lost, created)
	l.options = func(o *engine.Options) {
		o.Assume = declare(t, `{"origins":{"http://provider.test":{"enforces":true}}}`)
	}
	first := l.once(`{"orderId":"o1"}`).ID
	var second string
	l.run(func() { second, _ = l.admit("orders", "", `{"orderId":"o1"}`) })
	var again, abandon error
	l.run(func() {
		for _, id := range []string{first, second} {
			if _, err := l.eng.Lookup(t.Context(), id, "", engine.LookupOptions{}); err != nil {
				t.Error(err)
			}
		}
		l.clk.Go("one", func() { again = l.eng.Resolve(engine.Resolution{Run: second, Decision: engine.Resubmit}) })
		l.clk.Go("two", func() { abandon = l.eng.Resolve(engine.Resolution{Run: first, Decision: engine.Abandon}) })
	})
	if again != nil || !isRefused(abandon) || !strings.Contains(abandon.Error(), "look it up again") {
		t.Errorf("resubmit: %v; abandon: %v", again, abandon)
	}
	if _, err := l.settle(first, engine.Abandon, false); !isRefused(err) {
		t.Errorf("abandoned what the other one made: %v", err)
	}
	if run, err := l.settle(first, engine.Record, false); err != nil || run.Status != engine.StatusSucceeded {
		t.Errorf("recorded: %v", err)
	}
}

// refusing is a history that refuses the next append of one kind of fact.
type refusing struct {
	engine.History
	kind engine.Kind
}

type refusedTicket struct {
	engine.Ticket
	err error
}

func (t refusedTicket) Wait() error { return t.err }

func (h *refusing) Append(events ...engine.Event) engine.Ticket {
	for _, e := range events {
		if e.Fact.Kind() == h.kind {
			h.kind = ""
			return refusedTicket{h.History.Append(), &engine.RefusedError{Run: e.Run, Why: "by the test"}}
		}
	}
	return h.History.Append(events...)
}

// Who waits for the end of a run hears that its decision was refused by the history: nobody carries the run out.
func TestARefusedAppendWakesWhoWaits(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+post))
	h := &refusing{History: l.hist}
	l.hist = h
	l.replies(dropped)
	id := l.once(`{"orderId":"o1"}`).ID
	woken := false
	l.run(func() {
		if _, err := l.eng.Lookup(t.Context(), id, "", engine.LookupOptions{}); err != nil {
			t.Error(err)
		}
		h.kind = engine.KindDecided
		l.clk.Go("waits", func() { // while the disk is asked
			l.eng.Ended(id).Wait()
			woken = true
		})
		if err := l.eng.Resolve(engine.Resolution{Run: id, Decision: engine.Record}); err == nil {
			t.Error("the decision was not refused")
		}
	})
	if run := l.get(id); !woken || !run.Status.Ended() || !run.Reconcile {
		t.Errorf("woken %v; run %s, reconcile %v", woken, run.Status, run.Reconcile)
	}
}
