package scenarios_test

import (
	"context"
	"fmt"

	"faultlab/scenarios"
)

// A scenario is replayed as a whole; its report says whether everything was as expected.
func ExampleReplay() {
	s, err := scenarios.Find("B")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := scenarios.Replay(context.Background(), s, scenarios.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Passed(), r.Took)
	for _, o := range r.View.Operations {
		fmt.Println(o.Step, "is believed", o.Belief, "with", len(o.Effects), "effect:", o.Verdict)
	}
	// Output:
	// true 1.005s
	// createFulfillment is believed done with 1 effect: one effect
}

// On a bench one verb after the other is carried out, as somebody types them.
func ExampleBench_Do() {
	s, err := scenarios.Find("C")
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := scenarios.Open(s, scenarios.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = b.Close() }()
	for _, line := range []string{"fault commit-then-drop", "trigger fulfill payload.json", "lookup", "record"} {
		if err := b.Do(line); err != nil {
			fmt.Println(err)
		}
		if err := b.Wait(context.Background()); err != nil {
			fmt.Println(err)
		}
		for _, o := range b.Timeline().Latest().Operations {
			fmt.Println(line, "->", o.Belief, o.Verdict)
		}
	}
	// Output:
	// trigger fulfill payload.json -> unknown unresolved
	// lookup -> unknown unresolved
	// record -> done one effect
}
