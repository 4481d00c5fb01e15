package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"faultlab/engine"
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
			first, second := reportText(t, replay(t, s, Options{})), reportText(t, replay(t, s, Options{}))
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
			for what, side := range sides {
				text := sideText
				if overlapping(simulated.Timeline) {
					text = eachRun
				}
				a, b := text(t, simulated, side), text(t, real, side)
				if a != b {
					t.Errorf("%s differs, simulated and on sockets:\n%s", what, firstDifference(a, b))
				}
			}
		})
	}
}

var sides = map[string]func(Entry) any{
	"the caller's history": func(e Entry) any { return e.Event },
	"the provider's log":   func(e Entry) any { return e.Log },
	"the ledger":           func(e Entry) any { return e.Effects },
}

// overlapping: what several runs do at the same instant has no order among them, on sockets or not.
func overlapping(timeline []Entry) bool {
	open := map[string]bool{}
	for _, e := range timeline {
		if e.Event == nil {
			continue
		}
		if open[e.Event.Run] = true; e.Event.Fact.Kind() == engine.KindEnded {
			delete(open, e.Event.Run)
		}
		if len(open) > 1 {
			return true
		}
	}
	return false
}

// sideText is what one side of a timeline says, times included, one entry a line.
func sideText(t *testing.T, r *Report, side func(Entry) any) string {
	t.Helper()
	var b strings.Builder
	for _, e := range r.Timeline {
		b.WriteString(entryText(t, side(e)))
	}
	return b.String()
}

func entryText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) == "null" {
		return ""
	}
	return string(text) + "\n"
}

// eachRun is the same for each run by itself, without the places in an order that several runs share.
func eachRun(t *testing.T, r *Report, side func(Entry) any) string {
	t.Helper()
	byRun := map[string]string{}
	for _, e := range r.Timeline {
		run := ""
		switch {
		case e.Event != nil:
			event := *e.Event
			event.Seq, e.Event, run = 0, &event, event.Run
		case e.Log != nil:
			entry := *e.Log
			run, _, _ = strings.Cut(entry.RequestID, "/")
			entry.Seq, entry.Request, e.Log = 0, 0, &entry
		}
		byRun[run] += entryText(t, side(e))
	}
	var b strings.Builder
	for _, run := range slices.Sorted(maps.Keys(byRun)) {
		b.WriteString(byRun[run])
	}
	return b.String()
}

func TestTheCataloguePassesUnderOtherSeeds(t *testing.T) {
	t.Parallel()
	for _, s := range Catalogue() {
		for _, seed := range []int64{2, -7, 1 << 40} {
			r := replay(t, s, Options{Seed: seed})
			for _, c := range r.Complaints() {
				t.Errorf("seed %d: %s", seed, c)
			}
		}
	}
}
