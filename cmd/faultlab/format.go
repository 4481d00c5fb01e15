package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"faultlab/scenarios/lang"
)

func (a *app) formatCommand() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:               "fmt FILE...",
		Short:             "Keep scenario files tidy",
		Long:              "fmt rewrites scenario files in their tidy form and names those that it changed.\nWith --check it changes nothing and exits 1 if it would.",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeScenarioFiles,
		RunE: func(_ *cobra.Command, files []string) error {
			changed := false
			for _, path := range files {
				src, err := readFile(path)
				if err != nil {
					return err
				}
				if _, err := lang.Parse(path, src); err != nil {
					return &exit{exitUsage, err}
				}
				tidy, err := lang.Format(src)
				if err != nil {
					return &exit{exitUsage, fmt.Errorf("%s: %w", path, err)}
				}
				if bytes.Equal(src, tidy) {
					continue
				}
				changed = true
				fmt.Fprintln(a.Out, clean(path))
				if !check {
					if err := rewrite(path, tidy); err != nil {
						return failed(err)
					}
				}
			}
			if check && changed {
				return quiet(exitFailed)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "change nothing; exit 1 if a file is not tidy")
	return c
}

// rewrite puts new content in the place of a file, whole or not at all.
func rewrite(path string, data []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".faultlab-*")
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", path, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(f.Name(), info.Mode().Perm())
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", path, err)
	}
	return nil
}
