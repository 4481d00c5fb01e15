package tui

import (
	"reflect"
	"time"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// Bench is what the workbench draws and sends verbs to: scenarios.Bench has it all.
// Its methods may be called from any goroutine. Do and Close may block, and are
// never called while a message is handled.
type Bench interface {
	// View folds the first n entries of the timeline. The same n gives the same view.
	View(n int) *scenarios.View
	// Len is the number of entries of the timeline.
	Len() int
	// State is what goes on now.
	State() scenarios.State
	// Notify has f called after each change of the timeline or the state. f returns at once.
	Notify(f func())
	// OnPanic has f told of a panic in an actor of the bench, which else would end the program.
	OnPanic(f func(name string, value any, stack []byte))
	// Play starts the scenario's script. It returns at once.
	Play()
	// Do has one verb carried out, written as in a scenario file. What is wrong with
	// it is an error of one sentence; what becomes of it shows on the timeline.
	Do(line string) error
	// Answer lets a script go on that asked a question.
	Answer()
	// Unavailable says why a verb cannot be done now; empty if it can.
	Unavailable(verb string) string
	// Recording is what was done, as a scenario that replays the same.
	Recording() ([]byte, error)
	Close() error
}

// Live is a bench of package scenarios as the workbench sees it.
func Live(b *scenarios.Bench) Bench { return live{b} }

type live struct{ *scenarios.Bench }

func (l live) View(n int) *scenarios.View { return l.Timeline().View(n) }
func (l live) Len() int                   { return l.Timeline().Len() }

// pane is one of the bench's panes.
type pane int

const (
	paneBelief pane = iota
	paneWire
	paneLedger
	paneLog
	paneVerdict
	paneIdentity
	paneCount
)

// session is an open bench as it is looked at.
type session struct {
	bench    Bench
	scenario *lang.Scenario
	view     *scenarios.View
	known    known          // of the view
	hidden   map[string]int // by run, requests that the transport sent by itself
	counted  int            // the rows that are in hidden
	state    scenarios.State
	at       int // the entry that is looked at; 0 follows the newest
	covered  bool
	focus    pane
	scroll   [paneCount]int      // lines away from where the pane rests
	run      int                 // the run in full; -1 lets the screen choose
	op       int                 // the operation explained; -1 lets the screen choose
	identity bool                // the identities stand in the belief's place
	busy     string              // the verb that is being carried out
	sent     string              // the verb that the person sent last
	told     int                 // the newest entry that was looked at for a refusal
	asked    *scenarios.Question // a question that was answered here, with
	revealed bool                // the truth was shown after the answer
	found    bool                // a schedule of a map, not a scenario of the catalogue
	guess    int                 // the choice
	memo     memo                // the lines of the panes
}

func newSession(b Bench, s *lang.Scenario) *session {
	return &session{bench: b, scenario: s, focus: paneWire, run: -1, op: -1, view: &scenarios.View{}, known: digest(&scenarios.View{})}
}

// pull looks at the bench again and reports whether anything changed.
func (s *session) pull() bool {
	n := s.bench.Len()
	if s.at != 0 {
		n = min(s.at, n)
	}
	view, state := s.bench.View(n), s.bench.State()
	same := view == s.view && reflect.DeepEqual(state, s.state)
	if view != s.view {
		s.known = digest(view)
		s.countHidden(view.Wire)
	}
	s.view, s.state = view, state
	return !same
}

// reveal takes the cover off once a prediction was made and everything is at rest.
func (s *session) reveal() {
	if s.asked != nil && s.state.AtRest && s.state.Asked == nil && !s.revealed {
		s.covered, s.revealed = false, true
	}
}

// known is what takes a look at everything in a view: it is looked up once for each view.
type known struct {
	unknownRun int // the newest run that needs reconciling; -1 if there is none
	gravest    int // the operation that wants to be seen first; -1 if there is none
	loud       bool
	effects    draw.Spans // how many there are, by collection
}

func digest(v *scenarios.View) known {
	k := known{unknownRun: unknownIn(v), gravest: gravest(v.Operations), effects: countEffects(v.Effects)}
	k.loud = k.unknownRun >= 0 || k.gravest >= 0 && unsure(&v.Operations[k.gravest])
	return k
}

// countHidden counts what transports sent by themselves. Rows only ever come at the end, so only new ones are looked at.
func (s *session) countHidden(rows []scenarios.Row) {
	if len(rows) < s.counted {
		s.counted, s.hidden = 0, nil
	}
	for _, r := range rows[s.counted:] {
		if r.Hidden && r.Kind == scenarios.RowSend {
			if s.hidden == nil {
				s.hidden = map[string]int{}
			}
			s.hidden[r.Run]++
		}
	}
	s.counted = len(rows)
}

// refused is the bench's newest word, if it is that what the person sent last was refused.
func (s *session) refused() string {
	n := len(s.view.Wire)
	if n == 0 || s.past() || s.told >= s.view.Wire[n-1].Entry {
		return ""
	}
	r := s.view.Wire[n-1]
	s.told = r.Entry
	if !r.Refused || s.sent == "" || r.Verb != s.sent {
		return ""
	}
	s.sent = ""
	return r.Text + ": " + r.Detail
}

// hides reports whether the provider's side is not to be seen: covered, or not known at all.
func (s *session) hides() bool { return s.covered || s.storedRun() != "" }

// past reports whether another moment than the newest is looked at.
func (s *session) past() bool { return s.at != 0 }

// move goes through time, to the n-th entry; beyond the last one is live.
func (s *session) move(n int) {
	s.at = max(1, n)
	if n >= s.bench.Len() {
		s.at = 0
	}
	s.scroll = [paneCount]int{}
	s.pull()
}

// position is the entry that is looked at.
func (s *session) position() int {
	if s.at != 0 {
		return s.at
	}
	return s.bench.Len()
}

// runPicked is the index of the run told in full: the chosen one, else an unknown one, else the newest.
func (s *session) runPicked() int {
	n := len(s.view.Runs)
	if s.run >= 0 && s.run < n {
		return s.run
	}
	if s.known.unknownRun >= 0 {
		return s.known.unknownRun
	}
	return max(0, n-1)
}

// opPicked is the index of the operation explained; -1 where there is none.
func (s *session) opPicked() int {
	if s.op >= 0 && s.op < len(s.view.Operations) {
		return s.op
	}
	if s.run >= 0 && s.run < len(s.view.Runs) {
		id := s.view.Runs[s.run].ID
		for i := len(s.view.Operations) - 1; i >= 0; i-- {
			for _, r := range s.view.Operations[i].Runs {
				if r == id {
					return i
				}
			}
		}
	}
	return s.known.gravest
}

// now is the bench's time as it is looked at.
func (s *session) now() time.Time {
	if s.past() || s.view.Start.IsZero() {
		return s.view.At
	}
	return s.view.Start.Add(s.state.Elapsed)
}

// moving reports whether the clock on the screen has to go on by itself. While something is held at a gate, time is too.
func (s *session) moving() bool {
	return !s.past() && s.state.Due > 0 && !s.state.Paused && len(s.state.Parked) == 0 && s.state.Speed > 0
}
