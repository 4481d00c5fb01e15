package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

// While a child of an inverse is unknown, no other inverse is made.
func TestAnUnknownChildOfAnInverseHoldsTheOthersBack(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"),
		"|"+doing("holds")+`~~~return await services.workflows.call("release", context.payload);`, "|"+doing("jobs")),
		workflowOf("release", "", doing("releases")))
	l.world.answer = func(_ int, s seen) answer {
		switch s.path {
		case "/jobs":
			return answer{status: 422, body: "{}"}
		case "/releases":
			return lost
		}
		return created
	}
	run := l.once(`{"orderId":"o1"}`)
	if strings.Contains(l.paths(), "/refunds") || !run.Reconcile || run.Waits == nil {
		t.Errorf("%s; the run %s, reconcile %v, waits for %+v", l.paths(), run.Status, run.Reconcile, run.Waits)
	}
}

// A write that its method lets repeat, cut off by a crash, may have happened: also when there is no time to repeat it.
func TestACutOffIdempotentWriteIsNotCalledNeverSent(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document(`<config timeout="5s" />`, "|"+doing("charges")+"~~~"+doing("refunds"),
		`|const r = await services.http.request({method: "PUT", url: "http://provider.test/jobs/1", json: {n: 1}}, {name: "put"}); return 1;`))
	l.options = func(o *engine.Options) {
		o.Assume = declare(t, `{"origins":{"*":{"enforces":true,"idempotent":["PUT"]}}}`)
	}
	l.world.answer = func(_ int, s seen) answer {
		if s.method == "PUT" {
			return answer{commit: true, broken: "hang"}
		}
		return created
	}
	id := l.crashAt("", time.Second)
	l.run(func() { _ = l.clk.Sleep(t.Context(), 10*time.Second) })
	run := l.restart(id)
	if b := run.StepBelief(run.Steps[1]); b != engine.BeliefUnknown || strings.Contains(l.paths(), "/refunds") {
		t.Errorf("believed %s after %s", b, l.paths())
	}
}

const failover = `|const p = (h) => services.http.request({method: "POST", url: "http://" + h + "/jobs", json: {n: 1}, idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}, {name: h});
	try { await p("a.test"); } catch { await p("b.test"); } return 1;`

// A key means something to the origin that it was sent to, and to no other.
func TestAKeyIsOfOneOrigin(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", failover))
	l.replies(dropped, created)
	if run := l.once(`{}`); run.Status == engine.StatusSucceeded || len(run.Unsettled()) != 1 {
		t.Errorf("the reply of one origin settled the write to another: run %s, %d unsettled", run.Status, len(run.Unsettled()))
	}
	l = newLab(t, nil, document("", failover))
	l.replies(dropped)
	if run := l.once(`{}`); len(run.Unsettled()) != 2 {
		t.Errorf("%d unsettled calls of two origins", len(run.Unsettled()))
	}
}

// The key was sent twice in one attempt and is recorded; what follows is cut off by a crash.
func TestACrashAfterARecordGoesOnFromTheJournal(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|const p = (n) => services.http.request({method: "POST", url: "http://provider.test/jobs", json: {n: 1}, timeout: "5s", idempotency: {header: "Idempotency-Key", value: "k"}}, {name: n});
		try { await p("a"); } catch { await p("b"); }
		await services.http.request({method: "GET", url: "http://provider.test/stock"}); return 1;`))
	hang := true
	l.world.answer = func(_ int, s seen) answer {
		switch {
		case s.path == "/stock" && hang:
			return answer{broken: "hang"}
		case s.path == "/stock":
			return answer{status: 200, body: "{}"}
		case s.method == "GET":
			return answer{status: 200, body: `{"n":1}`}
		}
		return dropped
	}
	id := l.once(`{}`).ID
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
	hang = false
	if run := l.restart(id); run.Status != engine.StatusSucceeded {
		t.Errorf("the run %s: %s", run.Status, run.Message)
	}
}

// Two keys of one operation, each in an attempt of its own: both must be decided.
func TestARecordOfOneKeyLeavesTheOtherOpen(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|const r = await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {n: 1}, timeout: "5s", idempotency: {header: "Idempotency-Key", value: "k" + attempt.number}}, {name: "p"}); return 1;`))
	l.replies(lost, dropped)
	id := l.once(`{}`).ID
	l.run(func() {
		if err := l.eng.Resolve(engine.Resolution{Run: id, Decision: engine.Resubmit, Force: true}); err != nil {
			t.Error(err)
		}
	})
	l.run(func() {
		if _, err := l.eng.Lookup(t.Context(), id, "k2", engine.LookupOptions{}); err != nil {
			t.Error(err)
		}
		if err := l.eng.Resolve(engine.Resolution{Run: id, Key: "k2", Decision: engine.Record}); err != nil {
			t.Error(err)
		}
	})
	run := l.get(id)
	if open := run.Unsettled(); run.Status == engine.StatusSucceeded || len(open) != 1 || open[0].Key != "k1" {
		t.Errorf("the run %s with %d unsettled calls", run.Status, len(open))
	}
}

// A cancel that comes while a run has nothing left to do but to wait for a child is no success.
func TestACancelOfARunThatOnlyWaits(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", "|"+doing("charges")+"~~~"+doing("refunds"),
		`retry="3" retry-backoff="fixed" retry-delay="1s"|if (attempt.number === 1) await services.workflows.call("slow", {}, {timeout: "1s"}); return 1;`),
		workflowOf("slow", "", `await new Promise(r => setTimeout(r, 4000)); await services.http.request({method:"GET",url:"http://provider.test/x",timeout:"60s"}); return 1;`))
	l.world.answer = func(_ int, s seen) answer {
		if s.path == "/x" {
			return answer{broken: "hang"}
		}
		return created
	}
	l.start()
	var id string
	l.run(func() {
		id, _ = l.admit("orders", "", `{"orderId":"o1"}`)
		_ = l.clk.Sleep(t.Context(), 5*time.Second)
		if err := l.eng.Cancel(engine.Cancellation{Run: id}); err != nil {
			t.Error(err)
		}
	})
	if run := l.get(id); run.Status != engine.StatusCancelled || !strings.Contains(l.paths(), "/refunds") {
		t.Errorf("the run %s after %s", run.Status, l.paths())
	}
}

// A run that is cancelled with --keep while it waits for a slot to undo in undoes nothing.
func TestKeepIsHeardBeforeTheFirstInverse(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document(`<config timeout="5s" concurrency="1" />`, "|"+doing("charges")+"~~~"+doing("refunds"),
		`retry="5" retry-backoff="fixed" retry-delay="4s"|if (context.payload.orderId === "o2") await new Promise(r => setTimeout(r, 60000));`+doing("jobs")))
	l.world.answer = func(_ int, s seen) answer {
		if s.path == "/jobs" {
			return answer{status: 429, body: "{}"}
		}
		return created
	}
	l.start()
	var id string
	l.run(func() {
		id, _ = l.admit("orders", "", `{"orderId":"o1"}`)
		_ = l.clk.Sleep(t.Context(), 3*time.Second)
		_, _ = l.admit("orders", "", `{"orderId":"o2"}`)
		_ = l.clk.Sleep(t.Context(), 2200*time.Millisecond)
		if err := l.eng.Cancel(engine.Cancellation{Run: id, Keep: true}); err != nil {
			t.Error(err)
		}
	})
	if run := l.get(id); run.StepAt("step1", true) != nil {
		t.Errorf("%s: what was to be kept was undone", run.Status)
	}
}

// Calls at once look at the life of their keys while others begin: a test for the race detector.
func TestKeysAreLookedAtWhileCallsBegin(t *testing.T) {
	t.Parallel()
	doc, diags := woml.Parse([]byte(document("", `|const p = (x) => services.http.request({method: "POST", url: "http://provider.test/" + x, json: {n: x}, idempotency: {header: "Idempotency-Key", value: "k" + x}}, {name: x});
		await Promise.all(["a","b","c","d","e","f","g","h"].map(p)); return 1;`)))
	if doc == nil {
		t.Fatal(diags)
	}
	clk := clock.NewWall()
	w := &world{clk: clk, effects: map[string]string{}, answer: func(int, seen) answer { return created }}
	eng := engine.New(engine.Options{Clock: clk, History: engine.NewMemory(), Transport: w, Assume: declare(t, `{"origins":{"*":{"enforces":true,"retention":"24h"}}}`)})
	t.Cleanup(eng.Close)
	eng.Load(doc)
	for range 20 {
		r, err := eng.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		eng.Ended(r.Run).Wait()
	}
}

// Of several unknown writes without a key, each is decided about by its name.
func TestAWriteWithoutAKeyIsNamed(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, document("", `|const p = (x) => services.http.request({method: "POST", url: "http://provider.test/" + x, json: {n: x}}, {name: x});
		await Promise.allSettled([p("a"), p("b")]); return 1;`))
	l.world.answer = func(int, seen) answer { return lost }
	run := l.once(`{}`)
	l.run(func() {
		if err := l.eng.Resolve(engine.Resolution{Run: run.ID, Decision: engine.Abandon, Force: true}); !isRefused(err) || !strings.Contains(err.Error(), "a or b") {
			t.Errorf("without a name: %v", err)
		}
	})
	for _, write := range []string{"b", "a"} {
		l.run(func() {
			if err := l.eng.Resolve(engine.Resolution{Run: run.ID, Write: write, Decision: engine.Abandon, Force: true}); err != nil {
				t.Errorf("%s: %v", write, err)
			}
		})
	}
	if run = l.get(run.ID); run.Reconcile || len(run.Unsettled()) > 0 {
		t.Errorf("reconcile %v, %d unsettled", run.Reconcile, len(run.Unsettled()))
	}
}

// A key that was resubmitted and is abandoned before the attempt came to it is not sent.
func TestAnAbandonedKeyIsNotSentByItsOwnResubmit(t *testing.T) {
	t.Parallel()
	write := func(n string) string {
		return `await services.http.request({method: "POST", url: "http://provider.test/` + n + `", json: {n: "` + n + `"}, timeout: "5s", idempotency: {header: "Idempotency-Key", value: "k` + n + `"}}, {name: "` + n + `"});`
	}
	// In attempt 1 a is never sent and b is lost; b is resubmitted, and then a is dropped.
	l := newLab(t, nil, document("", "|try { "+write("a")+" } catch (e) { if (e.ambiguous) throw e; } "+write("b")+"return 1;"))
	l.options = func(o *engine.Options) { o.Assume = declare(t, `{"origins":{"*":{"enforces":true}}}`) }
	first := map[string]answer{"/a": {broken: "refused"}, "/b": lost}
	l.world.answer = func(_ int, s seen) answer {
		switch {
		case s.method == "GET" && l.world.effects[s.path[strings.LastIndex(s.path, "/")+1:]] != "":
			return answer{status: 200, body: `{"n":"a"}`}
		case s.method == "GET":
			return answer{status: 404, body: "{}"}
		}
		a, once := first[s.path]
		if delete(first, s.path); once {
			return a
		}
		return dropped
	}
	id := l.once(`{}`).ID
	decide := func(key string, d engine.Decision) {
		l.run(func() {
			if _, err := l.eng.Lookup(t.Context(), id, key, engine.LookupOptions{}); err != nil {
				t.Error(err)
			}
			if err := l.eng.Resolve(engine.Resolution{Run: id, Key: key, Decision: d}); err != nil {
				t.Errorf("%s %s: %v", d, key, err)
			}
		})
	}
	decide("kb", engine.Resubmit)
	decide("ka", engine.Record)
	decide("kb", engine.Abandon)
	run := l.get(id)
	if _, made := l.world.effects["kb"]; made || run.Reconcile {
		t.Errorf("b was made: %v; the run %s, reconcile %v (%s)", made, run.Status, run.Reconcile, l.paths())
	}
}
