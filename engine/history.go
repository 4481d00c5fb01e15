package engine

import (
	"encoding/json"
	"errors"
	"time"
)

// History is the append-only record of runs: the only truth about them. One
// writer gives the order. After a failed commit the history is poisoned: every
// later Append fails with the same error, because nobody can say what is on disk
// until it is opened again.
//
// A read sees every append that was made before it began. What it gives belongs to
// the caller, except the bytes inside of facts, which nobody may change.
type History interface {
	// Append gives the events their places, in this order and without a gap among
	// them, and begins to make them durable together: all or none. It never blocks
	// on the disk; the ticket does. An append that breaks a rule is a *RefusedError.
	Append(events ...Event) Ticket
	// Buffer is Append for events that more of the same run will follow at once: they
	// are not written before somebody waits for their ticket, appends more, reads, or
	// closes. So what one moment brings is one write.
	Buffer(events ...Event) Ticket
	// Events are the events of one run in their order, bodies included where they are still kept.
	// An unknown run is ErrNoRun.
	Events(run string) ([]Event, error)
	// Runs lists runs, the newest first.
	Runs(q Query) ([]Summary, error)
	// Open lists the runs that have not ended, the oldest first: what recovery must look at.
	Open() ([]string, error)
	// Delivery finds the run that an inbound delivery made, by workflow, trigger and key.
	Delivery(workflow, trigger, key string) (run, digest string, ok bool, err error)
	// Child finds the run that a parent's call made.
	Child(p Parent) (run string, ok bool, err error)
	// Prefix finds the runs whose id begins so, at most limit of them.
	Prefix(prefix string, limit int) ([]string, error)
	// KeyRuns finds the runs that sent a request under this key, in the order of their admission.
	// A key that an attempt derived for itself is nobody else's: requests under it are not looked for.
	KeyRuns(key string) ([]string, error)
	// FoundAt reports whether a look-up at this address (Evidence.Address) has ever found a record.
	FoundAt(address string) (bool, error)
	// Place is that of the newest event appended; 0 where there is none.
	Place() (int64, error)
	Close() error
}

// Ticket stands for an append that may not be durable yet.
type Ticket interface {
	// Wait blocks until the events are durable, or tells why they never will be.
	Wait() error
	// Last is the place of the append's last event.
	Last() int64
	// Done reports whether Wait would return at once.
	Done() bool
}

// Query selects runs. The zero value selects all of them.
type Query struct {
	Status    Status // empty: any
	Reconcile bool   // only those with an unknown operation
	Workflow  string // empty: any
	Before    string // only runs older than this one, for paging
	Limit     int    // 0: no limit
}

// Summary is one row of a list of runs. A History keeps it up to date by Summarize.
type Summary struct {
	Run       string    `json:"run"`
	Workflow  string    `json:"workflow"`
	Status    Status    `json:"status"`
	Reconcile bool      `json:"reconcile"`
	Admitted  time.Time `json:"admitted"`
	Ended     time.Time `json:"ended,omitzero"`
	RerunOf   string    `json:"rerunOf,omitempty"`
}

// Summarize is the summary after one more event; ok is false where the event changes nothing in it.
func Summarize(s Summary, e Event) (_ Summary, ok bool) {
	switch f := e.Fact.(type) {
	case Admitted:
		return Summary{Run: e.Run, Workflow: f.Workflow, Status: StatusQueued, Admitted: e.At, RerunOf: f.RerunOf}, true
	case Started:
		s.Status = StatusRunning
	case AttemptStarted:
		if s.Status == StatusRunning || s.Status == StatusCancelling {
			return s, false
		}
		s.Status, s.Reconcile, s.Ended = StatusRunning, false, time.Time{}
	case CallEnded: // of a child that was waited for
		if s.Status != StatusWaiting {
			return s, false
		}
		s.Status = StatusRunning
	case AttemptEnded:
		if f.Next != NextRetry {
			return s, false
		}
		s.Status = StatusWaiting
	case Waiting:
		if s.Status == StatusCancelling {
			return s, false
		}
		s.Status = StatusWaiting
	case Resumed:
		if s.Status != StatusCancelling {
			s.Status = StatusRunning
		}
		s.Reconcile, s.Ended = false, time.Time{}
	case CancelAsked:
		s.Status = StatusCancelling
	case Decided:
		if !f.Resumes() {
			return s, false
		}
		s.Status, s.Reconcile, s.Ended = StatusRunning, false, time.Time{}
	case Ended:
		s.Status, s.Reconcile, s.Ended = f.Status, f.Reconcile, e.At
	default:
		return s, false
	}
	return s, true
}

// ErrNoRun says that a history has no such run.
var ErrNoRun = errors.New("no such run")

// Command is what another process asks of the one that owns the history.
// It travels through an inbox beside the state file and is carried out once.
type Command struct {
	ID     string          `json:"id"`   // unique; the event that carries it out names it
	Verb   string          `json:"verb"` // "resolve", "cancel", "lookup", "settle", "rerun", "trigger" or "prune"
	Run    string          `json:"run,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Before time.Time       `json:"before,omitzero"` // not carried out after this
}
