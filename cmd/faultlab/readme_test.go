package main

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"faultlab/engine/assume"
	"faultlab/engine/woml"
)

// blocks are the README's code blocks of one kind.
func blocks(t *testing.T, kind string) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+kind+"\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	if len(out) == 0 {
		t.Fatalf("the README has no block of %s", kind)
	}
	return out
}

func TestTheReadmesCommandsExist(t *testing.T) {
	t.Parallel()
	for _, block := range blocks(t, "sh") {
		for _, line := range strings.Split(block, "\n") {
			words := strings.Fields(line)
			if len(words) == 0 || words[0] != "faultlab" {
				continue
			}
			c, rest, err := newRoot(streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}).Find(words[1:])
			if err != nil || c.Name() == "faultlab" && len(words) > 1 {
				t.Errorf("%s: there is no such command", line)
				continue
			}
			if err := c.ParseFlags(rest); err != nil {
				t.Errorf("%s: %v", line, err)
			} else if err := c.ValidateArgs(c.Flags().Args()); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}

func TestTheReadmesGlossaryIsThatOfTheHelp(t *testing.T) {
	t.Parallel()
	if !slices.Contains(blocks(t, "text"), helpTexts()["glossary"]) {
		t.Error("the glossary of the README is not that of manual.txtar")
	}
}

func TestTheReadmesFilesCanBeRead(t *testing.T) {
	t.Parallel()
	for _, src := range blocks(t, "xml") {
		if _, diags := woml.Parse([]byte(src)); len(diags) > 0 {
			t.Errorf("the workflow: %+v", diags)
		}
	}
	for _, src := range blocks(t, "json") {
		if _, err := assume.Parse([]byte(src)); err != nil {
			t.Errorf("the assumed contracts: %v", err)
		}
	}
}
