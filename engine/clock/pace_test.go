package clock

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// paced runs f in a bubble where real time is fake, with a virtual clock; elapsed is the real time since.
func paced(t *testing.T, f func(t *testing.T, v *Virtual, elapsed func() time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		v := NewVirtual(epoch)
		defer v.Close()
		f(t, v, func() time.Duration { return time.Since(from) })
	})
}

// shows fails the test unless the clock shows this much and stands at that.
func shows(t *testing.T, v *Virtual, shown, now time.Duration) {
	t.Helper()
	if s, n := v.Shown().Sub(epoch), v.Now().Sub(epoch); s != shown || n != now {
		t.Errorf("shown %v, now %v; want %v and %v", s, n, shown, now)
	}
}

func TestSpeed(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		speed float64
		do    func(v *Virtual) // beside a virtual sleep of 100 s, from real second 10 on
		want  time.Duration    // in real time
	}{
		{"at once", 0, nil, 0},
		{"as fast as the wall", 1, nil, 100 * time.Second},
		{"a hundred times", 100, nil, time.Second},
		{"a third", 1. / 3, nil, 300 * time.Second},
		{"slower than one nap of the pacer", 1. / 360, nil, 10 * time.Hour},
		{"what is no number is at once", math.NaN(), nil, 0},
		{"what is negative is at once", -1, nil, 0},
		{"what is endless is at once", math.Inf(1), nil, 0},
		{"faster on the way", 1, func(v *Virtual) { v.SetSpeed(9) }, 20 * time.Second},
		{"slower on the way", 1, func(v *Virtual) { v.SetSpeed(0.5) }, 190 * time.Second},
		{"at once on the way", 1, func(v *Virtual) { v.SetSpeed(0) }, 10 * time.Second},
		{"paused on the way", 1, func(v *Virtual) { v.Pause(); time.Sleep(time.Hour); v.Resume() }, time.Hour + 100*time.Second},
		{"with an actor on the way", 1, func(v *Virtual) { <-v.Do("verb", func() {}) }, 100 * time.Second},
		{"with a timer on the way", 1, func(v *Virtual) { v.AfterFunc(time.Minute, func() {}) }, 100 * time.Second},
		{"with a timer that is over before it is set", 1, func(v *Virtual) { v.AfterFunc(time.Second, func() {}) }, 100 * time.Second},
		{"with time held on the way", 1, func(v *Virtual) { v.Hold(func() { time.Sleep(time.Hour) }) }, time.Hour + 100*time.Second},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			paced(t, func(t *testing.T, v *Virtual, elapsed func() time.Duration) {
				v.SetSpeed(tc.speed)
				over := v.Do("sleeper", func() { v.Advance(100 * time.Second) })
				if tc.do != nil {
					time.Sleep(10 * time.Second) // of the bubble: it costs nothing
					tc.do(v)
				}
				<-over
				if elapsed() != tc.want {
					t.Errorf("took %v, want %v", elapsed(), tc.want)
				}
				shows(t, v, 100*time.Second, 100*time.Second)
			})
		})
	}
}

func TestShownPassesWhileNowStands(t *testing.T) {
	t.Parallel()
	paced(t, func(t *testing.T, v *Virtual, elapsed func() time.Duration) {
		v.SetSpeed(10)
		over := v.Do("sleeper", func() { v.Advance(100 * time.Second) })
		time.Sleep(3 * time.Second)
		shows(t, v, 30*time.Second, 0)

		v.Pause()
		time.Sleep(time.Hour)
		shows(t, v, 30*time.Second, 0)
		v.Resume()
		time.Sleep(time.Second)
		shows(t, v, 40*time.Second, 0)

		<-v.Do("verb", func() { shows(t, v, 40*time.Second, 0) })
		behind := make(chan struct{})
		v.AfterFunc(15*time.Second, func() { shows(t, v, 40*time.Second, 15*time.Second); close(behind) })
		<-behind
		synctest.Wait()
		shows(t, v, 40*time.Second, 15*time.Second)
		time.Sleep(time.Second)
		shows(t, v, 50*time.Second, 15*time.Second)

		<-over
		if elapsed() != time.Hour+10*time.Second {
			t.Errorf("took %v", elapsed())
		}
		shows(t, v, 100*time.Second, 100*time.Second)
	})
}

func TestATimerStoppedOnTheWayLeavesThePacerAsleep(t *testing.T) {
	t.Parallel()
	paced(t, func(t *testing.T, v *Virtual, _ func() time.Duration) {
		v.SetSpeed(1)
		stop := v.AfterFunc(time.Minute, func() { t.Error("it went off") })
		time.Sleep(10 * time.Second)
		if !stop() || !v.AtRest() {
			t.Error("not prevented, or not at rest")
		}
		time.Sleep(time.Hour)
		shows(t, v, 10*time.Second, 0)
	})
}

func TestCloseEndsAPacedSleep(t *testing.T) {
	t.Parallel()
	paced(t, func(t *testing.T, v *Virtual, elapsed func() time.Duration) {
		v.SetSpeed(1)
		var err error
		over := v.Do("sleeper", func() { err = v.Sleep(context.Background(), time.Hour) })
		time.Sleep(time.Second)
		v.Close()
		<-over
		if err != ErrClosed || elapsed() != time.Second {
			t.Errorf("%v after %v", err, elapsed())
		}
		v.SetSpeed(2) // starts no pacer any more
		v.Pause()
		if v.Paused() {
			t.Error("a closed clock is paused")
		}
	})
}

func TestAnIntervalIsPacedEventByEvent(t *testing.T) {
	t.Parallel()
	paced(t, func(t *testing.T, v *Virtual, elapsed func() time.Duration) {
		v.SetSpeed(2)
		if err := v.Run(context.Background(), func() {
			for i := range 10 {
				v.Advance(time.Second)
				if want := time.Duration(i+1) * time.Second / 2; elapsed() != want {
					t.Errorf("event %d after %v, want %v", i, elapsed(), want)
				}
			}
		}); err != nil {
			t.Error(err)
		}
	})
}
