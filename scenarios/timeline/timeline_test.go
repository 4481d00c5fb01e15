package timeline

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/faultprovider"
	"faultlab/faultprovider/fault"

	"pgregory.net/rapid"
)

// drawEntries draws a timeline: a few runs' events with the provider's log and notes among them.
func drawEntries(t *rapid.T) []Entry {
	var out []Entry
	seq := int64(0)
	for _, e := range drawEvents(t) {
		out = append(out, Entry{At: e.At, Event: &e})
		switch rapid.IntRange(0, 5).Draw(t, "beside") {
		case 0:
			seq++
			id := fmt.Sprintf("job_%d", rapid.IntRange(1, 4).Draw(t, "job"))
			out = append(out, Entry{At: e.At,
				Log: &faultprovider.Entry{Seq: seq, At: e.At, Kind: faultprovider.Commit, EffectID: id, RequestID: e.Run + "/a/1/1"},
				Effects: []faultprovider.Effect{{ID: id, Collection: "jobs", RequestID: e.Run + "/a/1/1", CommittedAt: e.At,
					UndoneBy: rapid.SampledFrom([]string{"", "job_9"}).Draw(t, "undone")}}})
		case 1:
			seq++
			out = append(out, Entry{At: e.At, Log: &faultprovider.Entry{Seq: seq, At: e.At, Kind: faultprovider.NewOperation, Fault: "commit-then-drop", RequestID: e.Run + "/a/1/1", Took: &faultprovider.Taken{Left: []fault.Fault{{Name: "slow"}}}}})
		case 2:
			out = append(out, Entry{At: e.At, Note: &Note{Verb: "fault", Text: "commit-then-drop", Bench: &Setting{Faults: []fault.Fault{{Name: "commit-then-drop"}, {}}}}})
		}
	}
	return out
}

func TestAViewIsTheFoldOfItsEntriesAndNeverChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := drawEntries(t)
		line := New(Options{Subject: "orderId"})
		type seen struct {
			v    *View
			text string
		}
		var views []seen
		for k := 0; k < len(all); {
			n := rapid.IntRange(1, len(all)-k).Draw(t, "more")
			line.Append(all[k : k+n]...)
			k += n
			for range rapid.IntRange(0, 3).Draw(t, "looks") {
				v := line.View(rapid.IntRange(0, k).Draw(t, "n"))
				views = append(views, seen{v, dump(t, v)})
			}
		}
		for _, s := range views {
			if got := dump(t, s.v); got != s.text {
				t.Fatalf("the view of %d entries changed afterwards\nwas %s\nis  %s", s.v.N, s.text, got)
			}
			fresh := New(Options{Subject: "orderId"})
			fresh.Append(all[:s.v.N]...)
			want := *fresh.Latest()
			want.Total = s.v.Total
			if got := dump(t, want); got != s.text {
				t.Fatalf("the view of %d entries\nis   %s\nwant %s", s.v.N, s.text, got)
			}
		}
	})
}

// An attempt's end can change the state of the whole run, and with it what is believed of its other steps.
func TestAnAttemptsEndIsSeenInAllOperationsOfTheRun(t *testing.T) {
	t.Parallel()
	b, undo := engine.Pos{Step: "b", Attempt: 1}, engine.Pos{Step: "a", Undo: true, Attempt: 1}
	looked, fresh := New(Options{}), New(Options{})
	for i, f := range []engine.Fact{engine.Admitted{Workflow: "w"}, engine.AttemptStarted{Pos: b, Max: 3, Key: "k"}, engine.AttemptStarted{Pos: undo, Max: 3, Key: "k"},
		engine.Ended{Status: engine.StatusFailed}, engine.AttemptEnded{Pos: undo, Outcome: engine.Failed, Next: engine.NextRetry}} {
		e := Entry{Event: &engine.Event{Seq: int64(i + 1), Run: "run_1", At: time.Unix(int64(i), 0), Fact: f}}
		looked.Append(e)
		fresh.Append(e)
		looked.Latest()
	}
	if got, want := dump(t, looked.Latest().Operations), dump(t, fresh.Latest().Operations); got != want {
		t.Errorf("looked at after each entry it is\n%s\nand at the end alone\n%s", got, want)
	}
}

// longTimeline is n entries of one run after the other, each a retried write.
func longTimeline(n int) []Entry {
	var out []Entry
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for k := 0; len(out) < n; k++ {
		run := fmt.Sprintf("run_%06d", k)
		add := func(e Entry) {
			at = at.Add(time.Millisecond)
			e.At = at
			if e.Event != nil {
				e.Event.Run, e.Event.At, e.Event.Seq = run, at, int64(len(out)+1)
			}
			out = append(out, e)
		}
		fact := func(f engine.Fact) { add(Entry{Event: &engine.Event{Fact: f}}) }
		p := engine.Pos{Step: "createFulfillment", Attempt: 1, Call: 1, Request: 1}
		fact(engine.Admitted{Workflow: "fulfill", Payload: json.RawMessage(fmt.Sprintf(`{"orderId":"order-%d"}`, k))})
		fact(engine.Started{})
		for a := 1; a <= 2; a++ {
			p.Attempt = a
			id := fmt.Sprintf("%s/createFulfillment/%d/1", run, a)
			fact(engine.AttemptStarted{Pos: engine.Pos{Step: p.Step, Attempt: a}, Max: 3, Key: "k" + run})
			fact(engine.CallStarted{Pos: p, Service: "http", Effect: engine.KeyedWrite, Key: "k" + run})
			fact(engine.RequestSent{Pos: p, ID: id, Method: "POST", URL: "http://127.0.0.1:4040/jobs", Key: "k" + run})
			add(Entry{Log: &faultprovider.Entry{Kind: faultprovider.NewOperation, RequestID: id, Request: int64(2*k + a)}})
			if a == 1 {
				add(Entry{Log: &faultprovider.Entry{Kind: faultprovider.Commit, RequestID: id, Request: int64(2*k + a)},
					Effects: []faultprovider.Effect{{ID: "job_" + run, Collection: "jobs", RequestID: id, Key: "k" + run}}})
			}
			fact(engine.RequestEnded{Pos: p, Status: 503, Began: true})
			fact(engine.CallEnded{Pos: p, How: engine.HowServer, Finding: engine.FoundUnproven, Next: engine.NextAgain, Status: 503})
			fact(engine.AttemptEnded{Pos: engine.Pos{Step: p.Step, Attempt: a}, Outcome: engine.Failed, Next: engine.NextRetry, Due: at.Add(time.Second)})
		}
		fact(engine.Ended{Status: engine.StatusFailed, Reconcile: true})
	}
	return out[:n]
}

func TestAnUnchangedTimelineGivesTheSameView(t *testing.T) {
	t.Parallel()
	line := New(Options{})
	line.Append(longTimeline(5000)...)
	latest, past := line.Latest(), line.View(3000)
	if line.Latest() != latest || line.View(3000) != past {
		t.Error("a view was made again although nothing changed")
	}
}

func TestViewsMayBeTakenWhileEntriesArrive(t *testing.T) {
	t.Parallel()
	all := longTimeline(3000)
	line := New(Options{})
	var wait sync.WaitGroup
	for k := range 3 {
		wait.Go(func() {
			for line.Len() < len(all) {
				if v := line.View(line.Len() * (k + 1) / 3); v.N > 0 && len(v.Runs) == 0 {
					t.Error("a view of entries without a run")
				}
			}
		})
	}
	for _, e := range all {
		line.Append(e)
	}
	wait.Wait()
	if got := len(line.Latest().Operations); got != len(line.Latest().Runs) {
		t.Errorf("%d operations of %d runs", got, len(line.Latest().Runs))
	}
}

func BenchmarkViewOfTheLatest(b *testing.B) {
	line := New(Options{})
	line.Append(longTimeline(100_000)...)
	line.Latest()
	more := longTimeline(64)
	for i := 0; b.Loop(); i++ {
		line.Append(more[i%len(more)])
		line.Latest()
	}
}

func BenchmarkViewOfThePast(b *testing.B) {
	line := New(Options{})
	line.Append(longTimeline(100_000)...)
	line.Latest()
	for i := 0; b.Loop(); i++ {
		line.View((i * 7919) % 100_000)
	}
}

func BenchmarkFoldForward(b *testing.B) {
	all := longTimeline(100_000)
	for b.Loop() {
		line := New(Options{})
		line.Append(all...)
		line.Latest()
	}
}
