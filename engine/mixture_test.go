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
	"faultlab/engine/assume"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

// mixture is a lab in which all rules meet: children of two levels, cancels, reruns
// under one business key, parallel writes, writes without a key, rows of a database,
// keys that are forgotten, compensations with several writes, slots, timeouts, crashes,
// and decisions in any order.
type mixture struct {
	*lab
	rt       *rapid.T
	answers  []answer
	served   int
	file     *rowFile
	declared *assume.Set
	kinds    []writeKind
	inverses map[string][]string // the writes of the inverse of each step, by "top1", "mid2"

	mu     sync.Mutex
	runs   []string // in order of admission
	broken string   // the first invariant that did not hold in an actor
}

// writeKind is how a write can be recognised when it is made again.
type writeKind string

const (
	keyedWrite  writeKind = "under a key"
	bareWrite   writeKind = "without a key"
	looseWrite  writeKind = "under a key that is not enforced"
	rowWrite    writeKind = "a row with a mark"
	bareRow     writeKind = "a row without a mark"
	loosePrefix           = "/loose-" // of the paths of loose writes
)

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
	m.file.die = nil
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
		m := &mixture{rt: rt, lab: &lab{t: t, clk: clk, hist: engine.NewMemory(), world: &world{clk: clk, effects: map[string]string{}}}, inverses: map[string][]string{}}
		m.world.answer = m.reply
		m.file = &rowFile{clk: clk, rows: map[string]int{}, marks: map[engine.Mark]json.RawMessage{}}
		m.contracts()
		m.options = func(o *engine.Options) { o.Observe, o.Assume, o.Database = m.observe, m.declared, m.file }
		m.answers = rapid.SliceOfN(rapid.SampledFrom(schedule), 1, 14).Draw(rt, "answers")
		m.docs = m.documents()
		admitted := 0
		admissions := rapid.IntRange(1, 3).Draw(rt, "runs")
		for life := range rapid.IntRange(1, 3).Draw(rt, "lives") {
			pauses := rapid.SliceOfN(rapid.IntRange(0, 4000), admissions, admissions).Draw(rt, "ms before each run")
			cancels, cancel := rapid.IntRange(0, 3).Draw(rt, "a cancel, if 0") == 0, m.ms("before a cancel", 15_000)
			which, life := rapid.IntRange(0, 20).Draw(rt, "cancelled"), life
			keep := cancels && rapid.IntRange(0, 3).Draw(rt, "the cancel keeps what stands, if 0") == 0
			end := m.ms("before the end of a life", 20_000)
			m.live(life, func(eng *engine.Engine) {
				for ; admitted < admissions; admitted++ {
					_ = clk.Sleep(context.Background(), time.Duration(pauses[admitted])*time.Millisecond)
					_, err := eng.Admit(engine.Delivery{Workflow: "top", Payload: json.RawMessage(`{"orderId":"o1"}`)})
					m.tolerate(err)
				}
				if cancels {
					_ = clk.Sleep(context.Background(), cancel)
					m.cancel(eng, which, keep)
				}
				_ = clk.Sleep(context.Background(), end)
				eng.Kill()
			})
		}
		m.live(-1, func(*engine.Engine) {})
		m.atRest()
		for range 30 {
			if !m.settleOne() {
				break
			}
			m.atRest()
		}
		m.settled()
	})
}

// contracts draws which kinds of writes there are, and how long keys are remembered.
func (m *mixture) contracts() {
	rt := m.rt
	m.kinds = []writeKind{keyedWrite, keyedWrite}
	if rapid.IntRange(0, 2).Draw(rt, "writes without keys, if 0") == 0 {
		m.kinds = append(m.kinds, bareWrite, looseWrite)
	}
	if rapid.IntRange(0, 2).Draw(rt, "rows, if 0") == 0 {
		m.kinds = append(m.kinds, rowWrite, rowWrite, bareRow)
		m.file.ends = rapid.SliceOfN(rapid.SampledFrom(commitEnds), 1, 8).Draw(rt, "commits")
	}
	kept := rapid.SampledFrom([]string{"", "", "", "6s", "30s"}).Draw(rt, "retention")
	enforced := `{"enforces":true}`
	if kept != "" {
		enforced = `{"enforces":true,"retention":"` + kept + `"}`
		m.world.retention, _ = time.ParseDuration(kept)
	}
	m.world.loose = loosePrefix
	m.declared = declare(m.t, `{"origins":{"*":`+enforced+`,"http://loose.test":{"enforces":false,"lookup":"{url}/by-idempotency-key/{key}"}}}`)
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
		return m.write(path)
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
			m.inverses[name] = append(m.inverses[name], fmt.Sprintf("undo-%s-%d", name, writes))
		}
		b.WriteString("return 1;")
	}
	return b.String()
}

// write is an expression that makes one write of a drawn kind under a name.
func (m *mixture) write(name string) string {
	kind := rapid.SampledFrom(m.kinds).Draw(m.rt, "kind of "+name)
	switch kind {
	case rowWrite, bareRow:
		markers := ""
		if kind == bareRow {
			markers = ", markers: false"
		}
		return fmt.Sprintf(`services.db({driver: "sqlite", connection: "x.db"%s}).execute({text: "INSERT", values: [%q, attempt.idempotencyKey]}, {name: %q})`, markers, name, name)
	}
	address, key := "http://provider.test/"+name, ""
	if kind == looseWrite {
		address = "http://loose.test" + loosePrefix + name
	}
	if kind != bareWrite {
		key = fmt.Sprintf("attempt.idempotencyKey + %q", "/"+name)
		if kind == keyedWrite && rapid.IntRange(0, 3).Draw(m.rt, "a business key, if 0") == 0 { // of another run's loose write a look-up would find the record
			key = fmt.Sprintf("context.payload.orderId + %q", "/"+name)
		}
		key = `, idempotency: {header: "Idempotency-Key", value: ` + key + `}`
	}
	return fmt.Sprintf(`services.http.request({method: "POST", url: %q, json: {orderId: context.payload.orderId, what: %q}, timeout: "10s"%s}, {name: %q})`,
		address, name, key, name)
}

// reply keeps the contract, whatever was drawn for a new key, and refuses to see
// an inverse while something of its run is unknown.
func (m *mixture) reply(_ int, s seen) answer {
	if s.method == "GET" {
		return m.lookedUp(s.path)
	}
	if id, ok := engine.ParseRequestID(s.id); ok && id.Undo {
		m.keepsNothing(id.Run)
		m.nothingUnknown(id.Run)
		m.nothingShared(id.Run)
	}
	if s.key != "" && !strings.HasPrefix(s.path, loosePrefix) && m.world.knows(s.key) {
		return replay
	}
	m.served++
	return m.answers[(m.served-1)%len(m.answers)]
}

// lookedUp answers a look-up by key from what the provider holds and has not forgotten.
func (m *mixture) lookedUp(path string) answer {
	collection, key, _ := strings.Cut(path, "/by-idempotency-key/")
	var found []string
	for _, r := range m.world.records {
		if r.key == key && r.path == collection && (strings.HasPrefix(path, loosePrefix) || m.world.knows(key)) {
			found = append(found, `{"id":"e1",`+strings.TrimPrefix(r.body, "{"))
		}
	}
	switch {
	case len(found) == 0:
		return answer{status: 404, body: "{}"}
	case len(found) > 1 && strings.HasPrefix(path, loosePrefix):
		return answer{status: 200, body: "[" + strings.Join(found, ",") + "]"}
	}
	return answer{status: 200, body: found[len(found)-1]}
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
	m.file.die = func() {
		*killed = true
		eng.Kill()
	}
	m.clk.SetGate(func(clock.Point, string) clock.Verdict {
		if n--; n == 0 {
			m.file.die()
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

func (m *mixture) cancel(eng *engine.Engine, which int, keep bool) {
	m.mu.Lock()
	runs := slices.Clone(m.runs)
	m.mu.Unlock()
	if len(runs) > 0 {
		m.tolerate(eng.Cancel(engine.Cancellation{Run: runs[which%len(runs)], Keep: keep}))
	}
}

// choice is an unknown call that a person can decide about.
type choice struct {
	run  string
	call *engine.Call
}

// settleOne decides about one unknown call; false where nothing is left to decide.
func (m *mixture) settleOne() bool {
	var choices []choice
	for _, id := range m.runs {
		if run := m.get(id); run.Status.Ended() && run.Reconcile {
			for _, c := range run.Unsettled() {
				choices = append(choices, choice{id, c})
			}
		}
	}
	if len(choices) == 0 {
		return false
	}
	at := rapid.SampledFrom(choices).Draw(m.rt, "decided about")
	eng := m.eng
	killed := m.killAt(eng, rapid.IntRange(0, 12).Draw(m.rt, "gates before the crash while settling"))
	pick := rapid.IntRange(0, 11).Draw(m.rt, "decision")
	m.acts(func() {
		if err := m.decideAbout(eng, at, pick); err != nil && !*killed {
			m.fail("%v", err)
		}
	})
	if *killed {
		m.live(-1, func(*engine.Engine) {})
	}
	return true
}

// decideAbout looks a call up and takes one of the decisions that its evidence allows or,
// where it allows none, that somebody forces who has found out by other means.
func (m *mixture) decideAbout(eng *engine.Engine, at choice, pick int) error {
	if engine.Askable(at.call, m.declared) {
		if _, err := eng.Lookup(context.Background(), at.run, at.call.Key, engine.LookupOptions{}); err != nil {
			m.tolerate(err)
			return nil
		}
	}
	run, err := eng.Get(at.run)
	if err != nil {
		m.tolerate(err)
		return nil
	}
	calls := run.Unsettled()
	i := slices.IndexFunc(calls, func(c *engine.Call) bool { return c.Pos == at.call.Pos })
	if i < 0 {
		return nil
	}
	situation, err := eng.Situation(run, calls[i])
	if err != nil {
		return err
	}
	ask := engine.Resolution{Run: at.run, Key: calls[i].Key, Write: calls[i].Write, Reason: "by the test"}
	var allowed []engine.Resolution
	for _, ask.Decision = range []engine.Decision{engine.Record, engine.Resubmit, engine.Abandon} {
		if situation.Ruling(ask.Decision, false).Permission == engine.Allowed {
			allowed = append(allowed, ask)
		}
	}
	switch advice := situation.Advice(); advice {
	case engine.AdviseRecord, engine.AdviseResubmit:
		if ruling := situation.Ruling(engine.Decision(advice), false); ruling.Permission != engine.Allowed {
			return fmt.Errorf("%s of %s under %s is advised, and not allowed: %s", advice, at.run, ask.Key, ruling.Why)
		}
	}
	if len(allowed) == 0 || situation.Interrupted {
		allowed = append(allowed, m.foundOut(run, calls[i], situation, ask, pick)...)
	}
	if pick == 0 || len(allowed) == 0 {
		ask.Decision = engine.Escalate
		allowed = []engine.Resolution{ask}
	}
	ask = allowed[pick%len(allowed)]
	err = eng.Resolve(ask)
	if ask.Decision == engine.Record && ask.Result == nil && isRefused(err) { // the script cannot go on with the record: then the result is asked for
		if situation.Ruling(engine.Record, true).Permission != engine.Allowed { // another key is to be settled before
			return nil
		}
		ask.Result = json.RawMessage("1")
		err = eng.Resolve(ask)
	}
	if err != nil {
		return fmt.Errorf("%s (result %s, force %v) of %s in %s is allowed, and refused: %w", ask.Decision, ask.Result, ask.Force, ask.Write, at.run, err)
	}
	return nil
}

// foundOut are the decisions of somebody who has asked the provider's people whether a
// write happened; now and then one who did not, and sends it once more.
func (m *mixture) foundOut(run *engine.Run, c *engine.Call, s engine.Situation, ask engine.Resolution, pick int) (out []engine.Resolution) {
	add := func(d engine.Decision, result json.RawMessage) {
		ask.Decision, ask.Result = d, result
		switch s.Ruling(d, result != nil).Permission {
		case engine.Denied:
			return
		case engine.Forced:
			ask.Force = true
		}
		out = append(out, ask)
	}
	happened := false
	if o := run.OperationOf(c); o != nil {
		happened = m.effectsOf(run, o) > 0 || m.anyEffect(run, o)
	}
	switch {
	case s.Interrupted, happened:
		add(engine.Record, json.RawMessage("1"))
	default:
		add(engine.Abandon, nil)
		add(engine.Resubmit, nil)
	}
	if happened && pick%4 == 1 {
		add(engine.Resubmit, nil)
	}
	return out
}
