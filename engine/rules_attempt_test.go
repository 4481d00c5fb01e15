package engine

import (
	"testing"

	"pgregory.net/rapid"
)

func write(e Effect, f Finding) *Call { return &Call{Effect: e, Finding: f, Ended: true} }

func child(h How) *Call { return &Call{Effect: Read, Child: "run_2", How: h, Ended: true} }

func TestAttemptTable(t *testing.T) {
	t.Parallel()
	done, notDone := write(KeyedWrite, FoundDone), write(KeyedWrite, FoundNotDone)
	unproven, doubt := write(KeyedWrite, FoundUnproven), write(KeyedWrite, FoundAmbiguous)
	unkeyed, read := write(UnkeyedWrite, FoundDone), write(Read, FoundNothing)
	settled := write(KeyedWrite, FoundAmbiguous)
	settled.SettledBy = Pos{Step: "step1", Attempt: 1, Call: 2}
	answered := write(KeyedWrite, FoundUnproven)
	answered.SettledBy = Pos{Step: "step1", Attempt: 1, Call: 2}
	recorded := write(KeyedWrite, FoundAmbiguous)
	recorded.Decisions = []DecidedAt{{Decided: Decided{Decision: Record}}}
	calls := func(c ...*Call) []*Call { return c }
	met := map[string]bool{}
	for _, r := range []struct {
		name    string
		end     attemptEnd
		outcome Outcome
		next    Next
	}{
		{"returned after a drop that it swallowed", attemptEnd{how: returned, calls: calls(doubt)}, Unknown, NextReconcile},
		{"threw after a drop", attemptEnd{how: threw, calls: calls(doubt), budgetLeft: true}, Unknown, NextReconcile},
		{"over a limit after a drop", attemptEnd{how: overLimit, calls: calls(done, doubt)}, Unknown, NextReconcile},
		{"recovered with an open write", attemptEnd{how: interrupted, calls: calls(doubt)}, Unknown, NextReconcile},
		{"returned, a drop settled by a later reply", attemptEnd{how: returned, calls: calls(settled)}, Succeeded, NextStep},
		{"returned, a drop settled by recorded evidence", attemptEnd{how: returned, calls: calls(recorded)}, Succeeded, NextStep},
		{"returned", attemptEnd{how: returned, calls: calls(done, read)}, Succeeded, NextStep},
		{"threw at a child of which something is unknown", attemptEnd{how: threw, calls: calls(done, child(HowConflict)), stopped: true, budgetLeft: true}, Unknown, NextReconcile},
		{"returned over a child of which something is unknown", attemptEnd{how: returned, calls: calls(child(HowConflict))}, Unknown, NextReconcile},
		{"threw at a child that is at work", attemptEnd{how: threw, calls: calls(child(HowNoReply)), budgetLeft: true}, Failed, NextRetry},
		{"returned over a child that is at work", attemptEnd{how: returned, calls: calls(child(HowNoReply))}, Unknown, NextReconcile},
		{"returned over a child that failed", attemptEnd{how: returned, calls: calls(child(HowClient))}, Succeeded, NextStep},
		{"returned without a call", attemptEnd{how: returned}, Succeeded, NextStep},
		{"returned over a 503 that it swallowed", attemptEnd{how: returned, calls: calls(unproven)}, Unknown, NextReconcile},
		{"returned over a 503 that a later reply settled", attemptEnd{how: returned, calls: calls(answered, done)}, Succeeded, NextStep},
		{"returned, and an operation of an earlier attempt is unknown", attemptEnd{how: returned, unknown: true}, Unknown, NextReconcile},
		{"threw on a 503 under a key", attemptEnd{how: threw, calls: calls(unproven), budgetLeft: true}, Failed, NextRetry},
		{"threw by itself, nothing done", attemptEnd{how: threw, budgetLeft: true}, Failed, NextRetry},
		{"threw by itself after a keyed effect", attemptEnd{how: threw, calls: calls(done), budgetLeft: true}, Failed, NextRetry},
		{"threw, never sent", attemptEnd{how: threw, calls: calls(notDone), budgetLeft: true}, Failed, NextRetry},
		{"threw, a call says stop", attemptEnd{how: threw, calls: calls(notDone), stopped: true, budgetLeft: true}, Failed, NextStop},
		{"threw after an unkeyed effect", attemptEnd{how: threw, calls: calls(unkeyed), budgetLeft: true}, Failed, NextStop},
		{"threw, no budget", attemptEnd{how: threw, calls: calls(unproven)}, Failed, NextStop},
		{"over a limit", attemptEnd{how: overLimit, calls: calls(done), budgetLeft: true}, Failed, NextStop},
		{"recovered, none sent", attemptEnd{how: interrupted, calls: calls(notDone), budgetLeft: true}, Failed, NextStop},
		{"recovered, all answered", attemptEnd{how: interrupted, calls: calls(done), budgetLeft: true}, Failed, NextStop},
	} {
		got := attemptRuleFor(r.end)
		met[got.name] = true
		if got.outcome != r.outcome || got.next != r.next {
			t.Errorf("%s: %s, %s (%s), want %s, %s", r.name, got.outcome, got.next, got.name, r.outcome, r.next)
		}
	}
	for _, r := range attemptRules {
		if !met[r.name] {
			t.Errorf("no attempt of this test meets the row %q", r.name)
		}
	}
}

// Whatever an attempt did, it meets a row; it is unknown exactly when an ambiguous
// write is left, or an unproven one after which the script returned, and it is never repeated when a write may have happened without a key.
func TestAttemptTableIsTotal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := attemptEnd{how: ending(rapid.IntRange(0, 3).Draw(t, "how")), stopped: rapid.Bool().Draw(t, "stopped"), budgetLeft: rapid.Bool().Draw(t, "budget")}
		doubt, unsafe := false, false
		for range rapid.IntRange(0, 4).Draw(t, "calls") {
			effect := rapid.SampledFrom(effects).Draw(t, "effect")
			rule := callRules[rapid.SampledFrom(hows).Draw(t, "row")][effect]
			e.calls = append(e.calls, write(effect, rule.finding))
			doubt = doubt || rule.finding == FoundAmbiguous || rule.finding == FoundUnproven && e.how == returned
			unsafe = unsafe || effect == UnkeyedWrite && rule.finding != FoundNotDone
		}
		rule := attemptRuleFor(e)
		if (rule.outcome == Unknown) != doubt {
			t.Fatalf("outcome %s with doubt %v", rule.outcome, doubt)
		}
		if rule.next == NextRetry && (unsafe || !e.budgetLeft || e.stopped || e.how != threw) {
			t.Fatalf("%+v is repeated", e)
		}
	})
}
