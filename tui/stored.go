package tui

import (
	"errors"
	"strings"
	"sync"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// Store is the runs on disk, as `faultlab run` writes them. Its methods may block.
type Store interface {
	// Runs lists runs, the newest first.
	Runs(q engine.Query) ([]engine.Summary, error)
	// Events are all events of one run.
	Events(run string) ([]engine.Event, error)
	// Do carries out lookup, record, resubmit, abandon, escalate, cancel or rerun
	// of one run, as the commands of that name do, and comes back when it is done.
	Do(run string, l lang.Line) error
}

// stored is a run of the store as a bench: what its history tells, with the verbs
// that settle it. It has no provider: the truth is not here.
type stored struct {
	store Store
	run   string

	mu     sync.Mutex
	line   *scenarios.Timeline
	notify func()
}

// openStored reads a run's history.
func openStored(store Store, run string) (*stored, error) {
	s := &stored{store: store, run: run}
	return s, s.read()
}

func (s *stored) read() error {
	events, err := s.store.Events(s.run)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.line = scenarios.FromHistory(events)
	f := s.notify
	s.mu.Unlock()
	if f != nil {
		f()
	}
	return nil
}

func (s *stored) timeline() *scenarios.Timeline {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}

func (s *stored) View(n int) *scenarios.View { return s.timeline().View(n) }
func (s *stored) Len() int                   { return s.timeline().Len() }
func (s *stored) Play()                      {}
func (s *stored) Answer()                    {}
func (s *stored) Close() error               { return nil }

func (s *stored) Notify(f func()) {
	s.mu.Lock()
	s.notify = f
	s.mu.Unlock()
}

func (s *stored) State() scenarios.State {
	v := s.timeline().Latest()
	return scenarios.State{AtRest: true, Speed: 1, Elapsed: v.At.Sub(v.Start), Mode: "stored", Address: "in the store"}
}

// settles are the verbs that a run of the store takes.
var settles = map[string]bool{"lookup": true, "record": true, "resubmit": true, "abandon": true, "escalate": true, "cancel": true, "rerun": true}

func (s *stored) Unavailable(verb string) string {
	if !settles[verb] {
		return "this is a run of the store; a scenario has a bench of its own"
	}
	return ""
}

func (s *stored) Do(line string) error {
	l, err := lang.ParseLine(line)
	if err != nil {
		return err
	}
	if why := s.Unavailable(l.Verb); why != "" {
		return errors.New(why)
	}
	err = s.store.Do(s.run, l)
	return errors.Join(err, s.read())
}

func (s *stored) Recording() ([]byte, error) {
	return nil, errors.New("a run of the store cannot be saved as a scenario: nobody knows what its provider did")
}

// storedName is what the scenario of a stored run is called.
const storedName = "run:"

// storedRun is the run that a session shows from the store; empty for a scenario's bench.
func (s *session) storedRun() string {
	run, ok := strings.CutPrefix(s.scenario.Name, storedName)
	if !ok {
		return ""
	}
	return run
}
