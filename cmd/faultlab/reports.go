package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// reportFile is a file that a flag asks for. An empty path is none.
type reportFile struct{ flag, path string }

// prepareReports deletes the reports of an earlier run, so that none is taken for this one's, and refuses what cannot be written.
func prepareReports(files ...reportFile) error {
	byPath := map[string]string{}
	for _, f := range files {
		if f.path == "" {
			continue
		}
		path, err := filepath.Abs(f.path)
		if err != nil {
			path = f.path
		}
		if other := byPath[path]; other != "" {
			return usage("--%s and --%s both name %s: one report would replace the other", other, f.flag, f.path)
		}
		byPath[path] = f.flag
	}
	for _, f := range files {
		if f.path == "" {
			continue
		}
		if info, err := os.Stat(f.path); err == nil && info.IsDir() {
			return usage("--%s: %s is a folder; name a file", f.flag, f.path)
		}
		if err := removeReport(f.path); err != nil {
			return failed(err)
		}
	}
	return nil
}

// writableFolder makes a folder if there is none, and tries that files can be made in it.
func writableFolder(dir string) error {
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, ".faultlab-*"); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if err == nil {
		return nil
	}
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("cannot write files to %s: %w", dir, err)
}

// removeReport deletes the report of an earlier run.
// What is no regular file, as a pipe, stays; an empty path is none.
func removeReport(path string) error {
	info, err := os.Stat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("cannot replace the report of an earlier run: %w", err)
	}
	return nil
}

// writeReport writes a file, whole or not at all; an empty path is none.
func writeReport(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return replaceFile(path, b.Bytes(), 0o644)
}
