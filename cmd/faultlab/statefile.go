package main

import (
	"errors"

	"faultlab/store"
)

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
		if r, err = store.OpenReader(path); err != nil {
			return nil, failed(err)
		}
		return r, nil
	case err != nil:
		return nil, failed(err)
	}
	return r, nil
}
