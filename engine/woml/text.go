package woml

import (
	"fmt"
	"strings"
)

// isBlank tells whether a text is white space only.
func isBlank(text string) bool { return strings.TrimFunc(text, isSpace) == "" }

// excerpt quotes a value of the document for a message, cut where it is long.
func excerpt(value string) string {
	const most = 60
	if runes := []rune(value); len(runes) > most {
		value = string(runes[:most]) + "..."
	}
	return fmt.Sprintf("%q", value)
}
