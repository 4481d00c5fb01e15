package plain

import (
	"cmp"
	"slices"
	"strings"
)

// resembles is the distance of words of which one begins with the other or has all its hyphenated parts.
const resembles = 2

// Near returns the known words, at most three, that a mistyped one most likely means: those the fewest edits away, at most
// a third of the longer one's length. A word that begins with the other, or has all its parts, counts as two edits away.
func Near(word string, known []string) []string {
	type match struct {
		word  string
		edits int
	}
	var found []match
	w := strings.ToLower(word)
	for _, name := range known {
		n := strings.ToLower(name)
		limit := max(len(w), len(n)) / 3
		d := distance(w, n)
		if d > resembles && (begins(w, n) || begins(n, w) || hasParts(w, n) || hasParts(n, w)) {
			d, limit = resembles, resembles
		}
		if d <= limit {
			found = append(found, match{name, d})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(a.edits, b.edits) })
	var out []string
	for _, m := range found[:min(len(found), 3)] {
		if m.edits == found[0].edits {
			out = append(out, m.word)
		}
	}
	return out
}

// Nearest is the first of Near, "" if there is none.
func Nearest(word string, known []string) string {
	if near := Near(word, known); len(near) > 0 {
		return near[0]
	}
	return ""
}

func begins(word, with string) bool { return len(with) >= 2 && strings.HasPrefix(word, with) }

// hasParts reports whether the hyphenated parts of one word, none shorter than three letters, are all in another.
func hasParts(word, other string) bool {
	parts := strings.Split(word, "-")
	for _, p := range strings.Split(other, "-") {
		if len(p) < 3 || !slices.Contains(parts, p) {
			return false
		}
	}
	return true
}

// distance counts the inserted, deleted, replaced or swapped bytes between two words.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
