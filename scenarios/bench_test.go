package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"faultlab/engine"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios/expect"
	"faultlab/scenarios/lang"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAPanicOfAnActorIsTold(t *testing.T) {
	t.Parallel()
	for _, wall := range []bool{false, true} {
		b := bench(t, "a-fail-before-commit", Options{Wall: wall})
		told := make(chan string, 1)
		b.OnPanic(func(name string, value any, _ []byte) { told <- fmt.Sprint(name, ": ", value) })
		b.clk.Go("fire", func() { panic("on fire") })
		if got := <-told; got != "fire: on fire" {
			t.Errorf("told %q", got)
		}
	}
}

// bench opens a bench for a scenario of the catalogue.
func bench(t *testing.T, name string, o Options) *Bench {
	t.Helper()
	s, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return benchOf(t, s, o)
}

func benchOf(t *testing.T, s *lang.Scenario, o Options) *Bench {
	t.Helper()
	b, err := Open(s, o)
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

func rest(t *testing.T, b *Bench) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("a minute of real time is over"))
	defer cancel()
	if err := b.Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

// until waits for something that is so while a bench is at work. What is shown moves without being told, so it looks again by itself.
func until(b *Bench, so func() bool) {
	changed := make(chan struct{}, 1)
	b.Notify(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	for !so() {
		select {
		case <-changed:
		case <-time.After(time.Millisecond):
		}
	}
}

// do carries verbs out, each when the one before it has come to rest.
func do(t *testing.T, b *Bench, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if err := b.Do(l); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		rest(t, b)
	}
}

// expectOf claims something about a bench, in the words of scenario files.
func expectOf(t *testing.T, b *Bench, claims ...string) {
	t.Helper()
	for _, c := range claims {
		l, err := lang.ParseLine("expect " + c)
		if err != nil {
			t.Fatal(err)
		}
		if failure := expect.Compare(l.Expect, b.world()); failure != nil {
			t.Error(failure)
		}
	}
}

func TestTheVerbsSettleAnUnknownByHand(t *testing.T) {
	t.Parallel()
	b := bench(t, "c-commit-then-drop", Options{})
	do(t, b, "fault commit-then-drop", "trigger fulfill payload.json")
	expectOf(t, b, "belief unknown", "verdict unresolved")
	do(t, b, "lookup", "record")
	expectOf(t, b, "run succeeded", "requests 1", "jobs 1", "verdict one-effect")
}

func TestAVerbThatDoesNotFitIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	b := bench(t, "a-fail-before-commit", Options{})
	for line, want := range map[string]string{
		"fault explode":           "explode",
		"contract nobody":         "nobody",
		"trigger nothing":         "nothing",
		"trigger fulfill no.json": "no.json",
		"lookup":                  "there is no run yet",
		"record":                  "there is no run yet",
		"cancel":                  "no run is at work",
		"expire":                  "never forgets a key",
		"assume {}{":              "",
		"dance":                   "unknown verb",
		"quit":                    "not a verb of a bench",
	} {
		err := b.Do(line)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a refusal with %q", line, err, want)
		}
	}
	if n := b.Timeline().Len(); n != 0 {
		t.Errorf("the timeline has %d entries of verbs that were refused", n)
	}
}

func TestAMistypedFaultIsToldWhatIsNear(t *testing.T) {
	t.Parallel()
	b := bench(t, "a-fail-before-commit", Options{})
	for line, want := range map[string]string{
		"fault nope":    `unknown fault "nope": did you mean "none"?`,
		"fault explode": `unknown fault "explode"; the names are ` + strings.Join(fault.Names(), ", "),
	} {
		if err := b.Do(line); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", line, err, want)
		}
	}
}

func TestARefusalOfTheEngineIsOnTheTimeline(t *testing.T) {
	t.Parallel()
	b := bench(t, "c-commit-then-drop", Options{})
	do(t, b, "fault commit-then-drop", "trigger fulfill payload.json", "record")
	expectOf(t, b, `refused record "look it up first"`, "belief unknown")
	rows := b.Timeline().Latest().Wire
	if last := rows[len(rows)-1]; last.Kind != RowNote || !strings.Contains(last.Detail, "look it up first") {
		t.Errorf("the last row is %+v", last)
	}
}

func TestAFaultThatWasTakenDoesNotComeBack(t *testing.T) {
	t.Parallel()
	b := bench(t, "b-commit-then-error", Options{})
	for _, step := range []struct{ line, want string }{
		{"fault commit-then-error slow", "commit-then-error slow"},
		{"trigger fulfill payload.json", "slow"}, // the retry is a replay, and takes none
		{"crash", "slow"},
		{"restart", "slow"},
		{"contract ignores-key", "slow"},
		{"trigger fulfill payload.json", ""},
		{"crash", ""},
		{"restart", ""},
		{"contract seed", ""},
		{`fault {"name":"outage","reply":{"do":"status","status":503},"on":{"times":2}}`, `{"name":"outage","commit":{"when":"before-reply"},"reply":{"do":"status","status":503},"on":{"requests":"new","times":2}}`},
		{"trigger fulfill payload.json", `{"name":"outage","commit":{"when":"before-reply"},"reply":{"do":"status","status":503},"on":{"requests":"new","times":1}}`},
		{"trigger fulfill payload.json", ""},
		{`fault {"reply":{"do":"status","status":429}}`, `{"commit":{"when":"before-reply"},"reply":{"do":"status","status":429}}`}, // one without a name
		{"trigger fulfill payload.json", ""},
	} {
		do(t, b, step.line)
		var queued []string
		for _, f := range b.Timeline().Latest().Faults {
			queued = append(queued, f.Line())
		}
		if got := strings.Join(queued, " "); got != step.want {
			t.Errorf("after %s the queue is %q, want %q", step.line, got, step.want)
		}
	}
}

// Of two faults of one name, the one that is taken leaves the queue, whichever was queued first.
func TestTheQueueThatIsShownIsTheProviders(t *testing.T) {
	t.Parallel()
	b := bench(t, "b-commit-then-error", Options{})
	do(t, b, `fault {"name":"slow","on":{"key":"K1"}} {"name":"slow","on":{"key":"K2"}}`, `send POST /jobs {"orderId":"o"} key=K2`)
	v := b.Timeline().Latest()
	if q := v.Faults; len(q) != 1 || q[0].On.Key != "K1" {
		t.Errorf("K2's fault was taken, and queued are %+v", q)
	}
	if q := b.Timeline().View(1).Faults; len(q) != 2 {
		t.Errorf("before the request %+v were queued", q)
	}
	if words := v.Wire[0].Detail; words != "slow under key …K1 slow under key …K2" {
		t.Errorf("the row of the verb says %q", words)
	}
}

func TestRestartingALivingWorkerSaysThatItEnds(t *testing.T) {
	t.Parallel()
	b := bench(t, "b-commit-then-error", Options{})
	do(t, b, "restart")
	if r := b.Timeline().Latest().Wire[0]; r.Text != "crash" || r.Detail != "now, to start it again" {
		t.Errorf("the first row is %q, %q", r.Text, r.Detail)
	}
}

func TestUnavailableVerbsSayWhy(t *testing.T) {
	t.Parallel()
	b := bench(t, "c-commit-then-drop", Options{})
	why := func(verb, want string) {
		t.Helper()
		if got := b.Unavailable(verb); got != want {
			t.Errorf("%s: %q, want %q", verb, got, want)
		}
	}
	why("trigger", "")
	why("lookup", "there is no run yet")
	why("record", "there is no run yet")
	do(t, b, "fault commit-then-drop", "trigger fulfill payload.json")
	why("record", "")
	why("cancel", "no run is at work")
	do(t, b, "crash")
	why("trigger", "the worker is down: restart it")
	why("restart", "")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	why("trigger", "the bench is closed")
}

func TestDecisionsSayWhyTheyAreNotAvailable(t *testing.T) {
	t.Parallel()
	b := bench(t, "c-commit-then-drop", Options{})
	do(t, b, "fault commit-then-drop", "trigger fulfill payload.json")
	refused := func() (out []engine.Decision) {
		for _, o := range b.Timeline().Latest().Operations[0].Options {
			if o.Consequence == "" {
				t.Errorf("%s has no consequence", o.Decision)
			}
			if o.Unavailable != "" {
				out = append(out, o.Decision)
			}
		}
		return out
	}
	if got, want := refused(), []engine.Decision{engine.Record, engine.Resubmit, engine.Abandon}; !slices.Equal(got, want) {
		t.Errorf("before the look-up %v are refused, want %v", got, want)
	}
	do(t, b, "lookup")
	if got, want := refused(), []engine.Decision{engine.Resubmit, engine.Abandon}; !slices.Equal(got, want) {
		t.Errorf("after it found the record %v are refused, want %v", got, want)
	}
}

func TestAPausedBenchStandsStillAndStepsThroughItsGates(t *testing.T) {
	t.Parallel()
	b := bench(t, "b-commit-then-error", Options{Paused: true})
	b.Play()
	if s := b.State(); !s.Paused || s.AtRest || b.Timeline().Len() != 0 {
		t.Fatalf("a bench that begins paused: %+v", s)
	}
	var seen []string
	for range 4 {
		if err := b.Do("step"); err != nil {
			t.Fatal(err)
		}
		until(b, func() bool { p := b.State().Parked; return len(p) > 0 && !slices.Contains(seen, p[0]) })
		seen = append(seen, b.State().Parked[0])
	}
	if want := []string{"send POST /jobs", "commit POST /jobs", "reply POST /jobs", "record POST /jobs"}; !slices.Equal(seen, want) {
		t.Errorf("stepped through %v, want %v", seen, want)
	}
	if s := b.State(); !s.Stepping {
		t.Errorf("while it is held: %+v", s)
	}
	if err := b.Do("resume"); err != nil {
		t.Fatal(err)
	}
	rest(t, b)
	if s := b.State(); !s.AtRest || s.Stepping || s.Paused || len(s.Failed) > 0 || s.Err != "" {
		t.Errorf("after it was let go on: %+v", s)
	}
}

// A step never waits for what a dead worker would have written down.
func TestSteppingAfterACrash(t *testing.T) {
	t.Parallel()
	b := bench(t, "b-commit-then-error", Options{Paused: true})
	b.Play()
	held := func(at string) {
		t.Helper()
		if err := b.Do("step"); err != nil {
			t.Fatal(err)
		}
		until(b, func() bool { return slices.Equal(b.State().Parked, []string{at}) })
	}
	held("send POST /jobs")
	held("commit POST /jobs")
	held("reply POST /jobs")
	for _, line := range []string{"crash", "restart", "step"} {
		if err := b.Do(line); err != nil {
			t.Fatal(err)
		}
	}
	until(b, func() bool { p := b.State().Parked; return len(p) == 0 || p[0] != "reply POST /jobs" })
	rest(t, b)
	if s := b.State(); len(s.Parked) > 0 {
		t.Errorf("held at %v", s.Parked)
	}
}

func TestPauseIsASwitch(t *testing.T) {
	t.Parallel()
	b := bench(t, "b-commit-then-error", Options{})
	for _, want := range []bool{true, false, true, false} {
		if err := b.Do("pause"); err != nil {
			t.Fatal(err)
		}
		if got := b.State().Paused; got != want {
			t.Fatalf("paused is %v, want %v", got, want)
		}
	}
}

func TestFasterAndSlowerGoThroughTheSpeeds(t *testing.T) {
	t.Parallel()
	b := bench(t, "b-commit-then-error", Options{Speed: 1})
	for _, step := range []struct {
		verb string
		want float64
	}{{"faster", 2}, {"faster", 5}, {"slower", 2}, {"speed 0.3", 0.3}, {"faster", 0.5}, {"slower", 0.2}, {"slower", 0.1}, {"slower", 0.1},
		{"speed 100", 100}, {"faster", 0}, {"faster", 0}, {"slower", 100}} {
		if err := b.Do(step.verb); err != nil {
			t.Fatal(err)
		}
		if got := b.State().Speed; got != step.want {
			t.Errorf("%s: speed %v, want %v", step.verb, got, step.want)
		}
	}
}

func TestAPacedBackoffCountsDown(t *testing.T) {
	t.Parallel()
	b := bench(t, "a-fail-before-commit", Options{Speed: 0.1})
	b.Play()
	until(b, func() bool { return b.State().DueWhat == "retry of createFulfillment" })
	if s := b.State(); s.AtRest || s.Due <= 0 || s.Due > time.Second {
		t.Errorf("during the backoff: %+v", s)
	}
	if err := b.Do("speed 0"); err != nil {
		t.Fatal(err)
	}
	rest(t, b)
	expectOf(t, b, "run succeeded")
}

func TestAQuestionWaitsForItsAnswer(t *testing.T) {
	t.Parallel()
	b := bench(t, "b-commit-then-error", Options{Ask: true})
	b.Play()
	until(b, func() bool { return b.State().Asked != nil })
	q := b.State().Asked
	if q.Text != "How many jobs will exist at the end?" || q.Choices[q.Answer] != "1" || q.Because == "" {
		t.Errorf("asked %+v", q)
	}
	expectOf(t, b, "runs 0")
	b.Answer()
	rest(t, b)
	if s := b.State(); s.Asked != nil || s.Playing {
		t.Errorf("after the answer: %+v", s)
	}
	expectOf(t, b, "run succeeded", "jobs 1")
}

func TestAScriptThatCannotGoOnSaysWhere(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"title T\ntrigger go\nwait\nlookup\n":            "own.txtar:4: lookup was refused",
		"title T\nwait for run succeeded\n":              "own.txtar:2: wait: the simulation is idle and the condition is still false",
		"title T\ncrash\nlookup\n":                       "own.txtar:3: lookup was refused: the worker is down",
		"title T\nexpire\n":                              "own.txtar:2: expire: the contract seed never forgets a key",
		"title T\ntrigger go\nassume {\"origins\":{}}\n": "own.txtar:3: assume: a run is at work",
	} {
		src := script + "-- w.woml --\n<woml><workflow id=\"w\"><triggers><manual id=\"go\" /></triggers><steps><step id=\"s\"><script>await new Promise((go) => setTimeout(go, 1000)); return 1;</script></step></steps></workflow></woml>\n"
		s, err := lang.Parse("own.txtar", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		r := replay(t, s, Options{})
		if r.Passed() || !strings.HasPrefix(r.Stopped, want) {
			t.Errorf("stopped with %q, want %q", r.Stopped, want)
		}
	}
}

func TestAnExpectationThatIsNotMetIsReportedWithItsLine(t *testing.T) {
	t.Parallel()
	src, err := catalogueFiles.ReadFile("catalogue/a-fail-before-commit.txtar")
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(src), "expect jobs 1", "expect jobs 2", 1)
	line := 1 + strings.Count(broken[:strings.Index(broken, "expect jobs 2")], "\n")
	s, err := lang.Parse("mine.txtar", []byte(broken))
	if err != nil {
		t.Fatal(err)
	}
	r := replay(t, s, Options{})
	if len(r.Failures) != 1 || r.Failures[0].Line != line || r.Passed() {
		t.Fatalf("the report says %v", r.Complaints())
	}
	if got := r.Complaints()[0]; !strings.Contains(got, "mine.txtar:") || !strings.Contains(got, "expected jobs 2, seen 1 effect in jobs") {
		t.Errorf("it says %q", got)
	}
}

func TestClosingRemovesTheDatabases(t *testing.T) {
	t.Parallel()
	b := bench(t, "unique-insert", Options{})
	b.Play()
	rest(t, b)
	dir := b.folder
	if _, err := os.Stat(dir); dir == "" || err != nil {
		t.Fatalf("no database folder while the bench is open: %q, %v", dir, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestABenchCanBeClosedInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{Mode: Simulated, Speed: 0.1}, {Mode: Sockets, Speed: 0.1}, {Mode: Simulated, Wall: true}, {Mode: Sockets, Wall: true}, {Paused: true}} {
		for _, script := range []string{
			"fault commit-then-hang\ntrigger fulfill payload.json\nwait",
			"fault fail-before-commit\ntrigger fulfill payload.json\nadvance 500ms\nwait",
			"fault late-commit\ntrigger fulfill payload.json\nadvance 1h",
			"fault slow\nsend POST /jobs {} key=k\nstep",
		} {
			if o.Wall && strings.HasSuffix(script, "step") {
				continue // nobody can hold that clock
			}
			b := bench(t, "b-commit-then-error", o)
			for line := range strings.SplitSeq(script, "\n") {
				if err := b.Do(line); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestOnTheWallClock(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a-fail-before-commit", "b-commit-then-error", "c2-look-up-then-record", "d-new-key-per-attempt", "crash-after-the-effect"} {
		for _, mode := range []string{Simulated, Sockets} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				s, err := Find(name)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range replay(t, s, Options{Mode: mode, Wall: true}).Complaints() {
					t.Error(c)
				}
			})
		}
	}
}

func TestChangesAreTold(t *testing.T) {
	t.Parallel()
	b := bench(t, "b-commit-then-error", Options{})
	var told atomic.Int64
	b.Notify(func() { told.Add(1) })
	b.Play()
	rest(t, b)
	if n := told.Load(); n < int64(b.Timeline().Len()/4) {
		t.Errorf("told %d times of %d entries", n, b.Timeline().Len())
	}
}

func TestTimesTellTheOrder(t *testing.T) {
	t.Parallel()
	s, err := Find("c2-look-up-then-record")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{Simulated, Sockets} {
		v := replay(t, s, Options{Mode: mode}).View
		var log, rows []string
		for _, e := range v.Log {
			log = append(log, fmt.Sprintf("%d:%s", v.Since(e.At).Milliseconds(), e.Kind))
		}
		if got, want := strings.Join(log, " "), "1:received 1:new 2:commit 3:reset 4:received 4:look-up 5:reply"; got != want {
			t.Errorf("%s: the provider's log is %s, want %s", mode, got, want)
		}
		for _, r := range v.Wire {
			if r.Kind == RowSend || r.Kind == RowCommit || r.Kind == RowBroken || r.Kind == RowReply {
				rows = append(rows, fmt.Sprintf("%d:%s", v.Since(r.At).Milliseconds(), r.Text))
			}
		}
		if got, want := strings.Join(rows, ", "), "0:POST /jobs, 2:commit, 3:connection reset, 4:look up …303c, 5:200"; got != want {
			t.Errorf("%s: the wire shows %s, want %s", mode, got, want)
		}
	}
}

func TestOnTheSameInstantIsAWarning(t *testing.T) {
	t.Parallel()
	src := strings.Replace(smallScenario, "trigger go", `fault {"name":"just-late","reply":{"do":"normal","slow":"1997ms"}}`+"\ntrigger go", 1)
	src = strings.Replace(src, "return 1;", `const r = await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/jobs", json: {}, timeout: "2s", idempotency: { header: "Idempotency-Key", value: "k" } }); return r.status;`, 1)
	src = strings.Replace(src, "expect run succeeded\n", "", 1)
	s, err := lang.Parse("instant.txtar", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if w := replay(t, s, Options{}).Warnings; len(w) != 1 || !strings.Contains(w[0], "at 2.000s a deadline and something else fall on the same instant") {
		t.Errorf("the warnings are %q", w)
	}
	plain, err := Find("timeout-after-the-commit")
	if err != nil {
		t.Fatal(err)
	}
	if w := replay(t, plain, Options{}).Warnings; len(w) != 0 {
		t.Errorf("without a coincidence it warns %q", w)
	}
}

func TestWhatAScriptPrintsIsOnTheTimeline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script, text string
		undo         bool
	}{
		"a step":         {`console.warn("low on", { stock: 3 }); return 1;`, "one, warn: low on", false},
		"a compensation": {`return 1;</script><compensate><script>console.log("back"); return 1;</script></compensate></step><step id="two"><script>throw new Error("no");`, "~one, log: back", true},
	} {
		text := strings.Replace(smallScenario, "return 1;", c.script, 1)
		if c.undo {
			text = strings.Replace(text, "run succeeded", "run failed", 1)
		}
		s, err := lang.Parse("prints.txtar", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		r := replay(t, s, Options{})
		for _, row := range r.View.Wire {
			if row.Text == NoteConsole && (row.Run != r.View.Runs[0].ID || row.Step != "one" || row.Undo != c.undo) {
				t.Errorf("%s: its row is of run %q, step %q, undo %v", name, row.Run, row.Step, row.Undo)
			}
		}
		for _, e := range r.Timeline {
			if e.Note != nil && e.Note.Verb == NoteConsole {
				seen = append(seen, e.Note.Text)
			}
		}
		if len(seen) != 1 || !strings.HasPrefix(seen[0], c.text) {
			t.Errorf("%s: the timeline has %q", name, seen)
		}
	}
}

func TestWhatIsTypedWhileTimeStandsComesFirst(t *testing.T) {
	t.Parallel()
	b := bench(t, "a-fail-before-commit", Options{Paused: true})
	b.Play()
	for _, line := range []string{"contract ignores-key", "resume"} {
		if err := b.Do(line); err != nil {
			t.Fatal(err)
		}
	}
	rest(t, b)
	if first := b.Timeline().At(1).Note; first == nil || first.Verb != "contract" {
		t.Errorf("the timeline begins with %+v", b.Timeline().At(1))
	}
}
