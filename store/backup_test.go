package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A backup that is made while the owner writes is a state file of that moment.
func TestABackUpIsAStateFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, to := filepath.Join(dir, "state.db"), filepath.Join(dir, "backup.db")
	s := open(t, path)
	admit(t, s, "run_a")
	if err := BackUp(path, to); err != nil {
		t.Fatal(err)
	}
	admit(t, s, "run_b")
	if err := BackUp(path, to); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("over an older backup: %v", err)
	}
	if fi, err := os.Stat(to); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v (%v)", fi.Mode(), err)
	}
	if runs, err := open(t, to).Open(); err != nil || len(runs) != 1 {
		t.Errorf("it holds %v (%v)", runs, err)
	}
	wantProblem(t, BackUp(filepath.Join(dir, "nothing.db"), to+"2"), Missing)
}
