package assume

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The manual names the members that an entry can have, and no others.
func TestMembers(t *testing.T) {
	t.Parallel()
	var known, names []string
	for i := range reflect.TypeFor[entry]().NumField() {
		f := reflect.TypeFor[entry]().Field(i)
		if f.Type == reflect.TypeFor[*carrier]() {
			for j := range reflect.TypeFor[carrier]().NumField() {
				known = append(known, f.Tag.Get("json")+"."+strings.Split(reflect.TypeFor[carrier]().Field(j).Tag.Get("json"), ",")[0])
			}
			continue
		}
		known = append(known, f.Tag.Get("json"))
	}
	for _, m := range Members() {
		names = append(names, m[0])
	}
	if slices.Sort(known); !slices.Equal(known, slices.Sorted(slices.Values(names))) {
		t.Errorf("the manual has %v, an entry has %v", slices.Sorted(slices.Values(names)), known)
	}
}
