package scenarios

import (
	"context"
	"testing"
)

func BenchmarkWholeCatalogue(b *testing.B) {
	for b.Loop() {
		for _, s := range Catalogue() {
			r, err := Replay(context.Background(), s, Options{Mode: modes(s)[0]})
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
