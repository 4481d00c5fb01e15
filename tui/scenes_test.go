package tui

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"faultlab/engine"
	"faultlab/engine/woml"
	"faultlab/faultprovider"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// namedFaults are queued faults by their names.
func namedFaults(names ...string) (out []fault.Fault) {
	for _, a := range fault.Aliases() {
		if slices.Contains(names, a.Name) {
			out = append(out, a.Fault)
		}
	}
	return out
}

// onFaults is a bench with two faults queued.
func onFaults(m *model) {
	v := *commitThenError()
	v.Faults = namedFaults("commit-then-drop", "slow")
	onBench(m, "B. Commit, then 503", &v)
}

// twoRuns are a run that was retried and one that was not.
func twoRuns() *scenarios.View {
	v := *commitThenError()
	w := testRuns(1)
	v.Runs = append(v.Runs[:1:1], w.Runs[0])
	v.Wire = append(v.Wire[:len(v.Wire):len(v.Wire)], w.Wire...)
	v.Operations = append(v.Operations[:1:1], w.Operations[0])
	return &v
}

// asked is a lesson's scenario with its question; answered: the prediction was made, and the truth is there.
func asked(m *model, answered bool) {
	press(m, "l", "enter")
	b := askHowMany(m)
	if answered {
		press(m, "3")
		v := commitThenError()
		b.view, b.state = v, atRest(v)
		m.Update(newsMsg{})
	}
}

// askHowMany opens the scenario of a lesson, which asks.
func askHowMany(m *model) *still {
	q := &scenarios.Question{Text: "How many jobs will exist at the end?", Choices: []string{"0", "1", "2"}, Answer: 1,
		Because: "The second attempt carried the same key, so the provider answered with the first job."}
	b := &still{view: &scenarios.View{N: 1, Total: 1, Start: noon, At: noon, Setting: scenarios.Setting{Faults: namedFaults("commit-then-error")}},
		state: scenarios.State{Speed: 1, Asked: q, Playing: true, Address: "127.0.0.1:4040", Mode: scenarios.Sockets}}
	m.opened(openedMsg{bench: b, scenario: testScenario("b", "B. Commit, then 503"), lesson: true})
	return b
}

// Whoever runs a lesson's scenario again knows the answer.
func TestAPredictionCountsOnce(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	press(m, "l", "enter")
	for _, key := range []string{"3", "2"} {
		askHowMany(m)
		press(m, key)
	}
	if got := m.course.score(); got != "0 of 1 prediction was right." {
		t.Error(got)
	}
}

func summaries() []engine.Summary {
	return []engine.Summary{
		{Run: "run_e0cf88449cdb", Workflow: "fulfill-order", Status: engine.StatusFailed, Reconcile: true, Admitted: ms(0)},
		{Run: "run_93157c73549e", Workflow: "fulfill-order", Status: engine.StatusSucceeded, Admitted: ms(-60_000), RerunOf: "run_0000aaaa1111"},
		{Run: "run_0000aaaa1111", Workflow: "charge-card", Status: engine.StatusCancelled, Admitted: ms(-90_000)},
		{Run: "run_17171717aaaa", Workflow: "charge-card", Status: engine.StatusWaiting, Admitted: ms(-95_000)},
	}
}

func runsShown(m *model) {
	press(m, "h")
	m.Update(runsMsg{runs: summaries()})
	press(m, "down")
}

func unknownsShown(m *model) {
	onBench(m, "C. Commit, then drop", commitThenDrop(true))
	press(m, "U")
	m.Update(unsettledMsg{runs: []*engine.Run{engine.Fold(dropped("run_e0cf88449cdb"))}})
}

const brokenWorkflow = `<woml>
  <workflow id="fulfill" name="Fulfil">
    <steps>
      <step id="one" retry="0">
        <script>return 1</script>
      </step>
    </steps>
  </workflow>
</woml>
`

func edited(m *model, src string) {
	onBench(m, "B. Commit, then 503", commitThenError())
	_, diags := woml.Parse([]byte(src))
	m.Update(sourceMsg{path: "/tmp/workflow.woml", src: []byte(src), diags: diags})
}

// rerunID is the run that a shelf makes of a rerun.
const rerunID = "run_17171717aaaa"

// shelf is a store that keeps one run and notes what it is asked to do.
type shelf struct {
	events    []engine.Event
	situation engine.Situation
	done      []string
}

func (s *shelf) Runs(q engine.Query) ([]engine.Summary, error) {
	var out []engine.Summary
	for _, r := range summaries() {
		if (q.Status == "" || r.Status == q.Status) && (!q.Reconcile || r.Reconcile) {
			out = append(out, r)
		}
	}
	return out, nil
}
func (s *shelf) Events(string) ([]engine.Event, error) { return s.events, nil }
func (s *shelf) Unsettled(int) ([]*engine.Run, error) {
	return []*engine.Run{engine.Fold(s.events)}, nil
}
func (s *shelf) Situation(*engine.Run, *engine.Call) engine.Situation { return s.situation }

// notYet is where an operation stands whose key nobody has looked up yet.
var notYet = engine.Situation{Askable: true, Sent: true, Wrote: true, Keyed: true, Protected: true}

func (s *shelf) Version() string { return strconv.Itoa(len(s.events)) }
func (s *shelf) Do(run string, l lang.Line) (string, error) {
	s.done = append(s.done, run+": "+l.String())
	if l.Verb == "rerun" {
		return rerunID, nil
	}
	return run, nil
}

// dropped is the history of a run whose only request was dropped.
func dropped(run string) []engine.Event {
	b := newTale()
	b.admit(run, 0)
	b.attempt(run, 0, 1, "")
	b.event(run, 3, engine.RequestEnded{Pos: b.pos(1), Began: true, Error: "connection reset", Broke: engine.BrokeReset})
	b.event(run, 3, engine.CallEnded{Pos: b.pos(1), How: engine.HowNoReply, Finding: engine.FoundAmbiguous, Next: engine.NextStop})
	b.event(run, 3, engine.AttemptEnded{Pos: engine.Pos{Step: b.step, Attempt: 1}, Outcome: engine.Unknown, Next: engine.NextReconcile})
	b.event(run, 3, engine.Ended{Status: engine.StatusFailed, Reconcile: true, Step: b.step})
	return b.events[run]
}

func storedShown(m *model) {
	run := "run_e0cf88449cdb"
	m.opened(readRun(&shelf{events: dropped(run), situation: notYet}, run, nil))
}

func workerDown(m *model) {
	v := *commitThenDrop(false)
	v.WorkerDown = true
	v.Wire = append(v.Wire[:len(v.Wire):len(v.Wire)], scenarios.Row{Entry: v.N, At: ms(4), Kind: scenarios.RowNote, Tone: scenarios.ToneBad, Verb: "crash", Text: "crash",
		Detail: "at after-effect, run_7f31c20e/createFulfillment/1/1"})
	onBench(m, "Killed after the effect", &v)
}

func TestARunOfTheStoreCanBeSettled(t *testing.T) {
	t.Parallel()
	run := "run_e0cf88449cdb"
	store := &shelf{events: dropped(run), situation: notYet}
	m := testModel(t, "dark", 120, 36)
	m.opt.Store = store
	for _, k := range []string{"h", "enter", "u", "enter", "s", "f", "o", "r", "c", "e", " ", "r", "e", "s", "u", "b", "m", "i", "t", "enter"} {
		follow(m, keyMsg(k))
	}
	want := []string{run + ": lookup", run + ": lookup run=" + run + " step=createFulfillment", run + ": resubmit run=" + run + " step=createFulfillment --force"}
	if !slices.Equal(store.done, want) {
		t.Errorf("the store was asked for %q, want %q", store.done, want)
	}
	if !m.session.hides() {
		t.Error("a run of the store shows a ledger that nobody has")
	}
}

var _ = faultprovider.New

// A new key after a drop leaves one write settled and the other in doubt: the operation
// is done, and still the first key has to be looked up.
func TestADoubtBesideADoneOperationIsLoud(t *testing.T) {
	t.Parallel()
	m := show(t, played(t, "naive-new-key-after-a-drop"))
	if !m.session.known.loud {
		t.Fatal("nothing says that a run needs reconciling")
	}
	frame := ansi.Strip(m.View())
	for _, want := range []string{"needs reconciling", "look the key up", "operation  ✓ done", "dropped"} {
		if !strings.Contains(frame, want) {
			t.Errorf("the bench does not show %q:\n%s", want, frame)
		}
	}
	follow(m, keyMsg("u"))
	rest(t, m.session.bench)
	follow(m, newsMsg{})
	if frame := ansi.Strip(m.View()); !strings.Contains(frame, "Decisions") || !strings.Contains(frame, "✓ found") {
		t.Errorf("there is nothing to decide:\n%s", frame)
	}
}

// Where the provider is assumed to have no look-up, none is offered.
func TestWhatCannotBeLookedUpIsOnlyDecided(t *testing.T) {
	t.Parallel()
	m := show(t, played(t, "409-means-it-exists"))
	frame := ansi.Strip(m.View())
	if strings.Contains(frame, "look the key up") || !strings.Contains(frame, "decide") {
		t.Errorf("the bench offers a look-up:\n%s", frame)
	}
	follow(m, keyMsg("u"))
	rest(t, m.session.bench)
	follow(m, newsMsg{})
	if frame := ansi.Strip(m.View()); !strings.Contains(frame, "none: it cannot be looked up by a key") || strings.Contains(frame, "looks the key up") {
		t.Errorf("the page offers a look-up:\n%s", frame)
	}
}
