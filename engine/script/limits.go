package script

import (
	"cmp"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

// The defaults of Limits.
const (
	defaultTime  = 5 * time.Second
	defaultGrace = 250 * time.Millisecond
	defaultStack = 1000
	defaultSize  = 1 << 20
)

// maxRequest bounds the JSON of one call's input; a Host may allow less.
const maxRequest = 4 << 20

func (l Limits) orDefaults() Limits {
	return Limits{
		Time:    cmp.Or(l.Time, defaultTime),
		Grace:   cmp.Or(l.Grace, defaultGrace),
		Stack:   cmp.Or(l.Stack, defaultStack),
		Result:  cmp.Or(l.Result, defaultSize),
		Context: cmp.Or(l.Context, defaultSize),
	}
}

// size is the context's, in bytes of JSON.
func (in *Input) size() int {
	n := len(in.Payload)
	for _, v := range in.Steps {
		n += len(v)
	}
	for _, v := range in.Extra {
		n += len(v)
	}
	return n
}

// cut shortens a text to at most n characters, on a character's border.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return string(runes[:n-1]) + "…"
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
