package timeline_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

func bench(t *testing.T, name string, o scenarios.Options) *scenarios.Bench {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return benchOf(t, s, o)
}

func benchOf(t *testing.T, s *lang.Scenario, o scenarios.Options) *scenarios.Bench {
	t.Helper()
	b, err := scenarios.Open(s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func rest(t *testing.T, b *scenarios.Bench) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("a minute of real time is over"))
	defer cancel()
	if err := b.Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, b *scenarios.Bench, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if err := b.Do(l); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		rest(t, b)
	}
}

func replay(t *testing.T, s *lang.Scenario, o scenarios.Options) *scenarios.Report {
	t.Helper()
	r, err := scenarios.Replay(t.Context(), s, o)
	if err != nil {
		t.Fatalf("replay %s: %v", s.Name, err)
	}
	return r
}
