package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"faultlab/tui"
)

// config is the file of the workbench's settings. A flag wins over it.
type config struct {
	Theme string `json:"theme"` // "auto", or a theme's name
	ASCII bool   `json:"ascii"` // nothing outside ASCII
	Mouse bool   `json:"mouse"` // the wheel scrolls
}

// readConfig reads the file; one that is not there holds nothing.
func readConfig() (config, error) {
	var c config
	path, err := configPath()
	if err != nil {
		return c, nil // no home directory, no settings
	}
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(src))
		dec.DisallowUnknownFields()
		err = dec.Decode(&c)
	}
	if err == nil {
		err = knownTheme(c.Theme)
	}
	if err != nil {
		return c, &exit{exitUsage, fmt.Errorf(`%s cannot be read (%w): it holds {"theme": "dark", "ascii": false, "mouse": false}`, path, err)}
	}
	return c, nil
}

// themes are the values of --theme.
func themes() []string { return append([]string{"auto"}, tui.ThemeNames()...) }

func knownTheme(name string) error {
	if name == "" || slices.Contains(themes(), name) {
		return nil
	}
	return fmt.Errorf("%q is no theme: there are %s", name, joined(themes()))
}
