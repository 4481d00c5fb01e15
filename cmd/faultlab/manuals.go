package main

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/tools/txtar"

	"faultlab/engine/assume"
	"faultlab/engine/woml"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
)

//go:embed manual.txtar
var manual []byte

// describe gives a command and those below it their long help and their examples. Topics of
// help that are no commands are added.
func describe(root *cobra.Command) {
	for name, short := range map[string]string{"workflows": "Workflow documents and their scripts", "faults": "The provider's faults, and how to write your own",
		"contracts": "The provider's contracts, and how to write your own", "assume": "Assumed contracts, and how to declare them", "glossary": "The terms that faultlab uses"} {
		root.AddCommand(&cobra.Command{Use: name, Short: short})
	}
	texts := helpTexts()
	for _, c := range append(root.Commands(), root) {
		long, examples, _ := strings.Cut(texts[c.Name()], "\nExamples:\n")
		c.Long, c.Example = strings.TrimSpace(long), strings.TrimRight(examples, "\n")
	}
}

// helpTexts returns the sections of the manual, with the code's own lists filled in.
func helpTexts() map[string]string {
	var faults, contracts [][2]string
	for _, a := range fault.Aliases() {
		faults = append(faults, [2]string{a.Name, a.Summary})
	}
	for _, c := range contract.Presets() {
		contracts = append(contracts, [2]string{c.Name, c.Title})
	}
	lists := strings.NewReplacer(
		"{faults}", wrap(joined(fault.Names()), 11), "{contracts}", wrap(joined(contract.Names()), 11), "{lessons}", wrap(joined(lessonNames()), 9),
		"{named faults}", described(faults), "{named contracts}", described(contracts), "{not run}", wrap(joined(woml.NotRun()), 2),
		"{members of a fault}", members(fault.Members()), "{members of a contract}", members(contract.Members()), "{members of an origin}", members(assume.Members()))
	texts := map[string]string{}
	for _, f := range txtar.Parse(manual).Files {
		texts[f.Name] = lists.Replace(string(f.Data))
	}
	return texts
}

// members returns a table of members: the name, its values and what it does.
func members(all [][3]string) string {
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "  %s: %s\n      %s\n", m[0], wrap(m[1], 6), wrap(m[2], 6))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// described returns names with a sentence each.
func described(rows [][2]string) string {
	width := 0
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(r[0]))
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, r[0], wrap(r[1], width+4))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
