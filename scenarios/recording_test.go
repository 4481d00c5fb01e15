package scenarios

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"faultlab/scenarios/lang"
)

// replayed is the report of a recording.
func replayed(t *testing.T, b *Bench) *Report {
	t.Helper()
	src, err := b.Recording()
	if err != nil {
		t.Fatal(err)
	}
	s, err := lang.Parse("recorded.txtar", src)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	r := replay(t, s, Options{Mode: b.o.Mode})
	for _, c := range r.Complaints() {
		t.Errorf("%s\n%s", c, src)
	}
	if t.Failed() {
		t.Logf("%s", src)
	}
	return r
}

func sameTimeline(t *testing.T, b *Bench, r *Report) {
	t.Helper()
	all := func(e Entry) any { return entryOf(e, b.Timeline().At(1).At) }
	live, again := sideText(t, b.Report(), all), sideText(t, r, all)
	if live != again {
		t.Errorf("the recording gives another timeline:\n%s", firstDifference(live, again))
	}
}

func TestARecordingReplaysToTheSameTimeline(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"settled by hand": {"fault commit-then-drop", "trigger fulfill payload.json", "record", "lookup", "record"},
		"sent again":      {"fault drop-before-commit", "trigger fulfill payload.json", "lookup", "resubmit"},
		"several runs":    {"trigger fulfill payload.json times=3", "contract ignores-key", "rerun 1", "rerun", "clearfaults"},
		"killed":          {"crash after-effect", "trigger fulfill payload.json", "restart", "lookup", "record"},
		"given up":        {"fault late-commit", "trigger fulfill payload.json", "lookup", "escalate \"ask them\""},
		"its own files":   {"trigger fulfill {\"orderId\":\"order-9\",\"paymentId\":\"p\",\"amount\":3}", "send POST /jobs {\"orderId\":\"x\"} key=mine times=2", "key attempt", "fault commit-then-error", "trigger fulfill payload.json"},
		"events":          {"deliver fulfill payload.json id=evt_1 twice", "deliver fulfill payload.json id=evt_1 at-once", "advance 1h", "policy retry=1", "trigger fulfill payload.json"},
		"forgotten keys":  {"contract stripe-v1", "fault commit-then-drop", "trigger fulfill payload.json", "expire", "resubmit --force"},
	} {
		for _, mode := range []string{Simulated, Sockets} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				b := bench(t, "c-commit-then-drop", Options{Mode: mode})
				do(t, b, lines...)
				sameTimeline(t, b, replayed(t, b))
			})
		}
	}
}

func TestARecordingOfAPlayedScenarioGoesOnWithWhatWasDoneByHand(t *testing.T) {
	t.Parallel()
	b := bench(t, "b-commit-then-error", Options{})
	b.Play()
	rest(t, b)
	do(t, b, "rerun", "expect runs 2")
	r := replayed(t, b)
	sameTimeline(t, b, r)
	if r.Scenario.Title != b.Scenario().Title || len(r.View.Runs) != 2 {
		t.Errorf("the recording is %q with %d runs", r.Scenario.Title, len(r.View.Runs))
	}
}

// A document that was edited outside, twice under one path, is in the recording each time, and the embedded one too.
func TestARecordingKeepsTheDocumentsThatWereLoaded(t *testing.T) {
	t.Parallel()
	b := bench(t, "c-commit-then-drop", Options{})
	b.Play()
	rest(t, b)
	const embedded = "fulfill-order.woml"
	own := b.Scenario().Files[embedded]
	edited := filepath.Join(t.TempDir(), embedded)
	for _, retry := range []string{`retry="5"`, `retry="2"`} {
		if err := os.WriteFile(edited, bytes.Replace(own, []byte(`retry="3"`), []byte(retry), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		do(t, b, "workflow "+lang.Quote(edited), "fault fail-before-commit", "trigger fulfill payload.json")
	}
	do(t, b, "workflow "+embedded, "trigger fulfill payload.json")
	r := replayed(t, b)
	var most []int
	for _, run := range r.View.Runs {
		most = append(most, run.Steps[0].Attempts[0].Max)
	}
	if want := []int{3, 5, 2, 3}; !slices.Equal(most, want) {
		t.Errorf("the runs of the recording have at most %v attempts, want %v", most, want)
	}
}

func TestWhatIsDoneWhileTimePassesReplaysAtItsMoment(t *testing.T) {
	t.Parallel()
	b := bench(t, "a-fail-before-commit", Options{Speed: 0.5})
	for _, line := range []string{"fault fail-before-commit", "trigger fulfill payload.json"} {
		if err := b.Do(line); err != nil {
			t.Fatal(err)
		}
	}
	until(b, func() bool {
		s := b.State()
		return s.DueWhat == "retry of createFulfillment" && s.Elapsed >= 200*time.Millisecond
	})
	if err := b.Do("cancel"); err != nil {
		t.Fatal(err)
	}
	rest(t, b)
	expectOf(t, b, "run cancelled", "attempts 1")
	sameTimeline(t, b, replayed(t, b))
}
