package script

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/dop251/goja"
)

// secretsObject is the script's secrets: secrets.NAME, and nothing else. There is no list of them to print.
type secretsObject struct{ rl *realm }

func (rl *realm) secretsGlobal() goja.Value { return rl.vm.NewDynamicObject(&secretsObject{rl}) }

// Get gives a secret's value, or throws. What the language itself asks of every object is not a secret's name.
func (s *secretsObject) Get(name string) goja.Value {
	if s.rl.objectProto.Get(name) != nil || name == "toJSON" || name == "then" {
		return nil
	}
	var value string
	var ok bool
	s.rl.ask(func(r *runner) { value, ok = r.host.Secret(name) })
	if !ok {
		s.rl.typeError("the secret " + name + " is not set; set it in the environment or in the secrets file")
	}
	s.rl.secrets.Know(name, value)
	return s.rl.vm.ToValue(value)
}

func (s *secretsObject) Has(string) bool             { return false }
func (s *secretsObject) Set(string, goja.Value) bool { return false }
func (s *secretsObject) Delete(string) bool          { return false }
func (s *secretsObject) Keys() []string              { return nil }

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
