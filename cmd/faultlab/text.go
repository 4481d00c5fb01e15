package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/store"
)

// joined is a list in one line.
func joined(names []string) string { return strings.Join(names, ", ") }

// lineWidth is how wide prose is printed, for a terminal of 80 columns.
const lineWidth = 79

// wrap breaks a text between words. What follows the first line is indented, as that one is already.
func wrap(text string, indent int) string {
	space := strings.Repeat(" ", indent)
	return plain.Wrap(text, lineWidth, space, space)[indent:]
}

// printJSON writes one value: on lines of its own with an indent, else on one line.
func printJSON(w io.Writer, v any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}

// jsonFlag adds the flag --json; what says what it prints.
func jsonFlag(c *cobra.Command, asJSON *bool, what string) {
	c.Flags().BoolVar(asJSON, "json", false, "print "+what)
}

// stamp is a time as lists show it, in UTC.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// columns aligns rows of cells, two spaces apart.
func columns(w io.Writer, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	_ = t.Flush() // the output reports its own failures
}

// clock24 is the time of day of a line that is printed while it happens.
func clock24(t time.Time) string { return t.Format("15:04:05.000") }

// plural counts things in words.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// command returns a command line of this program to copy: with the state file that was
// named, and quoted for a shell.
func (a *app) command(words ...string) string {
	out := "faultlab"
	if a.state != "" {
		words = append(words, "--state", a.state)
	}
	for _, w := range words {
		out += " " + shellQuote(w)
	}
	return out
}

// shellQuote is a word as a POSIX shell reads it back.
func shellQuote(word string) string {
	special := func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:=@%+,~", r)
	}
	if word != "" && !strings.ContainsFunc(word, special) && word[0] != '~' {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// completeRuns offers the newest runs, with their workflow and status.
func (a *app) completeRuns(_ *cobra.Command, args []string, _ string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	err := a.reading(func(h *store.Reader) error {
		runs, err := h.Runs(engine.Query{Limit: maxLimit})
		for _, r := range runs {
			text := plain.Escape(r.Workflow) + " " + string(r.Status)
			if r.Reconcile {
				text += ", reconcile: needed"
			}
			out = append(out, cobra.CompletionWithDesc(r.Run, text))
		}
		return err
	})
	if err != nil { // without a state file there is nothing to offer
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeScenarios offers the catalogue, beside files and folders.
func completeScenarios(*cobra.Command, []string, string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, s := range scenarios.Catalogue() {
		out = append(out, cobra.CompletionWithDesc(s.Name, s.Title))
	}
	return out, cobra.ShellCompDirectiveDefault
}

// Completions of files with an extension.
var (
	completeDocuments     = cobra.FixedCompletions([]string{"woml"}, cobra.ShellCompDirectiveFilterFileExt)
	completeScenarioFiles = cobra.FixedCompletions([]string{lang.Ext[1:]}, cobra.ShellCompDirectiveFilterFileExt)
)

// offer completes a flag whose values are known.
func offer(c *cobra.Command, flag string, values []string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // fails for an unknown flag only
}
