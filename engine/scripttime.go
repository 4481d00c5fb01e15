package engine

import (
	"cmp"
	"slices"
	"time"
)

// scriptTime is the time that a script's Date shows: the moment of what it was told
// last, which is the start of its attempt, the end of a call or the due time of a
// timer. All of these stand in the history or follow from it, so that a script that
// runs again over its journal reads the same times, and sends the same values. How
// long the machine takes between two of them is never seen: it would be another time then.
type scriptTime struct {
	told  time.Time         // the moment of what the script was told last; its timers count from there
	shown time.Time         // what Date shows: told, or later if the script has read it very often since
	reads int               // of Date, since told
	ends  map[int]time.Time // by ticket: of calls that have ended and timers that are set, the moment that the script is told with them
}

// patience is how often Date shows a script one moment. Each read after that is a
// millisecond later, so that a loop until a time has passed comes to its end.
const patience = 10_000

func (s *scriptTime) now() time.Time {
	if s.reads++; s.reads > patience {
		s.shown = s.shown.Add(time.Millisecond)
	}
	return s.shown
}

// tell moves the time on; it never goes back.
func (s *scriptTime) tell(at time.Time) {
	s.told, s.reads = later(s.told, at), 0
	s.shown = later(s.shown, s.told)
}

// due notes the moment of a completion that is still to come.
func (s *scriptTime) due(ticket int, at time.Time) {
	if s.ends == nil {
		s.ends = map[int]time.Time{}
	}
	s.ends[ticket] = at
}

// moment returns when a ticket completes or has completed; one that nobody noted does now, by the clock.
func (s *scriptTime) moment(ticket int, clock time.Time) time.Time {
	if at, noted := s.ends[ticket]; noted {
		return at
	}
	return clock
}

// take moves the time on to the moment of a completion.
func (s *scriptTime) take(ticket int, clock time.Time) {
	at := s.moment(ticket, clock)
	delete(s.ends, ticket)
	s.tell(at)
}

// first returns the ticket whose moment comes first, of two at one moment the lower one.
func (s *scriptTime) first(tickets []int) int {
	return slices.MinFunc(tickets, func(a, b int) int { return cmp.Or(s.ends[a].Compare(s.ends[b]), cmp.Compare(a, b)) })
}
