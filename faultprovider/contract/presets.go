package contract

import (
	"maps"
	"slices"
)

// vendorNote is the Note of a preset that follows a vendor's or a standard's pages.
const vendorNote = "modelled on public documentation, 2026"

// presets holds every preset, the default first. To add one: a file with its Contract, a row here, a row in the
// conformance table of package faultprovider.
var presets = []Contract{
	seed,
	stripeV1,
	ietf,
	clientToken,
	paypal,
	repeatable,
	conflictWithID,
	successOnly,
	lockedAfter500,
	acceptOnce,
	ignoresKey,
}

// Presets returns all presets, the default "seed" first.
func Presets() []Contract {
	out := make([]Contract, len(presets))
	for i, c := range presets {
		out[i] = c.clone()
	}
	return out
}

// Preset returns the preset of that name.
func Preset(name string) (Contract, bool) {
	for _, c := range presets {
		if c.Name == name {
			return c.clone(), true
		}
	}
	return Contract{}, false
}

// Names returns the names of all presets.
func Names() []string {
	out := make([]string, len(presets))
	for i, c := range presets {
		out[i] = c.Name
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
