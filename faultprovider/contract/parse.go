package contract

import (
	"errors"
	"strings"

	"faultlab/faultprovider/jsondoc"
)

// Parse reads a contract file: one JSON object whose members are the knobs. What it does not say is as in the preset
// that "extends" names, by default "seed". An error is a *jsondoc.Error: line:column and one sentence.
func Parse(text []byte) (Contract, error) {
	r, err := jsondoc.Open(text, "field")
	if err != nil {
		return Contract{}, err
	}
	base := "seed"
	r.Read([]jsondoc.Field{{Name: "extends", At: &base}})
	c, ok := Preset(base)
	if !ok {
		r.FailAt("extends", "there is no preset %q%s", base, jsondoc.HintOrAll(base, "presets", Names()))
	}
	if r.Has("extends") {
		c.Name, c.Title = "own", "own rules, made from "+base
	} else {
		c.Name, c.Title = "own", "own rules"
	}
	c.Note, c.Assumptions = "a contract file", nil
	c.read(r)
	if err := r.Done(); err != nil {
		return Contract{}, err
	}
	if err := c.Check(); err != nil {
		return Contract{}, atKnob(text, err)
	}
	return c, nil
}

// read reads the members of a contract file into the contract, and forgets what a rule that refuses nothing would say.
func (c *Contract) read(r *jsondoc.Reader) {
	r.Read(c.fields())
	for _, rule := range []*Refusal{&c.Missing, &c.Mismatch, &c.InFlight.Refusal, &c.LookUp.InFlight} {
		if rule.Do != Reject {
			*rule = Refusal{Do: rule.Do}
		}
	}
}

// atKnob puts a *KnobError at the knob's place in the text, or at the nearest object around it.
func atKnob(text []byte, err error) error {
	var knob *KnobError
	if !errors.As(err, &knob) {
		return err
	}
	at, parseErr := jsondoc.Parse(text)
	if parseErr != nil {
		return parseErr
	}
	for _, name := range strings.Split(knob.Knob, ".") {
		inner, ok := at.Get(name)
		if !ok {
			break
		}
		at = inner
	}
	line, column := jsondoc.Position(text, at.Offset)
	return &jsondoc.Error{Offset: at.Offset, Line: line, Column: column, Msg: err.Error()}
}

// Read reads the name of a preset, written as a JSON string, or a contract file.
func Read(text []byte) (Contract, error) {
	v, err := jsondoc.Parse(text)
	if err != nil || v.Type != jsondoc.String {
		return Parse(text)
	}
	c, ok := Preset(v.Text)
	if !ok {
		return c, errors.New(`there is no preset "` + v.Text + `"` + jsondoc.HintOrAll(v.Text, "presets", Names()))
	}
	return c, nil
}
