package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// testCells are a map: each kind of deviation alone, and with each other one.
func testCells(verdict func(first, second string) string) (out []explore.Cell) {
	kinds := []string{"crash before-send", "fail-before-commit", "commit-then-error", "drop-before-commit", "commit-then-drop", "hang-before-commit",
		"late-commit", "rate-limited", "cut-body", "crash after-effect", "crash during-backoff"}
	deviation := func(alt string, n string) explore.Deviation {
		d := explore.Deviation{Kind: explore.Fault, Alt: alt, Site: "createFulfillment attempt " + n + ", request 1"}
		if strings.HasPrefix(alt, "crash ") {
			d.Kind, d.Site = explore.Crash, "createFulfillment attempt "+n+", call 1, request 1"
		}
		if strings.HasPrefix(alt, "look-up-") {
			d.Site = "createFulfillment attempt 1, look-up " + n
		}
		return d
	}
	add := func(first, second explore.Deviation, schedule explore.Schedule, n uint64) {
		v := verdict(first.Alt, second.Alt)
		c := explore.Cell{First: first, Second: second, Verdicts: map[string]uint64{"whole": n}, Shortest: map[string]explore.Schedule{"whole": schedule}}
		if v != "whole" {
			c.Verdicts[v], c.Shortest[v] = n/2+1, schedule
		}
		out = append(out, c)
	}
	add(explore.Deviation{}, explore.Deviation{}, explore.Schedule{}, 1)
	for _, first := range kinds {
		a := deviation(first, "1")
		add(a, explore.Deviation{}, explore.Schedule{a}, 1)
		for _, second := range append(kinds, "look-up-drop") {
			b := deviation(second, "2")
			if b.Kind != explore.Crash || a.Kind != explore.Crash {
				add(a, b, explore.Schedule{a, b}, 6)
			}
		}
	}
	return out
}

// onMap shows the map of a search that is so far.
func onMap(m *model, contract string, st mapState, cells []explore.Cell) *mapScreen {
	o := scenarios.ExploreOptions{Operator: scenarios.OperatorPatient, Contracts: []string{contract}}
	o.Bound[explore.Fault], o.Bound[explore.Crash] = mapFaults, mapCrashes
	s := &mapScreen{row: explore.Nothing, shown: map[string]*scenarios.ScheduleShown{}, failed: map[string]string{},
		search: &mapSearch{scenario: testScenario("b-commit-then-error", "B. Commit, then 503"), options: o, stop: func() {}}}
	st.contract, st.version = contract, 1
	if s.search.state = st; st.found == nil {
		for _, c := range cells {
			for v, schedule := range c.Shortest {
				s.search.live.Add(explore.End{Schedule: schedule, Verdict: v})
			}
		}
	} else {
		st.found.Cells = cells
	}
	m.push(s)
	m.searching = s.search
	s.pull()
	m.Update(shownMsg{s, s.cell().Shortest.String(), &scenarios.ScheduleShown{Verdict: s.cell().Worst, View: commitThenDrop(true)}, nil})
	return s
}

func found(contract string, verdicts map[string]uint64) mapState {
	r := &scenarios.Explored{Scenario: "b-commit-then-error", Contract: contract, Operator: scenarios.OperatorPatient, Faults: mapFaults, Crashes: mapCrashes, Complete: true, Depth: 3,
		CarriedOut: 338, Decided: 452, Verdicts: verdicts, Assumed: []string{"14 kinds of fault", "6 crash points", "1 delivery", "replies that do not lie"}}
	for _, n := range verdicts {
		r.Schedules += n
	}
	return mapState{found: r, elapsed: 200 * time.Millisecond}
}

func mapRunning(m *model) *mapScreen {
	return onMap(m, "seed", mapState{progress: explore.Progress{Depth: 2, Done: 412, Queued: 650, Decided: 452}, elapsed: 200 * time.Millisecond},
		testCells(func(_, _ string) string { return "whole" })[:40])
}

func mapDone(m *model) *mapScreen {
	return onMap(m, "seed", found("seed", map[string]uint64{"whole": 715, "unresolved": 12}), testCells(func(first, second string) string {
		if strings.HasPrefix(first, "crash ") && strings.HasPrefix(second, "look-up") {
			return "unresolved"
		}
		return "whole"
	}))
}

func mapDuplicate(m *model) *mapScreen {
	s := onMap(m, "ignores-key", found("ignores-key", map[string]uint64{"whole": 118, "half done": 12, "duplicate": 433}), testCells(func(first, second string) string {
		switch {
		case first == "late-commit" || first == "commit-then-error" && second != "":
			return "duplicate"
		case first == "cut-body" && second != "":
			return "half done"
		}
		return "whole"
	}))
	s.others = []otherSearch{{"seed", scenarios.OperatorPatient, mapFaults, "whole", 715, 727}}
	return s
}

func TestTheMapInASCIIWithoutColours(t *testing.T) {
	t.Parallel()
	for _, show := range []func(*model) *mapScreen{mapRunning, mapDone, mapDuplicate} {
		m := testModel(t, "none", 80, 24)
		var err error
		if m.t, err = draw.NewTheme("none", termenv.TrueColor, draw.ASCII); err != nil {
			t.Fatal(err)
		}
		show(m)
		frame := m.View()
		checkFrame(t, frame, 80, 24)
		if strings.ContainsFunc(ansi.Strip(frame), func(r rune) bool { return r > 0x7e }) {
			t.Errorf("not ASCII:\n%s", frame)
		}
	}
}

// The legend has the word of every glyph of the map, and the band the worst.
func TestTheMapSaysItsVerdictsInWords(t *testing.T) {
	t.Parallel()
	m := testModel(t, "none", 120, 36)
	mapDuplicate(m)
	frame := ansi.Strip(m.View())
	for _, want := range []string{"✕ 433 END DUPLICATE", "✕  duplicate", "½  half done", "✓  whole", "·  cannot be", "seed ✓ safe", "Nothing is claimed beyond 2 faults and 1 crash."} {
		if !strings.Contains(frame, want) {
			t.Errorf("the map does not say %q:\n%s", want, frame)
		}
	}
}

// exploreOn searches a scenario of the catalogue within a small bound, to its end.
func exploreOn(t *testing.T, m *model, name string) *mapScreen {
	t.Helper()
	s := &mapScreen{row: explore.Nothing}
	m.push(s)
	of, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	o := scenarios.ExploreOptions{Operator: scenarios.OperatorPatient}
	o.Bound[explore.Fault] = 1
	for _, msg := range outcomes(s.begin(&m.ui, of, o)) {
		follow(m, msg)
	}
	return s
}

func TestACellOpensOnABench(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	m.opt.Open = func(s *lang.Scenario, _ bool) (Bench, error) {
		b, err := scenarios.Open(s, scenarios.Options{})
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = b.Close() })
		return Live(b), nil
	}
	s := exploreOn(t, m, "b-commit-then-error")
	if s.state.found == nil || !s.state.found.Complete {
		t.Fatalf("the search did not come to its end: %+v", s.state)
	}
	for s.row != "commit-then-error" {
		before := s.row
		if follow(m, keyMsg("down")); s.row == before {
			t.Fatalf("there is no row commit-then-error among %q", s.cells.Rows)
		}
	}
	if frame := ansi.Strip(m.View()); !strings.Contains(frame, "1  commit-then-error") || !strings.Contains(frame, "replay") {
		t.Errorf("the pane does not show the schedule and its wire:\n%s", frame)
	}
	follow(m, keyMsg("enter"))
	if m.top().on() != lang.OnBench || !strings.Contains(m.session.scenario.Title, "commit-then-error") {
		t.Fatalf("enter leads to screen %v:\n%s", m.top().on(), ansi.Strip(m.View()))
	}
	rest(t, m.session.bench)
	follow(m, newsMsg{})
	if v := m.session.view; len(v.Operations) != 1 || v.Operations[0].Verdict != engine.OneEffect || m.session.state.Failed != nil {
		t.Errorf("the schedule ends otherwise on the bench: %+v, %q", v.Operations, m.session.state.Failed)
	}
	if m.settings.Chosen != "" || len(m.settings.Verdicts) > 0 {
		t.Errorf("a schedule is kept as if it were a scenario: %+v", m.settings)
	}
	follow(m, keyMsg("left"))
	if !m.session.past() {
		t.Error("there is no way back in time")
	}
	follow(m, keyMsg("esc"))
	follow(m, keyMsg("esc"))
	if m.top() != screen(s) {
		t.Errorf("esc leads to screen %v, not back to the map", m.top().on())
	}
	follow(m, keyMsg("s"))
	if m.palette == nil || m.palette.input.String() != "save b-commit-then-error-whole.txtar" {
		t.Errorf("s does not ask for a file")
	}
}

// Whatever changes the search begins it anew, and leaving the map ends it.
func TestASearchEndsWithItsMap(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	press(m, "M")
	first, ok := m.top().(*mapScreen)
	if !ok {
		t.Fatalf("M leads to screen %v", m.top().on())
	}
	stopped := map[string]bool{}
	watch := func(name string) {
		s := m.searching
		stop := s.stop
		s.stop = func() { stopped[name] = true; stop() }
	}
	for _, k := range []string{"c", "o", "+", "?", "esc"} {
		watch(k)
		press(m, k)
		if restarts := strings.Contains("co+", k); restarts != stopped[k] {
			t.Errorf("after %q the search before has ended: %v", k, stopped[k])
		}
	}
	press(m, "esc")
	if m.searching != nil || !stopped["esc"] {
		t.Error("the map was left, and its search goes on")
	}
	o := first.search.options
	if o.Operator != scenarios.OperatorPrompt || o.Bound[explore.Fault] != mapFaults+1 || len(o.Contracts) != 1 {
		t.Errorf("the last search was for %+v", o)
	}
}

func TestWhatCannotBeExploredSaysWhy(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 80, 24)
	follow(m, keyMsg("M")) // the test's scenario has no line that starts a run
	if frame := ansi.Strip(m.View()); !strings.Contains(frame, "CANNOT BE EXPLORED") || !strings.Contains(frame, "starts a run") {
		t.Errorf("nothing says why:\n%s", frame)
	}
}

// Covered is covered: the map would tell what the provider does.
func TestTheMapIsCoveredWithTheTruth(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	onBench(m, "C. Commit, then drop", commitThenDrop(false))
	press(m, "t", "M")
	if m.top().on() != lang.OnBench || !strings.Contains(m.notice.text, "covered") {
		t.Errorf("M leads to screen %v and says %q", m.top().on(), m.notice.text)
	}
}
