package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// environmentSecrets finds secrets.NAME in the environment.
func environmentSecrets(name string) (string, bool) { return os.LookupEnv(name) }

// fileSecrets reads NAME=value lines from a file that only its owner may read; what
// it lacks is looked for in the environment.
func fileSecrets(path string) (func(string) (string, bool), error) {
	if path == "" {
		return environmentSecrets, nil
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
			return nil, &exit{exitUsage, fmt.Errorf("%s:%d: write a secret as NAME=value", path, i+1)}
		}
		values[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return func(name string) (string, bool) {
		if v, ok := values[name]; ok {
			return v, true
		}
		return environmentSecrets(name)
	}, nil
}
