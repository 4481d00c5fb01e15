package scenarios

import (
	"slices"
	"strings"
	"testing"

	"faultlab/engine"
)

var verdicts = []engine.Verdict{engine.OneEffect, engine.CleanFailure, engine.PhantomSuccess, engine.FalseFailure,
	engine.Unresolved, engine.Duplicate, engine.Compensated, engine.Uncompensated}

func TestEveryVerdictIsToldWhateverHappened(t *testing.T) {
	t.Parallel()
	for _, v := range verdicts {
		s := story{Operation: Operation{Verdict: v}, noun: "job"}
		i := tellingOf(s)
		if i < 0 {
			t.Errorf("nothing tells %s", v)
			continue
		}
		if text := tellings[i].text(s); text == "" || strings.Contains(text, "%!") {
			t.Errorf("%s is told as %q", v, text)
		}
	}
}

// TestEveryTellingIsTrueOfSomeScenario walks every moment of the catalogue: a row
// that no scenario ever meets is one that nobody has seen to be true.
func TestEveryTellingIsTrueOfSomeScenario(t *testing.T) {
	t.Parallel()
	told := make([]string, len(tellings))
	for _, s := range Catalogue() {
		b := benchOf(t, s, Options{})
		b.Play()
		rest(t, b)
		if strings.HasPrefix(s.Name, "herd") {
			continue // 50 times the same
		}
		for n := 1; n <= b.Timeline().Len(); n++ {
			v := b.Timeline().View(n)
			for _, o := range v.Operations {
				if o.Verdict == "" {
					continue
				}
				i := tellingOf(tell(o, runsOf(v, o), &b.Timeline().index.seen))
				if told[i] == "" {
					told[i] = s.Name
				}
			}
		}
	}
	for i, name := range told {
		if name == "" && tellings[i].verdict != engine.Uncompensated {
			t.Errorf("no scenario tells row %d, of %s: %s", i, tellings[i].verdict, tellings[i].text(story{noun: "job"}))
		}
	}
}

func runsOf(v *View, o Operation) []*engine.Run {
	var out []*engine.Run
	for _, r := range v.Runs {
		if slices.Contains(o.Runs, r.ID) {
			out = append(out, r)
		}
	}
	return out
}
