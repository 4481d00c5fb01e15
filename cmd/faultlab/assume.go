package main

import (
	"fmt"

	"faultlab/engine/assume"
)

// loadAssume reads a file of assumed contracts; an empty path is none.
func loadAssume(path string) (*assume.Set, error) {
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
