package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"faultlab/engine"
	"faultlab/engine/historytest"
)

func reader(t *testing.T, path string) *Reader {
	t.Helper()
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestAReaderSeesWhatTheOwnerCommits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	aged(t, s)
	r := reader(t, path)
	if err := historytest.Compare(s, r); err != nil {
		t.Error(err)
	}
	admit(t, s, "run_new")
	if err := historytest.Compare(s, r); err != nil {
		t.Error(err)
	}
	if err := r.Append(admission("run_x")).Wait(); err == nil {
		t.Error("a reader appends")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Events("run_new"); err != nil {
		t.Errorf("after the owner has gone: %v", err)
	}
	if err := historytest.Compare(r, open(t, path)); err != nil { // and the next owner is not kept out
		t.Error(err)
	}
}

func TestAReaderWhereNobodyOwnsTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	aged(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := runsOf(t, r); len(got) != 8 {
		t.Errorf("it sees %v", got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Open(); !errors.Is(err, engine.ErrHistoryClosed) {
		t.Errorf("closed, it gives %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed (%v)", err)
	}
}

// After kill -9 the newest events are in the log only.
func TestAReaderAfterACrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	c := again("write", "STATE="+path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := map[string]int{}
	readAcknowledged(t, out, 50, acknowledged, func() { c.Process.Kill() })
	c.Wait() // the error is that it was killed
	r := reader(t, path)
	for run, n := range acknowledged {
		if events, err := r.Events(run); err != nil || len(events) < n {
			t.Errorf("%d events of %s, acknowledged were %d (%v)", len(events), run, n, err)
		}
	}
}
