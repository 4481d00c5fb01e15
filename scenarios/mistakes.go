package scenarios

import (
	"errors"
	"path"

	"faultlab/engine/assume"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/jsondoc"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
)

// mistakes are those of a scenario that the language alone does not see: in its documents, in what its lines name, in
// the contracts and assumptions that it embeds.
func mistakes(s *lang.Scenario) lang.Errors {
	var out lang.Errors
	n := namesOf(s)
	for _, name := range s.Names {
		if path.Ext(name) != ".woml" {
			continue
		}
		d, diags := timeline.Document(s.Files[name])
		if d != nil {
			continue
		}
		n.partial = true
		for _, diag := range diags {
			if diag.Severity == "error" {
				out = append(out, placed(s, name, diag))
			}
		}
	}
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
