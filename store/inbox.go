package store

import (
	"cmp"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"faultlab/engine"
)

// The inbox is a folder beside the state file. Another process puts a command there,
// as a file of its own; the owner carries it out, answers and takes the file away:
//
//	state.db.inbox/ID.command    what is asked, an engine.Command
//	state.db.inbox/ID.answer     what came of it
//
// A command whose id stands in the history was carried out, whatever became of its files.
const (
	commandSuffix = ".command"
	answerSuffix  = ".answer"
)

func inboxOf(path string) string { return path + ".inbox" }

var commandID = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)

// ErrNotAnswered says that a command is gone and nobody answered: its owner carried it
// out and ended before it could say so. The history tells what came of it.
var ErrNotAnswered = errors.New("the owner of the state file ended before it answered; `faultlab get` tells what came of it")

// Put asks the owner of a state file for something. The command is on disk when Put returns.
func Put(path string, c engine.Command) error {
	path, err := resolve(path)
	if err != nil {
		return err
	}
	if !commandID.MatchString(c.ID) {
		return fmt.Errorf("put a command into the inbox of %s: its id %q is not made of letters, digits, ._-", path, c.ID)
	}
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("put command %s into the inbox of %s: %w", c.ID, path, err)
	}
	if err := os.MkdirAll(inboxOf(path), 0o700); err != nil {
		return explain(inboxOf(path), err)
	}
	return writeWhole(filepath.Join(inboxOf(path), c.ID+commandSuffix), data)
}

// writeWhole makes a file appear with all of its content on disk, or not at all.
func writeWhole(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "unfinished-")
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

// AwaitAnswer waits for the answer to a command and takes it away. Between two looks
// it calls poll, which waits a little; an error of poll takes the command back,
// with an answer that came meanwhile, and is returned.
func AwaitAnswer(path, id string, poll func() error) ([]byte, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(inboxOf(path), id)
	for {
		_, asked := os.Lstat(name + commandSuffix) // looked at first: the answer comes before the command goes
		answer, err := os.ReadFile(name + answerSuffix)
		switch {
		case err == nil:
			return answer, explain(name, os.Remove(name+answerSuffix))
		case !errors.Is(err, fs.ErrNotExist):
			return nil, explain(name, err)
		case errors.Is(asked, fs.ErrNotExist):
			return nil, ErrNotAnswered
		}
		if err := poll(); err != nil {
			return nil, errors.Join(err, gone(os.Remove(name+commandSuffix)), gone(os.Remove(name+answerSuffix)))
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
	type dated struct {
		engine.Command
		age fs.FileInfo
	}
	var waiting []dated
	var errs []error
	for _, entry := range entries {
		id, is := strings.CutSuffix(entry.Name(), commandSuffix)
		if !is || busy != nil && busy(id) {
			continue
		}
		c, age, err := s.readCommand(entry)
		switch {
		case err != nil:
			errs = append(errs, err)
		case age != nil:
			waiting = append(waiting, dated{c, age})
		}
	}
	slices.SortFunc(waiting, func(a, b dated) int {
		return cmp.Or(a.age.ModTime().Compare(b.age.ModTime()), strings.Compare(a.ID, b.ID))
	})
	var commands []engine.Command
	for _, c := range waiting {
		commands = append(commands, c.Command)
	}
	return commands, errors.Join(errs...)
}

// readCommand reads one file. No age means that there is nothing to do.
func (s *Store) readCommand(entry fs.DirEntry) (c engine.Command, age fs.FileInfo, err error) {
	name := filepath.Join(inboxOf(s.file.path), entry.Name())
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) { // taken back meanwhile
		return c, nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err == nil && c.ID+commandSuffix != entry.Name() {
		err = fmt.Errorf("it holds command %q", c.ID)
	}
	if err != nil {
		return c, nil, fmt.Errorf("%s is not a command; remove it (%w)", name, err)
	}
	carried, err := s.carriedOut(c.ID)
	if err != nil {
		return c, nil, err
	}
	if carried {
		return c, nil, s.Ack(c.ID)
	}
	age, err = entry.Info()
	return c, age, gone(err)
}

// carriedOut reports whether an event of the history names this command.
func (s *Store) carriedOut(id string) (carried bool, err error) {
	s.flush()
	err = s.view.rows(`SELECT 1 FROM commands WHERE id = ?`, func([]driver.Value) error {
		carried = true
		return nil
	}, id)
	return carried, err
}

// PutAnswer tells the process that waits for it what came of a command; Ack comes after
// it. Where the command is gone nobody waits, and nothing is written.
func (s *Store) PutAnswer(id string, data []byte) error {
	name := filepath.Join(inboxOf(s.file.path), id)
	if _, err := os.Lstat(name + commandSuffix); err != nil {
		return explain(name, gone(err))
	}
	return writeWhole(name+answerSuffix, data)
}

// Ack takes a command away: it was carried out or never will be.
func (s *Store) Ack(id string) error {
	return explain(inboxOf(s.file.path), gone(os.Remove(filepath.Join(inboxOf(s.file.path), id+commandSuffix))))
}
