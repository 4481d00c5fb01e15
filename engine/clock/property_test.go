package clock

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// step is one thing that an actor of a random program does.
type step struct {
	what string
	d    time.Duration // of what takes time; few values, so that instants fall together
	n    int           // which event, context or point
	body []step        // of a child
}

func (s step) String() string { return fmt.Sprintf("%s %v %d %v", s.what, s.d, s.n, s.body) }

const shared = 3 // events and contexts that all actors of a program know

var steps = []string{"sleep", "set", "wait", "timer", "cancel", "sleep in context", "child", "hold", "timeout", "gate", "outside"}

// genSteps makes the body of an actor whose children are depth levels deep.
func genSteps(depth int) *rapid.Generator[[]step] {
	one := rapid.Custom(func(t *rapid.T) step {
		kinds := steps
		if depth == 0 {
			kinds = slices.DeleteFunc(slices.Clone(steps), func(k string) bool { return k == "child" })
		}
		s := step{
			what: rapid.SampledFrom(kinds).Draw(t, "what"),
			d:    time.Duration(rapid.IntRange(0, 3).Draw(t, "d")) * time.Second,
			n:    rapid.IntRange(0, shared-1).Draw(t, "n"),
		}
		if s.what == "child" {
			s.body = genSteps(depth-1).Draw(t, "body")
		}
		return s
	})
	return rapid.SliceOfN(one, 0, 8)
}

// program runs steps on a virtual clock and keeps a trace.
type program struct {
	trace
	events   [shared]Event
	contexts [shared]context.Context
	cancels  [shared]context.CancelCauseFunc
	actors   int
}

// play runs a program and returns its trace and how it ended.
func play(body []step) []string {
	v := NewVirtual(epoch)
	p := &program{trace: trace{v: v}}
	// Every actor that is parked is released by another one, an instant later in the queue.
	v.SetGate(func(at Point, subject string) Verdict {
		v.Go("release", func() {
			for _, parked := range v.Parked() {
				p.add("release of %s at %s", parked.Name, parked.Point)
				v.Release(parked.ID)
			}
		})
		return Park
	})
	err := v.Run(context.Background(), func() {
		for i := range shared {
			p.events[i] = v.NewEvent(fmt.Sprint("event ", i))
			parent := context.Background()
			if i > 0 {
				parent = p.contexts[i-1] // a chain: cancelling the first cancels all
			}
			p.contexts[i], p.cancels[i] = v.WithCancel(parent)
			v.OnCancel(p.contexts[i], func(cause error) { p.add("context %d: %v", i, cause) })
		}
		p.run("main", body)
	})
	lines := append(slices.Clone(p.lines), fmt.Sprint(err))
	v.Close()
	if idle := v.Idle(context.Background()); idle != nil {
		return []string{idle.Error()}
	}
	return lines
}

func (p *program) run(name string, body []step) {
	for _, s := range body {
		p.add("%s: %s", name, s.what)
		p.do(name, s)
	}
	p.add("%s: over", name)
}

func (p *program) do(name string, s step) {
	v := p.v
	switch s.what {
	case "sleep":
		v.Advance(s.d)
	case "set":
		p.events[s.n].Set()
	case "wait":
		if !p.events[s.n].IsSet() { // most programs would end in a deadlock at once
			v.AfterFunc(s.d, p.events[s.n].Set)
		}
		p.events[s.n].Wait()
	case "timer":
		stop := v.AfterFunc(s.d, func() { p.add("timer of %s", name) })
		if s.n == 0 {
			p.add("%s: prevented %v", name, stop())
		}
	case "cancel":
		p.cancels[s.n](errStop)
	case "sleep in context":
		p.add("%s: %v", name, v.Sleep(p.contexts[s.n], s.d))
	case "child":
		p.actors++
		child := fmt.Sprintf("%s.%d", name, p.actors)
		v.Go(child, func() { p.run(child, s.body) })
	case "hold":
		v.Hold(jitter)
	case "timeout":
		ctx, cancel := v.WithTimeout(p.contexts[s.n], s.d, errLate)
		over := v.NewEvent("a deadline or an event")
		v.OnCancel(ctx, func(cause error) { p.add("%s: %v", name, cause); over.Set() })
		v.AfterFunc(time.Second, over.Set)
		over.Wait()
		cancel(nil)
	case "gate":
		v.Gate(AtCommit, name)
	case "outside":
		wire := v.Wire(fmt.Sprint(name, " ", len(p.lines)))
		v.Outside(jitter)
		wire.Close()
	}
}

// jitter takes an unforeseeable time, and gives other goroutines their turn.
func jitter() {
	for range rand.IntN(10) {
		over := make(chan struct{})
		go close(over)
		<-over
	}
}

// Any program gives one trace, however its real waits go, and time never goes back.
func TestRandomProgramsRepeat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var body []step
		for range rapid.IntRange(1, 5).Draw(t, "actors") {
			body = append(body, step{what: "child", body: genSteps(1).Draw(t, "program")})
		}
		first := play(body)
		for range 3 {
			if again := play(body); !slices.Equal(first, again) {
				t.Fatalf("first\n%s\nagain\n%s", strings.Join(first, "\n"), strings.Join(again, "\n"))
			}
		}
		var last time.Duration
		for _, line := range first[:len(first)-1] {
			at, err := time.ParseDuration(strings.Fields(line)[0])
			if err != nil || at < last {
				t.Fatalf("%v after %v: %v\n%s", at, last, err, strings.Join(first, "\n"))
			}
			last = at
		}
	})
}

// Timers go off at their time, in the order of time and registration, whatever was stopped meanwhile.
func TestTimersGoOffInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type due struct{ at, i int }
		times := rapid.SliceOfN(rapid.IntRange(0, 20), 1, 100).Draw(t, "times")
		stopped := rapid.SliceOfN(rapid.IntRange(0, len(times)-1), 0, 50).Draw(t, "stopped")
		var want, got []due
		for i, at := range times {
			if !slices.Contains(stopped, i) {
				want = append(want, due{at, i})
			}
		}
		slices.SortStableFunc(want, func(a, b due) int { return a.at - b.at })

		v := NewVirtual(epoch)
		defer v.Close()
		if err := v.Run(context.Background(), func() {
			stops := make([]func() bool, len(times))
			for i, at := range times {
				stops[i] = v.AfterFunc(time.Duration(at), func() { got = append(got, due{int(v.Now().Sub(epoch)), i}) })
			}
			for _, i := range stopped {
				stops[i]()
			}
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
