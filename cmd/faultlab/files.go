package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/store"
)

// xdg returns a folder of the XDG Base Directory Specification: that of the variable if
// it holds an absolute path, else the default below the home directory.
func xdg(variable string, below ...string) (string, error) {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "faultlab"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", usage("there is no home directory: set %s, or name a file with --state", variable)
	}
	return filepath.Join(home, filepath.Join(below...), "faultlab"), nil
}

// statePath returns the state file: the one that was named, or the one in the XDG state directory.
func (a *app) statePath() (string, error) {
	if a.state != "" {
		return a.state, nil
	}
	return stateFile("state.db")
}

// stateFile returns a file in the XDG state directory.
func stateFile(name string) (string, error) {
	dir, err := xdg("XDG_STATE_HOME", ".local", "state")
	return filepath.Join(dir, name), err
}

// configPath returns the file of the workbench's settings.
func configPath() (string, error) {
	dir, err := xdg("XDG_CONFIG_HOME", ".config")
	return filepath.Join(dir, "config.json"), err
}

// readFile reads a file that a person named.
func readFile(path string) ([]byte, error) {
	src, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usage("there is no file %s", path)
	case err != nil:
		return nil, usage("cannot read %s: %w", path, errors.Unwrap(err))
	}
	return src, nil
}

// replaceFile gives a file new content, whole or not at all. What is no regular file, as a pipe, is written to.
func replaceFile(path string, data []byte, mode fs.FileMode) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot write %s: %w", path, cmp.Or(errors.Unwrap(err), err))
		}
	}()
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, mode)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".faultlab-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // where it could not be renamed
	_, err = f.Write(data)
	if err = cmp.Or(err, f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// openReader opens the state file to be read, whoever owns it.
func (a *app) openReader() (*store.Reader, error) {
	path, err := a.statePath()
	if err != nil {
		return nil, err
	}
	r, err := store.OpenReader(path)
	var file *store.FileError
	if errors.As(err, &file) && file.What == store.Older { // only an owner may bring a file up to date
		var s *store.Store
		if s, err = store.Open(path, store.Options{}); err == nil {
			err = s.Close()
		}
		if err == nil {
			r, err = store.OpenReader(path)
		}
	}
	return r, failed(err)
}

// reading opens the state file for one look.
func (a *app) reading(look func(*store.Reader) error) error {
	h, err := a.openReader()
	if err != nil {
		return err
	}
	defer h.Close()
	return failed(look(h))
}

// withRun folds a run from the state file, whoever owns it, and calls look with it.
func (a *app) withRun(id string, look func(h engine.History, r *engine.Run) error) error {
	return a.reading(func(h *store.Reader) error {
		full, err := engine.FindRun(h, id)
		if err != nil {
			return runError(id, err)
		}
		events, err := h.Events(full)
		if err != nil {
			return fmt.Errorf("read run %s: %w", full, err)
		}
		return look(h, engine.Fold(events))
	})
}

// readRun folds a run from the state file, whoever owns it.
func (a *app) readRun(id string) (run *engine.Run, err error) {
	err = a.withRun(id, func(_ engine.History, r *engine.Run) error {
		run = r
		return nil
	})
	return run, err
}

// readAssume reads a file of assumed contracts; an empty path is none.
func readAssume(path string) (*assume.Set, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := readFile(path)
	if err != nil {
		return nil, err
	}
	s, err := assume.Parse(raw)
	if err != nil {
		return nil, usage("%s:%w", path, err)
	}
	return s, nil
}

// assumedBeside names the copy of what the last `run` of a state file was told to
// assume: later look-ups and decisions without --assume use it.
func assumedBeside(state string) string { return state + ".assume.json" }

// loadAssume reads the file that was named, or what the last run of the state was told.
func (a *app) loadAssume(path string) (*assume.Set, error) {
	if path == "" {
		state, err := a.statePath()
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(assumedBeside(state)); err == nil {
			path = assumedBeside(state)
		}
	}
	return readAssume(path)
}

// rememberAssume keeps what a run was told to assume, or that it was told nothing.
func (a *app) rememberAssume(path string) error {
	state, err := a.statePath()
	if err != nil {
		return err
	}
	beside := assumedBeside(state)
	if path == "" {
		if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed(fmt.Errorf("forget the contracts of an earlier run: %w", err))
		}
		return nil
	}
	raw, err := readFile(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(beside, raw, 0o600); err != nil {
		return failed(fmt.Errorf("remember the assumed contracts: %w", err))
	}
	return nil
}

// fileSecrets returns what finds secrets.NAME: NAME=value lines of a file that only its
// owner may read, and the environment for what the file lacks.
func fileSecrets(path string) (func(name string) (string, bool), error) {
	if path == "" {
		return os.LookupEnv, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, usage("there is no file of secrets %s", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && info.Mode().IsRegular() {
		return nil, usage("%s can be read by others (mode %04o): run chmod 600 %s", path, mode, path)
	}
	raw, err := readFile(path)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for i, line := range bytes.Split(raw, []byte("\n")) {
		text := strings.TrimSpace(string(line))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usage("%s:%d: not a valid secret; write NAME=value", path, i+1)
		}
		values[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return func(name string) (string, bool) {
		if v, ok := values[name]; ok {
			return v, true
		}
		return os.LookupEnv(name)
	}, nil
}
