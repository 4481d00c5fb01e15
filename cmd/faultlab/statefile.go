package main

import (
	"errors"
	"os"
	"path/filepath"

	"faultlab/store"
)

// statePath is the state file: the one that was named, or the one in the XDG state directory.
func (a *app) statePath() (string, error) {
	if a.state != "" {
		return a.state, nil
	}
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" || !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", usage("there is no home directory to keep runs in: name a file with --state")
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "faultlab", "state.db"), nil
}

// openReader looks at the state without owning it.
func (a *app) openReader() (*store.Reader, error) {
	path, err := a.statePath()
	if err != nil {
		return nil, err
	}
	r, err := store.OpenReader(path)
	var file *store.FileError
	switch {
	case errors.As(err, &file) && file.What == store.Older:
		// Only its owner may bring a file up to date.
		s, err := store.Open(path, store.Options{})
		if err != nil {
			return nil, failed(err)
		}
		if err := s.Close(); err != nil {
			return nil, failed(err)
		}
		r, err = store.OpenReader(path)
		return r, err
	case err != nil:
		return nil, failed(err)
	}
	return r, nil
}
