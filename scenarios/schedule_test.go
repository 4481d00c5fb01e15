package scenarios

import (
	"context"
	"testing"

	"faultlab/engine"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
)

// Each cell of a map has a schedule that ends as the cell says, and can be opened and replayed as a scenario.
func TestTheSchedulesOfAMapCanBeShown(t *testing.T) {
	t.Parallel()
	s, err := Find("b-commit-then-error")
	if err != nil {
		t.Fatal(err)
	}
	o := ExploreOptions{Contracts: []string{"ignores-key"}, MapOnly: true}
	o.Bound[explore.Fault], o.Bound[explore.Crash] = 1, 1
	found, err := Explore(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(found[0].Counterexamples) > 0 {
		t.Error("counterexamples were made for a map alone")
	}
	gravity := func(v string) int { return engine.Verdict(v).Gravity() }
	m := explore.MapOf(found[0].Cells, gravity)
	worst := ""
	for row, cells := range m.Cells {
		for column, c := range cells {
			if c.Worst == "" {
				continue
			}
			if gravity(c.Worst) > gravity(worst) {
				worst = c.Worst
			}
			shown, err := ShowSchedule(context.Background(), s, "", "ignores-key", c.Shortest)
			if err != nil || shown.Verdict != c.Worst {
				t.Errorf("%s, %s: %s does not end %s: %+v, %v", m.Rows[row], m.Columns[column], c.Shortest, c.Worst, shown, err)
				continue
			}
			if len(shown.View.Wire) == 0 {
				t.Errorf("%s has no wire", c.Shortest)
			}
			parsed, err := lang.Parse("shown.txtar", shown.Text)
			if err != nil {
				t.Fatalf("%s: %v\n%s", c.Shortest, err, shown.Text)
			}
			if r, err := Replay(context.Background(), parsed, Options{}); err != nil || !r.Passed() {
				t.Errorf("%s does not replay: %v, %v\n%s", c.Shortest, err, r.Complaints(), shown.Text)
			}
		}
	}
	if worst != string(engine.Duplicate) {
		t.Errorf("the worst is %q", worst)
	}
}
