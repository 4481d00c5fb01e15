package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"faultlab/engine/assume"
)

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
		return nil, &exit{exitUsage, fmt.Errorf("%s:%w", path, err)}
	}
	return s, nil
}

// assumedBeside is what the last `run` of a state file was told to assume: a copy, so
// that looking up and deciding later, without it, goes by the same contracts.
func assumedBeside(state string) string { return state + ".assume.json" }

// loadAssume reads the file that was named, or what the last run of the state was told.
func (a *app) loadAssume(path string) (*assume.Set, error) {
	if path != "" {
		return readAssume(path)
	}
	state, err := a.statePath()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(assumedBeside(state)); err != nil {
		return nil, nil
	}
	return readAssume(assumedBeside(state))
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
