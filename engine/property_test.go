package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

// What may happen to one write. Replies do not lie: an accepted one stands for an effect.
var schedule = []answer{
	created, created, refused, hidden, dropped, lost,
	{broken: "hang"}, {commit: true, broken: "hang"}, {broken: "refused"},
	{status: 429, body: "{}"}, {status: 404, body: "{}"}, {status: 409, header: map[string]string{"Retry-After": "1"}, body: "{}"}, {status: 409, body: "{}"},
	{commit: true, status: 201, body: `{"id"`, broken: "cut"}, {commit: true, status: 204},
	{commit: true, status: 201, body: `{"id":"job_1"}`, after: 3 * time.Second},
}

// Under a provider that enforces keys, is assumed to, and does not lie: whatever
// happens to requests and to the worker, no operation has two effects, none is
// believed done without one, and nothing that may have been sent is sent again by itself.
func TestNoScheduleDoublesAnEffect(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		clk := clock.NewVirtual(epoch)
		defer clk.Close()
		l := &lab{t: t, clk: clk, hist: engine.NewMemory(), world: &world{clk: clk, effects: map[string]string{}}}
		rows := &marking{}
		l.options = func(o *engine.Options) { o.Database = rows }
		l.docs = []*woml.Document{randomDocument(rt)}
		answers := rapid.SliceOfN(rapid.SampledFrom(schedule), 1, 14).Draw(rt, "answers")
		enforce(l, answers)
		id := ""
		for crash := range rapid.IntRange(1, 4).Draw(rt, "lives") {
			eng := l.start()
			countdown := rapid.IntRange(0, 12).Draw(rt, "gates before the crash")
			clk.SetGate(func(clock.Point, string) clock.Verdict {
				if countdown--; countdown == 0 {
					eng.Kill()
				}
				return clock.Pass
			})
			life := time.Duration(rapid.IntRange(1, 20_000).Draw(rt, "ms before the crash")) * time.Millisecond
			cancel := time.Duration(rapid.IntRange(-20_000, 20_000).Draw(rt, "ms before a cancel; none below 0")) * time.Millisecond
			l.run(func() {
				if cancel >= 0 {
					clk.Go("cancel", func() {
						_ = clk.Sleep(context.Background(), cancel)
						if err := eng.Cancel(engine.Cancellation{Run: id}); err != nil && !isRefused(err) && !errors.Is(err, engine.ErrKilled) && !errors.Is(err, engine.ErrNoRun) {
							rt.Fatal(err)
						}
					})
				}
				if crash == 0 {
					r, err := eng.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(`{"orderId":"o1"}`)})
					if err != nil {
						rt.Fatal(err)
					}
					id = r.Run
				} else if err := eng.Recover(); err != nil {
					rt.Fatal(err)
				}
				_ = clk.Sleep(context.Background(), life)
				eng.Kill()
			})
		}
		clk.SetGate(nil)
		run := l.restart(id)
		l.holds(rt, run)
		l.settleAll(rt, run)
	})
}

func randomDocument(rt *rapid.T) *woml.Document {
	var steps []string
	for i := range rapid.IntRange(1, 3).Draw(rt, "steps") {
		retry := ""
		if n := rapid.IntRange(1, 4).Draw(rt, "attempts"); n > 1 {
			retry = fmt.Sprintf(`retry="%d" retry-backoff="%s" retry-delay="1s"`, n, rapid.SampledFrom([]string{"fixed", "exponential"}).Draw(rt, "backoff"))
		}
		script := writes(rt, i+1)
		if rapid.Bool().Draw(rt, "swallows") {
			script = "try { " + script + " } catch (e) { if (!e.ambiguous) throw e; return {swallowed: e.code}; }"
		}
		if rapid.Bool().Draw(rt, "undo") {
			script += "~~~" + strings.Replace(post, "/jobs", fmt.Sprintf("/undo%d", i+1), 1)
		}
		steps = append(steps, retry+"|"+script)
	}
	doc, diags := woml.Parse([]byte(document("", steps...)))
	if doc == nil {
		rt.Fatal(diags)
	}
	return doc
}

// writes is a script that makes one record, or two, one after another or at once, asks
// again for what it did not get an answer to, and writes a row before.
func writes(rt *rapid.T, n int) string {
	request := func(path, key, name string) string {
		return fmt.Sprintf(`services.http.request({method: "POST", url: "http://provider.test/%s%d", json: {orderId: context.payload.orderId}, timeout: "10s",
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey + %q}}, {name: %q})`, path, n, key, name)
	}
	if rapid.Bool().Draw(rt, "writes again") {
		plain := request
		request = func(path, key, name string) string {
			call := plain(path, key, name)
			return "(async () => { try { return await " + call + "; } catch (e) { return await " + call + "; } })()"
		}
	}
	script := ""
	if rapid.Bool().Draw(rt, "writes a row before") {
		script = `await services.db({driver: "sqlite", connection: "x.db"}).execute({text: "INSERT"}, {name: "row"}); `
	}
	first, second := request("jobs", "", "create"), request("second", "-2", "second")
	switch rapid.SampledFrom([]string{"one", "one after another", "at once"}).Draw(rt, "writes") {
	case "one":
		script += "const r = await " + first + ";"
	case "one after another":
		script += "const r = await " + first + "; await " + second + ";"
	default:
		script += "const [r] = await Promise.all([" + first + ", " + second + "]);"
	}
	return script + " return {job: r.data.id, attempt: attempt.number};"
}

// enforce makes the world keep the seed contract: a known key is replayed, whatever was scheduled.
func enforce(l *lab, answers []answer) {
	n := 0
	l.world.answer = func(_ int, s seen) answer {
		if s.method == "GET" {
			if body, ok := l.world.effects[s.path[strings.LastIndex(s.path, "/")+1:]]; ok {
				return answer{status: 200, body: `{"id":"job_1",` + strings.TrimPrefix(body, "{")}
			}
			return answer{status: 404, body: "{}"}
		}
		if _, known := l.world.effects[s.key]; known {
			return replay
		}
		n++
		return answers[(n-1)%len(answers)]
	}
}

// holds checks what must be true of a run that has come to rest, against the world.
func (l *lab) holds(rt *rapid.T, run *engine.Run) {
	if !run.Status.Ended() {
		rt.Fatalf("the run is %s and nothing is left to do", run.Status)
	}
	l.listed(rt, run.ID)
	sent := map[string]int{} // by request id
	for _, s := range l.world.seen {
		if sent[s.id]++; sent[s.id] > 1 && s.method != "GET" { // a look-up may be asked again after a crash
			rt.Fatalf("request %s arrived twice", s.id)
		}
	}
	for _, s := range run.Steps {
		doubted := false
		for _, a := range s.Attempts {
			if doubted && a.By != "resubmit" {
				rt.Fatalf("step %s attempt %d followed an attempt that was unknown", s.ID, a.N)
			}
			doubted = doubted || a.Outcome == engine.Unknown
			for _, c := range a.Calls {
				if !c.Ended {
					rt.Fatalf("step %s attempt %d: a call has no end", s.ID, a.N)
				}
			}
		}
		for _, o := range run.Operations(s) {
			l.held(rt, run, o)
		}
	}
}

// held checks what is believed of one operation against the world.
func (l *lab) held(rt *rapid.T, run *engine.Run, o *engine.Operation) {
	made := map[string]bool{}
	for _, c := range o.Calls {
		if _, there := l.world.effects[c.Key]; there {
			made[c.Key] = true
		}
	}
	belief, truth := run.BeliefOf(o), len(made)
	if len(o.Calls) > 0 && o.Local() {
		if belief == engine.BeliefUnknown {
			rt.Fatalf("the row %s of step %s is unknown, and its mark says what became of it", o.Write, o.Step)
		}
		return
	}
	if truth > 1 || belief == engine.BeliefDone && truth != 1 || belief == engine.BeliefNotDone && truth != 0 {
		rt.Fatalf("%s of step %s (undo %v) is believed %s with %d effects", o.Write, o.Step, o.Undo, belief, truth)
	}
	if belief == engine.BeliefUnknown && !run.Reconcile {
		rt.Fatalf("%s of step %s is unknown and the run does not say so", o.Write, o.Step)
	}
}

// listed checks that a list of runs says at each moment what the run itself says.
func (l *lab) listed(t interface{ Fatalf(string, ...any) }, id string) {
	events, err := l.hist.Events(id)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var row engine.Summary
	var run engine.Run
	for _, e := range events {
		row, _ = engine.Summarize(row, e)
		run.Apply(e)
		if row.Status != run.Status || row.Reconcile != run.Reconcile || !row.Ended.Equal(run.EndedAt) {
			t.Fatalf("after %s at place %d the list says %s, reconcile %v, ended %v; the run is %s, %v, %v", e.Fact.Kind(), e.Seq, row.Status, row.Reconcile, row.Ended, run.Status, run.Reconcile, run.EndedAt)
		}
	}
}

// settleAll looks the doubts up and decides by the evidence, as a person would, until
// none is left. The worker may crash while it carries a decision out.
func (l *lab) settleAll(rt *rapid.T, run *engine.Run) {
	for range 20 { // a provider that only ever answers 503 is never believed
		if !run.Reconcile {
			return
		}
		eng, killed := l.eng, false
		countdown := rapid.IntRange(0, 8).Draw(rt, "gates before the crash while settling")
		l.clk.SetGate(func(clock.Point, string) clock.Verdict {
			if countdown--; countdown == 0 {
				killed = true
				eng.Kill()
			}
			return clock.Pass
		})
		var err error
		l.run(func() {
			var found []engine.EvidenceAt
			if found, err = eng.Lookup(context.Background(), run.ID, "", engine.LookupOptions{}); err != nil {
				return
			}
			d := engine.Resubmit
			switch {
			case found[0].Found == engine.FoundRecord:
				d = engine.Record
			case run.CancelAsked:
				d = engine.Abandon
			}
			err = eng.Resolve(engine.Resolution{Run: run.ID, Key: found[0].Key, Decision: d})
			if isRefused(err) && d == engine.Record { // with the record the script would throw: the person says what came of it
				err = eng.Resolve(engine.Resolution{Run: run.ID, Key: found[0].Key, Decision: d, Result: json.RawMessage("{}"), Force: true})
			}
		})
		l.clk.SetGate(nil)
		switch {
		case killed:
			run = l.restart(run.ID)
		case err != nil:
			rt.Fatal(err)
		default:
			run = l.get(run.ID)
		}
		l.holds(rt, run)
	}
}
