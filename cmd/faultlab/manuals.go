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

// manuals returns the topics of help that are no commands.
func manuals() []*cobra.Command {
	return []*cobra.Command{
		{Use: "workflows", Short: "Workflow documents and their scripts", Long: workflowsManual + "  " + wrap(joined(woml.NotRun()), 2)},
		{Use: "faults", Short: "The provider's faults, and how to write your own", Long: faultsText()},
		{Use: "contracts", Short: "The provider's contracts, and how to write your own", Long: contractsText()},
		{Use: "assume", Short: "Assumed contracts, and how to declare them", Long: assumeText()},
		{Use: "glossary", Short: "The terms that faultlab uses", Long: strings.TrimSpace(glossary)},
	}
}

func faultsText() string {
	var rows [][2]string
	for _, a := range fault.Aliases() {
		rows = append(rows, [2]string{a.Name, a.Summary})
	}
	return `A fault says when the effect is stored, what the caller gets, and which requests it
takes. Queue one with faultlab provider --fault NAME, or with
POST /_test/faults {"faults":["NAME"]}.

NAMED FAULTS
` + described(rows) + `
A FAULT OF YOUR OWN is a JSON object. With the name of one of the above it starts as that
and says what differs: {"name":"commit-then-drop","on":{"collection":"jobs","times":-1}}
` + members(fault.Members())
}

func contractsText() string {
	var rows [][2]string
	for _, c := range contract.Presets() {
		rows = append(rows, [2]string{c.Name, c.Title})
	}
	return `A contract is the set of idempotency rules that the provider keeps: faultlab provider
--contract NAME, or a file of your own. The presets are modelled on public documentation
of 2026, and claim no equivalence with a vendor's service.

PRESETS
` + described(rows) + `
A CONTRACT OF YOUR OWN is a JSON file. It starts as the contract that it extends and says
what differs: {"extends":"stripe-v1","retention":{"for":"1h"}}
GET /_test/contract shows all members of the contract in use.
` + members(contract.Members())
}

func assumeText() string {
	return `Provider guarantees are assumptions unless declared with --assume FILE, by origin. They
decide which writes may be sent again and what a look-up proves.

  {"origins": {"https://api.example.com": {"enforces": true, "retention": "24h", "lookup": "{origin}/v1/jobs?key={key}"}}}

The origin * stands for all origins that are not named.

MEMBERS OF AN ORIGIN
` + members(assume.Members())
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
	return b.String()
}
