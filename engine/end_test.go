package engine

import (
	"testing"

	"faultlab/engine/clock"
)

// A run that was asked to be cancelled since it began to end does not end as it would have: no cancel is lost.
func TestARunThatIsCancelledMeanwhileDoesNotEndYet(t *testing.T) {
	t.Parallel()
	h := NewMemory()
	e := New(Options{Clock: clock.NewWall(), History: h})
	t.Cleanup(e.Close)
	rt := &running{e: e, id: "run_1", run: &Run{}}
	if _, err := e.append(rt, Admitted{Workflow: "orders"}, CancelAsked{}); err != nil {
		t.Fatal(err)
	}
	if again, err := rt.end(Ended{Status: StatusSucceeded}, false); !again || err != nil || rt.run.Status.Ended() {
		t.Errorf("asked meanwhile: again %v, %v, run %s", again, err, rt.run.Status)
	}
	if again, err := rt.end(Ended{Status: StatusCancelled}, true); again || err != nil || rt.run.Status != StatusCancelled {
		t.Errorf("asked before: again %v, %v, run %s", again, err, rt.run.Status)
	}
}
