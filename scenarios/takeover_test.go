package scenarios

import (
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/scenarios/lang"
)

// inTheBackoff is a bench whose script waits, while the run waits for its second attempt.
func inTheBackoff(t *testing.T, o Options) *Bench {
	t.Helper()
	o.Speed = 0.1
	b := bench(t, "a-fail-before-commit", o)
	b.Play()
	until(b, func() bool { return b.State().DueWhat == "retry of createFulfillment" })
	return b
}

func TestWhoeverActsDuringAWaitTakesOver(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{Simulated, Sockets} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			b := inTheBackoff(t, Options{Mode: mode})
			if s := b.State(); s.TookOver != "" {
				t.Errorf("before anybody did anything it says %q", s.TookOver)
			}
			do(t, b, "crash")
			if s := b.State(); s.TookOver != TookOver || s.Playing || s.Err != "" || len(s.Failed) > 0 {
				t.Errorf("after the crash: %+v", s)
			}
			if err := b.Do("speed 0"); err != nil {
				t.Fatal(err)
			}
			do(t, b, "restart")
			expectOf(t, b, "run succeeded", "attempts 2", "jobs 1")
			if s := b.State(); s.TookOver != TookOver || len(s.Failed) > 0 || !s.AtRest {
				t.Errorf("at the end: %+v", s)
			}
			sameTimeline(t, b, replayed(t, b))
		})
	}
}

func TestTakingOverOnTheWallClock(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{Simulated, Sockets} {
		b := bench(t, "a-fail-before-commit", Options{Mode: mode, Wall: true})
		b.Play()
		until(b, func() bool {
			v := b.Timeline().Latest()
			return len(v.Runs) == 1 && v.Runs[0].Status != engine.StatusQueued && v.Runs[0].Status != engine.StatusRunning
		})
		do(t, b, "crash", "restart")
		expectOf(t, b, "run succeeded", "attempts 2", "jobs 1")
		if s := b.State(); s.TookOver != TookOver || s.Playing || s.Err != "" || len(s.Failed) > 0 {
			t.Errorf("%s, at the end: %+v", mode, s)
		}
	}
}

func TestWhatOnlyLooksOrPacesTakesNothingOver(t *testing.T) {
	t.Parallel()
	b := inTheBackoff(t, Options{})
	for _, line := range []string{"pause", "resume", "expect attempts 1", "wait for attempts 2", "speed 0"} {
		if err := b.Do(line); err != nil {
			t.Fatal(err)
		}
	}
	rest(t, b)
	if s := b.State(); s.TookOver != "" || s.Err != "" || len(s.Failed) > 0 || s.Line != lastLine(b.Scenario()) {
		t.Errorf("at the end: %+v", s)
	}
	do(t, b, "rerun")
	if s := b.State(); s.TookOver != "" {
		t.Errorf("after the end of the script it says %q", s.TookOver)
	}
}

func lastLine(s *lang.Scenario) int { return s.Lines[len(s.Lines)-1].Line }

func TestATakeOverEndsWhateverTheScriptWaitsFor(t *testing.T) {
	t.Parallel()
	for _, wait := range []string{"advance 1h", "wait for attempts 3", "expire\nexpect attempts 3"} {
		s, err := lang.Parse("own.txtar", []byte("title Own\ncontract stripe-v1\n"+wait+"\ntrigger go\n"+
			"-- small.woml --\n<woml><workflow id=\"small\"><triggers><manual id=\"go\" /></triggers><steps><step id=\"one\"><script>return 1;</script></step></steps></workflow></woml>\n"))
		if err != nil {
			t.Fatal(err)
		}
		b := benchOf(t, s, Options{Speed: 1})
		if err := b.Do("advance 2s"); err != nil { // or the bench would be at rest while the script waits for attempts
			t.Fatal(err)
		}
		b.Play()
		for _, line := range []string{"clearfaults", "speed 0"} {
			if err := b.Do(line); err != nil {
				t.Fatal(err)
			}
		}
		rest(t, b)
		if v, st := b.Timeline().Latest(), b.State(); st.TookOver == "" || st.Err != "" || len(v.Runs) > 0 || v.Since(v.At) > 3*time.Second {
			t.Errorf("%s: %+v, %d runs", wait, st, len(v.Runs))
		}
	}
}

func TestWhoActsBeforeTheScriptBeginsStillSeesItBegin(t *testing.T) {
	t.Parallel()
	b := bench(t, "a-fail-before-commit", Options{Paused: true})
	b.Play()
	for _, line := range []string{"contract ignores-key", "resume"} {
		if err := b.Do(line); err != nil {
			t.Fatal(err)
		}
	}
	rest(t, b)
	expectOf(t, b, "run succeeded")
	if s := b.State(); s.TookOver == "" || len(s.Failed) > 0 || s.Err != "" {
		t.Errorf("at the end: %+v", s)
	}
}
