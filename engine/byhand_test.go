package engine

import (
	"encoding/json"
	"testing"
)

// A result given by hand settles a write in doubt. Of one that is known not to be done it says nothing: it ends the step.
func TestWhatAResultByHandSaysOfAWrite(t *testing.T) {
	t.Parallel()
	byHand := Decided{Decision: Record, Result: json.RawMessage(`1`)}
	for _, r := range []struct {
		name    string
		finding Finding
		before  []Decision
		last    Decided
		want    Finding
	}{
		{"in doubt", FoundAmbiguous, nil, byHand, FoundDone},
		{"unproven", FoundUnproven, nil, byHand, FoundDone},
		{"done", FoundDone, nil, byHand, FoundDone},
		{"not done", FoundNotDone, nil, byHand, FoundNotDone},
		{"abandoned", FoundAmbiguous, []Decision{Abandon}, byHand, FoundNotDone},
		{"escalated", FoundAmbiguous, []Decision{Escalate}, byHand, FoundDone},
		{"with a record", FoundNotDone, nil, Decided{Decision: Record}, FoundDone},
	} {
		c := &Call{Effect: KeyedWrite, Ended: true, Finding: r.finding}
		for _, d := range r.before {
			c.Decisions = append(c.Decisions, DecidedAt{Decided: Decided{Decision: d}})
		}
		c.Decisions = append(c.Decisions, DecidedAt{Decided: r.last})
		if got := c.proof(); got != r.want {
			t.Errorf("%s: %s, want %s", r.name, got, r.want)
		}
	}
}
