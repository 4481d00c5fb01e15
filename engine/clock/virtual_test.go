package clock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

// onVirtual runs f as the first actor of a virtual clock and returns what Run says.
func onVirtual(t *testing.T, f func(v *Virtual, j *journal)) (*journal, error) {
	t.Helper()
	v, j := NewVirtual(epoch), &journal{}
	defer v.Close()
	return j, v.Run(soon(t), func() { f(v, j) })
}

// TestVirtualOrder lists in which order things happen on the virtual clock.
func TestVirtualOrder(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		do   func(v *Virtual, j *journal)
		want string
	}{
		{"actors start in the order of Go, after the one that started them waits", func(v *Virtual, j *journal) {
			for i := range 3 {
				v.Go("child", func() { j.add("%d", i) })
			}
			j.add("parent")
		}, "parent, 0, 1, 2"},
		{"those who wait for one event go on in the order in which they came", func(v *Virtual, j *journal) {
			e := v.NewEvent("e")
			for i := range 3 {
				v.Go("waiter", func() { e.Wait(); j.add("%d", i) })
			}
			v.Go("setter", func() { e.Set(); j.add("set") })
		}, "set, 0, 1, 2"},
		{"timers of one instant go off in the order of registration", func(v *Virtual, j *journal) {
			v.AfterFunc(2*time.Second, j.note("b1"))
			v.AfterFunc(time.Second, j.note("a1"))
			v.AfterFunc(2*time.Second, j.note("b2"))
			v.AfterFunc(time.Second, j.note("a2"))
		}, "a1, a2, b1, b2"},
		{"what a timer sets off happens before the next timer of that instant", func(v *Virtual, j *journal) {
			e := v.NewEvent("e")
			v.Go("waiter", func() { e.Wait(); j.add("woken") })
			v.Advance(0)
			v.AfterFunc(time.Second, func() { e.Set(); j.add("first") })
			v.AfterFunc(time.Second, j.note("second"))
		}, "first, woken, second"},
		{"a timer can prevent the next one of its instant", func(v *Virtual, j *journal) {
			var stop func() bool
			v.AfterFunc(time.Second, func() { j.add("prevented %v", stop()) })
			stop = v.AfterFunc(time.Second, j.note("second"))
		}, "prevented true"},
		{"a deadline that was set before the reply of the same instant wins", func(v *Virtual, j *journal) {
			ctx, cancel := v.WithTimeout(context.Background(), time.Second, errLate)
			defer cancel(nil)
			over := v.NewEvent("the reply")
			v.AfterFunc(time.Second, over.Set)
			v.OnCancel(ctx, func(cause error) { j.add("%v", cause); over.Set() })
			over.Wait()
			v.Advance(0)
			for _, c := range v.Coincidences() {
				j.add("%v %s", c.At.Sub(epoch), c.Deadline)
			}
		}, "too late, 1s too late"},
		{"two deadlines of one instant are no coincidence", func(v *Virtual, j *journal) {
			for range 2 {
				v.WithTimeout(context.Background(), time.Second, errLate)
			}
			v.WithTimeout(context.Background(), time.Minute, errLate)
			v.AfterFunc(time.Hour, func() { j.add("%d", len(v.Coincidences())) })
		}, "0"},
		{"of coincidences the latest hundred are kept", func(v *Virtual, j *journal) {
			for i := range 150 {
				v.WithTimeout(context.Background(), time.Duration(i+1)*time.Second, errLate)
				v.AfterFunc(time.Duration(i+1)*time.Second, func() {})
			}
			v.Advance(time.Hour)
			all := v.Coincidences()
			j.add("%d from %v", len(all), all[0].At.Sub(epoch))
		}, "100 from 51s"},
		{"the ready go on while one holds; those who hold come back in order", func(v *Virtual, j *journal) {
			second := make(chan struct{})
			v.Go("first", func() { v.Hold(func() { <-second }); j.add("first is back") })
			v.Go("second", func() { v.Hold(func() { close(second) }); j.add("second is back") })
			v.AfterFunc(time.Nanosecond, j.note("time goes on"))
			v.Go("ready", j.note("ready"))
		}, "ready, first is back, second is back, time goes on"},
		{"who entered comes back from Hold before the others, who may wait for it", func(v *Virtual, j *journal) {
			over := make(chan struct{})
			go func() {
				leave := v.Enter("handler")
				v.Hold(func() {})
				j.add("handler is back")
				leave()
				close(over)
			}()
			v.Hold(func() { <-over })
			j.add("caller is back")
		}, "handler is back, caller is back"},
		{"who comes in goes before who is ready", func(v *Virtual, j *journal) {
			v.Go("ready", j.note("ready"))
			v.Do("done", j.note("done"))
			v.Advance(0)
			j.add("next")
		}, "done, ready, next"},
		{"the next deadline is told", func(v *Virtual, j *journal) {
			_, any := v.NextDeadline()
			v.AfterFunc(time.Hour, func() {})
			v.AfterFunc(time.Minute, func() {})
			at, some := v.NextDeadline()
			j.add("%v, %v %v", any, some, at.Sub(epoch))
		}, "false, true 1m0s"},
		{"an endless wait is cut to the longest there is", func(v *Virtual, j *journal) {
			v.Advance(time.Hour)
			v.AfterFunc(math.MaxInt64, func() { j.add("%v", v.Now().Sub(epoch)) })
		}, time.Duration(math.MaxInt64).String()},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			j, err := onVirtual(t, tc.do)
			if err != nil {
				t.Fatal(err)
			}
			j.check(t, tc.want)
		})
	}
}

func TestTimeMayPassWhileOneIsOutside(t *testing.T) {
	t.Parallel()
	v := NewVirtual(epoch)
	defer v.Close()
	later := make(chan struct{})
	var back time.Duration
	over := v.Do("outside", func() {
		v.AfterFunc(time.Hour, func() { close(later) })
		v.Outside(func() { <-later })
		back = v.Now().Sub(epoch)
	})
	if <-over; back != time.Hour {
		t.Errorf("back after %v", back)
	}
}

func TestDeadlockNamesWhoWaitsForWhat(t *testing.T) {
	t.Parallel()
	many := func(n int) func(v *Virtual, j *journal) {
		return func(v *Virtual, j *journal) {
			v.Advance(time.Minute)
			for i := range n {
				v.Go(fmt.Sprint("worker ", i+1), v.NewEvent(fmt.Sprint("reply ", i+1)).Wait)
			}
			v.Go("sleeper", func() { v.Advance(time.Minute) })
		}
	}
	cases := []struct {
		name string
		do   func(v *Virtual, j *journal)
		want string // "": no deadlock
	}{
		{"nobody", many(0), ""},
		{"two", many(2), `deadlock at 2026-01-01T00:02:00Z: nothing is left that could happen, and "worker 1" waits for "reply 1", "worker 2" waits for "reply 2"`},
		{"many", many(12), `"worker 10" waits for "reply 10", and 2 more`},
		{"an event without a name", func(v *Virtual, _ *journal) { v.NewEvent("").Wait() }, `"main" waits for "an event"`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := onVirtual(t, tc.do)
			var deadlock *Deadlock
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
			} else if !errors.As(err, &deadlock) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	v := NewVirtual(epoch)
	defer v.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	err := v.Run(ctx, func() {
		v.Wire("never still")
		v.AfterFunc(time.Hour, func() { t.Error("time went on") })
		cancel(errStop)
	})
	if !errors.Is(err, errStop) || v.AtRest() {
		t.Errorf("got %v, at rest %v", err, v.AtRest())
	}
}

func TestDoAndIdleServeAScreen(t *testing.T) {
	t.Parallel()
	v, j := NewVirtual(epoch), &journal{}
	defer v.Close()
	news := make(chan bool, 10)
	v.Notify(func() { news <- v.AtRest() })
	if !v.AtRest() {
		t.Error("a new clock is not at rest")
	}
	v.Pause()
	done := v.Do("verb", func() { v.Advance(time.Hour); j.add("after %v", v.Now().Sub(epoch)) })
	if v.AtRest() || !v.Paused() {
		t.Error("paused with something to do, yet at rest")
	}
	j.check(t, "")
	v.Resume()
	<-done
	if err := v.Idle(soon(t)); err != nil {
		t.Error(err)
	}
	j.check(t, "after 1h0m0s")
	if busy, rest := <-news, <-news; busy || !rest || len(news) != 0 || v.Paused() {
		t.Errorf("told of rest: %v, %v, and %d more; paused %v", busy, rest, len(news), v.Paused())
	}
}

// An actor may end by runtime.Goexit, as it does in a test that fails, or by a panic that is told of.
func TestTheBatonIsNotLost(t *testing.T) {
	t.Parallel()
	j, err := onVirtual(t, func(v *Virtual, j *journal) {
		v.OnPanic(func(name string, value any, _ []byte) { j.add("%s: %v", name, value) })
		v.Go("one", func() { runtime.Goexit() })
		v.Go("two", func() { panic("boom") })
		v.Go("three", func() { v.Hold(func() { panic("held") }) })
		v.Advance(time.Second)
		j.add("over")
	})
	if err != nil {
		t.Error(err)
	}
	j.check(t, "two: boom, three: held, over")
}

func TestCloseLetsEverybodyGo(t *testing.T) {
	t.Parallel()
	v, j := NewVirtual(epoch), &journal{}
	v.SetGate(func(Point, string) Verdict { return Park })
	never := v.NewEvent("never")
	err := v.Run(soon(t), func() {
		v.Go("waiter", func() {
			never.Wait()
			j.add("waiter")
			never.Wait()
			j.add("waiter again")
		})
		v.Go("sleeper", func() {
			j.add("sleeper: %v", v.Sleep(context.Background(), time.Hour))
			j.add("sleeper: %v", v.Sleep(context.Background(), time.Hour))
		})
		v.AfterFunc(time.Hour, func() { t.Error("a dropped timer went off") })
		v.Go("parked", func() {
			v.Do("closer", func() { v.Close() })
			v.Gate(AtSend, "order-42")
			j.add("parked")
			v.Gate(AtSend, "order-42")
			j.add("parked again")
		})
	})
	if err != ErrClosed {
		t.Errorf("Run returned %v", err)
	}
	j.check(t, "waiter, sleeper: the virtual clock is closed, parked, parked again, waiter again, sleeper: the virtual clock is closed")
	never.Set()
	v.Close()
	if stop := v.AfterFunc(0, func() { t.Error("a timer of a closed clock went off") }); stop() {
		t.Error("it was prevented, not dropped")
	}
	<-v.Do("late", j.note("late"))
	if err := v.Idle(soon(t)); err != nil || len(v.live) != 0 {
		t.Errorf("%v, %d actors left", err, len(v.live))
	}
}

// A foreign cancellation takes its time to come to the clock; what is stopped until then does not run.
func TestACallbackCanBeStoppedWhileTheCancellationIsUnderWay(t *testing.T) {
	t.Parallel()
	_, err := onVirtual(t, func(v *Virtual, _ *journal) {
		foreign, cancel := context.WithCancel(context.Background())
		stop := v.OnCancel(foreign, func(error) { t.Error("it ran") })
		cancel()
		for ready := 0; ready == 0; runtime.Gosched() {
			v.mu.Lock()
			ready = len(v.ready)
			v.mu.Unlock()
		}
		stop()
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWaitingByNoActorIsRefused(t *testing.T) {
	t.Parallel()
	v := NewVirtual(epoch)
	defer v.Close()
	v.SetGate(func(Point, string) Verdict { return Park })
	waits := map[string]func(){
		"Event.Wait": v.NewEvent("e").Wait,
		"Sleep":      func() { v.Advance(time.Second) },
		"Gate":       func() { v.Gate(AtSend, "order-42") },
	}
	for name, wait := range waits {
		func() {
			defer func() {
				if got, want := fmt.Sprint(recover()), "clock: "+name+" by a goroutine that is no actor"; !strings.HasPrefix(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}()
			wait()
		}()
	}
	v.Outside(func() {}) // these have no baton to give on, and can be allowed
	v.Hold(func() {
		if v.AtRest() {
			t.Error("at rest in Hold")
		}
	})
}

// What goroutines that are no actors may do, they may do at any time and all at once.
func TestForeignGoroutines(t *testing.T) {
	t.Parallel()
	const goroutines, rounds = 8, 200
	v := NewVirtual(epoch)
	defer v.Close()
	var count int // guarded by the baton
	err := v.Run(soon(t), func() {
		over := make(chan struct{})
		for range goroutines {
			go func() {
				defer func() { over <- struct{}{} }()
				for i := range rounds {
					e := v.NewEvent("foreign")
					v.Go("go", func() { e.Wait(); count++ })
					v.AfterFunc(time.Duration(i%3)*time.Second, e.Set)
					v.AfterFunc(time.Hour, func() { t.Error("went off") })()
					<-v.Do("do", func() { count++; v.Advance(0) })
					leave := v.Enter("enter")
					count++
					v.Hold(runtime.Gosched)
					v.Outside(runtime.Gosched)
					count++
					leave()
					e.Set()
				}
			}()
		}
		v.Hold(func() {
			for range goroutines {
				<-over
			}
		})
	})
	if err != nil || count != 4*goroutines*rounds {
		t.Errorf("%v, counted %d", err, count)
	}
}

// On a closed clock a wait is over at once. Who waits in a loop for somebody that was
// on the disk, or on a socket, must still let them come back.
func TestAWaitInALoopLetsOthersComeBackAfterClose(t *testing.T) {
	t.Parallel()
	v, went, closed := NewVirtual(epoch), make(chan struct{}), make(chan struct{})
	var back bool // by the baton
	v.Go("holder", func() {
		v.Hold(func() { close(went); <-closed })
		back = true
	})
	v.Go("waiter", func() {
		for !back {
			v.NewEvent("the holder").Wait()
		}
	})
	<-went
	v.Close()
	close(closed)
	if err := v.Idle(soon(t)); err != nil {
		t.Error(err)
	}
}

func TestSleepFirstEndsBeforeWhatIsDueAtItsInstant(t *testing.T) {
	t.Parallel()
	v := NewVirtual(epoch)
	defer v.Close()
	j := &journal{}
	if err := v.Run(soon(t), func() {
		v.AfterFunc(time.Second, j.note("timer"))
		v.Go("sleeper", func() { v.Advance(time.Second); j.add("sleeper") })
		_ = v.SleepFirst(context.Background(), time.Second)
		j.add("first at %v", v.Now().Sub(epoch))
	}); err != nil {
		t.Fatal(err)
	}
	j.check(t, "first at 1s, timer, sleeper")
}

func TestEndOfInstantComesAfterAllThatHappensAtIt(t *testing.T) {
	t.Parallel()
	v := NewVirtual(epoch)
	defer v.Close()
	j := &journal{}
	if err := v.Run(soon(t), func() {
		v.AfterFunc(time.Second, j.note("later"))
		v.Go("other", func() { v.EndOfInstant(); j.add("second end") })
		v.Go("holder", func() {
			v.Hold(func() {})
			v.AfterFunc(0, j.note("timer of this instant"))
			v.Hold(j.note("held"))
		})
		v.EndOfInstant()
		j.add("first end at %v", v.Now().Sub(epoch))
		v.Go("last", j.note("what the first end set off"))
	}); err != nil {
		t.Fatal(err)
	}
	j.check(t, "held, timer of this instant, first end at 0s, what the first end set off, second end, later")
}

func TestEndOfInstantLastsOnlyAsLongAsTheClock(t *testing.T) {
	t.Parallel()
	v := NewVirtual(epoch)
	v.SetGate(func(Point, string) Verdict { return Park })
	over := make(chan struct{})
	v.Go("parked", func() { v.Gate(AtSend, "x") })
	v.Go("end", func() { v.EndOfInstant(); close(over) })
	if v.Close(); v.Idle(soon(t)) != nil {
		t.Error("the clock did not come to rest")
	}
	<-over
}
