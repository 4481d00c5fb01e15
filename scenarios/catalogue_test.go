package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"faultlab/scenarios/lang"
)

// replay is a replay that must begin and come to its end within a minute of real time.
func replay(t *testing.T, s *lang.Scenario, o Options) *Report {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, fmt.Errorf("a minute of real time is over"))
	defer cancel()
	r, err := Replay(ctx, s, o)
	if err != nil {
		t.Fatalf("replay %s: %v", s.Name, err)
	}
	return r
}

// modes are the ways in which a scenario says that it can run.
func modes(s *lang.Scenario) []string {
	switch s.Runs {
	case lang.RunsReal:
		return []string{Sockets}
	case lang.RunsVirtual:
		return []string{Simulated}
	}
	return []string{Simulated, Sockets}
}

func TestEveryScenarioOfTheCataloguePasses(t *testing.T) {
	t.Parallel()
	for _, s := range Catalogue() {
		for _, mode := range modes(s) {
			t.Run(s.Name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				r := replay(t, s, Options{Mode: mode})
				for _, c := range r.Complaints() {
					t.Error(c)
				}
				if t.Failed() {
					t.Log("\n" + WireText(r.View.Wire, r.View.Start))
				}
			})
		}
	}
}

func TestTheSameScenarioGivesTheSameTimelineEachTime(t *testing.T) {
	t.Parallel()
	for _, s := range Catalogue() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			mode := modes(s)[0]
			first, second := reportText(t, replay(t, s, Options{Mode: mode})), reportText(t, replay(t, s, Options{Mode: mode}))
			if first != second {
				t.Errorf("two replays differ:\n%s", firstDifference(first, second))
			}
		})
	}
}

func reportText(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// firstDifference shows where two texts begin to differ.
func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-120)
	return "…" + a[from:min(len(a), i+120)] + "\n…" + b[from:min(len(b), i+120)]
}

func TestSimulatedAndOnSocketsIsTheSame(t *testing.T) {
	t.Parallel()
	for _, s := range Catalogue() {
		if s.Runs != lang.RunsBoth {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			simulated, real := replay(t, s, Options{Mode: Simulated}), replay(t, s, Options{Mode: Sockets})
			for what, side := range map[string]func(Entry) any{
				"the caller's history": func(e Entry) any { return e.Event },
				"the provider's log":   func(e Entry) any { return e.Log },
				"the ledger":           func(e Entry) any { return e.Effects },
			} {
				if a, b := sideText(t, simulated, side), sideText(t, real, side); a != b {
					t.Errorf("%s differs, simulated and on sockets:\n%s", what, firstDifference(a, b))
				}
			}
		})
	}
}

// sideText is what one side of a timeline says, times included, one entry a line.
func sideText(t *testing.T, r *Report, side func(Entry) any) string {
	t.Helper()
	var b strings.Builder
	for _, e := range r.Timeline {
		text, err := json.Marshal(side(e))
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != "null" {
			b.Write(text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
