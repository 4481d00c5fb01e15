package contract

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The manual names the members that a contract file can have, and no others.
func TestMembers(t *testing.T) {
	t.Parallel()
	names := []string{}
	for _, m := range Members() {
		names = append(names, m[0])
	}
	known := append(tagged(reflect.TypeFor[file](), ""), "extends")
	for _, name := range known {
		if !slices.Contains(names, name) {
			t.Errorf("the manual does not name %s", name)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			t.Errorf("the manual names %s, which a contract file does not have", name)
		}
	}
}

// tagged are the JSON names of a struct's members, those of structs in it with a dot before them.
func tagged(t reflect.Type, before string) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			names = append(names, tagged(f.Type, before)...)
		case f.Type.Kind() == reflect.Struct:
			names = append(names, tagged(f.Type, before+name+".")...)
		default:
			names = append(names, before+name)
		}
	}
	return names
}
