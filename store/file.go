package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// file is a SQLite file that this process owns.
type file struct {
	path string
	lock *lock
	conn *conn // the writer's
	log  *conn // the keeper's
}

// own takes a file over, making it if there is none: its folder with mode 0700,
// itself with 0600. An older one is brought up to date.
func own(path string, f *format, command string) (*file, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, explain(filepath.Dir(path), err)
	}
	if command == "" {
		command = strings.Join(os.Args, " ")
	}
	l, err := takeLock(path, command)
	if err != nil {
		return nil, err
	}
	owned := &file{path: path, lock: l}
	if err := owned.open(f); err != nil {
		return nil, errors.Join(err, owned.close())
	}
	return owned, nil
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

func (o *file) open(f *format) error {
	if err := checkOneName(o.path); err != nil {
		return err
	}
	fresh, err := f.inspect(o.path)
	if err == nil && fresh {
		err = f.create(o.path)
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
	durable := []string{"busy_timeout(5000)", "synchronous(FULL)", "wal_autocheckpoint(0)", "temp_store(MEMORY)"}
	if o.conn, err = dial(o.path, "rw", append(durable, "cache_size(-1536)")...); err != nil {
		return err
	}
	o.log, err = dial(o.path, "rw", append(durable, "cache_size(-256)")...)
	return err
}

// close lets go of the file. The last connection of SQLite takes the log into it; the lock goes last.
func (o *file) close() error {
	var errs []error
	for _, c := range []*conn{o.log, o.conn} {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(append(errs, o.lock.release())...)
}
