package engine_test

import (
	"strings"
	"testing"

	"faultlab/engine"
)

// What a decision would let the script do is tried out at once, however long the script waits by itself.
func TestARehearsalSpendsNoTime(t *testing.T) {
	t.Parallel()
	const again = `await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {orderId: context.payload.orderId},
  timeout: "10s", idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}, {name: "again"});`
	for _, r := range []struct{ name, then, unfit string }{
		{"after the recorded call", `await new Promise(done => setTimeout(done, 4000));`, ""},
		{"after a call that gets the same record", again + `await new Promise(done => setTimeout(done, 4000));`, ""},
		{"two timers, in their order", again + `let order = ""; setTimeout(() => order += "b", 2000); setTimeout(() => order += "a", 1000);
  await new Promise(done => setTimeout(done, 3000)); if (order !== "ab") throw new Error(order);`, ""},
		{"one that was cleared", again + `clearTimeout(setTimeout(() => { throw new Error("cleared"); }, 1000)); await new Promise(done => setTimeout(done, 2000));`, ""},
		{"the script's Date goes on", again + `const then = Date.now(); await new Promise(done => setTimeout(done, 2000)); if (Date.now() - then !== 2000) throw new Error(Date.now() - then);`, ""},
		{"one that begins again for ever", again + `setInterval(() => 0, 1000); await new Promise(() => 0);`, "WOML_SCRIPT_TIMEOUT"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document("", "|"+strings.Replace(post, "return", r.then+"return", 1)))
			l.replies(dropped)
			id := l.once(`{"orderId":"o1"}`).ID
			before := l.clk.Now()
			var found []engine.EvidenceAt
			l.run(func() {
				var err error
				if found, err = l.eng.Lookup(t.Context(), id, "", engine.LookupOptions{}); err != nil {
					t.Error(err)
				}
			})
			if took := l.clk.Now().Sub(before); took != 0 {
				t.Errorf("the look-up took %v", took)
			}
			if why := found[0].Unfit; (r.unfit == "") != (why == "") || !strings.Contains(why, r.unfit) {
				t.Errorf("unfit: %q, want %q", why, r.unfit)
			}
		})
	}
}
