package engine

import (
	"testing"
	"time"
)

// A key is born with its first request, and again with the first one after its retention of an hour.
func TestBornBefore(t *testing.T) {
	t.Parallel()
	at := func(minutes ...int) (times []time.Time) {
		for _, m := range minutes {
			times = append(times, time.Date(2026, 11, 30, 12, m, 0, 0, time.UTC))
		}
		return times
	}
	for _, r := range []struct {
		name string
		uses []time.Time
		met  int // by which request
		born int
	}{
		{"by the first request", at(0, 1), 0, 0},
		{"by another run's, before", at(30, 0), 30, 0},
		{"anew, after its retention", at(0, 60, 61), 60, 60},
		{"not anew by a request within it", at(0, 59), 59, 0},
		{"not anew by what came later", at(0, 90), 0, 0},
		{"twice anew", at(0, 70, 140, 150), 150, 140},
	} {
		if got := bornBefore(r.uses, at(r.met)[0], time.Hour); !got.Equal(at(r.born)[0]) {
			t.Errorf("%s: born at %v", r.name, got)
		}
	}
}
