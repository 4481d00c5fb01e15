package main

import (
	"github.com/spf13/cobra"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// completeRuns offers the newest runs, with their workflow and status.
func (a *app) completeRuns(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	h, err := a.openReader()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer h.Close()
	runs, err := h.Runs(engine.Query{Limit: maxLimit})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, r := range runs {
		text := clean(r.Workflow) + " " + string(r.Status)
		if r.Reconcile {
			text += ", reconcile: needed"
		}
		out = append(out, cobra.CompletionWithDesc(r.Run, text))
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeScenarios offers the catalogue, beside files and folders.
func completeScenarios(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	for _, s := range scenarios.Catalogue() {
		out = append(out, cobra.CompletionWithDesc(s.Name, s.Title))
	}
	return out, cobra.ShellCompDirectiveDefault
}

// completeExt offers the files with an extension.
func completeExt(ext string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return []cobra.Completion{ext}, cobra.ShellCompDirectiveFilterFileExt
	}
}

var (
	completeDocuments     = completeExt("woml")
	completeScenarioFiles = completeExt(lang.Ext[1:])
)

// oneOf completes a flag whose values are known.
func oneOf(values ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}
