package clock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"faultlab/engine/clock"
)

// A caller gives up after a minute on a provider that commits after an hour. It takes no time.
func ExampleVirtual_Run() {
	v := clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	defer v.Close()
	say := func(what string) { fmt.Println(v.Now().Format(time.TimeOnly), what) }

	err := v.Run(context.Background(), func() {
		ctx, cancel := v.WithTimeout(context.Background(), time.Minute, errors.New("the caller timed out"))
		defer cancel(nil)
		answer := v.NewEvent("the answer")
		v.OnCancel(ctx, func(error) { answer.Set() })
		v.AfterFunc(time.Hour, func() { say("the provider commits") })
		answer.Wait()
		say(context.Cause(ctx).Error())
	})
	fmt.Println(err)
	// Output:
	// 00:01:00 the caller timed out
	// 01:00:00 the provider commits
	// <nil>
}

// Who waits for what will never happen is named.
func ExampleDeadlock() {
	v := clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	defer v.Close()
	fmt.Println(v.Run(context.Background(), func() {
		v.Go("worker", v.NewEvent("the provider's answer").Wait)
	}))
	// Output:
	// deadlock at 2026-01-01T00:00:00Z: nothing is left that could happen, and "worker" waits for "the provider's answer"
}
