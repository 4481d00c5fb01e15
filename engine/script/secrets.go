package script

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// Redactor replaces the secrets that a script was given wherever text leaves it for people: as they are, as they
// stand in a URL and as they stand in JSON. The zero value knows none.
type Redactor struct{ known []secretForm }

type secretForm struct{ form, name string }

// Know adds a secret. An empty one is none.
func (r *Redactor) Know(name, value string) {
	if value == "" || slices.ContainsFunc(r.known, func(s secretForm) bool { return s.form == value && s.name == name }) {
		return
	}
	quoted := string(appendText(nil, value))
	for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value), quoted[1 : len(quoted)-1]} {
		r.known = append(r.known, secretForm{form, name})
	}
	// A secret that contains another one is replaced as a whole.
	slices.SortStableFunc(r.known, func(a, b secretForm) int { return cmp.Compare(len(b.form), len(a.form)) })
}

// Clean puts "[secret NAME]" in the place of each secret.
func (r *Redactor) Clean(text string) string {
	for _, s := range r.known {
		text = strings.ReplaceAll(text, s.form, "[secret "+s.name+"]")
	}
	return text
}
