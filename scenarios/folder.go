package scenarios

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"faultlab/scenarios/lang"
)

// Unread is a scenario file that could not be read, or a scenario that could not even begin, and why.
type Unread struct {
	File string
	Err  error // file:line:column and the mistake, one a line
}

// Error is all of its mistakes.
func (u *Unread) Error() string { return u.Err.Error() }

// Unwrap gives the mistakes to errors.As.
func (u *Unread) Unwrap() error { return u.Err }

// Loaded is one scenario file of a folder: what is in it, or why it cannot be read.
type Loaded struct {
	Scenario *lang.Scenario
	Unread   *Unread
}

// Load reads one scenario file, whatever is in it.
func Load(file string) Loaded {
	s, err := LoadFile(file)
	if err != nil {
		return Loaded{Unread: &Unread{file, err}}
	}
	return Loaded{Scenario: s}
}

// LoadFolder reads every scenario file of a folder and of the folders in it, in the order of their paths. Files and
// folders whose names begin with a dot are left out.
func LoadFolder(folder string) ([]Loaded, error) {
	var out []Loaded
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		hidden := path != folder && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil && path == folder:
			return err
		case err != nil:
			out = append(out, Loaded{Unread: &Unread{path, fmt.Errorf("cannot read %s: %w", path, errors.Unwrap(err))}})
		case hidden && d.IsDir():
			return fs.SkipDir
		case !hidden && !d.IsDir() && filepath.Ext(path) == lang.Ext:
			out = append(out, Load(path))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", folder, errors.Unwrap(err))
	}
	return out, nil
}
