package main

import (
	"bytes"
	"database/sql"
	"errors"
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
	if err := os.WriteFile(doc, []byte(strings.ReplaceAll(marketWorkflow, "PROVIDER", provider)), 0o600); err != nil {
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

// TestARunThatCannotBeReadStandsInNobodysWay damages one run in the state file: what is asked of others goes on.
func TestARunThatCannotBeReadStandsInNobodysWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state := filepath.Join(dir, "state.db")
	command := func(code int, args ...string) string {
		t.Helper()
		var printed bytes.Buffer
		if got := execute(streams{In: strings.NewReader(""), Out: &printed, Err: &printed}, append(args, "--state", state)); got != code {
			t.Fatalf("faultlab %s exits %d, want %d:\n%s", strings.Join(args, " "), got, code, printed.String())
		}
		return printed.String()
	}
	for _, name := range []string{"whole", "torn"} {
		text := `<woml><workflow id="` + name + `"><triggers><manual id="go" /></triggers><steps><step id="one"><script>return 1;</script></step></steps></workflow></woml>`
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		command(0, "trigger", filepath.Join(dir, name))
	}
	db, err := sql.Open("sqlite", state)
	if err != nil {
		t.Fatal(err)
	}
	var run string
	if err := db.QueryRow(`SELECT id FROM runs WHERE workflow = 'torn'`).Scan(&run); err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`UPDATE events SET data = 'torn' WHERE run = (SELECT num FROM runs WHERE id = ?)`, run)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if said := command(exitFailed, "get", run); !strings.HasPrefix(said, "faultlab: read run "+run+": "+state+": ") {
		t.Errorf("get says %s", said)
	}
	for _, name := range []string{"whole", "torn"} {
		command(0, "trigger", filepath.Join(dir, name))
	}
	command(0, "trigger", "torn") // by its newest run that can be read
}
