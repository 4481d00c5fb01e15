package lang

import (
	"sort"
	"strings"
)

// most is how many values an error offers.
const most = 12

// Nearest gives the values that a mistyped word may have meant, the nearest first:
// those within a third of its length in edits, and those that it begins or that
// begin it. None if nothing is near.
func Nearest(word string, values []string) []string {
	type near struct {
		value string
		edits int
	}
	var found []near
	w := strings.ToLower(word)
	for _, v := range values {
		l := strings.ToLower(v)
		limit := max(1, max(len(w), len(l))/3)
		begins := len(w) >= 2 && strings.HasPrefix(l, w) || len(l) >= 3 && strings.HasPrefix(w, l)
		switch d := edits(w, l, limit); {
		case d <= limit:
			found = append(found, near{v, d})
		case begins:
			found = append(found, near{v, limit + 1})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].edits < found[j].edits })
	var out []string
	for _, n := range found[:min(3, len(found))] {
		out = append(out, n.value)
	}
	return out
}

// fitting is what an error offers in place of a word: what is near, or else all that fits.
func fitting(word string, values []string) []string {
	if near := Nearest(word, values); len(near) > 0 {
		return near
	}
	if len(values) > most {
		return append(append([]string{}, values[:most]...), "...")
	}
	return values
}

// edits is the number of inserted, deleted, changed or swapped bytes between a
// and b, or limit+1 when there are more than limit.
func edits(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		best := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			best = min(best, row[j])
		}
		if best > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
