package expect

import (
	"testing"

	"faultlab/engine"
	"faultlab/scenarios/timeline"
)

func TestEvidence(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		fact  engine.Evidence
		meets []string
		not   []string
	}{
		{engine.Evidence{Found: "found", Match: "matches"}, []string{"found", "found matches"}, []string{"found contradicts", "several", "no-record"}},
		{engine.Evidence{Found: "found", Match: "contradicts"}, []string{"found", "found contradicts"}, []string{"found matches", "found proven"}},
		{engine.Evidence{Found: "found", Match: "cannot be compared"}, []string{"found cannot-be-compared"}, []string{"found matches"}},
		{engine.Evidence{Found: "several"}, []string{"several"}, []string{"found", "several matches", "several proven"}},
		{engine.Evidence{Found: "no record"}, []string{"no-record", "no-record proven"}, []string{"no-record unproven", "found"}},
		{engine.Evidence{Found: "no record", Unproven: true}, []string{"no-record", "no-record unproven"}, []string{"no-record proven"}},
		{engine.Evidence{Found: "no answer"}, []string{"no-answer"}, []string{"no-answer proven", "no-answer unproven", "no-record"}},
	} {
		c := &engine.Call{Evidence: []engine.EvidenceAt{{Evidence: engine.Evidence{Found: engine.FoundRecord, Match: engine.Matches}, Seq: 1}, {Evidence: r.fact, Seq: 2}}}
		w := World{View: &timeline.View{Runs: []*engine.Run{{ID: "run_a", Steps: []*engine.Step{{ID: "pay", Attempts: []*engine.Attempt{attemptOf(1, engine.Unknown, 0, second, c)}}}}},
			Operations: []timeline.Operation{{Step: "pay", Runs: []string{"run_a"}}}}}
		for _, words := range r.meets {
			if f := Compare(expectation(t, "evidence "+words), w); f != nil {
				t.Errorf("%+v: %v", r.fact, f)
			}
		}
		for _, words := range r.not {
			if f := Compare(expectation(t, "evidence "+words), w); f == nil {
				t.Errorf("%+v meets %q", r.fact, words)
			}
		}
	}
}
