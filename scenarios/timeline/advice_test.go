package timeline_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/timeline"
)

// advising are the words by which a sentence tells somebody to decide.
var advising = regexp.MustCompile(`(?i)\b(record it|resubmit|abandon it|send it again|may be sent again|escalate it)\b`)

// holdAdvice reports sentences that advise what table e does not allow.
func holdAdvice(t interface{ Errorf(string, ...any) }, name string, line *timeline.Timeline) {
	for n := 1; n <= line.Len(); n++ {
		for _, o := range line.Explained(n) {
			if o.Next != nil {
				if d := decisionOf[o.Next.Advice()]; d != "" && o.Next.Ruling(d, false).Permission != engine.Allowed {
					t.Errorf("%s, entry %d: %q advises to %s, which is refused: %s", name, n, o.Why, d, o.Next.Ruling(d, false).Why)
				}
			}
			if advising.MatchString(o.Bare) {
				t.Errorf("%s, entry %d: %q advises by itself, without table e", name, n, o.Bare)
			}
		}
	}
}

var decisionOf = map[engine.Advice]engine.Decision{engine.AdviseRecord: engine.Record, engine.AdviseResubmit: engine.Resubmit, engine.AdviseEscalate: engine.Escalate}

func TestNoSentenceAdvisesWhatIsRefused(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios.Catalogue() {
		if strings.HasPrefix(s.Name, "herd") {
			continue // 50 times the same
		}
		b := benchOf(t, s, scenarios.Options{})
		b.Play()
		rest(t, b)
		holdAdvice(t, s.Name, b.Timeline())
	}
	for _, c := range explained {
		holdAdvice(t, c.name, c.play(t).Timeline())
	}
}

// Whoever does what is advised is never refused, whatever went wrong before.
func TestWhatIsAdvisedIsCarriedOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		faults := rapid.SliceOfN(rapid.SampledFrom([]string{"commit-then-error", "commit-then-drop", "fail-before-commit", "drop-before-commit", "rate-limited", "look-up-drop",
			"look-up-not-found", "replay-drop", "bad-request", "commit-then-garbage", "hang-before-commit"}), 0, 4).Draw(r, "faults")
		contract := rapid.SampledFrom([]string{"seed", "stripe-v1", "locked-after-500", "success-only", "ignores-key"}).Draw(r, "contract")
		key := rapid.SampledFrom([]string{`"k"`, "attempt.idempotencyKey", `"k" + attempt.number`}).Draw(r, "key")
		lines := []string{"contract " + contract}
		if rapid.Bool().Draw(r, "declared") {
			lines = append(lines, enforcing)
		}
		if len(faults) > 0 {
			lines = append(lines, "fault "+strings.Join(faults, " "))
		}
		c := explainedCase{name: "advised", lines: strings.Join(append(lines, "trigger aGo", "wait"), "|"), document: single(rapid.SampledFrom([]string{"", thrice}).Draw(r, "retry"), post(key, `{ orderId: "o" }`, ""))}
		b := c.play(t)
		for range 5 {
			v := b.Timeline().Latest()
			i := slices.IndexFunc(v.Operations, func(o timeline.Operation) bool { return len(o.Doubts) > 0 && o.Advice != "" })
			if i < 0 || v.Operations[i].Advice == engine.AdviseEscalate {
				break
			}
			verb := map[engine.Advice]string{engine.AdviseLookup: "lookup", engine.AdviseRecord: "record", engine.AdviseResubmit: "resubmit"}[v.Operations[i].Advice]
			if err := b.Do(verb); err != nil {
				r.Fatalf("%s\n%s was advised (%s) and refused: %v", timeline.WireText(v.Wire, v.Start), verb, v.Operations[i].Why, err)
			}
			rest(t, b)
		}
		holdAdvice(r, fmt.Sprint(faults), b.Timeline())
	})
}
