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
	for n := range 8 * pagesInLog * 4096 / len(long) {
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
	if most := int64(4 * pagesInLog * 4096); log.Size() > most || data.Size() < most/2 {
		t.Errorf("the file has %d bytes and its log %d, want at most %d in the log", data.Size(), log.Size(), most)
	}
}
