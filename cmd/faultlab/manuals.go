package main

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"faultlab/engine/assume"
	"faultlab/engine/woml"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
)

//go:embed manual/workflows.txt
var workflowsManual string

//go:embed manual/glossary.txt
var glossary string

// manuals are the topics of help that are no commands.
func manuals() []*cobra.Command {
	return []*cobra.Command{
		{Use: "workflows", Short: "The manual of workflow documents and their scripts", Long: workflowsText()},
		{Use: "faults", Short: "The faults of the provider, and how to write your own", Long: faultsText()},
		{Use: "contracts", Short: "The contracts of the provider, and how to write your own", Long: contractsText()},
		{Use: "assume", Short: "What is assumed of a provider, and how to declare it", Long: assumeText()},
		{Use: "glossary", Short: "The words of faultlab", Long: strings.TrimSpace(glossary)},
	}
}

func workflowsText() string {
	return workflowsManual + "  " + wrap(joined(woml.NotRun()), 2)
}

func faultsText() string {
	var b strings.Builder
	b.WriteString("A fault says when the effect is stored, what the caller gets, and which requests it takes.\n" +
		"faultlab provider --fault NAME queues one, and so does POST /_test/faults {\"faults\":[...]}.\n\nNAMED FAULTS\n")
	var rows [][]string
	for _, a := range fault.Aliases() {
		rows = append(rows, []string{a.Name, a.Summary})
	}
	described(&b, rows)
	b.WriteString("\nA FAULT OF YOUR OWN is a JSON object, as {\"name\":\"commit-then-drop\",\"on\":{\"collection\":\"jobs\",\"times\":-1}}\n")
	members(&b, fault.Members())
	return strings.TrimSpace(b.String())
}

func contractsText() string {
	var b strings.Builder
	b.WriteString("A contract is the set of idempotency rules that the provider keeps: faultlab provider\n" +
		"--contract NAME, or a file of your own. The presets are modelled on public documentation\nof 2026, and claim no equivalence with a vendor's service.\n\nPRESETS\n")
	var rows [][]string
	for _, c := range contract.Presets() {
		rows = append(rows, []string{c.Name, c.Title})
	}
	described(&b, rows)
	b.WriteString("\nA CONTRACT OF YOUR OWN is a JSON file, as {\"extends\":\"stripe-v1\",\"retention\":{\"for\":\"1h\"}}\n" +
		"GET /_test/contract shows all members of the one that is kept.\n")
	members(&b, contract.Members())
	return strings.TrimSpace(b.String())
}

func assumeText() string {
	var b strings.Builder
	b.WriteString("Workflows go by what they assume of a provider; --assume FILE declares it, by origin. It\n" +
		"decides which writes may be sent again and what a look-up proves.\n\n" +
		"  {\"origins\": {\"https://api.example.com\": {\"enforces\": true, \"retention\": \"24h\", \"lookup\": \"{origin}/v1/jobs?key={key}\"}}}\n\n" +
		"The origin * stands for all that are not named.\n\nMEMBERS OF AN ORIGIN\n")
	members(&b, assume.Members())
	return strings.TrimSpace(b.String())
}

// members prints a table of members: the name, its values and what it does.
func members(b *strings.Builder, all [][3]string) {
	for _, m := range all {
		fmt.Fprintf(b, "  %s: %s\n      %s\n", m[0], wrap(m[1], 6), wrap(m[2], 6))
	}
}

// described prints names with a sentence each.
func described(b *strings.Builder, rows [][]string) {
	width := 0
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(r[0]))
	}
	for _, r := range rows {
		fmt.Fprintf(b, "  %-*s  %s\n", width, r[0], wrap(r[1], width+4))
	}
}
