package tui

import (
	"strings"
	"testing"

	"faultlab/scenarios/lang"
)

func TestEveryVerbIsReachableAndExplained(t *testing.T) {
	t.Parallel()
	for i := range lang.Verbs {
		v := &lang.Verbs[i]
		if !v.Interactive() {
			continue
		}
		if v.Help == "" {
			t.Errorf("%s has no help", v.Name)
		}
		offered := false
		for _, c := range lang.Complete(v.Name, nil) {
			offered = offered || c.Word == v.Name
		}
		if !offered {
			t.Errorf("%s is not offered in the palette", v.Name)
		}
		h := &helpScreen{under: lang.OnBench}
		m := testModel(t, "dark", 120, 36)
		all := ""
		for r, n := h.rows(&m.ui, 100), 0; n < r.N; n++ {
			for _, s := range r.At(n) {
				all += s.Text
			}
			all += "\n"
		}
		if !strings.Contains(all, v.Name) {
			t.Errorf("%s is not in the help", v.Name)
		}
	}
}

// What the workbench does by itself and what the table declares for the workbench alone must be the same set.
func TestNothingElseIsBound(t *testing.T) {
	t.Parallel()
	own := map[string]bool{}
	for name := range programVerbs {
		own[name] = true
	}
	for name := range benchVerbs {
		own[name] = true
	}
	for name := range own {
		if v := lang.VerbNamed(name); v == nil || !v.Interactive() {
			t.Errorf("the workbench does %q, which the table does not declare for it", name)
		}
	}
	for i := range lang.Verbs {
		v := &lang.Verbs[i]
		if v.Use == lang.OnBoard && !own[v.Name] && !paceVerbs[v.Name] {
			t.Errorf("nobody carries out %q", v.Name)
		}
	}
	for screen, names := range footerOrder {
		for _, name := range names {
			if keyOfVerb(name, screen) == "" {
				t.Errorf("the footer names %q, which has no key on screen %v", name, screen)
			}
		}
	}
}

// No key means two things on one screen.
func TestKeysAreUnambiguous(t *testing.T) {
	t.Parallel()
	for s := lang.OnCatalogue; s <= lang.OnMenu; s <<= 1 {
		seen := map[string]string{}
		for i := range lang.Verbs {
			v := &lang.Verbs[i]
			if v.On&s == 0 {
				continue
			}
			for _, k := range v.Keys {
				if other, ok := seen[k]; ok {
					t.Errorf("on screen %v the key %q means %s and %s", s, k, other, v.Name)
				}
				seen[k] = v.Name
			}
		}
	}
}
