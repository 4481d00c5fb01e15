package scenarios

import "faultlab/engine"

// FromHistory is the timeline of runs as a store keeps them: the caller's side
// alone. The ledger of whoever they called is elsewhere, so its views hold no
// effects, and their verdicts mean nothing. situation is what table e looks at for a call.
func FromHistory(events []engine.Event, situation func(*engine.Run, *engine.Call) engine.Situation) *Timeline {
	t := newTimeline("", func(_ []*engine.Run, r *engine.Run, c *engine.Call) (engine.Situation, error) {
		return situation(r, c), nil
	}, nil)
	entries := make([]Entry, len(events))
	for i := range events {
		entries[i] = Entry{At: events[i].At, Event: &events[i]}
	}
	t.append(entries...)
	return t
}
