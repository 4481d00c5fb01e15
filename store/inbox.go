package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"faultlab/engine"
)

// The inbox is a folder beside the state file. Another process puts a command there,
// as a file of its own; the owner carries it out, answers and takes the file away:
//
//	state.db.inbox/ID.asker      locked by the process that asks, for as long as it waits
//	state.db.inbox/ID.command    what is asked, an engine.Command
//	state.db.inbox/ID.answer     what came of it
//	state.db.inbox/bell          a named pipe that wakes the owner; see bell.go
//
// A command whose id stands in the history was carried out, whatever became of its files.
// What a process leaves that was killed while it asked, the owner sweeps.
const (
	commandSuffix    = ".command"
	answerSuffix     = ".answer"
	askerSuffix      = ".asker"
	unfinishedSuffix = ".unfinished" // of a file that is being written
)

func inboxOf(path string) string { return path + ".inbox" }

var commandID = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)

// ErrNotAnswered says that a command is gone and nobody answered: its owner carried it
// out and ended before it could say so. The history tells what came of it.
var ErrNotAnswered = errors.New("the owner of the state file ended before it answered; `faultlab get` tells what came of it")

// Question is a command in the inbox, and the process that waits for its answer.
type Question struct {
	id    string
	name  string   // of its files, without their suffixes
	asker *os.File // locked
}

// Put asks the owner of a state file for something. The command is on disk when Put returns.
func Put(path string, c engine.Command) (q *Question, err error) {
	path = real(path)
	if !commandID.MatchString(c.ID) {
		return nil, fmt.Errorf("put a command into the inbox of %s: its id %q is not made of letters, digits, ._-", path, c.ID)
	}
	data, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("put command %s into the inbox of %s: %w", c.ID, path, err)
	}
	if err := os.MkdirAll(inboxOf(path), 0o700); err != nil {
		return nil, explain(inboxOf(path), err)
	}
	q = &Question{id: c.ID, name: filepath.Join(inboxOf(path), c.ID)}
	if q.asker, err = os.OpenFile(q.name+askerSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, explain(q.name, err)
	}
	if err = waitLock(q.asker); err == nil {
		err = writeWhole(q.name+commandSuffix, data)
	}
	if err != nil {
		return nil, errors.Join(explain(q.name, err), q.leave())
	}
	ring(path)
	return q, nil
}

// leave says that nobody waits any more.
func (q *Question) leave() error {
	return errors.Join(gone(os.Remove(q.asker.Name())), q.asker.Close())
}

// writeWhole makes a file appear with all of its content on disk, or not at all.
func writeWhole(name string, data []byte) error {
	f, err := os.OpenFile(name+unfinishedSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return explain(name, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return explain(name, errors.Join(err, os.Remove(f.Name())))
	}
	return explain(name, syncDir(filepath.Dir(name)))
}

// Await waits for the answer and takes it away. Between two looks it calls poll, which
// waits a little; an error of poll takes the command back, with an answer that came
// meanwhile, and is returned. It is called once.
func (q *Question) Await(poll func() error) (answer []byte, err error) {
	defer func() { err = errors.Join(err, q.leave()) }()
	for {
		_, asked := os.Lstat(q.name + commandSuffix) // looked at first: the answer comes before the command goes
		answer, err := os.ReadFile(q.name + answerSuffix)
		switch {
		case err == nil:
			return answer, explain(q.name, os.Remove(q.name+answerSuffix))
		case !errors.Is(err, fs.ErrNotExist):
			return nil, explain(q.name, err)
		case errors.Is(asked, fs.ErrNotExist):
			return nil, ErrNotAnswered
		}
		if err := poll(); err != nil {
			return nil, errors.Join(err, gone(os.Remove(q.name+commandSuffix)), gone(os.Remove(q.name+answerSuffix)))
		}
	}
}

// gone is the error of taking a file away that may have been gone already.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Inbox gives the commands that wait to be carried out, in the order in which they
// came. Those that the history says were carried out are taken away, but for those that
// are busy: their answer is still to come. nil means that none is. What is no command
// is an error beside the commands, and stays.
func (s *Store) Inbox(busy func(id string) bool) ([]engine.Command, error) {
	entries, err := os.ReadDir(inboxOf(s.file.path))
	if err != nil {
		return nil, explain(inboxOf(s.file.path), gone(err))
	}
	came := map[string]time.Time{}
	var commands []engine.Command
	var errs []error
	for _, entry := range entries {
		id, is := strings.CutSuffix(entry.Name(), commandSuffix)
		if !is || busy != nil && busy(id) {
			continue
		}
		c, at, err := s.readCommand(id)
		if err != nil {
			errs = append(errs, err)
		} else if !at.IsZero() {
			commands, came[id] = append(commands, c), at
		}
	}
	slices.SortFunc(commands, func(a, b engine.Command) int {
		return cmp.Or(came[a.ID].Compare(came[b.ID]), strings.Compare(a.ID, b.ID))
	})
	return commands, errors.Join(errs...)
}

// readCommand reads one command and says when it came; a zero time means that there is nothing to do.
func (s *Store) readCommand(id string) (c engine.Command, at time.Time, err error) {
	name := filepath.Join(inboxOf(s.file.path), id+commandSuffix)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) { // taken back meanwhile
		return c, at, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err == nil && c.ID != id {
		err = fmt.Errorf("it holds command %q", c.ID)
	}
	if err != nil {
		return c, at, fmt.Errorf("%s is not a command; remove it (%w)", name, err)
	}
	if carried, err := s.carriedOut(id); err != nil {
		return c, at, err
	} else if carried {
		return c, at, s.Ack(id)
	}
	info, err := os.Stat(name)
	if err != nil {
		return c, at, gone(err)
	}
	return c, info.ModTime(), nil
}

// carriedOut reports whether an event of the history names this command.
func (s *Store) carriedOut(id string) (bool, error) {
	row, err := s.first(`SELECT 1 FROM commands WHERE id = ?`, id)
	return row != nil, err
}

// PutAnswer tells the process that waits for it what came of a command; Ack comes after
// it. Where nobody waits any more, nothing is written.
func (s *Store) PutAnswer(id string, data []byte) error {
	name := filepath.Join(inboxOf(s.file.path), id)
	if _, err := os.Lstat(name + commandSuffix); err != nil {
		return explain(name, gone(err))
	}
	if waits, known := asks(name); known && !waits {
		return nil
	}
	return writeWhole(name+answerSuffix, data)
}

// asks reports whether the process that put a command still waits. It is not known of
// one that left no file to lock, as an older faultlab does.
func asks(name string) (waits, known bool) {
	f, err := os.OpenFile(name+askerSuffix, os.O_RDWR, 0)
	if err != nil {
		return false, false
	}
	defer f.Close()
	return isLocked(f), true
}

// SweepInbox takes away what processes left in the inbox that were killed while they
// asked. A command stays: it is carried out, and no answer is left.
func (s *Store) SweepInbox() error {
	return sweep(inboxOf(s.file.path), func(asker, suffix string) bool {
		waits, known := asks(asker)
		return known && !waits && suffix != answerSuffix+unfinishedSuffix
	})
}

// sweepAll is for a new owner: nobody else answers, and who asked the one before it and still waits is known.
func (s *Store) sweepAll() error {
	return sweep(inboxOf(s.file.path), func(asker, _ string) bool {
		waits, _ := asks(asker)
		return !waits
	})
}

// sweep takes the files of an inbox away that nobody needs, by the name of their question and their suffix.
func sweep(dir string, needless func(asker, suffix string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return explain(dir, gone(err))
	}
	var errs []error
	// The asker's file goes last: it tells of the others.
	for _, suffix := range []string{answerSuffix, commandSuffix + unfinishedSuffix, answerSuffix + unfinishedSuffix, askerSuffix} {
		for _, entry := range entries {
			asker, is := strings.CutSuffix(filepath.Join(dir, entry.Name()), suffix)
			if _, err := os.Lstat(asker + commandSuffix); suffix == askerSuffix && err == nil {
				continue // whoever carries the command out looks there whether somebody waits
			}
			if is && needless(asker, suffix) {
				errs = append(errs, gone(os.Remove(asker+suffix)))
			}
		}
	}
	return explain(dir, errors.Join(errs...))
}

// Ack takes a command away: it was carried out or never will be.
func (s *Store) Ack(id string) error {
	return explain(inboxOf(s.file.path), gone(os.Remove(filepath.Join(inboxOf(s.file.path), id+commandSuffix))))
}
