package timeline

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"faultlab/engine"

	"pgregory.net/rapid"
)

// drawEvents draws a history of a few runs, well formed enough that every fact finds its place.
func drawEvents(t *rapid.T) []engine.Event {
	n := rapid.IntRange(1, 80).Draw(t, "events")
	var out []engine.Event
	folds := map[string]*engine.Run{}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		id := fmt.Sprintf("run_%d", rapid.IntRange(0, 2).Draw(t, "run"))
		at = at.Add(time.Millisecond)
		e := engine.Event{Seq: int64(i + 1), Run: id, At: at}
		r := folds[id]
		if r == nil {
			r = &engine.Run{}
			folds[id] = r
			e.Fact = engine.Admitted{Workflow: "w", Payload: json.RawMessage(`{"orderId":"order-1"}`)}
		} else {
			e.Fact = drawFact(t, r)
		}
		r.Apply(e)
		out = append(out, e)
	}
	return out
}

func drawFact(t *rapid.T, r *engine.Run) engine.Fact {
	p := drawPos(t, r)
	switch rapid.SampledFrom([]string{"start", "attempt", "call", "call", "sent", "sent", "ended", "unsent", "callended", "callended", "attemptended", "over", "evidence", "decided", "cancel", "waiting", "childended", "resumed"}).Draw(t, "fact") {
	case "attempt":
		p.Attempt++
		return engine.AttemptStarted{Pos: p, Max: 3, Key: "k"}
	case "call":
		p.Call++
		return engine.CallStarted{Pos: p, Effect: engine.KeyedWrite, Key: "k"}
	case "sent":
		p.Request++
		return engine.RequestSent{Pos: p, ID: "x", Method: "POST", URL: "http://h/jobs", Key: "k"}
	case "ended":
		return engine.RequestEnded{Pos: p, Status: 201, Began: true}
	case "unsent":
		return engine.NotSent{Pos: p, Why: "cancelled"}
	case "callended":
		return engine.CallEnded{Pos: p, How: rapid.SampledFrom([]engine.How{engine.HowAccepted, engine.HowNoReply}).Draw(t, "how"), Finding: engine.FoundAmbiguous}
	case "attemptended":
		return engine.AttemptEnded{Pos: p, Outcome: engine.Failed, Next: engine.NextRetry}
	case "over":
		return engine.Ended{Status: engine.StatusFailed}
	case "evidence":
		return engine.Evidence{Pos: p, Key: "k", Found: engine.FoundRecord}
	case "decided":
		return engine.Decided{Pos: p, Key: "k", Decision: engine.Record, Result: json.RawMessage("1")}
	case "cancel":
		return engine.CancelAsked{}
	case "waiting":
		return engine.Waiting{Pos: p, Child: "run_9"}
	case "childended":
		return engine.CallEnded{Pos: p, How: engine.HowConflict, Child: "run_9"}
	case "resumed":
		return engine.Resumed{Settled: "run_9"}
	}
	return engine.Started{}
}

// drawPos is the place of something that exists in the run, or of nothing.
func drawPos(t *rapid.T, r *engine.Run) engine.Pos {
	p := engine.Pos{Step: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "step"), Undo: rapid.Bool().Draw(t, "undo")}
	s := r.StepAt(p.Step, p.Undo)
	if s == nil || len(s.Attempts) == 0 {
		return p
	}
	p.Attempt = len(s.Attempts)
	calls := s.Last().Calls
	if len(calls) == 0 {
		return p
	}
	p.Call = rapid.IntRange(1, len(calls)).Draw(t, "call")
	p.Request = len(calls[p.Call-1].Requests)
	return p
}

func dump(t interface{ Fatal(...any) }, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAFrozenRunNeverChangesAndTheFoldIsTheEngines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := drawEvents(t)
		type view struct {
			runs []*engine.Run
			text string
			n    int
		}
		var views []view
		line := New(Options{})
		folds := []*fold{line.thaw(mark{})}
		done := []int{0}
		for range 2 * len(events) {
			k := rapid.IntRange(0, len(folds)-1).Draw(t, "fold")
			if done[k] == len(events) {
				continue
			}
			line.step(folds[k], Entry{Event: &events[done[k]]})
			done[k]++
			if !rapid.Bool().Draw(t, "freeze") {
				continue
			}
			m := folds[k].freeze()
			views = append(views, view{m.runs, dump(t, m.runs), done[k]})
			if len(folds) < 4 && rapid.Bool().Draw(t, "fork") {
				folds, done = append(folds, line.thaw(m)), append(done, done[k])
			}
		}
		for _, v := range views {
			if got := dump(t, v.runs); got != v.text {
				t.Fatalf("the view of %d events changed afterwards\nwas %s\nis  %s", v.n, v.text, got)
			}
			if want := plainFold(events[:v.n]); !reflect.DeepEqual(v.runs, want) {
				t.Fatalf("the view of %d events\nis   %s\nwant %s", v.n, v.text, dump(t, want))
			}
		}
	})
}

// A run that goes on opens a call again that earlier views saw ended.
func TestAFrozenRunStaysAsItWasWhenItGoesOn(t *testing.T) {
	t.Parallel()
	p := engine.Pos{Step: "a", Attempt: 1, Call: 1}
	line := New(Options{})
	for i, fact := range []engine.Fact{engine.Admitted{}, engine.AttemptStarted{Pos: p}, engine.CallStarted{Pos: p}, engine.Waiting{Pos: p, Child: "run_2"},
		engine.CallEnded{Pos: p, How: engine.HowConflict, Child: "run_2"}, engine.AttemptEnded{Pos: p, Outcome: engine.Unknown}, engine.Ended{Reconcile: true}} {
		line.Append(Entry{Event: &engine.Event{Seq: int64(i + 1), Run: "run_1", Fact: fact}})
	}
	before := line.Latest().Runs
	was := dump(t, before)
	line.Append(Entry{Event: &engine.Event{Seq: 8, Run: "run_1", Fact: engine.Resumed{Settled: "run_2"}}})
	after := line.Latest().Runs[0].Steps[0].Attempts[0].Calls[0]
	if is := dump(t, before); is != was || after.Ended {
		t.Errorf("before it went on the run was\n%s\nand is now\n%s; its call is open: %v", was, is, !after.Ended)
	}
}

func plainFold(events []engine.Event) []*engine.Run {
	var out []*engine.Run
	at := map[string]*engine.Run{}
	for _, e := range events {
		if at[e.Run] == nil {
			at[e.Run] = &engine.Run{}
			out = append(out, at[e.Run])
		}
		at[e.Run].Apply(e)
	}
	return out
}
