// Package plain has the words and texts that any room may use. It knows nobody.
package plain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Count is "1 job", "2 jobs".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, Plural(one))
}

// Plural is the name of several of a thing.
func Plural(one string) string {
	switch {
	case strings.HasSuffix(one, "s"), strings.HasSuffix(one, "x"), strings.HasSuffix(one, "ch"), strings.HasSuffix(one, "sh"):
		return one + "es"
	case strings.HasSuffix(one, "y") && len(one) > 1 && !strings.ContainsRune("aeiou", rune(one[len(one)-2])):
		return one[:len(one)-1] + "ies"
	}
	return one + "s"
}

// Singular is the name of one record of a collection: "job" of jobs, "entry" of v1/entries, "record" of nothing.
func Singular(collection string) string {
	name := collection[strings.LastIndexByte(collection, '/')+1:]
	for _, rule := range [...]struct{ plural, one string }{
		{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ches", "ch"}, {"shes", "sh"}, {"ss", "ss"}, {"s", ""},
	} {
		if stem, ok := strings.CutSuffix(name, rule.plural); ok && stem != "" {
			return stem + rule.one
		}
	}
	if name == "" {
		return "record"
	}
	return name
}

// Duration is a length of time as a person says it: 1s, 250ms, 1m30s, 24h.
func Duration(d time.Duration) string {
	s := d.Round(time.Millisecond).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Seconds is a length of time in seconds with three decimals, as clocks show it.
func Seconds(d time.Duration) string { return fmt.Sprintf("%.3fs", d.Seconds()) }

// Token reports whether s is a token of RFC 9110, 5.6.2: a method or the name of a header.
func Token(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}

// SortedKeys returns the keys of a map in order.
func SortedKeys[M ~map[K]V, K cmp.Ordered, V any](m M) []K { return slices.Sorted(maps.Keys(m)) }
