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

// What a look-up may be answered, beside what the world holds under the key.
var lookUps = []answer{
	{}, {}, {}, {}, // as it is
	{status: 404, body: `{}`}, {status: 503, body: `{}`}, {broken: "reset"}, {status: 200, body: `{"orderId":"o9"}`}, {status: 200, body: `{"id":"job_1"}`},
	{status: 200, body: `[]`}, {status: 200, body: `{"data":[{"orderId":"o1"},{"orderId":"o1"}]}`}, {status: 204}, {status: 200, body: `null`},
}

var assumed = []string{
	`{}`, `{"origins":{"*":{"enforces":true}}}`, `{"origins":{"*":{"enforces":false}}}`, `{"origins":{"*":{"lookup":"none"}}}`,
	`{"origins":{"*":{"enforces":true,"retention":"30s","conflict":"in-flight"}}}`,
}

// Over random histories, of runs that share a key too: what is forbidden is refused and
// writes nothing, what must be forced is refused without force, and what is advised is accepted.
func TestWhatIsAdvisedIsAcceptedAndWhatIsForbiddenRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		clk := clock.NewVirtual(epoch)
		defer clk.Close()
		l := &lab{t: t, clk: clk, hist: engine.NewMemory(), world: &world{clk: clk, effects: map[string]string{}}}
		key := rapid.SampledFrom([]string{"attempt.idempotencyKey", `"order-" + context.payload.orderId`}).Draw(rt, "key")
		carrier := rapid.SampledFrom([]string{`idempotency: {header: "Idempotency-Key", value: ` + key + `}`, `responseType: "json"`}).Draw(rt, "carrier")
		script := `const r = await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {orderId: context.payload.orderId}, timeout: "10s", ` + carrier + `}, {name: "create"}); return {job: r.data.id};`
		doc, diags := woml.Parse([]byte(document("", rapid.SampledFrom([]string{"|", retry3}).Draw(rt, "retry")+script)))
		if doc == nil {
			rt.Fatal(diags)
		}
		l.docs = []*woml.Document{doc}
		declared := declare(t, rapid.SampledFrom(assumed).Draw(rt, "assumed"))
		l.options = func(o *engine.Options) { o.Assume = declared }
		answers := rapid.SliceOfN(rapid.SampledFrom(schedule), 1, 6).Draw(rt, "answers")
		enforce(l, answers)
		inner, asked := l.world.answer, 0
		told := rapid.SliceOfN(rapid.SampledFrom(lookUps), 1, 8).Draw(rt, "look-ups")
		l.world.answer = func(n int, s seen) answer {
			if s.method == "GET" {
				asked++
				if a := told[asked%len(told)]; a.status != 0 || a.broken != "" {
					return a
				}
			}
			return inner(n, s)
		}
		waits := rapid.SliceOfN(rapid.SampledFrom([]time.Duration{0, 0, 20 * time.Second}), 5, 5).Draw(rt, "waits")
		cancels := rapid.SliceOfN(rapid.IntRange(-3, 3), 1, 3).Draw(rt, "seconds before the cancel of each run; none below 0")
		eng := l.start()
		var wrong error
		l.run(func() {
			for _, seconds := range cancels {
				r, err := eng.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(`{"orderId":"o1"}`)})
				if err == nil && seconds >= 0 {
					_ = clk.Sleep(context.Background(), time.Duration(seconds)*time.Second)
					if err = eng.Cancel(engine.Cancellation{Run: r.Run}); isRefused(err) {
						err = nil
					}
				}
				if wrong = err; wrong != nil {
					return
				}
				eng.Ended(r.Run).Wait()
				if wrong = l.decide(r.Run, waits); wrong != nil {
					return
				}
			}
		})
		if wrong != nil {
			rt.Fatal(wrong)
		}
	})
}

// decide tries every decision about a run and then does what is advised, a few times.
func (l *lab) decide(id string, waits []time.Duration) error {
	for _, wait := range waits {
		_ = l.clk.Sleep(context.Background(), wait)
		run := l.get(id)
		doubts := run.Unsettled()
		if len(doubts) == 0 {
			return nil
		}
		c := doubts[0]
		s, err := l.eng.Situation(run, c)
		if err != nil {
			return err
		}
		ask := engine.Resolution{Run: id, Key: c.Key, Reason: "by the test"}
		for _, ask.Decision = range []engine.Decision{engine.Record, engine.Resubmit, engine.Abandon} {
			for _, ask.Result = range []json.RawMessage{nil, json.RawMessage(`{}`)} {
				ruling := s.Ruling(ask.Decision, ask.Result != nil)
				if ask.Result != nil && ask.Decision != engine.Record || ruling.Permission == engine.Allowed {
					continue
				}
				ask.Force = ruling.Permission == engine.Denied
				err := l.eng.Resolve(ask)
				var no *engine.Refused
				if !errors.As(err, &no) || no.Why != ruling.Why || no.Force == ask.Force {
					return fmt.Errorf("%s, result %s, force %v of %s: %v, ruled %+v", ask.Decision, ask.Result, ask.Force, id, err, ruling)
				}
			}
		}
		if got := l.get(id); got.Last != run.Last {
			return fmt.Errorf("a refusal wrote to the history of %s", id)
		}
		switch advice := s.Advice(); advice {
		case engine.AdviseLookup:
			if found, err := l.eng.Lookup(context.Background(), id, c.Key, engine.LookupOptions{}); err != nil || len(found) == 0 {
				return fmt.Errorf("advised to look %s up: %v, %v", id, found, err)
			}
		default:
			err := l.eng.Resolve(engine.Resolution{Run: id, Key: c.Key, Decision: engine.Decision(advice), Reason: "nobody can prove it"})
			if err != nil && !preflight(err) {
				return fmt.Errorf("advised to %s %s: %v", advice, id, err)
			}
			l.eng.Ended(id).Wait()
			after := l.get(id)
			if n := len(l.doubted(after, c).Decisions); err == nil && n > 0 && l.doubted(after, c).Decisions[n-1].Forced != "" {
				return fmt.Errorf("what was advised of %s is called forced", id)
			}
			if advice == engine.AdviseEscalate {
				return nil
			}
		}
	}
	return nil
}

// doubted is a call as a later fold has it.
func (l *lab) doubted(run *engine.Run, c *engine.Call) *engine.Call {
	return run.StepAt(c.Step, c.Undo).Attempts[c.Attempt-1].Calls[c.N()-1]
}

// preflight reports whether a record was refused because the script cannot go on with it: only running it shows that.
func preflight(err error) bool {
	return isRefused(err) && strings.Contains(err.Error(), "--result")
}
