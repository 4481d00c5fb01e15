package store

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"faultlab/engine"
	"faultlab/engine/historytest"
)

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path, Options{Command: "go test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close %s: %v", path, err)
		}
	})
	return s
}

func TestStoreIsAHistory(t *testing.T) {
	t.Parallel()
	historytest.Run(t, func(t *testing.T) engine.History { return open(t, filepath.Join(t.TempDir(), "state.db")) })
}

func TestStoreAnswersAsMemoryDoes(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), 0
	historytest.Model(t,
		func(t *rapid.T) engine.History {
			n++
			return mustOpen(t, filepath.Join(dir, fmt.Sprint(n), "state.db"))
		},
		func(t *rapid.T, h engine.History) engine.History {
			path := h.(*Store).file.path
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			return mustOpen(t, path)
		})
}

func mustOpen(t *rapid.T, path string) *Store {
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAClosedStoreLeavesOnlyItsFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there")
	s := open(t, filepath.Join(dir, "state.db"))
	admit(t, s, "run_a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("left: %v %v", entries, err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700 | os.ModeDir, s.file.path: 0o600} {
		if fi, err := os.Stat(path); err != nil || fi.Mode() != want {
			t.Errorf("%s has mode %v, want %v (%v)", path, fi.Mode(), want, err)
		}
	}
}

// What makes a commit durable is asked of SQLite itself: no kill of a process shows it.
func TestTheWriterWritesDurably(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "state.db"))
	if err := s.between(func() error {
		full, err := s.file.conn.number("PRAGMA synchronous")
		if err != nil || full != 2 {
			t.Errorf("synchronous is %d, want FULL (%v)", full, err)
		}
		return s.file.conn.rows("PRAGMA journal_mode", func(row []driver.Value) error {
			if mode := text(row[0]); mode != "wal" {
				t.Errorf("the journal mode is %s", mode)
			}
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
}

func TestClosingWritesWhatIsBuffered(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	ticket := s.Buffer(admission("run_a"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := ticket.Wait(); err != nil {
		t.Error(err)
	}
	if events, err := open(t, path).Events("run_a"); err != nil || len(events) != 1 {
		t.Errorf("%d events are there (%v)", len(events), err)
	}
}

// A run that is there already is found when its row is refused; what came in the same commit is not lost by that.
func TestARunThatIsThereAlreadyIsRefusedAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	admit(t, s, "run_a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	started := engine.Event{Run: "run_a", At: historytest.At, Fact: engine.Started{}}
	other := started
	other.Run = "run_b"
	before, again, with := s.Buffer(started), s.Buffer(admission("run_a")), s.Buffer(admission("run_b"), other)
	after := s.Append(started)
	for what, ticket := range map[string]engine.Ticket{"before it": before, "with it": with, "after it": after} {
		if err := ticket.Wait(); err != nil {
			t.Errorf("an append %s gives %v", what, err)
		}
	}
	var refused *engine.RefusedError
	if err := again.Wait(); !errors.As(err, &refused) || refused.Why != engine.RefusedKnownRun {
		t.Errorf("the run that is there already gives %v", err)
	}
	for run, want := range map[string]int{"run_a": 3, "run_b": 2} {
		if events, err := s.Events(run); err != nil || len(events) != want {
			t.Errorf("%s has %d events, want %d (%v)", run, len(events), want, err)
		}
	}
}

func admit(t testing.TB, h engine.History, run string) {
	t.Helper()
	if err := h.Append(admission(run)).Wait(); err != nil {
		t.Fatal(err)
	}
}

func admission(run string) engine.Event {
	return engine.Event{Run: run, At: historytest.At, Fact: engine.Admitted{Workflow: "w", Definition: "sha256:def", Source: "<woml/>"}}
}
