package main

import (
	"os"
	"path/filepath"
)

// xdg is a folder of the XDG Base Directory Specification: the variable's, where it
// holds an absolute path, else the default below the home directory.
func xdg(variable string, below ...string) (string, error) {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "faultlab"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", usage("there is no home directory: set %s, or name a file with --state", variable)
	}
	return filepath.Join(append(append([]string{home}, below...), "faultlab")...), nil
}

// statePath is the state file: the one that was named, or the one in the XDG state directory.
func (a *app) statePath() (string, error) {
	if a.state != "" {
		return a.state, nil
	}
	return stateFile("state.db")
}

// stateFile is a file in the XDG state directory.
func stateFile(name string) (string, error) {
	dir, err := xdg("XDG_STATE_HOME", ".local", "state")
	return filepath.Join(dir, name), err
}

// configPath is the file of the workbench's settings.
func configPath() (string, error) {
	dir, err := xdg("XDG_CONFIG_HOME", ".config")
	return filepath.Join(dir, "config.json"), err
}
