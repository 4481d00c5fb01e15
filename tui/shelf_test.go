package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/scenarios/lang"
)

const storedID = "run_e0cf88449cdb"

// onShelf is a program over a store that keeps one run whose only request was dropped.
func onShelf(t *testing.T) (*model, *shelf) {
	s := &shelf{events: dropped(storedID), situation: notYet}
	m := testModel(t, "dark", 120, 36)
	m.opt.Store = s
	return m, s
}

func TestWhatARunOfTheStoreTakes(t *testing.T) {
	t.Parallel()
	ended, atWork := dropped(storedID), dropped(storedID)[:5]
	settled := settledIn(ended)
	const none, foreign = "", "not available for a stored run"
	for _, c := range []struct {
		what   string
		events []engine.Event
		why    map[string]string
	}{
		{"ended, and an operation is unknown", ended, map[string]string{
			"lookup": none, "record": none, "resubmit": none, "abandon": none, "escalate": none, "rerun": none,
			"cancel": "the run has ended", "fault": foreign, "crash": foreign, "trigger": foreign, "pause": foreign, "step": foreign,
			"copy": none, "help": none, "back": none, "quit": none}},
		{"settled", settled, map[string]string{
			"lookup": none, "rerun": none, "record": "the run failed, and no operation of it is unknown", "escalate": "no operation of it is unknown"}},
		{"at work", atWork, map[string]string{"cancel": none, "record": none, "lookup": none}},
	} {
		b, err := openStored(&shelf{events: c.events}, storedID)
		if err != nil {
			t.Fatal(err)
		}
		for verb, want := range c.why {
			if got := b.Unavailable(verb); got != want && (want == none || !strings.Contains(got, want)) {
				t.Errorf("%s: %s is unavailable because %q, want %q", c.what, verb, got, want)
			}
		}
	}
}

// Two looks at once may end in the other order: what is shown never goes back.
func TestAnOlderLookAtTheStoreChangesNothing(t *testing.T) {
	t.Parallel()
	s := &shelf{events: dropped(storedID)}
	b, err := openStored(s, storedID)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	b.Notify(func() { told++ })
	want := b.Len()
	s.events = s.events[:want-1]
	if err := b.read(); err != nil || b.Len() != want || told != 0 {
		t.Errorf("after an older look: %v, %d entries of %d, told %d times", err, b.Len(), want, told)
	}
}

// settledIn is a history with its doubt abandoned.
func settledIn(events []engine.Event) []engine.Event {
	r := engine.Fold(events)
	last := events[len(events)-1]
	add := func(f engine.Fact) {
		last.Seq, last.Fact = last.Seq+1, f
		events = append(events[:len(events):len(events)], last)
	}
	add(engine.Decided{Pos: r.Unsettled()[0].Pos, Decision: engine.Abandon, Key: r.Unsettled()[0].Key})
	add(engine.Ended{Status: engine.StatusFailed})
	return events
}

// Whatever opened a run of the store, esc goes back there, and what is unknown of it stands in one place.
func TestTheWayToARunOfTheStoreAndBack(t *testing.T) {
	t.Parallel()
	m, _ := onShelf(t)
	follow(m, keyMsg("h"))
	follow(m, keyMsg("enter"))
	if m.session.storedRun() != storedID || m.top().on() != lang.OnBench {
		t.Fatalf("enter shows %T", m.top())
	}
	follow(m, keyMsg("esc"))
	if _, ok := m.top().(*runsScreen); !ok {
		t.Errorf("esc goes to %T", m.top())
	}
	follow(m, keyMsg("U"))
	m.View()
	if n := m.top().(*unknownsScreen).list.Count(); n != 1 {
		t.Fatalf("%d operations are listed", n)
	}
	follow(m, keyMsg("s"))
	p, ok := m.top().(*reconcileScreen)
	if !ok || p.run != storedID || p.confirm == nil {
		t.Fatalf("s opens %T", m.top())
	}
	if frame := m.View(); !strings.Contains(frame, "look it up first") || !strings.Contains(frame, "force resubmit") {
		t.Errorf("the refusal is not on the screen:\n%s", frame)
	}
	for _, want := range []string{"*tui.reconcileScreen", "*tui.benchScreen", "*tui.unknownsScreen", "*tui.runsScreen", "*tui.catalogue"} {
		follow(m, keyMsg("esc"))
		if got := fmt.Sprintf("%T", m.top()); got != want {
			t.Errorf("esc shows %s, want %s", got, want)
		}
	}
}

// A run at work may have been left so by a crash: whoever looks it up decides it first.
func TestARunAtWorkCanBeLookedUp(t *testing.T) {
	t.Parallel()
	m, store := onShelf(t)
	store.events = store.events[:5]
	follow(m, keyMsg("h"))
	follow(m, keyMsg("enter"))
	if !m.offers("lookup") {
		t.Error("the footer does not offer it")
	}
	follow(m, keyMsg("u"))
	if len(store.done) != 1 || store.done[0] != storedID+": lookup" {
		t.Errorf("u did %q", store.done)
	}
}

// A rerun sends requests to a provider that is not ours: a key alone only writes it down.
func TestARerunOfTheStoreTakesAnEnter(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"the list", "the run"} {
		m, store := onShelf(t)
		follow(m, keyMsg("h"))
		if from == "the run" {
			follow(m, keyMsg("enter"))
		}
		follow(m, keyMsg("R"))
		if len(store.done) != 0 || m.palette == nil {
			t.Fatalf("from %s: R did %q", from, store.done)
		}
		follow(m, keyMsg("enter"))
		if len(store.done) != 1 || !strings.HasPrefix(store.done[0], storedID+": rerun") {
			t.Fatalf("from %s: enter did %q", from, store.done)
		}
		if m.session.storedRun() != rerunID {
			t.Errorf("from %s: the screen shows run %q", from, m.session.storedRun())
		}
	}
}

func TestAListKeepsItsChoiceWhenTheStoreChanges(t *testing.T) {
	t.Parallel()
	m, _ := onShelf(t)
	follow(m, keyMsg("h"))
	follow(m, keyMsg("down"))
	s := m.top().(*runsScreen)
	was, _ := s.picked()
	newer := append([]engine.Summary{{Run: "run_new", Status: engine.StatusRunning, Admitted: ms(1000)}}, summaries()...)
	m.Update(runsMsg{runs: newer, to: s.query()})
	if now, _ := s.picked(); now != was {
		t.Errorf("the choice went from %s to %s", was, now)
	}
	m.Update(runsMsg{runs: nil, to: engine.Query{Status: engine.StatusFailed}})
	if len(s.runs) != len(newer) {
		t.Error("the answer to another filter was taken in")
	}
	m.Update(runsMsg{err: errors.New("there is no file"), to: s.query()})
	if frame := m.View(); !strings.Contains(frame, "there is no file") {
		t.Errorf("what is wrong is not on the screen:\n%s", frame)
	}
}

// Only while something of the store is shown is it asked whether it changed.
func TestTheStoreIsWatchedWhileItIsShown(t *testing.T) {
	t.Parallel()
	m, store := onShelf(t)
	shown := func(want bool, why string) {
		t.Helper()
		if got := m.pump.store.shown.Load(); got != want {
			t.Errorf("%s: watched %v, want %v", why, got, want)
		}
	}
	follow(m, tea.WindowSizeMsg{Width: 120, Height: 36})
	shown(false, "the catalogue")
	follow(m, keyMsg("h"))
	shown(true, "the list")
	follow(m, keyMsg("enter"))
	shown(true, "a run")
	store.events = settledIn(store.events)
	follow(m, shelfMsg{})
	follow(m, newsMsg{})
	if n := len(store.events); m.session.view.N != n {
		t.Errorf("the run shows %d of %d events", m.session.view.N, n)
	}
	onBench(m, "B", commitThenError())
	follow(m, newsMsg{})
	shown(false, "a bench")

	versions := make(chan string, 1)
	w := newWatch()
	w.version = func() string { return <-versions }
	wall := clock.NewWall()
	w.show(true)
	w.arm(wall)
	for i, want := range []bool{true, false, true} {
		versions <- []string{"1", "1", "2"}[i]
		if got := w.changed(<-w.seen, wall); got != want {
			t.Errorf("look %d: changed %v, want %v", i+1, got, want)
		}
	}
	w.show(false)
	versions <- "2"
	w.changed(<-w.seen, wall)
	if w.due {
		t.Error("the store is looked at again although nothing of it is shown")
	}
}
