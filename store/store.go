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

	"faultlab/engine"
)

// Options say who opens a file.
type Options struct {
	Command string // what the lock says of its holder; empty: the program's own command line
}

// Store is a history in a state file that this process owns. It implements engine.History.
type Store struct {
	*pipeline[[]entry]
	*view
	file   *file
	writer *writer
}

var _ engine.History = (*Store)(nil)

// Open takes a state file over, making it if there is none: its folder with mode
// 0700, itself with 0600. An older one is brought up to date and a copy of it kept
// beside. Errors are ErrHeld, *FileError or the system's.
func Open(path string, o Options) (*Store, error) {
	f, err := own(path, history, o.Command)
	if err != nil {
		return nil, err
	}
	s := &Store{file: f}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return s, nil
}

func (s *Store) begin() (err error) {
	if s.writer, err = newWriter(s.file.conn); err != nil {
		return err
	}
	last, err := s.writer.lastPlace()
	if err != nil {
		return err
	}
	if s.view, err = newView(s.file.path, "ro"); err != nil {
		return err
	}
	s.view.flush = func() { s.pipeline.flush() }
	if err := s.sweepAll(); err != nil {
		return err
	}
	s.pipeline = newPipeline("the history", s.writer.commit)
	s.pipeline.start(last)
	return nil
}

// Close commits what was appended, then gives the file up.
func (s *Store) Close() error {
	if !s.stop(engine.ErrHistoryClosed) {
		return nil
	}
	return errors.Join(s.view.Close(), s.file.close())
}

// Place implements engine.History.
func (s *Store) Place() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, nil
}

// entry is one event and its written form.
type entry struct {
	engine.Event
	data []byte
}

// Append implements engine.History.
func (s *Store) Append(events ...engine.Event) engine.Ticket {
	entries, refused := encode(events)
	return s.append(entries, len(events), refused)
}

// Buffer implements engine.History.
func (s *Store) Buffer(events ...engine.Event) engine.Ticket {
	entries, refused := encode(events)
	return s.buffer(entries, len(events), refused)
}

func encode(events []engine.Event) ([]entry, error) {
	entries := make([]entry, len(events))
	for i, e := range events {
		data, err := engine.EncodeFact(e.Fact)
		if err != nil {
			return nil, &engine.RefusedError{Run: e.Run, Why: err.Error()}
		}
		entries[i] = entry{e, data}
	}
	return entries, nil
}
