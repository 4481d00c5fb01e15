package jsondoc

import (
	"cmp"
	"slices"
	"strings"
)

// Hint is "; near: a, b" for the words that resemble one, or "" when none does.
func Hint(word string, words []string) string {
	near := Near(word, words)
	if len(near) == 0 {
		return ""
	}
	return "; near: " + strings.Join(near, ", ")
}

// Near returns up to three words that resemble one most: a few letters apart, or with most of their parts in common.
func Near(word string, words []string) []string {
	type match struct {
		word string
		far  int
	}
	var found []match
	for _, w := range words {
		far := distance(strings.ToLower(word), strings.ToLower(w))
		if shared(word, w) {
			far = min(far, 2)
		}
		if far <= max(1, min(len(word), len(w))/4) || far <= 2 && len(word) > 3 {
			found = append(found, match{w, far})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(a.far, b.far) })
	var out []string
	for _, m := range found[:min(len(found), 3)] {
		if m.far == found[0].far {
			out = append(out, m.word)
		}
	}
	return out
}

// shared reports whether all parts of a hyphenated word are in another, or the other way round.
func shared(a, b string) bool {
	as, bs := strings.Split(a, "-"), strings.Split(b, "-")
	return within(as, bs) || within(bs, as)
}

func within(parts, of []string) bool {
	for _, p := range parts {
		if len(p) < 3 || !slices.Contains(of, p) {
			return false
		}
	}
	return true
}

// distance is Levenshtein's, in bytes.
func distance(a, b string) int {
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
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
