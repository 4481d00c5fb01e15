package scenarios

import (
	"context"
	"testing"
)

func TestEveryScenarioOfTheCataloguePasses(t *testing.T) {
	t.Parallel()
	for _, s := range Catalogue() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			r, err := Replay(context.Background(), s, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Complaints() {
				t.Error(c)
			}
			if t.Failed() {
				t.Log("\n" + WireText(r.View.Wire, r.View.Start))
			}
		})
	}
}
