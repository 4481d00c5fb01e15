package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestASecondOwnerIsToldWhoHoldsTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	admit(t, s, "run_a")
	_, err := Open(path, Options{})
	var held ErrHeld
	if !errors.As(err, &held) || held.PID != os.Getpid() || held.Path != path || held.Command != "go test" {
		t.Fatalf("the error is %+v", err)
	}
	if want := fmt.Sprintf("process %d (go test)", os.Getpid()); !strings.Contains(err.Error(), want) {
		t.Errorf("%q does not say %q", err, want)
	}
	admit(t, s, "run_b") // the owner is not disturbed
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if runs, err := open(t, path).Open(); err != nil || len(runs) != 2 {
		t.Errorf("the next owner finds %v (%v)", runs, err)
	}
}

// A hard link is another way to the same file, with another lock beside it.
func TestALinkedFileHasOneOwnerAtMost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, other := filepath.Join(dir, "state.db"), filepath.Join(dir, "other.db")
	s := open(t, path)
	admit(t, s, "run_a")
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	_, err := Open(other, Options{})
	wantProblem(t, err, Linked, other)
	_, err = OpenReader(other)
	wantProblem(t, err, Linked, other)
	r, err := OpenReader(path) // its owner's name for it
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	admit(t, s, "run_b")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(path, Options{})
	wantProblem(t, err, Linked, path)
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if runs, err := open(t, path).Open(); err != nil || len(runs) != 2 {
		t.Errorf("once it has one name again: %v (%v)", runs, err)
	}
}

func TestALockThatItsHolderLeftIsFree(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path+".lock", []byte("1\ninit\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	admit(t, open(t, path), "run_a")
}

func TestALockHasOneHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	var holders, taken atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				l, err := acquireLock(path, "test")
				var held ErrHeld
				switch {
				case errors.As(err, &held):
					continue
				case err != nil:
					t.Error(err)
					return
				}
				taken.Add(1)
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the lock at once", n)
				}
				holders.Add(-1)
				if err := l.release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if taken.Load() == 0 {
		t.Error("nobody got the lock")
	}
}

func TestOwned(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	if Owned(path) {
		t.Error("nobody holds it, and it is owned")
	}
	l, err := acquireLock(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	if !Owned(path) {
		t.Error("it is held, and nobody owns it")
	}
	l.release()
	if Owned(path) {
		t.Error("it was released, and is owned")
	}
}
