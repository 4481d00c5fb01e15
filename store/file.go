package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// pagesInLog is from how many pages (4 KiB) on a commit takes the log into the file.
const pagesInLog = 2000

// file is a SQLite file that this process owns.
type file struct {
	path string
	lock *lock
	conn *conn // the writer's
}

// own takes a file over, making it if there is none: its folder with mode 0700,
// itself with 0600. An older one is brought up to date.
func own(path string, f *format, command string) (*file, error) {
	path = real(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, explain(filepath.Dir(path), err)
	}
	if command == "" {
		command = strings.Join(os.Args, " ")
	}
	l, err := acquireLock(path, command)
	if err != nil {
		return nil, err
	}
	owned := &file{path: path, lock: l}
	if err := owned.open(f); err != nil {
		return nil, errors.Join(err, owned.close())
	}
	return owned, nil
}

// real is a path in the form in which two paths of one file are equal, so that all ways to it meet at one lock.
func real(path string) string {
	if path == "" {
		return ""
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		return resolved
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		return filepath.Join(dir, filepath.Base(abs))
	}
	return abs
}

func (o *file) open(f *format) error {
	if err := checkOneName(o.path); err != nil {
		return err
	}
	fresh, err := f.inspect(o.path)
	if err == nil && fresh {
		err = build(o.path, f.fill)
	}
	if err != nil {
		return err
	}
	version, err := f.probe(o.path)
	if err == nil && version < f.version() {
		err = f.upgrade(o.path, version)
	}
	if err != nil {
		return err
	}
	// Where it can, SQLite commits with fdatasync: as durable, without the file's times.
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return err
	}
	o.conn, err = dial(o.path, "rw", "busy_timeout(5000)", "synchronous(FULL)", fmt.Sprintf("wal_autocheckpoint(%d)", pagesInLog), "temp_store(MEMORY)", "cache_size(-1536)")
	return err
}

// close lets go of the file. The last connection of SQLite takes the log into it; the lock goes last.
func (o *file) close() (err error) {
	if o.conn != nil {
		err = o.conn.Close()
	}
	return errors.Join(err, o.lock.release())
}
