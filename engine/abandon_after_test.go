package engine_test

import (
	"testing"

	"faultlab/engine"
)

// An abandonment gives up what was sent before it: a request that went out under the key afterwards is unknown again.
func TestAnAbandonmentSettlesNothingThatWasSentAfterIt(t *testing.T) {
	t.Parallel()
	send := func(attempt int) []engine.Fact {
		at := engine.Pos{Step: "one", Attempt: attempt}
		call := engine.Pos{Step: "one", Attempt: attempt, Call: 1}
		request := engine.Pos{Step: "one", Attempt: attempt, Call: 1, Request: 1}
		return []engine.Fact{
			engine.AttemptStarted{Pos: at, Max: 1, Key: "k"},
			engine.CallStarted{Pos: call, Service: "http", Operation: "request", Name: "create", Effect: engine.KeyedWrite, Key: "k", Target: "POST http://provider.test/jobs"},
			engine.RequestSent{Pos: request, ID: "r", Method: "POST", URL: "http://provider.test/jobs", Key: "k"},
			engine.RequestEnded{Pos: request, Began: true, Error: "reset"},
			engine.CallEnded{Pos: call, How: engine.HowNoReply, Finding: engine.FoundAmbiguous},
			engine.AttemptEnded{Pos: at, Outcome: engine.Unknown, Next: engine.NextReconcile},
			engine.Ended{Status: engine.StatusFailed, Reconcile: true},
		}
	}
	facts := append([]engine.Fact{engine.Admitted{Workflow: "orders"}, engine.Started{}}, send(1)...)
	facts = append(facts, engine.Decided{Pos: engine.Pos{Step: "one", Attempt: 1, Call: 1}, Decision: engine.Abandon, Key: "k"})
	fold := func() *engine.Run {
		var events []engine.Event
		for i, f := range facts {
			events = append(events, engine.Event{Run: "run_1", Seq: int64(i + 1), At: epoch, Fact: f})
		}
		return engine.Fold(events)
	}
	if r := fold(); r.StepBelief(r.Steps[0]) != engine.BeliefNotDone || len(r.Unsettled()) != 0 {
		t.Errorf("abandoned: %s, %d to settle", r.StepBelief(r.Steps[0]), len(r.Unsettled()))
	}
	facts = append(facts, send(2)...)
	r := fold()
	if doubts := r.Unsettled(); r.StepBelief(r.Steps[0]) != engine.BeliefUnknown || len(doubts) != 1 || doubts[0].Attempt != 2 {
		t.Errorf("sent again: %s, to settle %+v", r.StepBelief(r.Steps[0]), doubts)
	}
	facts = append(facts, engine.Decided{Pos: engine.Pos{Step: "one", Attempt: 2, Call: 1}, Decision: engine.Abandon, Key: "k"})
	if r := fold(); r.StepBelief(r.Steps[0]) != engine.BeliefNotDone || len(r.Unsettled()) != 0 {
		t.Errorf("abandoned again: %s, %d to settle", r.StepBelief(r.Steps[0]), len(r.Unsettled()))
	}
}
