package engine

import (
	"slices"
	"time"
)

// scriptTime is the time that a script's Date shows: the moment of what it was told
// last, which is the start of its attempt, the end of a call or the due time of a
// timer. All of these stand in the history or follow from it, so that a script that
// runs again over its journal reads the same times, and sends the same values.
type scriptTime struct {
	at   time.Time         // what the script reads
	told time.Time         // by the clock, when it was told
	ends map[int]time.Time // by ticket: of calls that have ended and timers that are set, the moment that the script is told with them
}

// standstill is how long a script may compute without seeing the time go on. One
// that computes longer, or until a time has passed, sees the clock's.
const standstill = time.Second

func (s *scriptTime) now(clock time.Time) time.Time {
	if passed := clock.Sub(s.told); passed >= standstill {
		return s.at.Add(passed)
	}
	return s.at
}

// tell moves the time on; it never goes back.
func (s *scriptTime) tell(at, clock time.Time) {
	s.at, s.told = later(s.at, at), clock
}

// due notes the moment of a completion that is still to come.
func (s *scriptTime) due(ticket int, at time.Time) {
	if s.ends == nil {
		s.ends = map[int]time.Time{}
	}
	s.ends[ticket] = at
}

// take moves the time on to the moment of a completion.
func (s *scriptTime) take(ticket int, clock time.Time) {
	at, known := s.ends[ticket]
	if !known {
		at = clock
	}
	delete(s.ends, ticket)
	s.tell(at, clock)
}

// first returns the ticket whose moment comes first, of two at one moment the lower one. The tickets are sorted.
func (s *scriptTime) first(tickets []int) int {
	return slices.MinFunc(tickets, func(a, b int) int { return s.ends[a].Compare(s.ends[b]) })
}
