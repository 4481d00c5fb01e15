package jsondoc

import (
	"strings"

	"faultlab/engine/plain"
)

// Hint is `: did you mean "a" or "b"?` for the words that resemble one, or "" when none does.
func Hint(word string, words []string) string {
	near := plain.Near(word, words)
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
