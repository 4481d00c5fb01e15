package scenarios

import (
	"errors"
	"path"
	"slices"

	"faultlab/engine"
	"faultlab/engine/woml"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
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

// namesOf reads the documents that a scenario embeds. Those that cannot be read are left out: reading the file says why.
func namesOf(s *lang.Scenario) names {
	var n names
	for _, name := range s.Names {
		if path.Ext(name) != ".woml" {
			continue
		}
		if d, _ := timeline.Document(s.Files[name]); d != nil {
			n.docs = append(n.docs, d)
		}
	}
	return n
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

// Values are what fits in a place of this kind on the bench, with the documents that
// are loaded now. It implements lang.Names.
func (b *Bench) Values(k lang.Kind) []string {
	if k != lang.KindPayload {
		return names{docs: b.documents()}.Values(k)
	}
	var out []string
	for _, name := range b.s.Names {
		if path.Ext(name) == ".json" {
			out = append(out, name)
		}
	}
	return out
}

func (n names) triggers() []string {
	var out []string
	for _, d := range n.docs {
		for _, t := range d.Workflow.Triggers {
			out = append(out, t.ID)
		}
	}
	return out
}

// steps are the steps' ids, those of compensations with a ~ before them.
func (n names) steps() []string {
	var out []string
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
		if _, ok := contract.Preset(value); ok {
			return nil
		}
		if _, err := contract.Parse([]byte(value)); value != "" && value[0] == '{' {
			return err
		}
	case lang.KindTrigger:
		_, id, qualified := cutLast(value)
		if qualified && slices.Contains(n.triggers(), id) {
			return nil
		}
	}
	if n.partial && (k == lang.KindTrigger || k == lang.KindStep) {
		return nil
	}
	if fits := n.Values(k); fits == nil || slices.Contains(fits, value) {
		return nil
	}
	return errors.New("unknown " + string(k) + " \"" + value + "\"")
}

func cutLast(s string) (before, after string, found bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '/' {
			return s[:i], s[i+1:], true
		}
	}
	return "", s, false
}
