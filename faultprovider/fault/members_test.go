package fault

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The manual names every member that a fault's JSON can have, and every value of those that are words.
func TestMembers(t *testing.T) {
	t.Parallel()
	var names []string
	values := map[string]string{}
	for _, m := range Members() {
		names = append(names, m[0])
		values[m[0]] = m[1]
	}
	for _, name := range tagged(reflect.TypeFor[object](), "") {
		if !slices.Contains(names, name) {
			t.Errorf("the manual does not name %s", name)
		}
	}
	for _, k := range kinds {
		if !slices.Contains(strings.Split(values["reply.do"], ", "), string(k)) {
			t.Errorf("reply.do has no %s", k)
		}
	}
	for _, name := range names {
		if !slices.Contains(tagged(reflect.TypeFor[object](), ""), name) {
			t.Errorf("the manual names %s, which a fault does not have", name)
		}
	}
}

// tagged are the JSON names of a struct's members, those of structs in it with a dot before them.
func tagged(t reflect.Type, before string) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			names = append(names, tagged(inner, before+name+".")...)
			continue
		}
		names = append(names, before+name)
	}
	return names
}
