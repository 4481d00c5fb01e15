package plain

import "testing"

func TestSingular(t *testing.T) {
	t.Parallel()
	for collection, want := range map[string]string{
		"jobs": "job", "v1/charges": "charge", "v1/entries": "entry", "boxes": "box", "branches": "branch", "addresses": "address", "class": "class", "s": "s", "": "record",
	} {
		if got := Singular(collection); got != want {
			t.Errorf("one of %q is %q, want %q", collection, got, want)
		}
	}
}
