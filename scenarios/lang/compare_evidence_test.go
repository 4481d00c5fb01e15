package lang

import "testing"

func TestEvidence(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		fact  EvidenceFact
		meets []string
		not   []string
	}{
		{EvidenceFact{Found: "found", Match: "matches"}, []string{"found", "found matches"}, []string{"found contradicts", "several", "no-record"}},
		{EvidenceFact{Found: "found", Match: "contradicts"}, []string{"found", "found contradicts"}, []string{"found matches", "found proven"}},
		{EvidenceFact{Found: "found", Match: "cannot be compared"}, []string{"found cannot-be-compared"}, []string{"found matches"}},
		{EvidenceFact{Found: "several"}, []string{"several"}, []string{"found", "several matches", "several proven"}},
		{EvidenceFact{Found: "no record"}, []string{"no-record", "no-record proven"}, []string{"no-record unproven", "found"}},
		{EvidenceFact{Found: "no record", Unproven: true}, []string{"no-record", "no-record unproven"}, []string{"no-record proven"}},
		{EvidenceFact{Found: "no answer"}, []string{"no-answer"}, []string{"no-answer proven", "no-answer unproven", "no-record"}},
	} {
		w := world{operations: []OperationFact{{Step: "pay", Evidence: []EvidenceFact{{Found: "found", Match: "matches"}, r.fact}}}}
		for _, words := range r.meets {
			if f := expectation(t, "evidence "+words).Compare(w); f != nil {
				t.Errorf("%+v: %v", r.fact, f)
			}
		}
		for _, words := range r.not {
			if f := expectation(t, "evidence "+words).Compare(w); f == nil {
				t.Errorf("%+v meets %q", r.fact, words)
			}
		}
	}
}
