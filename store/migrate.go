package store

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// migrations[n-1] brings a file of version n-1 to version n. A new file goes through
// all of them. One that was ever released is never changed.
var migrations = readMigrations()

//go:embed schema/*.sql
var schema embed.FS

func readMigrations() (all []string) {
	for {
		text, err := schema.ReadFile(fmt.Sprintf("schema/%d.sql", len(all)+1))
		if err != nil {
			return all
		}
		all = append(all, string(text))
	}
}

// create makes an empty state file of the current version in one step: a crash leaves none or a whole one.
func create(path string) error {
	unfinished := path + ".new"
	if err := removeDatabase(unfinished); err != nil {
		return explain(path, err)
	}
	f, err := os.OpenFile(unfinished, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return explain(path, err)
	}
	if err := f.Close(); err != nil {
		return explain(path, err)
	}
	if err := fill(unfinished); err != nil {
		return errors.Join(err, removeDatabase(unfinished))
	}
	if err := os.Rename(unfinished, path); err != nil {
		return explain(path, err)
	}
	return explain(path, syncDir(filepath.Dir(path)))
}

func fill(path string) error {
	c, err := dial(path, "rw", "synchronous(FULL)")
	if err != nil {
		return err
	}
	err = c.migrate(0, len(migrations))
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

// migrate takes all steps from one version to another, or none.
func (c *conn) migrate(from, to int) error {
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for n := from; n < to; n++ {
		if err := c.script(migrations[n]); err != nil {
			return errors.Join(fmt.Errorf("bring the state file from version %d to %d: %w", n, n+1, err), c.script("ROLLBACK"))
		}
	}
	return c.script(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", applicationID, to))
}

// upgrade brings an older file up to date. Before, it puts a copy beside it: path.v1, say.
func upgrade(path string, from int) error {
	c, err := dial(path, "rw", "busy_timeout(5000)", "synchronous(FULL)")
	if err != nil {
		return err
	}
	err = c.backUp(fmt.Sprintf("%s.v%d", path, from))
	if err == nil {
		err = c.migrate(from, len(migrations))
	}
	if err == nil { // so that the file's own header says which version it has
		err = c.script("PRAGMA wal_checkpoint(TRUNCATE)")
	}
	return errors.Join(err, c.Close())
}

// backUp copies the database, what is still in its log included, to a file that appears when it is whole.
func (c *conn) backUp(to string) error {
	unfinished := to + ".new"
	if err := removeDatabase(unfinished); err != nil {
		return explain(to, err)
	}
	f, err := os.OpenFile(unfinished, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return explain(to, err)
	}
	defer f.Close()
	if err := c.exec("VACUUM INTO ?", unfinished); err != nil {
		return errors.Join(fmt.Errorf("back up before the upgrade: %w", err), removeDatabase(unfinished))
	}
	if err := errors.Join(f.Sync(), os.Rename(unfinished, to), syncDir(filepath.Dir(to))); err != nil {
		return explain(to, err)
	}
	return nil
}
