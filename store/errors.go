package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Problem names what is wrong with a state file, for machines.
type Problem string

// The problems of a state file.
const (
	Missing    Problem = "missing"
	NotRegular Problem = "not-regular"
	Linked     Problem = "linked"
	Foreign    Problem = "foreign"
	Damaged    Problem = "damaged"
	Newer      Problem = "newer"
	Older      Problem = "older"
	Denied     Problem = "denied"
	ReadOnly   Problem = "read-only"
	Full       Problem = "full"
	Failing    Problem = "failing"
	Busy       Problem = "busy"
)

// What a person is told of each problem, after the file's name.
var sentences = map[Problem]string{
	Missing:    "does not exist; `faultlab run` makes it, or choose another file with --state",
	NotRegular: "is not a regular file; choose another one with --state",
	Linked:     "has another name too (a hard link), and each name has its own lock and log: remove the other names (find DIR -samefile FILE finds them), then start again",
	Foreign:    "is not a file for this and is left as it is; choose another one with --state",
	Damaged:    "is damaged and is left as it is; put a backup in its place or choose another file with --state",
	Newer:      "was written by a newer faultlab and is left as it is; use that one or choose another file with --state",
	Older:      "was written by an older faultlab; `faultlab run` brings it up to date and keeps a backup",
	Denied:     "may not be opened by this user; change its permissions or choose another file with --state",
	ReadOnly:   "cannot be written; make the file and its folder writable or choose another file with --state",
	Full:       "cannot grow because the disk is full; free some space and start again, nothing acknowledged is lost",
	Failing:    "cannot be read or written; check the disk and the limits of this user, then start again",
	Busy:       "is locked by another program; end that program and start again",
}

// FileError says what is wrong with a state file and what to do.
type FileError struct {
	Path string
	What Problem
	Err  error // the cause; nil where there is none
}

func (e *FileError) Error() string {
	if e.Err == nil {
		return e.Path + " " + sentences[e.What]
	}
	return fmt.Sprintf("%s %s (%v)", e.Path, sentences[e.What], e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// ErrHeld says that another process owns a state file.
type ErrHeld struct {
	Path    string
	PID     int    // 0 where it has not said so yet
	Command string // what it runs
}

func (e ErrHeld) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	if e.Command != "" {
		who += " (" + e.Command + ")"
	}
	return fmt.Sprintf("%s is held by %s; end it, or choose another file with --state", e.Path, who)
}

// Primary result codes of SQLite, https://www.sqlite.org/rescode.html.
var problems = map[int]Problem{
	sqlite3.SQLITE_FULL:     Full,
	sqlite3.SQLITE_IOERR:    Failing,
	sqlite3.SQLITE_NOMEM:    Failing,
	sqlite3.SQLITE_CORRUPT:  Damaged,
	sqlite3.SQLITE_NOTADB:   Foreign,
	sqlite3.SQLITE_READONLY: ReadOnly,
	sqlite3.SQLITE_CANTOPEN: Denied,
	sqlite3.SQLITE_PERM:     Denied,
	sqlite3.SQLITE_BUSY:     Busy,
	sqlite3.SQLITE_LOCKED:   Busy,
}

// isDuplicate reports whether a row was refused because there is one like it.
func isDuplicate(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
}

// explain makes a FileError of what SQLite or the system says about a file.
func explain(path string, err error) error {
	var file *FileError
	var lite *sqlite.Error
	switch {
	case err == nil || errors.As(err, &file):
		return err
	case errors.As(err, &lite):
		if what, ok := problems[lite.Code()&0xff]; ok {
			return &FileError{path, what, err}
		}
	case errors.Is(err, fs.ErrNotExist):
		return &FileError{path, Missing, nil}
	case errors.Is(err, syscall.EROFS):
		return &FileError{path, ReadOnly, err}
	case errors.Is(err, fs.ErrPermission):
		return &FileError{path, Denied, err}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return &FileError{path, Full, err}
	}
	return fmt.Errorf("%s: %w", path, err)
}
