// Package store keeps the history of runs, and a provider's ledger, in SQLite.
//
// It promises that what a ticket says is on disk is on disk (write-ahead log,
// synchronous=FULL), that events stand in the order in which they were appended,
// and that a crash leaves a beginning of that order. One goroutine writes; what
// is appended while it commits goes into the next commit together. One process
// owns a state file and says so in a lock file beside it; others read it through
// a Reader and ask for changes through its inbox.
//
// It never repairs a file that it does not understand: it says what is wrong and
// leaves it as it is. It does not know the time, and nothing of workflows beyond
// the words of package engine.
package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"modernc.org/sqlite"

	"faultlab/engine"
)

// Options say who opens a state file.
type Options struct {
	Command string // what the lock says of its holder; empty: the program's own command line
}

// Store is a history in a state file that this process owns. It implements engine.History.
type Store struct {
	path   string
	lock   *lock
	view   *view
	writer *writer
	keeper *keeper
	done   sync.WaitGroup // the two goroutines

	mu         sync.Mutex
	wake       *sync.Cond
	last       int64    // the last place given
	queue      []*group // what waits to be committed
	committing *group
	jobs       []*job
	closed     bool
	failed     error // why nothing can be appended any more
}

var _ engine.History = (*Store)(nil)

// Open takes a state file over, making it if there is none: its folder with mode
// 0700, itself with 0600. An older one is brought up to date and a copy of it kept
// beside. Errors are ErrHeld, *FileError or the system's.
func Open(path string, o Options) (*Store, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, explain(filepath.Dir(path), err)
	}
	if o.Command == "" {
		o.Command = strings.Join(os.Args, " ")
	}
	l, err := takeLock(path, o.Command)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, lock: l}
	s.wake = sync.NewCond(&s.mu)
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

// resolve names the file itself, so that all ways to it meet at one lock.
func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", explain(path, err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil
}

func (s *Store) open() error {
	fresh, err := inspect(s.path)
	if err == nil && fresh {
		err = create(s.path)
	}
	if err != nil {
		return err
	}
	version, err := probe(s.path)
	if err == nil && version < int64(len(migrations)) {
		err = upgrade(s.path, int(version))
	}
	if err != nil {
		return err
	}
	// Where it can, SQLite commits with fdatasync: as durable, without the file's times.
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return err
	}
	if s.writer, err = newWriter(s.path); err != nil {
		return err
	}
	if s.last, err = s.writer.lastPlace(); err != nil {
		return err
	}
	if s.view, err = newView(s.path, "ro"); err != nil {
		return err
	}
	if s.keeper, err = newKeeper(s); err != nil {
		return err
	}
	s.done.Go(s.write)
	s.done.Go(s.keeper.run)
	return nil
}

// Close commits what was appended, then gives the file up.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.done.Wait()
		return nil
	}
	s.closed = true
	s.wake.Signal()
	s.mu.Unlock()
	s.keeper.stop()
	s.done.Wait()
	return s.release()
}

// release closes what is open. The last connection of SQLite takes the log into the file; the lock goes last.
func (s *Store) release() error {
	var errs []error
	if s.view != nil {
		errs = append(errs, s.view.Close())
	}
	if s.keeper != nil {
		errs = append(errs, s.keeper.conn.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.conn.Close())
	}
	return errors.Join(append(errs, s.lock.release())...)
}
