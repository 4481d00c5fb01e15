package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"faultlab/engine/trigger"
	"faultlab/engine/woml"
)

// checked is what check says of one file, as JSON.
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
		Long:              "check reads workflow documents and reports what is wrong with them, with file:line:column.\nIt exits 1 when a document has an error; a warning alone does not count.",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeDocuments,
		RunE: func(_ *cobra.Command, files []string) error {
			bad := false
			var docs []*woml.Document
			var checkedFiles []string // of docs
			for _, f := range files {
				src, err := readFile(f)
				if err != nil {
					return err
				}
				doc, diags := woml.Parse(src)
				if bad = bad || doc == nil; doc != nil {
					docs, checkedFiles = append(docs, doc), append(checkedFiles, f)
				}
				if asJSON {
					if diags == nil {
						diags = []woml.Diagnostic{}
					}
					if err := printLine(a.Out, checked{f, doc != nil, diags}); err != nil {
						return err
					}
					continue
				}
				a.printDiagnostics(f, diags)
				if doc != nil {
					fmt.Fprintf(a.Out, "%s: ok, workflow %s with %s\n", clean(f), doc.Workflow.ID, plural(len(doc.Workflow.Steps), "step"))
				}
			}
			if bad {
				return quiet(exitFailed)
			}
			return together(checkedFiles, docs)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object for each file, one a line")
	return c
}

func (a *app) printDiagnostics(file string, diags []woml.Diagnostic) {
	for _, d := range diags {
		fmt.Fprintf(a.Err, "%s:%d:%d: %s: %s [%s]\n", clean(file), d.Line, d.Column, d.Severity, clean(d.Message), d.Code)
		if d.Hint != "" {
			fmt.Fprintf(a.Err, "    %s\n", clean(d.Hint))
		}
	}
}

// readFile reads a file that a person named; what is wrong with it is one sentence.
func readFile(path string) ([]byte, error) {
	src, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usage("there is no file %s", path)
	case err != nil:
		return nil, usage("cannot read %s: %w", path, errors.Unwrap(err))
	}
	return src, nil
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
			return nil, failed(fmt.Errorf("%s cannot be run: mend the errors above", f))
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
			return failed(fmt.Errorf("%s and %s are both of the workflow %s: leave one of them out", other, files[i], id))
		}
		from[id] = files[i]
		for _, t := range d.Workflow.Triggers {
			if t.Kind == "webhook" {
				routes = append(routes, trigger.Route{Workflow: id, Trigger: t.ID, Path: t.Path})
			}
		}
	}
	_, err := trigger.New(nil, nil, routes...)
	return failedOr(err)
}
