package clock

import (
	"fmt"
	"testing"
	"time"
)

// TestWire lists what one request does to time. A timer of one second tells whether time went on.
func TestWire(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		do   func(v *Virtual, j *journal)
		want string
	}{
		{"time stands still while bytes move, and goes on when both ends wait", func(v *Virtual, j *journal) {
			w := v.Wire("a")
			w.Move()
			v.Hold(func() {})
			j.add("moving")
			w.Still()
			w.Still()
			v.Advance(2 * time.Second)
			j.add("still")
			w.Close()
		}, "moving, timer, still"},
		{"a closed wire holds nothing any more", func(v *Virtual, j *journal) {
			w := v.Wire("a")
			w.Close()
			w.Close()
			w.Move()
			w.GiveUp()
			w.OnGiveUp(j.note("told"))
			v.Advance(2 * time.Second)
			j.add("%d wires", len(v.wires))
		}, "timer, 0 wires"},
		{"a request without an id holds nothing", func(v *Virtual, j *journal) {
			w := v.Wire("")
			w.Move()
			v.Advance(2 * time.Second)
			j.add("%d wires", len(v.wires))
		}, "timer, 0 wires"},
		{"both ends have one wire, and the caller's giving up is told once to each callback", func(v *Virtual, j *journal) {
			caller := v.Wire("a")
			provider := v.Wire("a")
			provider.OnGiveUp(j.note("first"))
			provider.OnGiveUp(j.note("second"))
			provider.Still()
			caller.GiveUp()
			caller.GiveUp()
			provider.Still() // comes too late to let time go on
			j.add("%d moves", v.moving())
			provider.OnGiveUp(j.note("third"))
			caller.Close()
		}, "first, second, 1 moves, third, timer"},
		{"an id can be used again", func(v *Virtual, j *journal) {
			for range 2 {
				w := v.Wire("a")
				j.add("moving %v", w.(*wire).moving)
				w.GiveUp()
				w.Close()
			}
		}, "moving true, moving true, timer"},
		{"a provider that comes after the caller gave up is told so", func(v *Virtual, j *journal) {
			w := v.Wire("a")
			w.GiveUp()
			w.Close()
			entered(v, func() { v.Wire("a").OnGiveUp(j.note("alone")) })
			entered(v, func() { v.Wire("b").OnGiveUp(j.note("alone?")) })
		}, "alone, timer"},
		{"the provider may come first", func(v *Virtual, j *journal) {
			entered(v, func() {
				w := v.Wire("a")
				v.Wire("a").OnGiveUp(j.note("alone"))
				v.Go("caller", func() {
					own := v.Wire("a")
					own.GiveUp()
					own.Close()
				})
				v.Hold(func() {})
				j.add("same %v", w.(*wire).gaveUp)
			})
		}, "alone, same true, timer"},
		{"a wire that only the provider knows ends with it", func(v *Virtual, j *journal) {
			entered(v, func() { v.Wire("foreign"); v.Hold(func() {}) })
			j.add("%d wires, %d move", len(v.wires), v.moving())
		}, "0 wires, 0 move, timer"},
		{"a provider can send a request of its own", func(v *Virtual, j *journal) {
			entered(v, func() {
				served := v.Wire("served")
				served.Still()
				own := v.Wire("own")
				j.add("%d moves", v.moving())
				own.Close()
				j.add("%d moves, served is closed %v", v.moving(), served.(*wire).closed)
			})
		}, "1 moves, 0 moves, served is closed false, timer"},
		{"bytes under way keep the ready waiting until they arrive", func(v *Virtual, j *journal) {
			arrived := make(chan struct{})
			v.Go("ready", j.note("ready"))
			w := v.Wire("a")
			v.Outside(func() { // the caller is outside from here on
				go func() {
					leave := v.Enter("provider")
					v.Wire("a")
					j.add("arrived")
					v.Wire("a").Still()
					leave()
					close(arrived)
				}()
				<-arrived
			})
			w.Close()
		}, "arrived, ready, timer"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			j, err := onVirtual(t, func(v *Virtual, j *journal) {
				v.AfterFunc(time.Second, j.note("timer"))
				tc.do(v, j)
			})
			if err != nil {
				t.Fatal(err)
			}
			j.check(t, tc.want)
		})
	}
}

// entered runs f in a foreign goroutine that enters the clock, as an HTTP server's does.
func entered(v *Virtual, f func()) {
	over := make(chan struct{})
	v.Hold(func() {
		go func() {
			defer close(over)
			leave := v.Enter("provider")
			defer leave()
			f()
		}()
		<-over
	})
}

func TestGivenUpIdsAreForgottenInTheEnd(t *testing.T) {
	t.Parallel()
	_, err := onVirtual(t, func(v *Virtual, _ *journal) {
		for i := range 2 * maxGivenUp {
			w := v.Wire(fmt.Sprint(i))
			w.GiveUp()
			w.Close()
		}
		if len(v.givenUp) != maxGivenUp || v.givenUp[0] != fmt.Sprint(maxGivenUp) {
			t.Errorf("%d are kept from %s on", len(v.givenUp), v.givenUp[0])
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAWireAskedForByNoActorHoldsNothing(t *testing.T) {
	t.Parallel()
	v := NewVirtual(epoch)
	defer v.Close()
	w := v.Wire("a")
	w.Move()
	if !v.AtRest() {
		t.Error("it holds time")
	}
	<-v.Do("caller", func() { w = v.Wire("a") })
	if v.AtRest() {
		t.Error("it does not hold time though an actor asked")
	}
	v.Wire("a").GiveUp()
	w.Close()
	if !v.AtRest() {
		t.Error("it holds time after the end")
	}
}
