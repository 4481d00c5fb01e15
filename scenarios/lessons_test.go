package scenarios

import (
	"slices"
	"testing"

	"faultlab/scenarios/lang"
)

func TestEveryLessonAsksBeforeItShows(t *testing.T) {
	t.Parallel()
	if len(Lessons) != 3 {
		t.Errorf("there are %d lessons, want 3", len(Lessons))
	}
	for _, l := range Lessons {
		all := l.Scenarios()
		if len(all) < 5 {
			t.Errorf("%s has %d scenarios", l.Name, len(all))
		}
		for i, s := range all {
			if n := placeIn(s, l.Name); n != i+1 {
				t.Errorf("%s has the place %d in %s, want %d", s.Name, n, l.Name, i+1)
			}
			if s.Before == "" {
				t.Errorf("%s of %s says nothing before it begins", s.Name, l.Name)
			}
			if len(s.Asked()) == 0 {
				t.Errorf("%s of %s asks nothing", s.Name, l.Name)
			}
			for _, q := range s.Asked() {
				if q.Because == "" {
					t.Errorf("%s does not explain the answer to %q", s.Name, q.Text)
				}
			}
			if !slices.ContainsFunc(s.Lines, func(l lang.Line) bool { return l.Expect != nil && l.Expect.What == "verdict" }) {
				t.Errorf("%s of %s comes to no verdict", s.Name, l.Name)
			}
		}
	}
}

func placeIn(s *lang.Scenario, lesson string) int {
	for _, p := range s.Lessons {
		if p.Lesson == lesson {
			return p.N
		}
	}
	return 0
}

func TestTwinsAreScenariosOfTheCatalogue(t *testing.T) {
	t.Parallel()
	twins := 0
	for _, s := range Catalogue() {
		if s.Twin == "" {
			continue
		}
		twins++
		if _, err := Find(s.Twin); err != nil || s.Twin == s.Name {
			t.Errorf("the twin of %s is %q: %v", s.Name, s.Twin, err)
		}
	}
	if twins < 5 {
		t.Errorf("%d scenarios have a twin", twins)
	}
}
