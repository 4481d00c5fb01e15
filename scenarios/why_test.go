package scenarios

import (
	"slices"
	"strings"
	"testing"

	"faultlab/engine"
)

var verdicts = []engine.Verdict{engine.OneEffect, engine.CleanFailure, engine.PhantomSuccess, engine.FalseFailure,
	engine.Unresolved, engine.Duplicate, engine.Compensated, engine.Uncompensated}

func TestEveryVerdictIsToldWhateverHappened(t *testing.T) {
	t.Parallel()
	for _, v := range verdicts {
		s := story{Operation: Operation{Verdict: v}, noun: "job"}
		i := tellingOf(s)
		if i < 0 {
			t.Errorf("nothing tells %s", v)
			continue
		}
		if text := tellings[i].text(s); text == "" || strings.Contains(text, "%!") {
			t.Errorf("%s is told as %q", v, text)
		}
	}
}

// TestEveryTellingIsTrueOfSomeScenario walks every moment of the catalogue: a row
// that no scenario ever meets is one that nobody has seen to be true.
func TestEveryTellingIsTrueOfSomeScenario(t *testing.T) {
	t.Parallel()
	told := make([]string, len(tellings))
	for _, s := range Catalogue() {
		b := benchOf(t, s, Options{})
		b.Play()
		rest(t, b)
		if strings.HasPrefix(s.Name, "herd") {
			continue // 50 times the same
		}
		for n := 1; n <= b.Timeline().Len(); n++ {
			v := b.Timeline().View(n)
			for _, o := range v.Operations {
				if o.Verdict == "" {
					continue
				}
				i := tellingOf(tell(o, runsOf(v, o), &b.Timeline().index.seen))
				if told[i] == "" {
					told[i] = s.Name
				}
			}
		}
	}
	for i, name := range told {
		if name == "" && tellings[i].verdict != engine.Uncompensated {
			t.Errorf("no scenario tells row %d, of %s: %s", i, tellings[i].verdict, tellings[i].text(story{noun: "job"}))
		}
	}
}

// TestWhatNeedsReconcilingCanBeReconciled walks every moment of the catalogue: a run
// that needs it has an operation that says what is in doubt, and what can be decided.
func TestWhatNeedsReconcilingCanBeReconciled(t *testing.T) {
	t.Parallel()
	for _, s := range Catalogue() {
		if strings.HasPrefix(s.Name, "herd") {
			continue // 50 times the same
		}
		b := benchOf(t, s, Options{})
		b.Play()
		rest(t, b)
		last := map[string]engine.Kind{} // by run; after a decision it has yet to say again how it ended
		for n := 1; n <= b.Timeline().Len(); n++ {
			if e := b.Timeline().At(n).Event; e != nil {
				last[e.Run] = e.Fact.Kind()
			}
			v := b.Timeline().View(n)
			doubtful := map[string]bool{}
			for _, o := range v.Operations {
				for _, run := range o.DoubtRuns {
					doubtful[run] = true
				}
				if len(o.Doubts) != len(o.DoubtRuns) || len(o.Options) != len(consequences) && len(o.Doubts) > 0 {
					t.Errorf("%s, entry %d: %d doubts of %d runs, %d options", s.Name, n, len(o.Doubts), len(o.DoubtRuns), len(o.Options))
				}
			}
			for _, r := range v.Runs {
				if r.Status.Ended() && r.Reconcile != doubtful[r.ID] && last[r.ID] != engine.KindDecided {
					t.Errorf("%s, entry %d: run %s: needs reconciling: %v, has doubts: %v", s.Name, n, r.ID, r.Reconcile, doubtful[r.ID])
				}
			}
		}
	}
}

func TestADoneOperationWithAnUnknownWriteIsSettled(t *testing.T) {
	t.Parallel()
	const duplicate = "Two keys for one operation: the provider could not know that they mean the same job, and made 2 jobs."
	for _, c := range []struct {
		name      string
		lines     []string
		why       string
		reconcile bool
	}{
		{"not looked up", nil, " What was sent under …ab94 is not settled: look it up.", true},
		{"looked up", []string{"lookup"}, " What was sent under …ab94 happened too, says the look-up: record it, and the run is settled.", true},
		{"escalated", []string{"escalate \"ask them\""}, " What was sent under …ab94 is left to a person who can find out by other means.", true},
		{"recorded", []string{"lookup", "record"}, "", false},
		{"abandoned", []string{"lookup", "abandon --force"}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := bench(t, "naive-new-key-after-a-drop", Options{})
			b.Play()
			rest(t, b)
			do(t, b, c.lines...)
			v := b.Timeline().Latest()
			o := v.Operations[0]
			if o.Belief != engine.BeliefDone || o.Verdict != engine.Duplicate || o.Why != duplicate+c.why {
				t.Errorf("%s, %s: %s", o.Belief, o.Verdict, o.Why)
			}
			if v.Runs[0].Reconcile != c.reconcile || len(o.Doubts) > 0 != c.reconcile || b.Unavailable("record") == "" != c.reconcile {
				t.Errorf("needs reconciling %v, %d doubts, record: %q", v.Runs[0].Reconcile, len(o.Doubts), b.Unavailable("record"))
			}
		})
	}
}

func runsOf(v *View, o Operation) []*engine.Run {
	var out []*engine.Run
	for _, r := range v.Runs {
		if slices.Contains(o.Runs, r.ID) {
			out = append(out, r)
		}
	}
	return out
}
