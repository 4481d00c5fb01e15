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
	if a := run.Steps[0].Last(); a.EndedAt.Sub(a.StartedAt) < 1400*time.Millisecond {
		t.Errorf("it took %v", a.EndedAt.Sub(a.StartedAt))
	}
}
