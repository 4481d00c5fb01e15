package timeline_test

import (
	"strings"
	"testing"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/timeline"
)

// A row of the table that nothing ever meets is one that nobody has seen to be true: every moment of the catalogue, and
// the small scenarios of explained.
func TestEveryExplanationIsTrueOfSomeScenario(t *testing.T) {
	t.Parallel()
	told := make([]string, timeline.Explanations())
	mark := func(name string, line *timeline.Timeline) {
		for n := 1; n <= line.Len(); n++ {
			for _, o := range line.Explained(n) {
				told[o.Row] = name
			}
		}
	}
	for _, s := range scenarios.Catalogue() {
		b := benchOf(t, s, scenarios.Options{})
		b.Play()
		rest(t, b)
		if strings.HasPrefix(s.Name, "herd") {
			continue // 50 times the same
		}
		mark(s.Name, b.Timeline())
	}
	for _, c := range explained {
		mark(c.name, c.play(t).Timeline())
	}
	for _, c := range settled {
		mark(c.name, settle(t, c.name, c.script))
	}
	for i, name := range told {
		if name == "" {
			t.Errorf("no scenario meets row %d, %s", i, timeline.ExplanationText(i))
		}
	}
}

// TestWhyIsTrueOfWhatHappened holds the sentences that say how it came about against scenarios in which it came about so.
func TestWhyIsTrueOfWhatHappened(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"b-commit-then-error":             "The first attempt made the job. Only the shared key kept the second from making another.",
		"c2-look-up-then-record":          "Nobody answered, but the look-up found the job, and that was recorded. Nothing was sent again.",
		"crash-after-the-reply":           "The worker was killed before it wrote an answer down. The look-up found the job, and that was recorded; nothing was sent again.",
		"cancelled-in-flight":             "It was cancelled while the request was out. The look-up found the job, and that was recorded; nothing was sent again.",
		"body-not-json":                   "The answer could not be read, but the look-up found the job, and that was recorded. Nothing was sent again.",
		"budget-used-up-and-it-is-there":  "The answers proved nothing, but the look-up found the job, and that was recorded. Nothing was sent again.",
		"two-runs-at-once-under-one-key":  "Two runs asked for it under one key. One of them made the job, the other was told of it.",
		"events-out-of-order":             "It was sent more than once. Each request says the whole address, so that there is one however often it comes, and the last one stays.",
		"put-by-a-stable-id":              "It was sent more than once. Each request says the whole address, so that there is one however often it comes, and the last one stays.",
		"ignored-key-trusted":             "A key was sent and the provider read none, so each request was a new operation to it: 2 jobs.",
		"expired-key-forced":              "It was forced under a key that the provider had forgotten. To the provider that was a new operation: 2 jobs.",
		"late-commit-after-no-record":     "It was given up, and then the late request arrived: 1 job. No record is not the same as did not happen.",
		"transport-repeats-by-itself":     "The script made one call, and the transport sent it again by itself. Only the key kept it one job, and nobody asked whether it would.",
		"webhook-delivered-twice-at-once": "Asked for once, answered, and the ledger holds one job.",
	} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := replay(t, s, scenarios.Options{}).View.Operations[0].Why; got != want {
			t.Errorf("%s\n got  %s\n want %s", name, got, want)
		}
	}
}

const (
	plain       = "a-fail-before-commit"
	noKey       = "missing-key-executes"
	newKey      = "d-new-key-per-attempt"
	runKey      = "rerun-with-the-runs-key"
	businessKey = "rerun-with-a-business-key"
	declared    = `assume {"origins":{"http://127.0.0.1:4040":{"enforces":true}}}|`
	noLookup    = `assume {"origins":{"http://127.0.0.1:4040":{"lookup":"none"}}}`
	mute        = "Nobody can prove what happened, because there is no evidence, and what is assumed of the provider has no look-up for it: escalate it to a person who can find out by other means."
)

// settled are scenarios whose script was changed, by a person's decisions too.
var settled = []struct{ name, script, want string }{
	{plain, noLookup + "|fault commit-then-drop|trigger", "Sent, and nobody answered. The job is there, which the caller cannot see. " + mute},
	{plain, noLookup + "|fault fail-before-commit fail-before-commit fail-before-commit|trigger", "The answers say neither that it happened nor that it did not. The ledger holds no job yet, which the caller cannot see. " + mute},
	{plain, noLookup + "|crash before-send|trigger|restart", "The worker was killed before it wrote an answer down: not even whether the request went out is known. The ledger holds no job yet, which the caller cannot see. " + mute},
	{noKey, "contract paypal|fault commit-then-drop|trigger", "Sent, and nobody answered. The job is there, which the caller cannot see. " + mute},
	{plain, "fault drop-before-commit|trigger|abandon --force", "It was given up without proof. The ledger holds no job of it."},
	{plain, "fault commit-then-drop|trigger|abandon --force", "It was given up without proof, and the ledger holds 1 job."},
	{plain, declared + "fault commit-then-drop look-up-not-found|trigger|lookup|abandon",
		"The look-up found nothing and it was given up, but the ledger holds 1 job. No record is not the same as did not happen."},
	{plain, "fault commit-then-drop look-up-not-found|trigger|lookup|resubmit",
		"The look-up found nothing, so it was sent again under the same key. The job was there already, and the key kept it single."},
	{plain, "fault drop-before-commit|trigger|resubmit --force",
		"Without proof, it was sent again under the same key, and there is one job. Had the first request arrived late, the key would have kept it from making another."},
	{noKey, "contract paypal|fault drop-before-commit|trigger|resubmit --force",
		"Without proof, it was sent again, and there is one job. Had the first request arrived late, there would be two: no key joins them."},
	{newKey, "fault drop-before-commit|trigger|lookup|resubmit --force",
		"The look-up found nothing, so it was sent again, and there is one job. Had the first request arrived late, there would be two: no key joins them."},
	{runKey, declared + "fault drop-before-commit|trigger|lookup|abandon|fault commit-then-error|rerun",
		"An earlier attempt made the job. Only the shared key kept a later one from making another."},
	{runKey, declared + "fault fail-before-commit fail-before-commit fail-before-commit|trigger|lookup|abandon|rerun", "It is done, and the ledger holds one job."},
	{businessKey, "fault commit-then-drop|trigger|lookup|record|rerun",
		"One run was settled by the job that the look-up found, another asked for it too, and the ledger holds one job."},
	{newKey, "fault fail-before-commit|trigger",
		"An attempt failed and a later one, under another key, made the job. That there is one is luck: had the first one made it, there would be two."},
	{plain, `fault commit-then-drop|trigger|record result={"jobId":"x"} --force`, "Its result was given by hand, and the ledger holds one job."},
	{plain, `fault drop-before-commit|trigger|record result={"jobId":"x"} --force`, "Its result was given by hand, and the ledger holds no job of it."},
}

func settle(t *testing.T, name, script string) *timeline.Timeline {
	b := bench(t, name, scenarios.Options{})
	do(t, b, strings.Split(strings.Replace(script, "|trigger", "|trigger fulfill payload.json", 1), "|")...)
	return b.Timeline()
}

// The sentence must not tell of what was not done.
func TestWhyIsTrueOfWhatAPersonDid(t *testing.T) {
	t.Parallel()
	for _, c := range settled {
		t.Run(c.script, func(t *testing.T) {
			t.Parallel()
			if got := settle(t, c.name, c.script).Latest().Operations[0].Why; got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestWhatNeedsReconcilingCanBeReconciled walks every moment of the catalogue: a run
// that needs it has an operation that says what is in doubt, and what can be decided.
func TestWhatNeedsReconcilingCanBeReconciled(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios.Catalogue() {
		if strings.HasPrefix(s.Name, "herd") {
			continue // 50 times the same
		}
		b := benchOf(t, s, scenarios.Options{})
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
				if len(o.Doubts) != len(o.DoubtRuns) || len(o.Options) != timeline.Decisions() && len(o.Doubts) > 0 {
					t.Errorf("%s, entry %d: %d doubts of %d runs, %d options", s.Name, n, len(o.Doubts), len(o.DoubtRuns), len(o.Options))
				}
			}
			for _, r := range v.Runs {
				if r.Status.Ended() && r.Reconcile != (doubtful[r.ID] || r.Waits != nil) && last[r.ID] != engine.KindDecided {
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
		{"not looked up", nil, " What was sent under …ab94 is not settled. Look it up by its key.", true},
		{"looked up", []string{"lookup"}, " What was sent under …ab94 is not settled. It happened: record it, and the run goes on with it.", true},
		{"escalated", []string{"escalate \"ask them\""}, " What was sent under …ab94 is left to a person who can find out by other means.", true},
		{"recorded", []string{"lookup", "record"}, "", false},
		{"abandoned", []string{"abandon --force"}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := bench(t, "naive-new-key-after-a-drop", scenarios.Options{})
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
