package tui

import (
	"strings"
	"testing"

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
	tr := truth{theme: m.t, view: &v, pick: 4}
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
			b := beliefPane{theme: m.t, view: testRuns(30), run: run, height: height}
			r := b.rows(50)
			if r.n > height {
				t.Errorf("%d lines in a pane of %d", r.n, height)
			}
			if all := ansi.Strip(strings.Join(m.t.window(r, 0, 50, height), "\n")); !strings.Contains(all, "› #") || !strings.Contains(all, "more") {
				t.Errorf("run %d in %d lines is not seen:\n%s", run, height, all)
			}
		}
	}
}
