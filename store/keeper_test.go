package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"faultlab/engine"
	"faultlab/engine/historytest"
)

// The log begins anew under load instead of growing for ever.
func TestTheLogStaysSmall(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	admit(t, s, "run_a")
	long := strings.Repeat("x", 100<<10)
	for n := range 8 * pagesToCopy * 4096 / len(long) {
		ticket := s.Append(engine.Event{Run: "run_a", At: historytest.At, Fact: engine.NotSent{Why: fmt.Sprint(n, long)}})
		if err := ticket.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if most := int64(4 * pagesToCopy * 4096); log.Size() > most || data.Size() < most/2 {
		t.Errorf("the file has %d bytes and its log %d, want at most %d in the log", data.Size(), log.Size(), most)
	}
}

// A copy of the log that leaves something is finished by the writer, and then the log begins anew.
func TestAFullCopyLetsTheLogBeginAnew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	for n := range 50 {
		admit(t, s, fmt.Sprintf("run_%d", n))
	}
	if err := s.keeper.checkpoint(); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		admit(t, s, fmt.Sprintf("run_later_%d", n))
	}
	if after, err := os.Stat(path + "-wal"); err != nil || after.Size() != before.Size() {
		t.Errorf("the log grew from %d to %d bytes (%v)", before.Size(), after.Size(), err)
	}
}
