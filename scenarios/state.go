package scenarios

import "time"

// State is what a bench is doing now, beside its timeline.
type State struct {
	AtRest   bool // nothing moves and nothing is due
	Paused   bool
	Stepping bool
	Parked   []string      // what is held at a gate: "send POST /jobs"
	Speed    float64       // 1 is the wall clock's pace, 0 at once
	Elapsed  time.Duration // of the bench's clock since its first entry, for display
	Due      time.Duration // until the next thing on the clock; 0 when none
	DueWhat  string        // what that is, as "retry of createFulfillment"
	Address  string        // where the provider answers, as a person may use it
	Mode     string        // "simulated" or "sockets"
	Playing  bool          // the scenario's script still has lines to go
	Line     int           // the script's line that is at work
	Err      string        // why the scenario stopped, in one sentence
	Failed   []string      // expectations that were not met
	TookOver string        // that a person did something while the script was at work, and what follows; else empty
	Asked    *Question     // a question that waits for the person's prediction
}

// Question is a prediction that is asked before the truth is shown.
type Question struct {
	Text    string
	Choices []string
	Answer  int    // index of the right one
	Because string // why, for after the answer; paragraphs, one a line
}
