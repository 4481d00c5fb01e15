package woml

import (
	"maps"
	"slices"
)

// Elements are the elements of a document that run here, with their attributes.
func Elements() map[string][]string { return maps.Clone(attributesOf) }

// NotRun are the elements of the language that are known and refused.
func NotRun() []string { return slices.Sorted(maps.Keys(elementsNotRun)) }
