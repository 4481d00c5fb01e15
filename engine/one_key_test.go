package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
)

// A result given by hand ends the step: it may not do so while another write of the step is unknown, under the same key or another.
func TestAResultByHandWaitsForEveryOtherWrite(t *testing.T) {
	t.Parallel()
	for _, key := range []string{`"k"`, `"k-2"`} {
		l := newLab(t, nil, document("", `|await Promise.all([`+sending("invoices", `"k"`, "invoice")+`, `+sending("payments", key, "payment")+`]); return 1;`))
		l.replies(lost)
		id := l.once(`{"orderId":"o1"}`).ID
		byHand := func(write string) (err error) {
			l.run(func() {
				err = l.eng.Resolve(engine.Resolution{Run: id, Write: write, Decision: engine.Record, Result: json.RawMessage(`1`), Force: true})
			})
			return err
		}
		if err := byHand("invoice"); !isRefused(err) {
			t.Errorf("%s: with the payment unknown: %v, run %s", key, err, l.get(id).Status)
			continue
		}
		l.run(func() {
			if err := l.eng.Resolve(engine.Resolution{Run: id, Write: "payment", Decision: engine.Abandon, Force: true}); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		})
		if err := byHand("invoice"); err != nil || l.get(id).Status != engine.StatusSucceeded {
			t.Errorf("%s: with the payment settled: %v, run %s", key, err, l.get(id).Status)
		}
	}
}

// A resubmit that was forced past the retention of its key says nothing of the step's other keys.
func TestAForcedResubmitExcusesItsOwnKeyAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|await Promise.all([`+sending("a", `"k-a"`, "a")+`, `+sending("b", `"k-b"`, "b")+`]); return 1;`))
	l.options = func(o *engine.Options) {
		o.Assume = declare(t, `{"origins":{"*":{"enforces":true,"retention":"24h"}}}`)
	}
	l.answering(turn{"/a", lost}, turn{"/a", created}, turn{"/b", answer{status: 429, body: "{}"}}, turn{"/b", created})
	run := l.once(`{"orderId":"o1"}`)
	l.run(func() { _ = l.clk.Sleep(t.Context(), 25*time.Hour) })
	run, err := l.decides(t, run.ID, "resubmit! k-a")
	if err != nil {
		t.Fatal(err)
	}
	if got := l.written(); strings.Count(got, "P/a") != 2 || strings.Count(got, "P/b") != 1 {
		t.Errorf("sent %s, run %s (%s)", got, run.Status, run.Message)
	}
}

// A drain waits for a delivery that is being admitted: what was acknowledged is not forgotten by it.
func TestADrainWaitsForAnAdmission(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+post))
	l.replies(created)
	drained := false
	l.hist = admitting{l.hist, func() {
		l.clk.Go("drain", func() { l.eng.Drain(t.Context()); drained = true })
		_ = l.clk.Sleep(t.Context(), time.Second)
		if drained {
			t.Error("the drain ended before the admission did")
		}
	}}
	l.start()
	l.run(func() { l.admit("orders", "evt-1", `{"orderId":"o1"}`) })
	if !drained {
		t.Error("the drain did not end")
	}
}

// admitting is a history beside which something else happens while a delivery is looked for.
type admitting struct {
	engine.History
	f func()
}

func (h admitting) Delivery(workflow, trigger, key string) (run, digest string, ok bool, err error) {
	h.f()
	return h.History.Delivery(workflow, trigger, key)
}

// A run sends the key that it began with, also where another version would hash its document otherwise.
func TestARunKeepsTheKeyOfItsAdmission(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", retry3+post))
	l.docs[0].Hash = "sha256:by-a-former-version"
	l.replies(refused, created)
	id := l.crashAt("", 300*time.Millisecond)
	l.docs = nil
	run := l.restart(id)
	if seen := l.world.seen; len(seen) != 2 || seen[0].key != seen[1].key || run.Status != engine.StatusSucceeded {
		t.Errorf("run %s, requests %+v; want two under one key", run.Status, seen)
	}
}
