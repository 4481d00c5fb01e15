package engine_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

// On the machine's clock too, a script that sends the time sends the same when it runs
// again over its journal: after its start, after computing, after a call and after a timer.
func TestAScriptThatSendsTheTimeIsRepeatable(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			hijacked, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			hijacked.Close()
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"orderId":"o1"}`))
		}
	}))
	t.Cleanup(provider.Close)
	doc, diags := woml.Parse([]byte(document("", `|const at = [Date.now()];
for (let i = 0; i < 200000; i++) {}
at.push(new Date().toISOString());
await services.http.request({url: "`+provider.URL+`/about"});
at.push(Date.now());
await new Promise((done) => setTimeout(done, 7));
at.push(Date.now());
await services.http.request({method: "POST", url: "`+provider.URL+`/jobs", json: {orderId: "o1", at}, idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}});
return at;`)))
	if doc == nil {
		t.Fatal(diags)
	}
	eng := engine.New(engine.Options{Clock: clock.NewWall(), History: engine.NewMemory(), Assume: declare(t, `{"origins":{"*":{"enforces":true}}}`)})
	t.Cleanup(eng.Close)
	eng.Load(doc)
	r, err := eng.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	eng.Ended(r.Run).Wait()
	if _, err := eng.Lookup(t.Context(), r.Run, "", engine.LookupOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := eng.Resolve(engine.Resolution{Run: r.Run, Decision: engine.Record, Force: true}); err != nil {
		t.Fatal(err)
	}
	eng.Ended(r.Run).Wait()
	run, err := eng.Get(r.Run)
	if err != nil || run.Status != engine.StatusSucceeded {
		t.Errorf("the run %s: %s (%v)", run.Status, run.Message, err)
	}
}

// A script that computes until a time has passed comes to its end.
func TestAScriptThatWaitsByComputingSeesTheTimeGoOn(t *testing.T) {
	t.Parallel()
	run := onWall(t, `const until = Date.now() + 1500; while (Date.now() < until) {} return Date.now() >= until;`, `{}`)
	if s := run.Steps[0]; string(s.Result) != "true" {
		t.Errorf("the result is %s: %s", s.Result, run.Message)
	}
}

// A machine that is busy for two seconds while a script computes changes nothing that the
// script sees: a second time, with nobody in the way, it sends the same.
func TestABusyMachineLeavesAScriptRepeatable(t *testing.T) {
	t.Parallel()
	const (
		slow  = `services.http.request({url: "http://provider.test/slow"}).then(() => order.push("call"))`
		timer = `new Promise((done) => setTimeout(() => done(order.push("timer")), `
	)
	for _, r := range []struct{ name, script, sent string }{
		{"the time before the first call", `console.log("busy");`, `[]`},
		{"the time after a call", `await ` + slow + `; console.log("busy");`, `["call"]`},
		{"a timer that is set after a later call has ended", `const call = ` + slow + `; console.log("busy"); await Promise.all([call, ` + timer + `500))]);`, `["timer","call"]`},
		{"a timer that is due after a later call has ended", `const call = ` + slow + `; console.log("busy"); await Promise.all([call, ` + timer + `1500))]);`, `["call","timer"]`},
		{"a timer that is due as a call ends", `const call = ` + slow + `; await Promise.all([call, ` + timer + `1000))]); console.log("busy");`, `["timer","call"]`},
		{"two timers, the first one late", `const late = new Promise((done) => setTimeout(() => done(order.push("late")), 1000));
await ` + timer + `600)); console.log("busy"); await Promise.all([late, ` + timer + `300))]);`, `["timer","timer","late"]`},
		{"a script that reads the time very often", `const until = Date.now() + 500; while (Date.now() < until) {} console.log("busy"); await ` + timer + `1000));`, `["timer"]`},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", `|const order = []; `+r.script+`
await services.http.request({url: "http://provider.test/notes?at=" + Date.now() + "&order=" + order});
await `+sending("jobs", "attempt.idempotencyKey", "job")+`; return order;`))
			l.options = func(o *engine.Options) {
				o.Log = func(string, engine.Pos, string, string) { _ = l.clk.Sleep(t.Context(), 2*time.Second) }
			}
			l.replies(dropped)
			provider := l.world.answer
			l.world.answer = func(n int, s seen) answer {
				switch s.path {
				case "/slow":
					return answer{status: 200, body: `{}`, after: time.Second}
				case "/notes":
					return answer{status: 200, body: `{}`}
				}
				return provider(n, s)
			}
			run, err := l.settle(l.once(`{"orderId":"o1"}`).ID, engine.Record, false)
			if s := run.Steps[0]; err != nil || run.Status != engine.StatusSucceeded || string(s.Result) != r.sent || len(s.Attempts) != 1 {
				t.Errorf("run %s (%s), %v: result %s; want it done with %s", run.Status, run.Message, err, s.Result, r.sent)
			}
		})
	}
}
