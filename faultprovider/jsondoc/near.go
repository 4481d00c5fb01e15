package jsondoc

import (
	"cmp"
	"slices"
	"strings"
)

// Hint is `: did you mean "a" or "b"?` for the words that resemble one, or "" when none does.
func Hint(word string, words []string) string {
	near := Near(word, words)
	if len(near) == 0 {
		return ""
	}
	return `: did you mean "` + strings.Join(near, `" or "`) + `"?`
}

// HintOrAll is Hint, or "; the KIND are a, b, c" when no word resembles it.
func HintOrAll(word, kind string, words []string) string {
	if hint := Hint(word, words); hint != "" {
		return hint
	}
	return "; the " + kind + " are " + strings.Join(words, ", ")
}

// Near returns up to three words that resemble one most: at most two letters apart, one in a short word, or with all
// parts of the one in the other.
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
		if far <= 1 || far <= 2 && len(word) > 3 {
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
