package scenarios

import "faultlab/engine"

// FromHistory is the timeline of runs as a store keeps them: the caller's side
// alone. The ledger of whoever they called is elsewhere, so its views hold no
// effects, and their verdicts mean nothing.
func FromHistory(events []engine.Event) *Timeline {
	t := newTimeline("", nil, nil)
	entries := make([]Entry, len(events))
	for i := range events {
		entries[i] = Entry{At: events[i].At, Event: &events[i]}
	}
	t.append(entries...)
	return t
}
