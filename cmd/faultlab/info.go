package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"faultlab/scenarios"
)

// place is a file that faultlab uses, as info shows it.
type place struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

func (a *app) infoCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "info",
		Short: "Show where faultlab keeps its files",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			places, err := a.places()
			if err != nil {
				return err
			}
			n := len(scenarios.Catalogue())
			if asJSON {
				return printJSON(a.Out, struct {
					Version   string  `json:"version"`
					Platform  string  `json:"platform"`
					Go        string  `json:"go"`
					Scenarios int     `json:"scenarios"`
					Files     []place `json:"files"`
				}{version(), runtime.GOOS + "/" + runtime.GOARCH, runtime.Version(), n, places})
			}
			rows := [][]string{{"version", version()}, {"platform", runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version()},
				{"scenarios", fmt.Sprint(n)}}
			for _, p := range places {
				text := clean(p.Path)
				if !p.Exists {
					text += "  (not there yet)"
				}
				rows = append(rows, []string{p.Name, text})
			}
			columns(a.Out, rows)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) places() ([]place, error) {
	var out []place
	for _, p := range []struct {
		name string
		path func() (string, error)
	}{
		{"state", a.statePath},
		{"config", configPath},
		{"workbench", func() (string, error) { return stateFile(workbenchFile) }},
		{"log", func() (string, error) { return stateFile(logFile) }},
	} {
		path, err := p.path()
		if err != nil {
			return nil, err
		}
		_, err = os.Stat(path)
		out = append(out, place{p.name, path, err == nil})
	}
	return out, nil
}
