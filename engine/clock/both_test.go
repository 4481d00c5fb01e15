package clock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// journal is a list that several goroutines write.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) note(line string) func() { return func() { j.add("%s", line) } }

func (j *journal) check(t *testing.T, want string) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if got := strings.Join(j.lines, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// onBoth runs f on either clock: on the wall clock in a bubble whose real time is fake.
func onBoth(t *testing.T, f func(t *testing.T, c Clock)) {
	t.Helper()
	t.Run("wall", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { f(t, NewWall()) })
	})
	t.Run("virtual", func(t *testing.T) {
		t.Parallel()
		v := NewVirtual(epoch)
		defer v.Close()
		if err := v.Run(soon(t), func() { f(t, v) }); err != nil {
			t.Error(err)
		}
	})
}

// TestBothClocks lists what holds on either clock. want is what do says, in order.
func TestBothClocks(t *testing.T) {
	t.Parallel()
	bg := context.Background()
	say := func(j *journal, what string) func(error) {
		return func(cause error) { j.add("%s: %v", what, cause) }
	}
	type key struct{}
	cases := []struct {
		name string
		do   func(c Clock, j *journal)
		want string
	}{
		{"a sleep lasts as long as it says", func(c Clock, j *journal) {
			from := c.Now()
			j.add("%v after %v", c.Sleep(bg, 90*time.Minute), c.Now().Sub(from))
		}, "<nil> after 1h30m0s"},
		{"a sleep of nothing and less is over at once", func(c Clock, j *journal) {
			from := c.Now()
			j.add("%v %v after %v", c.Sleep(bg, 0), c.Sleep(bg, -time.Hour), c.Now().Sub(from))
		}, "<nil> <nil> after 0s"},
		{"a sleep that is cancelled returns the cause", func(c Clock, j *journal) {
			from := c.Now()
			ctx, cancel := c.WithTimeout(bg, time.Second, errLate)
			defer cancel(nil)
			j.add("%v after %v", c.Sleep(ctx, time.Hour), c.Now().Sub(from))
		}, "too late after 1s"},
		{"a sleep on a cancelled context does not begin", func(c Clock, j *journal) {
			from := c.Now()
			ctx, cancel := c.WithCancel(bg)
			cancel(errStop)
			j.add("%v after %v", c.Sleep(ctx, time.Hour), c.Now().Sub(from))
		}, "stopped after 0s"},
		{"a function is called after its time", func(c Clock, j *journal) {
			from, over := c.Now(), c.NewEvent("the call")
			stop := c.AfterFunc(time.Minute, func() { j.add("called after %v", c.Now().Sub(from)); over.Set() })
			over.Wait()
			j.add("prevented %v", stop())
		}, "called after 1m0s, prevented false"},
		{"a function after no time is called", func(c Clock, j *journal) {
			over := c.NewEvent("the call")
			c.AfterFunc(0, over.Set)
			over.Wait()
			j.add("called")
		}, "called"},
		{"a stopped function is not called", func(c Clock, j *journal) {
			stop := c.AfterFunc(time.Minute, j.note("called"))
			j.add("prevented %v", stop())
			j.add("prevented %v", stop())
			_ = c.Sleep(bg, time.Hour)
		}, "prevented true, prevented false"},
		{"what was written before Set is seen after Wait, by all", func(c Clock, j *journal) {
			e, all := c.NewEvent("the value"), [2]Event{c.NewEvent("1"), c.NewEvent("2")}
			value := 0
			for _, seen := range all {
				c.Go("reader", func() { e.Wait(); j.add("%d", value); seen.Set() })
			}
			j.add("%v", e.IsSet())
			value = 42
			e.Set()
			e.Set()
			all[0].Wait()
			all[1].Wait()
			j.add("%v", e.IsSet())
		}, "false, 42, 42, true"},
		{"callbacks run in order, before Done closes", func(c Clock, j *journal) {
			ctx, cancel := c.WithCancel(bg)
			for i := range 3 {
				c.OnCancel(ctx, func(cause error) { j.add("%d: %v, done %v", i, cause, ctx.Err() != nil) })
			}
			cancel(errStop)
			j.add("done %v %v", ctx.Err(), context.Cause(ctx))
		}, "0: stopped, done false, 1: stopped, done false, 2: stopped, done false, done context canceled stopped"},
		{"only the first cancellation counts", func(c Clock, j *journal) {
			ctx, cancel := c.WithCancel(bg)
			c.OnCancel(ctx, say(j, "cancelled"))
			cancel(errStop)
			cancel(errLate)
			c.OnCancel(ctx, say(j, "again"))
			j.add("%v", context.Cause(ctx))
		}, "cancelled: stopped, again: stopped, stopped"},
		{"no cause is context.Canceled", func(c Clock, j *journal) {
			ctx, cancel := c.WithCancel(bg)
			cancel(nil)
			j.add("%v", context.Cause(ctx))
		}, "context canceled"},
		{"a callback on a cancelled context runs at once", func(c Clock, j *journal) {
			ctx, cancel := c.WithCancel(bg)
			cancel(errStop)
			c.OnCancel(ctx, say(j, "cancelled"))()
			j.add("after")
		}, "cancelled: stopped, after"},
		{"a callback that is added while others run, runs too", func(c Clock, j *journal) {
			ctx, cancel := c.WithCancel(bg)
			c.OnCancel(ctx, func(error) { j.add("first"); c.OnCancel(ctx, say(j, "second")) })
			cancel(errStop)
		}, "first, second: stopped"},
		{"a stopped callback does not run", func(c Clock, j *journal) {
			ctx, cancel := c.WithCancel(bg)
			var stop func()
			c.OnCancel(ctx, func(error) { j.add("first"); stop() })
			stop = c.OnCancel(ctx, say(j, "second"))
			cancel(errStop)
			stop()
		}, "first"},
		{"a deadline cancels with its cause", func(c Clock, j *journal) {
			from, over := c.Now(), c.NewEvent("the deadline")
			ctx, cancel := c.WithTimeout(bg, 24*time.Hour, errLate)
			c.OnCancel(ctx, func(cause error) { j.add("%v after %v", cause, c.Now().Sub(from)); over.Set() })
			over.Wait()
			cancel(errStop)
			<-ctx.Done()
			j.add("%v", context.Cause(ctx))
		}, "too late after 24h0m0s, too late"},
		{"a deadline that is over is no deadline", func(c Clock, j *journal) {
			ctx, cancel := c.WithTimeout(bg, 0, errLate)
			j.add("%v", context.Cause(ctx))
			cancel(errStop)
			j.add("%v", context.Cause(ctx))
		}, "too late, too late"},
		{"a deadline without a cause has the usual one", func(c Clock, j *journal) {
			ctx, cancel := c.WithTimeout(bg, -1, nil)
			defer cancel(nil)
			j.add("%v", context.Cause(ctx))
		}, "context deadline exceeded"},
		{"a cancelled deadline does not come", func(c Clock, j *journal) {
			ctx, cancel := c.WithTimeout(bg, time.Minute, errLate)
			c.OnCancel(ctx, say(j, "cancelled"))
			cancel(errStop)
			_ = c.Sleep(bg, time.Hour)
			j.add("%v", context.Cause(ctx))
		}, "cancelled: stopped, stopped"},
		{"no deadline is told: a dialer would take it for real time", func(c Clock, j *journal) {
			ctx, cancel := c.WithTimeout(bg, time.Minute, errLate)
			defer cancel(nil)
			_, told := ctx.Deadline()
			j.add("%v", told)
		}, "false"},
		{"children are cancelled with the parent's cause, in order of registration", func(c Clock, j *journal) {
			top, cancel := c.WithCancel(bg)
			c.OnCancel(top, say(j, "top 1"))
			one, cancelOne := c.WithTimeout(top, time.Hour, errLate)
			defer cancelOne(nil)
			c.OnCancel(top, say(j, "top 2"))
			below, cancelBelow := c.WithCancel(one)
			defer cancelBelow(nil)
			c.OnCancel(one, func(error) { j.add("one: below is done %v", below.Err() != nil) })
			c.OnCancel(below, func(error) { j.add("below: one is done %v", one.Err() != nil) })
			cancel(errStop)
			j.add("%v %v", context.Cause(one), context.Cause(below))
		}, "top 1: stopped, below: one is done false, one: below is done true, top 2: stopped, stopped stopped"},
		{"a child is no concern of its parent once it is over", func(c Clock, j *journal) {
			top, cancel := c.WithCancel(bg)
			child, cancelChild := c.WithCancel(top)
			c.OnCancel(child, say(j, "child"))
			cancelChild(errLate)
			j.add("%v", top.Err())
			cancel(errStop)
		}, "child: too late, <nil>"},
		{"a child of a cancelled parent is cancelled", func(c Clock, j *journal) {
			top, cancel := c.WithCancel(bg)
			c.OnCancel(top, func(error) {
				early, cancelEarly := c.WithCancel(top)
				j.add("%v", context.Cause(early))
				cancelEarly(nil)
			})
			cancel(errStop)
			late, cancelLate := c.WithTimeout(top, time.Hour, errLate)
			j.add("%v", context.Cause(late))
			cancelLate(nil)
		}, "stopped, stopped"},
		{"a context with a value below ours is ours", func(c Clock, j *journal) {
			ctx, cancel := c.WithCancel(bg)
			valued := context.WithValue(ctx, key{}, "v")
			c.OnCancel(valued, say(j, "valued"))
			child, cancelChild := c.WithCancel(valued)
			defer cancelChild(nil)
			c.OnCancel(child, say(j, fmt.Sprint("child with ", child.Value(key{}))))
			cancel(errStop)
			j.add("%v", context.Cause(valued))
		}, "valued: stopped, child with v: stopped, stopped"},
		{"a standard context below ours follows ours", func(c Clock, j *journal) {
			ctx, cancel := c.WithCancel(bg)
			std, cancelStd := context.WithCancel(ctx)
			defer cancelStd()
			c.OnCancel(std, say(j, "std"))
			cancel(errStop)
			j.add("%v", context.Cause(std))
		}, "std: stopped, stopped"},
		{"a standard context below ours can be cancelled alone", func(c Clock, j *journal) {
			ctx, cancel := c.WithCancel(bg)
			std, cancelStd := context.WithCancelCause(ctx)
			called, followed := make(chan error, 1), make(chan error, 1)
			c.OnCancel(std, func(cause error) { called <- cause })
			c.OnCancel(std, say(j, "stopped one"))()
			child, cancelChild := c.WithCancel(std)
			defer cancelChild(nil)
			c.OnCancel(child, func(cause error) { followed <- cause })
			c.Hold(func() { // it comes through goroutines of the standard library
				cancelStd(errLate)
				j.add("std: %v", <-called)
				j.add("child: %v", <-followed)
			})
			cancel(errStop)
		}, "std: too late, child: too late"},
		{"a foreign context is followed", func(c Clock, j *journal) {
			foreign, cancel := context.WithCancelCause(bg)
			called := make(chan struct{})
			c.OnCancel(foreign, func(cause error) { j.add("%v", cause); close(called) })
			c.Hold(func() { cancel(errLate); <-called }) // it comes through a goroutine of the standard library
			c.OnCancel(foreign, say(j, "again"))
			child, cancelChild := c.WithTimeout(foreign, time.Hour, errStop)
			j.add("%v", context.Cause(child))
			cancelChild(nil)
		}, "too late, again: too late, too late"},
		{"a context that nobody cancels calls nobody", func(c Clock, j *journal) {
			c.OnCancel(bg, say(j, "cancelled"))()
		}, ""},
		{"outside, held and entered code runs", func(c Clock, j *journal) {
			c.Outside(j.note("outside"))
			c.Hold(j.note("held"))
			c.Gate(AtSend, "nobody asks")
			c.Hold(func() {
				over := make(chan struct{})
				go func() { leave := c.Enter("handler"); j.add("in"); leave(); leave(); close(over) }()
				<-over
			})
		}, "outside, held, in"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, c Clock) {
				j := &journal{}
				tc.do(c, j)
				j.check(t, tc.want)
			})
		})
	}
}

func TestWallGate(t *testing.T) {
	t.Parallel()
	w := NewWall()
	var seen []string
	w.Gate(AtSend, "before")
	w.SetGate(func(p Point, subject string) { seen = append(seen, string(p)+" "+subject) })
	w.Gate(AtCommit, "order-42")
	w.SetGate(nil)
	w.Gate(AtReply, "after")
	if !slices.Equal(seen, []string{"commit order-42"}) {
		t.Error(seen)
	}
}

func TestWallWireHoldsNothing(t *testing.T) {
	t.Parallel()
	w := NewWall().Wire("a")
	w.OnGiveUp(func() { t.Error("told") })
	w.Move()
	w.Still()
	w.GiveUp()
	w.Close()
}

// A panic is told of with its actor's name and the stack of the panic itself.
func TestPanicsAreTold(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	cases := []struct {
		name, actor string
		start       func(c Clock)
	}{
		{"an actor", "worker", func(c Clock) { c.Go("worker", func() { explode(boom) }) }},
		{"a timer", "timer", func(c Clock) { c.AfterFunc(0, func() { explode(boom) }) }},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, c Clock) {
				told := c.NewEvent("the report")
				c.(interface {
					OnPanic(func(string, any, []byte))
				}).OnPanic(func(name string, value any, stack []byte) {
					if name != tc.actor || value != boom || !strings.Contains(string(stack), "clock.explode") {
						t.Errorf("told of %q, %v\n%s", name, value, stack)
					}
					told.Set()
				})
				tc.start(c)
				told.Wait()
			})
		})
	}
}

// Where nobody is told, a panic ends the program as any other does: seen in a program of its own.
func TestPanicsOfWhichNobodyIsToldEndTheProgram(t *testing.T) {
	t.Parallel()
	const which = "CLOCK_TEST_PANIC_ON"
	clocks := map[string]Clock{"wall": NewWall(), "virtual": NewVirtual(epoch)}
	if c := clocks[os.Getenv(which)]; c != nil {
		c.Go("worker", func() { explode(errLate) })
		select {}
	}
	for name, c := range clocks {
		c.(interface {
			OnPanic(func(string, any, []byte))
		}).OnPanic(nil)
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), which+"="+name)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "clock.explode") || !strings.Contains(string(out), errLate.Error()) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func explode(with error) { panic(with) }
