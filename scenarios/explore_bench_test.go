package scenarios

import (
	"context"
	"runtime/debug"
	"testing"

	"faultlab/scenarios/explore"
)

// BenchmarkExplore tells how many schedules are decided, and carried out, in a second of one processor.
func BenchmarkExplore(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	s, err := Find("b-commit-then-error")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		noCache bool
	}{{"decided", false}, {"carried-out", true}} {
		b.Run(c.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				x, err := NewExploration(s, "", "")
				if err != nil {
					b.Fatal(err)
				}
				r, err := explore.Search(context.Background(), x, explore.Options{Bound: explore.Bound{explore.Fault: 2, explore.Crash: 1}, NoCache: c.noCache, Twice: -1})
				if err != nil {
					b.Fatal(err)
				}
				n += r.CarriedOut + r.Cut
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "schedules/s")
		})
	}
}
