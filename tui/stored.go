package tui

import (
	"cmp"
	"errors"
	"strings"
	"sync"
	"time"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// Store is the runs on disk, as `faultlab run` writes them. Its methods may block and
// be called from any goroutine, but for Situation, which neither waits nor reads.
type Store interface {
	// Runs lists runs, the newest first.
	Runs(q engine.Query) ([]engine.Summary, error)
	// Events are all events of one run.
	Events(run string) ([]engine.Event, error)
	// Unsettled are the runs that need reconciling, the newest first, at most limit of them.
	Unsettled(limit int) ([]*engine.Run, error)
	// Situation is what decides which decisions about a call of a run are allowed now.
	Situation(r *engine.Run, c *engine.Call) engine.Situation
	// Do carries out lookup, record, resubmit, abandon, escalate, cancel or rerun
	// of one run, as the commands of that name do, and comes back when it is done. It
	// gives the run that came of it: the same one or, for rerun, the new one.
	Do(run string, l lang.Line) (string, error)
	// Version is another one after anything in the store has changed. It is cheap.
	Version() string
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

// read looks at the history again. A history only grows: one that is as long as what is
// shown is the same, and a shorter one is of a look that took longer.
func (s *stored) read() error {
	events, err := s.store.Events(s.run)
	if err != nil {
		return err
	}
	s.mu.Lock()
	f := s.notify
	if s.line != nil && s.line.Len() >= len(events) {
		f = nil
	} else {
		s.line = scenarios.FromHistory(events, s.store.Situation)
	}
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

// OnPanic implements Bench: nobody acts here.
func (s *stored) OnPanic(func(name string, value any, stack []byte)) {}

func (s *stored) Notify(f func()) {
	s.mu.Lock()
	s.notify = f
	s.mu.Unlock()
}

func (s *stored) State() scenarios.State {
	v := s.timeline().Latest()
	return scenarios.State{AtRest: true, Speed: 1, Elapsed: v.At.Sub(v.Start), Mode: "stored", Address: "in the store"}
}

// latest is the run as its history has it.
func (s *stored) latest() *engine.Run {
	if runs := s.timeline().Latest().Runs; len(runs) > 0 {
		return runs[0]
	}
	return &engine.Run{ID: s.run}
}

// settles are the verbs that a run of the store takes.
var settles = map[string]bool{"lookup": true, "record": true, "resubmit": true, "abandon": true, "escalate": true, "cancel": true, "rerun": true}

// Unavailable says why a verb cannot be done to this run. Of a run at work only its
// owner knows what it would refuse, and says so.
func (s *stored) Unavailable(verb string) string {
	if !settles[verb] {
		return notStored(verb)
	}
	r := s.latest()
	switch {
	case !r.Status.Ended() || verb == "lookup" || verb == "rerun":
		return ""
	case verb == "cancel":
		return "the run has ended: there is nothing to cancel"
	case len(r.Unsettled()) == 0:
		return "the run " + string(r.Status) + ", and no operation of it is unknown"
	}
	return ""
}

// notStored says why a verb is none for a run of the store; empty for those that are
// about the screen alone.
func notStored(verb string) string {
	_, bench := benchVerbs[verb]
	_, program := programVerbs[verb]
	if v := lang.VerbNamed(verb); v != nil && v.Use == lang.OnBoard && (bench || program) {
		return ""
	}
	return "this is a run of the store; a scenario has a bench of its own"
}

// Values are what fits in a place of this kind; see lang.Names.
func (s *stored) Values(k lang.Kind) (out []string) {
	r := s.latest()
	switch k {
	case lang.KindRun:
		return []string{r.ID}
	case lang.KindStep:
		for _, c := range r.Unsettled() {
			out = append(out, stepArg(c.Step, c.Undo))
		}
	case lang.KindKey:
		for _, c := range r.Unsettled() {
			if c.Key != "" {
				out = append(out, c.Key)
			}
		}
	}
	return out
}

func (s *stored) Do(line string) error {
	l, err := lang.ParseLine(line)
	if err != nil {
		return err
	}
	if why := s.Unavailable(l.Verb); why != "" || !settles[l.Verb] {
		return errors.New(cmp.Or(why, l.Verb+" is not for a run of the store"))
	}
	_, err = s.store.Do(s.run, l)
	return errors.Join(err, s.read())
}

func (s *stored) Recording() ([]byte, error) {
	return nil, errors.New("a run of the store cannot be saved as a scenario: nobody knows what its provider did")
}

// storedName is what the scenario of a stored run is called.
const storedName = "run:"

// scenario is what stands for the run where the screen wants a scenario.
func (s *stored) scenario() *lang.Scenario {
	title := s.run
	if r := s.latest(); !r.AdmittedAt.IsZero() {
		title += "  " + stamp(r.AdmittedAt)
	}
	return &lang.Scenario{Name: storedName + s.run, Title: title}
}

// stamp is a moment as the commands print it, in UTC.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// storedRun is the run that a session shows from the store; empty for a scenario's bench.
func (s *session) storedRun() string {
	run, ok := strings.CutPrefix(s.scenario.Name, storedName)
	if !ok {
		return ""
	}
	return run
}
