package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

// mixture is a lab in which all rules meet: children of two levels, cancels, reruns
// under one business key, parallel writes, compensations with several writes, slots,
// timeouts, crashes, and decisions in any order.
type mixture struct {
	*lab
	rt      *rapid.T
	answers []answer
	served  int

	mu     sync.Mutex
	runs   []string // in order of admission
	broken string   // the first invariant that did not hold in an actor
}

// ms draws a time of at most so many milliseconds.
func (m *mixture) ms(what string, most int) time.Duration {
	return time.Duration(rapid.IntRange(0, most).Draw(m.rt, "ms "+what)) * time.Millisecond
}

// fail notes what went wrong in an actor, where a test cannot be ended.
func (m *mixture) fail(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken == "" {
		m.broken = fmt.Sprintf(format, args...)
	}
}

// acts is lab.run, and ends the test where an actor saw something wrong.
func (m *mixture) acts(f func()) {
	if err := m.clk.Run(context.Background(), f); err != nil {
		m.rt.Fatal(err)
	}
	m.clk.SetGate(nil)
	if m.broken != "" {
		m.rt.Fatal(m.broken)
	}
}

// TestRulesHoldTogether draws histories in which every rule can meet every other one.
func TestRulesHoldTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		clk := clock.NewVirtual(epoch)
		defer clk.Close()
		m := &mixture{rt: rt, lab: &lab{t: t, clk: clk, hist: engine.NewMemory(), world: &world{clk: clk, effects: map[string]string{}}}}
		m.world.answer = m.reply
		m.options = func(o *engine.Options) { o.Observe = m.observe }
		m.answers = rapid.SliceOfN(rapid.SampledFrom(schedule), 1, 14).Draw(rt, "answers")
		m.docs = m.documents()
		admitted := 0
		admissions := rapid.IntRange(1, 3).Draw(rt, "runs")
		for life := range rapid.IntRange(1, 3).Draw(rt, "lives") {
			pauses := rapid.SliceOfN(rapid.IntRange(0, 4000), admissions, admissions).Draw(rt, "ms before each run")
			cancels, cancel := rapid.IntRange(0, 3).Draw(rt, "a cancel, if 0") == 0, m.ms("before a cancel", 15_000)
			which, life := rapid.IntRange(0, 20).Draw(rt, "cancelled"), life
			end := m.ms("before the end of a life", 20_000)
			m.live(life, func(eng *engine.Engine) {
				for ; admitted < admissions; admitted++ {
					_ = clk.Sleep(context.Background(), time.Duration(pauses[admitted])*time.Millisecond)
					_, err := eng.Admit(engine.Delivery{Workflow: "top", Payload: json.RawMessage(`{"orderId":"o1"}`)})
					m.tolerate(err)
				}
				if cancels {
					_ = clk.Sleep(context.Background(), cancel)
					m.cancel(eng, which)
				}
				_ = clk.Sleep(context.Background(), end)
				eng.Kill()
			})
		}
		m.live(-1, func(*engine.Engine) {})
		m.atRest()
		for round := range 30 {
			if !m.settleOne(round) {
				break
			}
			m.atRest()
		}
		m.settled()
	})
}

// documents are three workflows, each of which may call the next one.
func (m *mixture) documents() (docs []*woml.Document) {
	rt := m.rt
	for i, id := range []string{"top", "mid", "leaf"} {
		var steps strings.Builder
		for n := range rapid.IntRange(1, 3-min(i, 2)).Draw(rt, id+" steps") {
			fmt.Fprintf(&steps, `<step id="s%d" name="S" %s>%s</step>`, n+1, m.policy(), scriptTags(m.script(i, fmt.Sprintf("%s%d", id, n+1))))
		}
		config := ""
		if rapid.IntRange(0, 2).Draw(rt, id+" has one slot, if 0") == 0 {
			config += ` concurrency="1" queue="shared"`
		}
		if rapid.IntRange(0, 4).Draw(rt, id+" has a timeout, if 0") == 0 {
			config += ` timeout="12s"`
		}
		if config != "" {
			config = "<config" + config + " />"
		}
		doc, diags := woml.Parse([]byte(`<woml><workflow id="` + id + `" name="W" version="1.0.0">` + config + `<triggers><manual id="start" /></triggers><steps>` + steps.String() + `</steps></workflow></woml>`))
		if doc == nil {
			rt.Fatal(diags)
		}
		docs = append(docs, doc)
	}
	return docs
}

func (m *mixture) policy() string {
	n := rapid.IntRange(1, 3).Draw(m.rt, "attempts")
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(`retry="%d" retry-backoff="fixed" retry-delay="%s"`, n, rapid.SampledFrom([]string{"1s", "4s"}).Draw(m.rt, "delay"))
}

// script is a step of a workflow at a depth, whose writes go to collections of its own.
func (m *mixture) script(depth int, name string) string {
	rt := m.rt
	var b strings.Builder
	writes := 0
	write := func(collection string) string {
		writes++
		path := fmt.Sprintf("%s-%d", collection, writes)
		key := fmt.Sprintf("attempt.idempotencyKey + %q", "/"+path)
		if rapid.IntRange(0, 3).Draw(rt, "a business key, if 0") == 0 {
			key = fmt.Sprintf("context.payload.orderId + %q", "/"+path)
		}
		return fmt.Sprintf(`services.http.request({method: "POST", url: "http://provider.test/%s", json: {orderId: context.payload.orderId, what: %q}, timeout: "10s", idempotency: {header: "Idempotency-Key", value: %s}}, {name: %q})`,
			path, path, key, path)
	}
	for range rapid.IntRange(1, 2).Draw(rt, "parts of "+name) {
		switch rapid.IntRange(0, 7).Draw(rt, "part") {
		case 0: // writes at once
			fmt.Fprintf(&b, "await Promise.all([%s, %s]);\n", write(name), write(name))
		case 1: // a caught error
			fmt.Fprintf(&b, "try { await %s; } catch (e) { }\n", write(name))
		case 2, 3, 4:
			if depth < 2 && !strings.Contains(b.String(), "workflows") {
				call := fmt.Sprintf(`await services.workflows.call(%q, context.payload);`, []string{"mid", "leaf"}[depth])
				if rapid.IntRange(0, 3).Draw(rt, "its error is caught, if 0") == 0 {
					call = "try { " + call + " } catch (e) { }"
				}
				b.WriteString(call + "\n")
				continue
			}
			fmt.Fprintf(&b, "await %s;\n", write(name))
		default:
			fmt.Fprintf(&b, "await %s;\n", write(name))
		}
	}
	switch rapid.IntRange(0, 9).Draw(rt, "the end") {
	case 0:
		b.WriteString(`if (attempt.number < 2) throw new Error("once more");` + "\n")
	case 1:
		b.WriteString(`throw new Error("in the end");` + "\n")
	}
	b.WriteString("return 1;")
	if rapid.Bool().Draw(rt, "has an inverse") {
		b.WriteString("~~~")
		for range rapid.IntRange(1, 2).Draw(rt, "writes of the inverse") {
			fmt.Fprintf(&b, "await %s;\n", write("undo-"+name))
		}
		b.WriteString("return 1;")
	}
	return b.String()
}

// reply keeps the seed contract, whatever was drawn for a new key, and refuses to see
// an inverse while something of its run is unknown.
func (m *mixture) reply(_ int, s seen) answer {
	if s.method == "GET" {
		if body, ok := m.world.effects[s.path[strings.Index(s.path, "by-idempotency-key/")+len("by-idempotency-key/"):]]; ok {
			return answer{status: 200, body: `{"id":"e1",` + strings.TrimPrefix(body, "{")}
		}
		return answer{status: 404, body: "{}"}
	}
	if id, ok := engine.ParseRequestID(s.id); ok && id.Undo {
		m.nothingUnknown(id.Run)
	}
	if _, known := m.world.effects[s.key]; known {
		return replay
	}
	m.served++
	return m.answers[(m.served-1)%len(m.answers)]
}

// nothingUnknown checks a run and its children at the moment at which an inverse of it arrives.
func (m *mixture) nothingUnknown(id string) {
	run := m.get(id)
	for _, s := range run.Steps {
		if !s.Undo && run.StepBelief(s) == engine.BeliefUnknown {
			m.fail("%s of %s is unknown, and an inverse of the run arrives", s.ID, id)
		}
		for _, a := range s.Attempts {
			for _, c := range a.Calls {
				if c.Child == "" {
					continue
				}
				child := m.get(c.Child)
				if !child.Status.Ended() || child.Reconcile {
					m.fail("the child %s (%s, reconcile %v) of %s is not settled, and an inverse of the run arrives", c.Child, child.Status, child.Reconcile, id)
				}
				m.nothingUnknown(c.Child)
			}
		}
	}
}

func (m *mixture) observe(events []engine.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range events {
		if e.Fact.Kind() == engine.KindAdmitted {
			m.runs = append(m.runs, e.Run)
		}
	}
}

// live is one process: it recovers, does what f says, and may be killed at a gate. A life below 0 is not killed.
func (m *mixture) live(life int, f func(*engine.Engine)) {
	eng := m.start()
	if life >= 0 {
		m.killAt(eng, rapid.IntRange(0, 40).Draw(m.rt, "gates before the crash"))
	}
	m.acts(func() {
		if err := eng.Recover(); err != nil && !errors.Is(err, engine.ErrKilled) {
			m.fail("recover: %v", err)
		}
		f(eng)
	})
}

// killAt kills the engine at its n-th gate, or never if n is 0. killed tells whether it came to that.
func (m *mixture) killAt(eng *engine.Engine, n int) (killed *bool) {
	killed = new(bool)
	m.clk.SetGate(func(clock.Point, string) clock.Verdict {
		if n--; n == 0 {
			*killed = true
			eng.Kill()
		}
		return clock.Pass
	})
	return killed
}

// tolerate fails for every error but those of a killed engine and of refusals.
func (m *mixture) tolerate(err error) {
	if err != nil && !isRefused(err) && !errors.Is(err, engine.ErrKilled) && !errors.Is(err, engine.ErrNoRun) {
		m.fail("%v", err)
	}
}

func (m *mixture) cancel(eng *engine.Engine, which int) {
	m.mu.Lock()
	runs := slices.Clone(m.runs)
	m.mu.Unlock()
	if len(runs) > 0 {
		m.tolerate(eng.Cancel(engine.Cancellation{Run: runs[which%len(runs)]}))
	}
}

// settleOne decides about one unknown call, by evidence and without force; false where nothing can be decided.
func (m *mixture) settleOne(round int) bool {
	type choice struct {
		run, key string
		call     *engine.Call
	}
	var choices []choice
	for _, id := range m.runs {
		run := m.get(id)
		if !run.Status.Ended() || !run.Reconcile {
			continue
		}
		for _, c := range run.Unsettled() {
			choices = append(choices, choice{id, c.Key, c})
		}
	}
	if len(choices) == 0 {
		return false
	}
	at := rapid.SampledFrom(choices).Draw(m.rt, "decided about")
	eng := m.eng
	killed := m.killAt(eng, rapid.IntRange(0, 12).Draw(m.rt, "gates before the crash while settling"))
	pick := rapid.IntRange(0, 5).Draw(m.rt, "decision")
	m.acts(func() {
		if _, err := eng.Lookup(context.Background(), at.run, at.key, engine.LookupOptions{}); err != nil {
			m.tolerate(err)
			return
		}
		run, err := eng.Get(at.run)
		if err != nil {
			m.tolerate(err)
			return
		}
		var allowed []engine.Decision
		for _, c := range run.Unsettled() {
			if c.Pos != at.call.Pos {
				continue
			}
			for _, d := range []engine.Decision{engine.Record, engine.Resubmit, engine.Abandon} {
				if situation, err := eng.Situation(run, c); err == nil && situation.Ruling(d, false).Permission == engine.Allowed {
					allowed = append(allowed, d)
				}
			}
		}
		if len(allowed) == 0 {
			return
		}
		d := allowed[pick%len(allowed)]
		err = eng.Resolve(engine.Resolution{Run: at.run, Key: at.key, Decision: d})
		if d == engine.Record && isRefused(err) { // the script cannot go on with the record: then the result is asked for
			err = eng.Resolve(engine.Resolution{Run: at.run, Key: at.key, Decision: d, Result: json.RawMessage("1")})
		}
		if err != nil && !*killed {
			m.fail("%s of %s under %s is allowed, and refused: %v", d, at.run, at.key, err)
		}
	})
	if *killed {
		m.live(-1, func(*engine.Engine) {})
	}
	return true
}

// atRest checks all runs against the world once nothing moves.
func (m *mixture) atRest() {
	sent := map[string]int{}
	for _, s := range m.world.seen {
		if sent[s.id]++; s.method != "GET" && sent[s.id] > 1 {
			m.rt.Fatalf("request %s arrived twice", s.id)
		}
	}
	for _, id := range m.runs {
		run := m.get(id)
		m.listed(m.rt, id)
		if !run.Status.Ended() && !m.waits(run) {
			m.rt.Fatalf("run %s is %s, and nothing is left to do", id, run.Status)
		}
		for _, s := range run.Steps {
			m.believed(run, s)
		}
	}
}

// waits reports whether a run that has not ended may stand still: nothing of it moves before a person has decided.
func (m *mixture) waits(run *engine.Run) bool { return run.Reconcile }

// believed holds what a run believes of one step's writes against the world.
func (m *mixture) believed(run *engine.Run, s *engine.Step) {
	for _, o := range run.Operations(s) {
		if len(o.Calls) == 0 {
			continue
		}
		there := 0
		for _, key := range keysUsed(o) {
			if _, ok := m.world.effects[key]; ok {
				there++
			}
		}
		switch belief := run.BeliefOf(o); {
		case there > 1:
			m.rt.Fatalf("%s of %s has %d effects", o.Write, run.ID, there)
		case belief == engine.BeliefDone && there == 0, belief == engine.BeliefCompensated && there == 0:
			m.rt.Fatalf("%s of %s in %s is believed %s, and there is no effect", o.Write, s.ID, run.ID, belief)
		case belief == engine.BeliefNotDone && there == 1 && !m.sharedKey(o):
			m.rt.Fatalf("%s of %s in %s is believed not done, and its effect is there", o.Write, s.ID, run.ID)
		case belief == engine.BeliefUnknown && run.Status.Ended() && !run.Reconcile:
			m.rt.Fatalf("%s of %s in %s is unknown, and the run does not say so", o.Write, s.ID, run.ID)
		}
	}
	for _, a := range s.Attempts {
		for _, c := range a.Calls {
			if c.Child == "" || !run.Status.Ended() {
				continue
			}
			if child := m.get(c.Child); (!child.Status.Ended() || child.Reconcile) && !run.Reconcile {
				m.rt.Fatalf("%s has ended (%s), its child %s is %s (reconcile %v), and the run does not say so", run.ID, run.Status, c.Child, child.Status, child.Reconcile)
			}
		}
	}
}

func keysUsed(o *engine.Operation) (keys []string) {
	for _, c := range o.Calls {
		if c.Key != "" && !slices.Contains(keys, c.Key) {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// sharedKey reports whether an operation used a business key: another run may have made the effect.
func (m *mixture) sharedKey(o *engine.Operation) bool {
	return slices.ContainsFunc(o.Calls, func(c *engine.Call) bool { return strings.HasPrefix(c.Key, "o1/") })
}

// settled checks what holds once nobody has anything left to decide: each inverse that a failed run owes was tried.
func (m *mixture) settled() {
	for _, id := range m.runs {
		run := m.get(id)
		if run.Reconcile || run.Status != engine.StatusFailed && run.Status != engine.StatusCancelled {
			continue
		}
		doc := m.docs[slices.IndexFunc(m.docs, func(d *woml.Document) bool { return d.Workflow.ID == run.Admitted.Workflow })]
		for _, s := range doc.Workflow.Steps {
			if st := run.StepAt(s.ID, false); s.Compensate != nil && st != nil && st.Done && run.StepAt(s.ID, true) == nil {
				m.rt.Fatalf("%s %s, and the inverse of %s was never tried", id, run.Status, s.ID)
			}
		}
	}
}
