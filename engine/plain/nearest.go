// Package plain has words and texts that any room may use. It knows nobody.
package plain

import "strings"

// Nearest returns the known name that a mistyped one most likely means: at most two edits away, and fewer than half of
// its own length. "" if none is near.
func Nearest(name string, known []string) string {
	best, distance := "", 3
	for _, candidate := range known {
		if d := Distance(strings.ToLower(name), strings.ToLower(candidate), distance-1); d < distance && 2*d < len(candidate) {
			best, distance = candidate, d
		}
	}
	return best
}

// Distance counts the inserted, deleted, changed or swapped bytes between two names; limit+1 if there are more than limit.
func Distance(a, b string, limit int) int {
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
	return min(last[len(b)], limit+1)
}
