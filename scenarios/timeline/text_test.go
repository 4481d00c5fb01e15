package timeline

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// However little room there is, a key is cut and not left out, and whether it is new is said.
func TestAKeyIsNeverLeftOut(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 60; n++ {
		for _, mark := range []KeyMark{"", KeySame, KeyNew} {
			r := Row{Kind: RowSend, Key: strings.Repeat("x", n), Mark: mark}
			r.Detail = r.keyed(r.keyLabel())
			for room := 14; room <= 40; room++ {
				text := r.DetailWithin(room)
				if utf8.RuneCountInString(text) > room || !strings.HasPrefix(text, "key ") || !strings.HasSuffix(text, string(mark)) {
					t.Errorf("a key of %d characters in %d cells: %q", n, room, text)
				}
			}
		}
	}
}
