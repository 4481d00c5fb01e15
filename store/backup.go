package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

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
	if path, err = resolve(path); err != nil {
		return err
	}
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
