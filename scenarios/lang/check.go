package lang

import (
	"slices"
)

// Check judges what Parse cannot: whether the faults, contracts, triggers, steps,
// scenarios and lessons that the scenario names exist. The error is Errors.
func (s *Scenario) Check(n Names) error {
	var errs Errors
	for _, u := range s.allUses() {
		if _, embedded := s.Files[u.text]; embedded && u.kind == KindContract {
			continue
		}
		if err := u.judge(n); err != nil {
			err.File = s.File
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

// Check judges a typed line in the same way.
func (l Line) Check(n Names) error {
	for _, u := range l.uses {
		if err := u.judge(n); err != nil {
			return err
		}
	}
	return nil
}

// files are the kinds whose values Parse has compared with the embedded files.
var files = map[Kind]bool{KindFile: true, KindPayload: true, kindCollection: true}

func (u use) judge(n Names) *Error {
	if files[u.kind] {
		return nil
	}
	err := &Error{Line: u.line, Column: u.col}
	if j, ok := n.(Judge); ok {
		switch wrong := j.Judge(u.kind, u.text).(type) {
		case nil:
			return nil
		case *Error:
			err.Message, err.Suggest = wrong.Message, wrong.Suggest
		default:
			err.Message = wrong.Error()
			if !u.json {
				err.Suggest = alternatives(u.text, n.Values(u.kind))
			}
		}
		return err
	}
	values := n.Values(u.kind)
	if values == nil || u.json || slices.Contains(values, u.text) {
		return nil
	}
	err.Message, err.Suggest = "unknown "+string(u.kind)+" "+quoted(u.text), alternatives(u.text, values)
	return err
}

// ExpectsRefusal reports whether the i-th line of the script may be refused: an
// `expect refused` of its verb stands among the expectations right after it.
func (s *Scenario) ExpectsRefusal(i int) bool {
	for _, l := range s.Lines[i+1:] {
		if l.Verb != "expect" {
			return false
		}
		if e := l.Expect; e.What == "refused" && !e.Not && e.Args[0] == s.Lines[i].Verb {
			return true
		}
	}
	return false
}
