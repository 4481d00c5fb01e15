package tui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"faultlab/engine"
	"faultlab/scenarios"
)

// Many that ended alike are one line, the gravest come first, and what does not fit is counted.
func TestManyVerdicts(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	v := *testRuns(6)
	for i := range v.Operations {
		v.Operations[i].Verdict = engine.OneEffect
	}
	v.Operations[4].Verdict = engine.Duplicate
	v.Operations = append(v.Operations, scenarios.Operation{Step: "charge", Undo: true, Runs: v.Operations[0].Runs, Verdict: engine.OneEffect})
	tr := truth{Theme: m.t, view: &v, pick: 4}
	all := ansi.Strip(strings.Join(tr.verdict(60, 20), "\n"))
	order := []string{"#5 ✕ duplicate  createFulfillment", "#5 ✕ duplicate", "✓ one effect ×5  createFulfillment", "#1 ✓ one effect  undo charge"}
	rest := all
	for _, want := range order {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Fatalf("%q is missing, or out of order:\n%s", want, all)
		}
		rest = after
	}
	if short := ansi.Strip(strings.Join(tr.verdict(60, 5), "\n")); !strings.Contains(short, "↓ ") || !strings.Contains(short, " more") {
		t.Errorf("what is cut is not counted:\n%s", short)
	}
}

// The run in full is always among those that are listed.
func TestTheChosenRunIsInSight(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	for _, height := range []int{7, 8, 12, 25} {
		for _, run := range []int{0, 7, 29} {
			b := beliefPane{Theme: m.t, view: testRuns(30), run: run, height: height}
			r := b.rows(50)
			if r.N > height {
				t.Errorf("%d lines in a pane of %d", r.N, height)
			}
			if all := ansi.Strip(strings.Join(m.t.Window(r, 0, 50, height), "\n")); !strings.Contains(all, "› #") || !strings.Contains(all, "more") {
				t.Errorf("run %d in %d lines is not seen:\n%s", run, height, all)
			}
		}
	}
}

// Who took the bench over learns that nothing is checked any more, as soon as it is so.
func TestTakingOverIsSaid(t *testing.T) {
	t.Parallel()
	m := testModel(t, "dark", 120, 36)
	b := onBench(m, "B", commitThenError())
	m.Update(newsMsg{})
	const why = "is not checked any more"
	if frame := ansi.Strip(m.View()); strings.Contains(frame, why) {
		t.Errorf("before anybody did anything:\n%s", frame)
	}
	b.state.TookOver = "you took over, and what it expects " + why
	m.Update(newsMsg{})
	if frame := ansi.Strip(m.View()); !strings.Contains(frame, "you took over") {
		t.Errorf("nothing is said:\n%s", frame)
	}
}

// The header says where the provider answers, and whether anybody else can call it there.
func TestWhereTheProviderAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode  string
		width int
		want  string
	}{
		{scenarios.Simulated, 120, "127.0.0.1:4040 simulated"},
		{scenarios.Simulated, 80, "   simulated"},
		{scenarios.Sockets, 80, "   127.0.0.1:4040"},
	} {
		m := testModel(t, "dark", c.width, 24)
		b := onBench(m, "B", commitThenError())
		b.state.Address, b.state.Mode = "127.0.0.1:4040", c.mode
		m.Update(newsMsg{})
		if head, _, _ := strings.Cut(ansi.Strip(m.View()), "\n"); !strings.HasSuffix(strings.TrimRight(head, " "), c.want) {
			t.Errorf("%s at %d columns: %q", c.mode, c.width, head)
		}
	}
}

// A time limit of two digits is told whole at 120 columns, on the wire and by the caller.
func TestATimeoutIsToldWhole(t *testing.T) {
	t.Parallel()
	m := show(t, played(t, "timeout-after-the-commit"))
	frame := ansi.Strip(m.View())
	if !strings.Contains(frame, "gave up after 10s") || strings.Contains(frame, "timed …") {
		t.Errorf("it shows:\n%s", frame)
	}
}

// A script that makes up a key for each try has no part in a redelivery, which is the same run.
func TestARedeliveryKeepsWhatTheScriptDraws(t *testing.T) {
	t.Parallel()
	m := show(t, played(t, "naive-new-key-after-a-drop"))
	d := identities{Theme: m.t, view: m.session.view, op: &m.session.view.Operations[0]}
	for _, i := range d.table() {
		if (i.name == "key" || i.name == "resource id") && (i.retry.word != "new" || i.redelivery.word != "same") {
			t.Errorf("%s: over a retry %q, over a redelivery %q", i.name, i.retry.word, i.redelivery.word)
		}
	}
}

// Where there is no room for all of an explanation it can be scrolled to its end.
func TestAVerdictIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	m := show(t, played(t, "naive-new-key-after-a-drop"))
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 16})
	press(m, "tab", "tab", "tab", "tab")
	if frame := ansi.Strip(m.View()); !strings.Contains(frame, "↓ ") || strings.Contains(frame, "by its key.") {
		t.Errorf("all of it stands there:\n%s", frame)
	}
	press(m, "down", "down", "down")
	if frame := ansi.Strip(m.View()); !strings.Contains(frame, "by its key.") || strings.Contains(frame, "↓ ") {
		t.Errorf("scrolled to the end it shows:\n%s", frame)
	}
}
