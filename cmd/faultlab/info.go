package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"

	"faultlab/engine/plain"
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
			platform, n := runtime.GOOS+"/"+runtime.GOARCH, len(scenarios.Catalogue())
			if asJSON {
				return printJSON(a.Out, struct {
					Version   string  `json:"version"`
					Platform  string  `json:"platform"`
					Go        string  `json:"go"`
					Scenarios int     `json:"scenarios"`
					Files     []place `json:"files"`
				}{version(), platform, runtime.Version(), n, places}, "  ")
			}
			rows := [][]string{{"version", version()}, {"platform", platform + ", " + runtime.Version()}, {"scenarios", strconv.Itoa(n)}}
			for _, p := range places {
				text := plain.Escape(p.Path)
				if !p.Exists {
					text += "  (does not exist yet)"
				}
				rows = append(rows, []string{p.Name, text})
			}
			columns(a.Out, rows)
			return nil
		},
	}
	jsonFlag(c, &asJSON, "JSON")
	return c
}

func (a *app) places() (out []place, err error) {
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

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run:   func(*cobra.Command, []string) { fmt.Fprintln(a.Out, "faultlab "+version()) },
	}
}

// version returns what the build recorded: a tag, a commit, or that it was built from a tree.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
