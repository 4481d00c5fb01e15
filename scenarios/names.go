package scenarios

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/engine/woml"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
	"faultlab/faultprovider/jsondoc"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
)

// names answers what fits in a scenario's lines: the faults and contracts of the
// provider, the triggers and steps of the scenario's documents, the catalogue.
type names struct {
	docs    []*woml.Document
	partial bool // a document could not be read: what it has is not known
}

var _ lang.Judge = names{}

// documentNames are the names of the documents that a scenario embeds.
func documentNames(s *lang.Scenario) []string {
	return slices.DeleteFunc(slices.Clone(s.Names), func(name string) bool { return path.Ext(name) != ".woml" })
}

// namesOf reads the documents that a scenario embeds, and tells their mistakes.
func namesOf(s *lang.Scenario) (n names, mistakes lang.Errors) {
	for _, name := range documentNames(s) {
		d, diags := timeline.Document(s.Files[name])
		if d != nil {
			n.docs = append(n.docs, d)
			continue
		}
		n.partial = true
		for _, diag := range diags {
			if diag.Severity == "error" {
				mistakes = append(mistakes, placed(s, name, diag))
			}
		}
	}
	return n, mistakes
}

// Values implements lang.Names.
func (n names) Values(k lang.Kind) []string {
	switch k {
	case lang.KindFault:
		return fault.Names()
	case lang.KindContract:
		return contract.Names()
	case lang.KindTrigger:
		return n.triggers()
	case lang.KindStep:
		return n.steps()
	case lang.KindScenario:
		return scenarioNames()
	case lang.KindLesson:
		return lessonNames()
	}
	return nil
}

// Values are what fits in a place of this kind on the bench, with the documents that are loaded now. It implements lang.Names.
func (b *Bench) Values(k lang.Kind) []string {
	if k != lang.KindPayload {
		return names{docs: b.documents()}.Values(k)
	}
	return slices.DeleteFunc(slices.Clone(b.s.Names), func(name string) bool { return path.Ext(name) != ".json" })
}

func (n names) triggers() (out []string) {
	for _, d := range n.docs {
		for _, t := range d.Workflow.Triggers {
			out = append(out, t.ID)
		}
	}
	return out
}

// steps are the steps' ids, those of compensations with a ~ before them.
func (n names) steps() (out []string) {
	for _, d := range n.docs {
		for _, s := range d.Workflow.Steps {
			out = append(out, s.ID)
			if s.Compensate != nil {
				out = append(out, engine.StepName(s.ID, true))
			}
		}
	}
	return out
}

// Judge implements lang.Judge.
func (n names) Judge(k lang.Kind, value string) error {
	switch k {
	case lang.KindFault:
		_, err := fault.Parse(value)
		if unknown := new(fault.UnknownError); errors.As(err, &unknown) {
			return &lang.Error{Message: err.Error()} // one of the names is none: after "what fits" it would read as nothing
		}
		return err
	case lang.KindContract:
		if strings.HasPrefix(value, "{") {
			_, err := contract.Parse([]byte(value))
			return err
		}
	case lang.KindTrigger:
		if i := strings.LastIndexByte(value, '/'); i >= 0 && slices.Contains(n.triggers(), value[i+1:]) {
			return nil
		}
	}
	if n.partial && (k == lang.KindTrigger || k == lang.KindStep) {
		return nil
	}
	if fits := n.Values(k); fits == nil || slices.Contains(fits, value) {
		return nil
	}
	return fmt.Errorf("unknown %s \"%s\"", k, value)
}

// mistakes are those of a scenario that the language alone does not see: in its documents, in what its lines name, in
// the contracts and assumptions that it embeds.
func mistakes(s *lang.Scenario) lang.Errors {
	n, out := namesOf(s)
	var named lang.Errors
	if errors.As(s.Check(n), &named) {
		out = append(out, named...)
	}
	for _, l := range s.Lines {
		if err := embedded(s, l); err != nil {
			out = append(out, err)
		}
	}
	return out
}

// embedded is the mistake in the file that a line chooses as a contract or as what is assumed; nil if there is none.
func embedded(s *lang.Scenario, l lang.Line) *lang.Error {
	src, ok := s.Files[l.Arg(0)]
	if !ok {
		return nil
	}
	var err error
	switch l.Verb {
	case "contract":
		_, err = contract.Parse(src)
	case "assume":
		_, err = assume.Parse(src)
	}
	if err == nil {
		return nil
	}
	if at := new(jsondoc.Error); errors.As(err, &at) {
		return &lang.Error{File: s.File, Line: s.FileLine[l.Arg(0)] + at.Line - 1, Column: at.Column, Message: at.Msg}
	}
	return &lang.Error{File: s.File, Line: l.Line, Column: l.Cols[0], Message: l.Arg(0) + ": " + err.Error()}
}
