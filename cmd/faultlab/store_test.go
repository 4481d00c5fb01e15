package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/scenarios/lang"
)

// TestTheWorkbenchSettlesRunsOnDisk settles runs as the workbench does, with nobody who owns the state.
func TestTheWorkbenchSettlesRunsOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, err := exec.LookPath("faultlab")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"provider", "--listen", "127.0.0.1:0"}
	for _, name := range []string{"commit-then-drop", "drop-before-commit", "none", "commit-then-drop"} {
		args = append(args, "--fault", fmt.Sprintf(`{"name":%q,"on":{"collection":"jobs"}}`, name))
	}
	d, err := startDaemon(program, dir, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.stop(syscall.SIGKILL) })
	provider := (&fleet{t: t}).await(d, `listening on http://(.*)`)
	doc := filepath.Join(dir, "fleet.woml")
	if err := os.WriteFile(doc, []byte(strings.ReplaceAll(fleetWorkflow, "PROVIDER", provider)), 0o600); err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	a := &app{streams: streams{Out: &printed, Err: &printed}, clk: clock.NewWall(), state: filepath.Join(dir, "state.db")}
	runs, err := a.store(t.Context(), workerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cut := runs.close(); len(cut) > 0 {
			t.Errorf("cut short: %v", cut)
		}
	})
	for _, c := range []struct {
		lines  []string
		status engine.Status
		jobs   engine.Belief
	}{
		{[]string{"lookup", "record step=one"}, engine.StatusSucceeded, engine.BeliefDone},
		{[]string{"lookup step=one", "resubmit"}, engine.StatusSucceeded, engine.BeliefDone},
		{[]string{"lookup", `escalate "ask them"`}, engine.StatusFailed, engine.BeliefUnknown},
		{[]string{"rerun"}, engine.StatusFailed, engine.BeliefUnknown}, // the run itself stays as it is
	} {
		if c.lines[0] != "rerun" {
			out, err := exec.Command(program, "trigger", doc, "--state", a.state, "--payload", `{"orderId":"order-1"}`).CombinedOutput()
			if err == nil {
				t.Fatalf("the run did not end unknown:\n%s", out)
			}
		}
		list, err := runs.Runs(engine.Query{Reconcile: true, Limit: 1})
		if err != nil || len(list) != 1 {
			t.Fatalf("runs that need reconciling: %v, %v", list, err)
		}
		for _, text := range c.lines {
			line, err := lang.ParseLine(text)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := runs.Do(list[0].Run, line); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		events, err := runs.Events(list[0].Run)
		if err != nil {
			t.Fatal(err)
		}
		run := engine.Fold(events)
		if b := run.StepBelief(run.Steps[0]); run.Status != c.status || b != c.jobs {
			t.Errorf("after %v: run %s, step believed %s; want %s, %s", c.lines, run.Status, b, c.status, c.jobs)
		}
	}
	if _, err := runs.Do("run_0000", lang.Line{Verb: "lookup"}); err == nil || !strings.Contains(err.Error(), "run_0000") {
		t.Errorf("a run that is not there: %v", err)
	}
	if printed.Len() > 0 {
		t.Errorf("beside the screen was printed: %s", &printed)
	}
}
