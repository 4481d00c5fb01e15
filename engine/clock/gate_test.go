package clock

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// parkAt parks every actor at p, tells of it, and lets the others pass.
func parkAt(v *Virtual, p Point) (parked <-chan struct{}) {
	told := make(chan struct{}, 10)
	v.SetGate(func(at Point, _ string) Verdict {
		if at == p {
			return Park
		}
		return Pass
	})
	n := 0 // Parked changes under the baton
	v.Notify(func() {
		if now := len(v.Parked()); now > n {
			told <- struct{}{}
		}
	})
	return told
}

func TestAParkedActorTimesNothingOut(t *testing.T) {
	t.Parallel()
	v, j := NewVirtual(epoch), &journal{}
	defer v.Close()
	parked := parkAt(v, AtCommit)
	over := v.Do("caller", func() {
		ctx, cancel := v.WithTimeout(context.Background(), time.Second, errLate)
		defer cancel(nil)
		v.OnCancel(ctx, func(cause error) { j.add("%v", cause) })
		v.AfterFunc(time.Second, j.note("the same instant")) // registered after the deadline
		v.Go("provider", func() {
			v.Gate(AtSend, "order-42")
			v.Gate(AtCommit, "order-42")
			j.add("committed after %v", v.Now().Sub(epoch))
		})
		v.Go("ready", j.note("others go on"))
		v.Advance(time.Second)
	})
	<-parked
	<-v.Do("look", func() {})
	j.check(t, "others go on")
	all := v.Parked()
	if len(all) != 1 || all[0] != (Parked{1, AtCommit, "order-42", "provider"}) {
		t.Fatalf("parked: %+v", all)
	}
	if v.AtRest() || !v.Now().Equal(epoch) {
		t.Errorf("at rest %v at %v", v.AtRest(), v.Now())
	}
	v.Release(7) // nobody
	v.Release(1)
	v.Release(1)
	<-over
	j.check(t, "others go on, committed after 0s, too late, the same instant")
	if len(v.Parked()) != 0 {
		t.Error("still parked")
	}
}

// Timers of the very instant at which an actor is parked are not gone off either.
func TestAParkedActorHoldsTheInstant(t *testing.T) {
	t.Parallel()
	v, j := NewVirtual(epoch), &journal{}
	defer v.Close()
	parked := parkAt(v, AtReply)
	over := v.Do("caller", func() {
		v.AfterFunc(time.Second, func() { v.Gate(AtReply, "order-42"); j.add("reply") })
		v.AfterFunc(time.Second, j.note("deadline"))
		v.Advance(time.Second)
	})
	<-parked
	<-v.Do("look", func() {})
	j.check(t, "")
	for _, p := range v.Parked() {
		v.Release(p.ID)
	}
	<-over
	j.check(t, "reply, deadline")
}

func TestParkedActorsAreReleasedInAnyOrder(t *testing.T) {
	t.Parallel()
	j, err := onVirtual(t, func(v *Virtual, j *journal) {
		v.SetGate(func(Point, string) Verdict { return Park })
		for i := range 3 {
			v.Go(fmt.Sprint("actor ", i), func() { v.Gate(AtSend, ""); j.add("%d", i) })
		}
		v.Hold(func() {}) // until they are there
		v.SetGate(nil)
		v.Gate(AtSend, "nobody asks")
		for _, p := range v.Parked() {
			j.add("%d is %s", p.ID, p.Name)
		}
		for _, id := range []int{3, 1, 2} {
			v.Release(id)
		}
	})
	if err != nil {
		t.Error(err)
	}
	j.check(t, "1 is actor 0, 2 is actor 1, 3 is actor 2, 2, 0, 1")
}

// A gate may crash the worker that comes to it: the callback runs in that actor, before it is parked.
func TestAGateMayCrashTheWorker(t *testing.T) {
	t.Parallel()
	j, err := onVirtual(t, func(v *Virtual, j *journal) {
		ctx, crash := v.WithCancel(context.Background())
		v.SetGate(func(p Point, subject string) Verdict {
			j.add("crash at %s of %s", p, subject)
			crash(errStop)
			return Pass
		})
		v.Go("bystander", func() { j.add("bystander: %v", v.Sleep(ctx, time.Hour)) })
		v.Go("worker", func() { v.Gate(AtRecord, "order-42"); j.add("worker: %v", v.Sleep(ctx, time.Hour)) })
	})
	if err != nil {
		t.Error(err)
	}
	j.check(t, "crash at record of order-42, worker: stopped, bystander: stopped")
}
