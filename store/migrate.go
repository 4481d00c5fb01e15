package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// build makes a database file that appears with mode 0600 when fill has made it whole: a crash leaves none or a whole one.
func build(path string, fill func(unfinished string) error) error {
	unfinished := path + ".new"
	if err := removeDatabase(unfinished); err != nil {
		return explain(path, err)
	}
	f, err := os.OpenFile(unfinished, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return explain(path, err)
	}
	defer f.Close()
	if err := fill(unfinished); err != nil {
		return errors.Join(err, removeDatabase(unfinished))
	}
	return explain(path, errors.Join(f.Sync(), os.Rename(unfinished, path), syncDir(filepath.Dir(path))))
}

// fill makes an empty file one of the current version.
func (m *format) fill(path string) error {
	c, err := dial(path, "rw", "synchronous(FULL)")
	if err != nil {
		return err
	}
	err = m.migrate(c, 0)
	if err == nil {
		err = c.script("PRAGMA journal_mode = WAL")
	}
	return errors.Join(err, c.Close())
}

func removeDatabase(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// migrate takes all steps from a version to the current one, or none.
func (m *format) migrate(c *conn, from int) error {
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for n := from; n < m.version(); n++ {
		err := c.script(m.migrations[n])
		if rewrite := m.rewrite[n+1]; rewrite != nil && err == nil {
			err = rewrite(c)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("bring the file from version %d to %d: %w", n, n+1, err), c.script("ROLLBACK"))
		}
	}
	return c.script(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", m.id, m.version()))
}

// upgrade brings an older file up to date. Before, it puts a copy beside it: path.v1, say.
func (m *format) upgrade(path string, from int) error {
	c, err := dial(path, "rw", "busy_timeout(5000)", "synchronous(FULL)")
	if err != nil {
		return err
	}
	err = c.backUp(fmt.Sprintf("%s.v%d", path, from))
	if err == nil {
		err = m.migrate(c, from)
	}
	if err == nil { // so that the file's own header says which version it has
		err = c.script("PRAGMA wal_checkpoint(TRUNCATE)")
	}
	return errors.Join(err, c.Close())
}

// backUp copies the database, what is still in its log included.
func (c *conn) backUp(to string) error {
	return build(to, func(unfinished string) error {
		if err := c.exec("VACUUM INTO ?", unfinished); err != nil {
			return fmt.Errorf("back up: %w", err)
		}
		return nil
	})
}

// BackUp copies a state file, as it is at one moment, to a new file with mode 0600 that
// appears when it is whole. Its owner goes on meanwhile.
func BackUp(path, to string) error {
	r, err := OpenReader(path) // says what is wrong with it
	if err != nil {
		return err
	}
	if err := r.Close(); err != nil {
		return err
	}
	path = real(path)
	if to, err = filepath.Abs(to); err != nil {
		return err
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists already: name a new file", to)
	}
	c, err := dial(path, "ro", "busy_timeout(5000)")
	if err != nil {
		return err
	}
	return errors.Join(c.backUp(to), c.Close())
}
