package contract

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"sync"

	"faultlab/faultprovider/jsondoc"
)

//go:embed presets.json
var presetFile []byte

// presets reads the contract files of all presets, the default first; what one does not say is as in that. To add one: a
// file in presets.json, a row in the conformance table of package faultprovider.
var presets = sync.OnceValue(func() []Contract {
	list, err := jsondoc.Parse(presetFile)
	if err != nil {
		panic(fmt.Sprintf("presets.json: %v", err)) // it is part of the program, and tested
	}
	var out []Contract
	for _, v := range list.Items {
		var c Contract
		if len(out) > 0 {
			c = out[0].clone()
		}
		r, err := jsondoc.OpenValue(presetFile, "field", v)
		if err == nil {
			c.read(r)
			err = r.Done()
		}
		if err != nil {
			panic(fmt.Sprintf("presets.json: %v", err))
		}
		out = append(out, c)
	}
	return out
})

// Presets returns all presets, the default "seed" first.
func Presets() []Contract {
	out := slices.Clone(presets())
	for i := range out {
		out[i] = out[i].clone()
	}
	return out
}

// Preset returns the preset of that name.
func Preset(name string) (Contract, bool) {
	for _, c := range presets() {
		if c.Name == name {
			return c.clone(), true
		}
	}
	return Contract{}, false
}

// Names returns the names of all presets.
func Names() []string {
	var out []string
	for _, c := range presets() {
		out = append(out, c.Name)
	}
	return out
}

// clone shares nothing with c.
func (c Contract) clone() Contract {
	c.Assumptions = slices.Clone(c.Assumptions)
	c.Scope.Fields = slices.Clone(c.Scope.Fields)
	c.Fingerprint.Fields = slices.Clone(c.Fingerprint.Fields)
	c.Store = slices.Clone(c.Store)
	c.Retention.Collections = maps.Clone(c.Retention.Collections)
	return c
}
