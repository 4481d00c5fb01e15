package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/engine/woml"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
)

// Each manual names everything that the code's tables have.
func TestTheManualsAreWhole(t *testing.T) {
	t.Parallel()
	known := map[string][]string{"faults": fault.Names(), "contracts": contract.Names()}
	for topic, all := range map[string][][3]string{"faults": fault.Members(), "contracts": contract.Members(), "assume": assume.Members()} {
		for _, m := range all {
			known[topic] = append(known[topic], m[0])
		}
	}
	known["workflows"] = woml.NotRun()
	for element, attributes := range woml.Elements() {
		known["workflows"] = append(append(known["workflows"], "<"+element+">"), attributes...)
	}
	for service, options := range engine.ServiceOptions() {
		known["workflows"] = append(append(known["workflows"], strings.TrimPrefix(service, "services.db.")), options...)
	}
	root := newRoot(streams{})
	for _, c := range root.Commands() {
		for _, name := range known[c.Name()] {
			if !regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(name) + `($|[^\w-])`).MatchString(c.Long) {
				t.Errorf("help %s does not name %s", c.Name(), name)
			}
		}
		for _, line := range strings.Split(c.Long, "\n") {
			if len([]rune(line)) > 130 {
				t.Errorf("help %s has a long line: %s", c.Name(), line)
			}
		}
		delete(known, c.Name())
	}
	if len(known) > 0 {
		t.Errorf("there is no manual of %v", slices.Sorted(maps.Keys(known)))
	}
}

// The workflow that the manual shows can be run.
func TestTheManualsWorkflowIsRight(t *testing.T) {
	t.Parallel()
	text := helpTexts()["workflows"]
	src, _, _ := strings.Cut(text[strings.Index(text, "<woml>"):], "\nELEMENTS")
	if _, diags := woml.Parse([]byte(src)); len(diags) > 0 {
		t.Errorf("%+v", diags)
	}
}
