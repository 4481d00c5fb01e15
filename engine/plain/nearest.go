// Package plain has words and texts that any room may use. It knows nobody.
package plain

import "strings"

// Nearest is the known name that a mistyped one most likely means: at most two insertions, deletions or replacements
// away, and less than half of its own length. "" if none is near.
func Nearest(name string, known []string) string {
	best, distance := "", 3
	for _, candidate := range known {
		if d := Distance(strings.ToLower(name), strings.ToLower(candidate), distance); d < distance && 2*d < len(candidate) {
			best, distance = candidate, d
		}
	}
	return best
}

// Distance counts the insertions, deletions and replacements between two names; from limit on the count may be too low.
func Distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
