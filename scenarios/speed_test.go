package scenarios

import (
	"context"
	"runtime"
	"testing"
)

func BenchmarkWholeCatalogue(b *testing.B) {
	for b.Loop() {
		for _, s := range Catalogue() {
			r, err := Replay(context.Background(), s, Options{})
			if err != nil || !r.Passed() {
				b.Fatal(err, r.Complaints())
			}
		}
	}
}

func BenchmarkScenarioB(b *testing.B) {
	s, err := Find("b-commit-then-error")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := Replay(context.Background(), s, Options{})
		if err != nil || !r.Passed() {
			b.Fatal(err, r.Complaints())
		}
	}
}

// BenchmarkMemoryOfReplays replays scenario B ten thousand times and reports the heap after the first thousand and at the end.
func BenchmarkMemoryOfReplays(b *testing.B) {
	s, err := Find("b-commit-then-error")
	if err != nil {
		b.Fatal(err)
	}
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	for b.Loop() {
		for i := range 10_000 {
			if i == 1_000 {
				b.ReportMetric(heap(), "MiB-at-1000")
			}
			if r, err := Replay(context.Background(), s, Options{}); err != nil || !r.Passed() {
				b.Fatal(err, r.Complaints())
			}
		}
		b.ReportMetric(heap(), "MiB-at-10000")
	}
}
