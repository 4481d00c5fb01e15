package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"faultlab/engine/plain"
	"faultlab/engine/trigger"
	"faultlab/engine/woml"
)

// checked is the result for one file, as JSON.
type checked struct {
	File        string            `json:"file"`
	OK          bool              `json:"ok"`
	Diagnostics []woml.Diagnostic `json:"diagnostics"`
}

func (a *app) checkCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:               "check FILE...",
		Short:             "Check workflow documents",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeDocuments,
		RunE: func(_ *cobra.Command, files []string) error {
			var docs []*woml.Document
			var valid []string // files of docs
			for _, f := range files {
				src, err := readFile(f)
				if err != nil {
					return err
				}
				doc, diags := woml.Parse(src)
				if doc != nil {
					docs, valid = append(docs, doc), append(valid, f)
				}
				if asJSON {
					if err := printJSON(a.Out, checked{f, doc != nil, append([]woml.Diagnostic{}, diags...)}, ""); err != nil {
						return err
					}
					continue
				}
				a.printDiagnostics(f, diags)
				if doc != nil {
					a.say("%s: ok, workflow %s with %s", f, doc.Workflow.ID, plural(len(doc.Workflow.Steps), "step"))
				}
			}
			if len(docs) < len(files) {
				return quiet(exitFailed)
			}
			return together(valid, docs)
		},
	}
	jsonFlag(c, &asJSON, "a JSON object for each file, one a line")
	return c
}

func (a *app) printDiagnostics(file string, diags []woml.Diagnostic) {
	for _, d := range diags {
		fmt.Fprintf(a.Err, "%s:%d:%d: %s: %s [%s]\n", plain.Escape(file), d.Line, d.Column, d.Severity, plain.Escape(d.Message), d.Code)
		if d.Hint != "" {
			fmt.Fprintf(a.Err, "    %s\n", plain.Escape(d.Hint))
		}
	}
}

// loadDocuments reads and checks documents; one with an error ends the command.
func (a *app) loadDocuments(files []string) ([]*woml.Document, error) {
	var docs []*woml.Document
	for _, f := range files {
		src, err := readFile(f)
		if err != nil {
			return nil, err
		}
		doc, diags := woml.Parse(src)
		a.printDiagnostics(f, diags)
		if doc == nil {
			return nil, failed(fmt.Errorf("cannot run %s: correct the errors above", f))
		}
		docs = append(docs, doc)
	}
	return docs, together(files, docs)
}

// together reports what keeps the documents of these files from being served by one process.
func together(files []string, docs []*woml.Document) error {
	from := map[string]string{}
	var routes []trigger.Route
	for i, d := range docs {
		id := d.Workflow.ID
		if other, twice := from[id]; twice {
			return failed(fmt.Errorf("%s and %s both define workflow %s: leave one of them out", other, files[i], id))
		}
		from[id] = files[i]
		for _, t := range d.Workflow.Triggers {
			if t.Kind == "webhook" {
				routes = append(routes, trigger.Route{Workflow: id, Trigger: t.ID, Path: t.Path})
			}
		}
	}
	_, err := trigger.New(nil, nil, routes...)
	return failed(err)
}
