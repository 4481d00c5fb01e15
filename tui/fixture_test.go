package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muesli/termenv"

	"faultlab/engine"
	"faultlab/faultprovider"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

var noon = time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)

func ms(n int) time.Time { return noon.Add(time.Duration(n) * time.Millisecond) }

const testKey = "sha256:77e0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5cc41b"

// tale builds a view from what happened, entry by entry, as a bench does.
type tale struct {
	view   scenarios.View
	events map[string][]engine.Event
	order  []string
	step   string
	n      int
}

func newTale() *tale {
	return &tale{view: scenarios.View{Start: noon, Setting: scenarios.Setting{Contract: "seed"}}, events: map[string][]engine.Event{}, step: "createFulfillment"}
}

func (b *tale) event(run string, at int, f engine.Fact, rows ...scenarios.Row) {
	b.n++
	if len(b.events[run]) == 0 {
		b.order = append(b.order, run)
	}
	b.events[run] = append(b.events[run], engine.Event{Seq: int64(b.n), Run: run, At: ms(at), Fact: f})
	b.rows(run, at, rows...)
}

func (b *tale) rows(run string, at int, rows ...scenarios.Row) {
	for _, r := range rows {
		r.Entry, r.At, r.Run = b.n, ms(at), run
		b.view.Wire = append(b.view.Wire, r)
	}
	b.view.At = ms(at)
}

func (b *tale) log(run string, at int, e faultprovider.Entry, rows ...scenarios.Row) {
	b.n++
	e.At = ms(at)
	b.view.Log = append(b.view.Log, e)
	b.rows(run, at, rows...)
}

func (b *tale) effect(at int, id, body, key string) {
	b.view.Effects = append(b.view.Effects, faultprovider.Effect{ID: id, Collection: "jobs", Key: key, Body: json.RawMessage(body), CommittedAt: ms(at)})
}

func (b *tale) pos(attempt int) engine.Pos {
	return engine.Pos{Step: b.step, Attempt: attempt, Call: 1, Request: 1}
}

func (b *tale) admit(run string, at int) {
	b.event(run, at, engine.Admitted{Workflow: "fulfill-retry-demo", Trigger: "fulfill", Payload: json.RawMessage(`{"orderId":"order-42"}`)})
	b.event(run, at, engine.Started{})
}

// attempt sends once; how it ends follows.
func (b *tale) attempt(run string, at, n int, detail string) {
	p := b.pos(n)
	b.event(run, at, engine.AttemptStarted{Pos: engine.Pos{Step: b.step, Attempt: n}, Max: 3, Key: testKey},
		scenarios.Row{Kind: scenarios.RowAttempt, Text: fmt.Sprintf("attempt %d", n), Detail: detail})
	b.event(run, at+1, engine.CallStarted{Pos: p, Service: "http", Operation: "request", Effect: engine.KeyedWrite, Key: testKey})
	b.event(run, at+1, engine.RequestSent{Pos: p, ID: fmt.Sprintf("%s/%s/%d/1", run, b.step, n), Method: "POST", URL: "http://127.0.0.1:4040/jobs", Key: testKey, Header: "Idempotency-Key"},
		scenarios.Row{Kind: scenarios.RowSend, Tone: scenarios.ToneWire, Text: "POST /jobs"})
}

// finish gives the view; operations compare the runs with the ledger as the bench does.
func (b *tale) finish(why string) *scenarios.View {
	v := b.view
	v.N, v.Total = b.n, b.n
	for _, id := range b.order {
		v.Runs = append(v.Runs, engine.Fold(b.events[id]))
	}
	for _, r := range v.Runs {
		for _, s := range r.Steps {
			op := scenarios.Operation{Step: s.ID, Subject: "order-42", Runs: []string{r.ID}, Keys: []string{testKey}, Belief: r.StepBelief(s), Effects: v.Effects, Why: why}
			op.Verdict = engine.VerdictOf(engine.Pair{Belief: op.Belief, Standing: len(v.Effects)})
			op.Doubts = r.Doubts(s)
			if op.Belief == engine.BeliefUnknown {
				op.DoubtRuns = []string{r.ID}
				op.Options = testOptions(len(op.Doubts) > 0 && len(op.Doubts[0].Evidence) > 0)
			}
			v.Operations = append(v.Operations, op)
		}
	}
	return &v
}

func testOptions(looked bool) []scenarios.Option {
	out := []scenarios.Option{
		{Decision: engine.Record, Consequence: "The record found stands for the reply that never came. The script goes on with it, later steps run, and nothing is sent again."},
		{Decision: engine.Resubmit, Consequence: "One more attempt under the same key.", Permission: engine.Denied, Unavailable: "the look-up found the record: do not send it again"},
		{Decision: engine.Abandon, Consequence: "It counts as not done. Nothing is sent.", Permission: engine.Denied, Unavailable: "the look-up found the record: it happened"},
		{Decision: engine.Escalate, Consequence: "It stays unknown, with your reason, for a person."},
	}
	if !looked {
		for i := range 3 {
			out[i].Permission, out[i].Unavailable, out[i].Risk = engine.Forced, "it was not looked up yet", "It may be done twice."
		}
	}
	return out
}

// commitThenError is scenario B: the calm one.
func commitThenError() *scenarios.View {
	b := newTale()
	const run = "run_2b90aa17"
	b.admit(run, 0)
	b.attempt(run, 0, 1, "key …c41b")
	b.log(run, 1, faultprovider.Entry{Kind: faultprovider.NewOperation, Key: testKey, Fault: "commit-then-error"})
	b.log(run, 2, faultprovider.Entry{Kind: faultprovider.Commit, EffectID: "job_7c1e0a2b"},
		scenarios.Row{Kind: scenarios.RowCommit, Tone: scenarios.ToneTruth, Text: "commit", Detail: "job_7c1e0a2b", Truth: true})
	b.effect(2, "job_7c1e0a2b", `{"id":"job_7c1e0a2b","orderId":"order-42"}`, testKey)
	b.event(run, 3, engine.RequestEnded{Pos: b.pos(1), Status: 503, Began: true}, scenarios.Row{Kind: scenarios.RowReply, Tone: scenarios.ToneBad, Text: "503"})
	b.event(run, 3, engine.CallEnded{Pos: b.pos(1), How: engine.HowServer, Finding: engine.FoundUnproven, Next: engine.NextAgain, Status: 503})
	b.event(run, 3, engine.AttemptEnded{Pos: engine.Pos{Step: b.step, Attempt: 1}, Outcome: engine.Failed, Next: engine.NextRetry, Due: ms(1003), Reason: "keyed: safe to repeat"},
		scenarios.Row{Kind: scenarios.RowOutcome, Tone: scenarios.ToneBad, Text: "failed", Detail: "retry in 1s, same key"},
		scenarios.Row{Kind: scenarios.RowWait, Tone: scenarios.ToneQuiet, Text: "1.000s", Wait: time.Second})
	b.attempt(run, 1003, 2, "key …c41b same")
	b.log(run, 1004, faultprovider.Entry{Kind: faultprovider.Replay, Key: testKey, EffectID: "job_7c1e0a2b"},
		scenarios.Row{Kind: scenarios.RowReplay, Tone: scenarios.ToneWire, Text: "replay", Truth: true})
	b.event(run, 1005, engine.RequestEnded{Pos: b.pos(2), Status: 200, Began: true}, scenarios.Row{Kind: scenarios.RowReply, Tone: scenarios.ToneGood, Text: "200", Replay: true})
	b.event(run, 1005, engine.CallEnded{Pos: b.pos(2), How: engine.HowAccepted, Finding: engine.FoundDone, Status: 200, Replay: true})
	b.event(run, 1005, engine.AttemptEnded{Pos: engine.Pos{Step: b.step, Attempt: 2}, Outcome: engine.Succeeded, Next: engine.NextStep, Reason: "replay of the first"},
		scenarios.Row{Kind: scenarios.RowOutcome, Tone: scenarios.ToneGood, Text: "succeeded"})
	b.event(run, 1005, engine.Ended{Status: engine.StatusSucceeded})
	return b.finish("The first attempt made the job. Only the shared key kept the second from making another.")
}

// commitThenDrop is scenario C: the loud one. With looked it was looked up already.
func commitThenDrop(looked bool) *scenarios.View {
	b := newTale()
	const run = "run_7f31c20e"
	b.admit(run, 0)
	b.attempt(run, 0, 1, "key …c41b")
	b.log(run, 1, faultprovider.Entry{Kind: faultprovider.NewOperation, Key: testKey, Fault: "commit-then-drop"})
	b.log(run, 2, faultprovider.Entry{Kind: faultprovider.Commit, EffectID: "job_7c1e0a2b"},
		scenarios.Row{Kind: scenarios.RowCommit, Tone: scenarios.ToneTruth, Text: "commit", Detail: "job_7c1e0a2b", Truth: true})
	b.effect(2, "job_7c1e0a2b", `{"id":"job_7c1e0a2b","orderId":"order-42"}`, testKey)
	b.event(run, 3, engine.RequestEnded{Pos: b.pos(1), Began: true, Error: "connection reset", Broke: engine.BrokeReset},
		scenarios.Row{Kind: scenarios.RowBroken, Tone: scenarios.ToneUnknown, Text: "connection reset"})
	b.event(run, 3, engine.CallEnded{Pos: b.pos(1), How: engine.HowNoReply, Finding: engine.FoundAmbiguous, Next: engine.NextStop})
	b.event(run, 3, engine.AttemptEnded{Pos: engine.Pos{Step: b.step, Attempt: 1}, Outcome: engine.Unknown, Next: engine.NextReconcile},
		scenarios.Row{Kind: scenarios.RowOutcome, Tone: scenarios.ToneUnknown, Text: "unknown", Detail: "stop, do not resend"})
	b.event(run, 3, engine.Ended{Status: engine.StatusFailed, Reconcile: true, Step: b.step})
	if looked {
		b.event(run, 900, engine.Evidence{Pos: b.pos(1), Key: testKey, URL: "http://127.0.0.1:4040/jobs/by-idempotency-key/" + testKey, Found: engine.FoundRecord,
			Status: 200, Match: engine.Matches, Body: []byte(`{"id":"job_7c1e0a2b","orderId":"order-42"}`)},
			scenarios.Row{Kind: scenarios.RowSend, Tone: scenarios.ToneWire, Text: "GET /jobs/by-idempotency-key/…c41b", Detail: "look-up"},
			scenarios.Row{Kind: scenarios.RowReply, Text: "200"},
			scenarios.Row{Kind: scenarios.RowEvidence, Tone: scenarios.ToneGood, Text: "found", Detail: "matches what was sent"})
	}
	return b.finish("Look it up, then record it: the job is already there.")
}

// testRuns is n runs that succeed at once, on one bench.
func testRuns(n int) *scenarios.View {
	b := newTale()
	for i := range n {
		run := fmt.Sprintf("run_%08x", i*7919)
		b.admit(run, i)
		b.attempt(run, i, 1, "key …c41b")
		b.event(run, i+1, engine.RequestEnded{Pos: b.pos(1), Status: 201, Began: true}, scenarios.Row{Kind: scenarios.RowReply, Tone: scenarios.ToneGood, Text: "201"})
		b.event(run, i+1, engine.CallEnded{Pos: b.pos(1), How: engine.HowAccepted, Finding: engine.FoundDone, Status: 201})
		b.event(run, i+1, engine.AttemptEnded{Pos: engine.Pos{Step: b.step, Attempt: 1}, Outcome: engine.Succeeded, Next: engine.NextStep},
			scenarios.Row{Kind: scenarios.RowOutcome, Tone: scenarios.ToneGood, Text: "succeeded"})
		b.event(run, i+1, engine.Ended{Status: engine.StatusSucceeded})
	}
	return b.finish("Asked for once, answered, and the ledger holds one job.")
}

// still is a bench that shows one view and carries nothing out: for what is drawn, not for what happens.
type still struct {
	mu     sync.Mutex
	view   *scenarios.View
	state  scenarios.State
	done   []string
	closed bool
	notify func()
}

func (s *still) View(n int) *scenarios.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= s.view.N {
		return s.view
	}
	v := *s.view
	v.N = n
	for i, r := range v.Wire {
		if r.Entry > n {
			v.Wire = v.Wire[:i]
			break
		}
	}
	return &v
}
func (s *still) Len() int                   { return s.view.Total }
func (s *still) State() scenarios.State     { return s.state }
func (s *still) Notify(f func())            { s.notify = f }
func (s *still) Play()                      {}
func (s *still) Unavailable(string) string  { return "" }
func (s *still) Recording() ([]byte, error) { return nil, nil }
func (s *still) Close() error               { s.closed = true; return nil }
func (s *still) Answer()                    {}

func (s *still) OnPanic(func(string, any, []byte)) {}

func (s *still) Do(line string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, line)
	if line == "cancel" {
		return errors.New("no run to cancel")
	}
	return nil
}

func atRest(v *scenarios.View) scenarios.State {
	return scenarios.State{AtRest: true, Speed: 1, Elapsed: v.At.Sub(v.Start), Address: "127.0.0.1:4040", Mode: "sockets"}
}

func testScenario(name, title string) *lang.Scenario {
	return &lang.Scenario{Name: name, Title: title, Group: "The guide's three", Runs: lang.RunsBoth,
		Teach: "The first attempt really created the job. The retry is safe only because the key stayed the same.",
		Lines: []lang.Line{{Verb: "fault", Args: []string{"commit-then-error"}, Text: "commit-then-error"}}, Names: []string{"workflow.woml"},
		Files: map[string][]byte{"workflow.woml": []byte("<woml>\n  <workflow id=\"fulfill\">\n\t</workflow>\n</woml>\n")}}
}

// strokeOf is what a theme writes before text in an ink.
func strokeOf(t testing.TB, name string, k draw.Ink) string {
	t.Helper()
	th, err := draw.NewTheme(name, termenv.TrueColor, draw.Unicode)
	if err != nil {
		t.Fatal(err)
	}
	on, _, _ := strings.Cut(th.Line(draw.Say(k, "x"), 1), "x")
	return on
}

// testModel is the program of a size, with the catalogue open.
func testModel(t testing.TB, theme string, width, height int) *model {
	t.Helper()
	th, err := draw.NewTheme(theme, termenv.TrueColor, draw.Unicode)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Scenarios: []*lang.Scenario{testScenario("a-fail-before-commit", "A. Fail before the commit"),
		testScenario("b-commit-then-error", "B. Commit, then 503"), testScenario("c-commit-then-drop", "C. Commit, then drop")}, depth: termenv.TrueColor}
	o.Lessons = []Lesson{{Name: "timeout", Title: "A timeout is not a failure", Text: "An attempt ends in one of three states.\nYou predict, then you see.", Scenarios: o.Scenarios[:2]}}
	m := newModel(o, th, loadSettings(""))
	m.width, m.height = width, height
	return m
}

// onBench opens a bench that shows a view.
func onBench(m *model, title string, v *scenarios.View) *still {
	b := &still{view: v, state: atRest(v)}
	m.opened(openedMsg{bench: b, scenario: testScenario(title, title)})
	return b
}
