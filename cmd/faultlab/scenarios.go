package main

import (
	"fmt"

	"github.com/spf13/cobra"

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
		Short: "List the scenarios that faultlab brings along; its help is the manual of scenario files",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(a.Out, listedOf(scenarios.Catalogue()))
			}
			a.listScenarios(scenarios.Catalogue())
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		fmt.Fprintf(c.OutOrStdout(), "scenarios lists the catalogue, one a line.\n\n%s\n%s", c.UsageString(), lang.Manual())
	})
	return c
}

// listScenarios prints one a line: name and title.
func (a *app) listScenarios(all []*lang.Scenario) {
	var rows [][]string
	for _, s := range all {
		rows = append(rows, []string{s.Name, clean(s.Title)})
	}
	columns(a.Out, rows)
}

func listedOf(all []*lang.Scenario) []listed {
	out := []listed{}
	for _, s := range all {
		l := listed{Name: s.Name, Title: s.Title, Group: s.Group, Cases: append([]string{}, s.Cases...), Lessons: []string{}, Runs: s.Runs, Teach: s.Teach}
		for _, p := range s.Lessons {
			l.Lessons = append(l.Lessons, fmt.Sprintf("%s %d", p.Lesson, p.N))
		}
		out = append(out, l)
	}
	return out
}
