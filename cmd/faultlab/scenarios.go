package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"faultlab/engine/plain"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// listed is a scenario of the catalogue as JSON.
type listed struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Group   string   `json:"group"`
	Cases   []string `json:"cases"`
	Lessons []string `json:"lessons"`
	Runs    string   `json:"runs"` // virtual, real or both
	Teach   string   `json:"teach"`
}

func (a *app) scenariosCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "scenarios",
		Short: "List the built-in scenarios; its help is the manual of scenario files",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if !asJSON {
				a.listScenarios(scenarios.Catalogue())
				return nil
			}
			var out []listed
			for _, s := range scenarios.Catalogue() {
				l := listed{s.Name, s.Title, s.Group, append([]string{}, s.Cases...), []string{}, s.Runs, s.Teach}
				for _, p := range s.Lessons {
					l.Lessons = append(l.Lessons, fmt.Sprintf("%s %d", p.Lesson, p.N))
				}
				out = append(out, l)
			}
			return printJSON(a.Out, out, "  ")
		},
	}
	jsonFlag(c, &asJSON, "a JSON array")
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		fmt.Fprintf(c.OutOrStdout(), "scenarios lists the catalogue, one scenario on each line.\n\n%s\n%s", c.UsageString(), lang.Manual())
	})
	return c
}

// listScenarios prints one on each line: name and title.
func (a *app) listScenarios(all []*lang.Scenario) {
	var rows [][]string
	for _, s := range all {
		rows = append(rows, []string{s.Name, plain.Escape(s.Title)})
	}
	columns(a.Out, rows)
}

func (a *app) newCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "Write a commented scenario file to start from",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := strings.TrimSuffix(args[0], lang.Ext) + lang.Ext
			name := strings.TrimSuffix(filepath.Base(path), lang.Ext)
			if name == "" || name == "." {
				return usage("not a valid scenario name: %q", args[0])
			}
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			switch {
			case errors.Is(err, os.ErrExist):
				return failed(fmt.Errorf("%s exists already: choose another name", path))
			case err != nil:
				return failed(fmt.Errorf("cannot write %s: %w", path, errors.Unwrap(err)))
			}
			_, err = f.Write(lang.Starter(name))
			if err := errors.Join(err, f.Close()); err != nil {
				return failed(fmt.Errorf("write %s: %w", path, err))
			}
			a.say("%s written", path)
			a.say("  faultlab replay %s", shellQuote(path))
			return nil
		},
	}
}

func (a *app) formatCommand() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:               "fmt FILE...",
		Short:             "Format scenario files",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeScenarioFiles,
		RunE: func(_ *cobra.Command, files []string) error {
			changed := false
			for _, path := range files {
				untidy, err := a.format(path, check)
				if err != nil {
					return err
				}
				changed = changed || untidy
			}
			return quietIf(check && changed)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "change nothing; exit 1 if a file is not formatted")
	return c
}

// format formats one file, or only checks it; changed reports whether it was not formatted.
func (a *app) format(path string, check bool) (changed bool, err error) {
	src, err := readFile(path)
	if err != nil {
		return false, err
	}
	if _, err := lang.Parse(path, src); err != nil {
		return false, misused(err)
	}
	tidy, err := lang.Format(src)
	if err != nil {
		return false, usage("%s: %w", path, err)
	}
	if bytes.Equal(src, tidy) {
		return false, nil
	}
	a.say("%s", path)
	if check {
		return true, nil
	}
	info, err := os.Stat(path)
	if err == nil {
		err = replaceFile(path, tidy, info.Mode().Perm())
	}
	return true, failed(err)
}
