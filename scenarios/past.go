package scenarios

import "faultlab/engine"

// FromHistory is the timeline of runs as a store keeps them: the caller's side
// alone. The ledger of whoever they called is elsewhere, so its views hold no
// effects, and their verdicts mean nothing. refusal says why a decision about a call
// would be refused; empty when it would be carried out.
func FromHistory(events []engine.Event, refusal func(*engine.Run, *engine.Call, engine.Decision) string) *Timeline {
	t := newTimeline("", refusal, nil)
	entries := make([]Entry, len(events))
	for i := range events {
		entries[i] = Entry{At: events[i].At, Event: &events[i]}
	}
	t.append(entries...)
	return t
}
