package engine

import (
	"encoding/json"
	"slices"
	"time"
)

// byRecord marks an attempt's end that a recording made.
const byRecord = "record"

// byRetry and byResubmit say what an attempt follows.
const (
	byRetry    = "retry"
	byResubmit = "resubmit"
)

// Run is the fold of one run's events: what the caller believes. It holds
// nothing that the history does not say.
type Run struct {
	ID       string
	Admitted Admitted
	Status   Status
	Steps    []*Step // in the order in which they began; a compensation is a Step of its own with Undo set

	Reconcile bool  // the run has ended, and something of it or of a run that it waits for is unknown
	Waits     *Wait // what must be settled before it goes on by itself; nil where it waits for nothing
	Code      string
	Message   string
	FailedAt  string // the step that ended the run, if it failed

	AdmittedAt, StartedAt, EndedAt time.Time
	CancelAsked                    bool
	Keep                           bool      // the cancel leaves what stands
	Stands                         []string  // finished steps whose inverse was not made, of a run that failed or was cancelled
	Resumed                        bool      // a decision lets an ended run go on
	ResumedAt                      time.Time // when; the run's timeout counts anew from there
	Last                           int64     // the place of the last event folded
}

// Step is one step of a run, or its compensation.
type Step struct {
	ID       string
	Undo     bool
	Attempts []*Attempt
	Done     bool            // it succeeded, by itself or by a record
	Result   json.RawMessage // when Done
	ByRecord bool            // the result came from recorded evidence
	Pending  Decision        // what a decision lets follow and what is not yet carried out: Record or Resubmit
	resubmit *Decided        // the newest one
}

// Attempt is one try of a step.
type Attempt struct {
	N, Max             int
	Key                string   // attempt.idempotencyKey
	By                 string   // "", "retry" or "resubmit"
	Decided            *Decided // the resubmit that it carries out
	StartedAt, EndedAt time.Time
	Calls              []*Call
	Outcome            Outcome // empty while it is open
	Next               Next
	Due                time.Time // when the next attempt is due, if Next is NextRetry
	Code, Message      string
	Reason             string
}

// Call is one use of a service by a script.
type Call struct {
	Pos
	Service, Operation, Name string
	Effect                   Effect
	Key, Target, Digest      string
	File, Unmarked           string // of a write of services.db
	Content                  string // see CallStarted
	Write                    string // the operation of its step that it belongs to; empty for a read
	Requests                 []*Request
	StartedAt, EndedAt       time.Time
	Ended                    bool
	EndSeq                   int64 // the place of its end in the history
	How                      How
	Finding                  Finding
	Next                     Next
	Status                   int
	RetryAfter               time.Duration
	Code, Message            string
	Replay                   bool
	Child                    string
	From                     Pos   // see CallEnded
	Rows                     int64 // that a local write changed
	Reply                    []byte
	Readings                 []Reading // see CallEnded
	SettledBy                Pos       // the call of the same step that settled it; zero if none did
	Evidence                 []EvidenceAt
	Decisions                []DecidedAt
}

// Request is one HTTP request on the wire.
type Request struct {
	N               int
	Seq             int64 // the place of its start in the history
	ID, Method, URL string
	Key, Plain      string   // see RequestSent
	Shared          bool     // other runs may send the key too
	Header          string   // what carries the key; empty where the body does
	Auth, Secret    []string // see RequestSent
	Body            []byte
	SentAt, EndedAt time.Time
	Ended           bool
	EndSeq          int64 // the place of its end in the history
	Status          int
	Began           bool
	NotSent         bool
	Error           string
	GaveUp          GaveUp // why the caller stopped waiting
	Broke           Broke  // how the connection ended without a whole reply
}

// EvidenceAt is evidence with its place and time.
type EvidenceAt struct {
	Evidence
	Seq int64
	At  time.Time
}

// DecidedAt is a decision with its place and time.
type DecidedAt struct {
	Decided
	Seq int64
	At  time.Time
}

// Fold reads the events of one run, in their order.
func Fold(events []Event) *Run {
	r := &Run{}
	for _, e := range events {
		r.Apply(e)
	}
	return r
}

// Apply folds one more event in.
func (r *Run) Apply(e Event) {
	r.Last = e.Seq
	switch f := e.Fact.(type) {
	case Admitted:
		r.ID, r.Admitted, r.Status, r.AdmittedAt = e.Run, f, StatusQueued, e.At
	case Started:
		r.Status, r.StartedAt = StatusRunning, e.At
	case AttemptStarted:
		r.reopen()
		s := r.step(f.Pos)
		s.Pending = ""
		a := &Attempt{N: f.Attempt, Max: f.Max, Key: f.Key, By: f.By, StartedAt: e.At}
		if f.By == byResubmit {
			a.Decided = s.resubmit
		}
		s.Attempts = append(s.Attempts, a)
	case CallStarted:
		if a := r.attempt(f.Pos); a != nil {
			c := callOf(f)
			c.StartedAt = e.At
			if c.Write == "" {
				c.Write = r.step(f.Pos).writeOf(a, c)
			}
			a.Calls = append(a.Calls, c)
		}
	case RequestSent:
		if c := r.callAt(f.Pos); c != nil {
			c.Requests = append(c.Requests, &Request{N: f.Request, Seq: e.Seq, ID: f.ID, Method: f.Method, URL: f.URL, Key: f.Key, Plain: f.Plain, Shared: f.Shared, Header: f.Header, Auth: f.Auth, Secret: f.Secret, Body: f.Body, SentAt: e.At})
		}
	case RequestEnded:
		if q := r.request(f.Pos); q != nil {
			q.Ended, q.EndSeq, q.EndedAt, q.Status, q.Began, q.Error, q.GaveUp, q.Broke = true, e.Seq, e.At, f.Status, f.Began, f.Error, f.GaveUp, f.Broke
		}
	case NotSent:
		if q := r.request(f.Pos); q != nil {
			q.Ended, q.EndSeq, q.EndedAt, q.NotSent, q.Error = true, e.Seq, e.At, true, f.Why
		}
	case CallEnded:
		r.callEnded(e, f)
	case AttemptEnded:
		r.attemptEnded(e, f)
	case Waiting:
		r.waiting(f)
	case Resumed:
		r.resume(e)
	case CancelAsked:
		r.CancelAsked, r.Keep, r.Status = true, f.Keep, StatusCancelling
	case Ended:
		r.Status, r.Reconcile, r.EndedAt, r.Resumed = f.Status, f.Reconcile, e.At, false
		r.Code, r.Message, r.FailedAt, r.Stands, r.Waits = f.Code, f.Message, f.Step, f.Stands, f.Waits
	case Evidence:
		if c := r.callAt(f.Pos); c != nil {
			c.Evidence = append(c.Evidence, EvidenceAt{f, e.Seq, e.At})
		}
	case Decided:
		r.decided(e, f)
	}
}

// callOf is a call that has just begun.
func callOf(f CallStarted) *Call {
	return &Call{Pos: f.Pos, Service: f.Service, Operation: f.Operation, Name: f.Name, Effect: f.Effect, Key: f.Key,
		Target: f.Target, Digest: f.Digest, Content: f.Content, File: f.File, Unmarked: f.Unmarked, Write: f.Write}
}

func (r *Run) reopen() {
	if r.Status != StatusCancelling {
		r.Status = StatusRunning
	}
	r.Reconcile, r.EndedAt, r.Code, r.Message, r.FailedAt, r.Stands, r.Waits = false, time.Time{}, "", "", "", nil, nil
}

func (r *Run) callEnded(e Event, f CallEnded) {
	c := r.callAt(f.Pos)
	if c == nil {
		return
	}
	c.Ended, c.EndSeq, c.EndedAt, c.How, c.Finding, c.Next, c.Status = true, e.Seq, e.At, f.How, f.Finding, f.Next, f.Status
	c.RetryAfter, c.Code, c.Message, c.Replay, c.Child, c.From, c.Rows = f.RetryAfter, f.Code, f.Message, f.Replay, f.Child, f.From, f.Rows
	c.Reply, c.Readings = f.Reply, f.Readings
	if r.Status == StatusWaiting {
		r.Status = StatusRunning
	}
	r.step(f.Pos).settle(c)
}

func (r *Run) attemptEnded(e Event, f AttemptEnded) {
	a := r.attempt(f.Pos)
	if a == nil {
		return
	}
	s := r.step(f.Pos)
	s.Pending = ""
	if f.Outcome == Succeeded {
		s.Done, s.Result, s.ByRecord = true, f.Result, f.By == byRecord
	}
	if f.By != byRecord || f.Outcome != Succeeded {
		a.Outcome, a.Next, a.Due, a.EndedAt = f.Outcome, f.Next, f.Due, e.At
		a.Code, a.Message, a.Reason = f.Code, f.Message, f.Reason
	}
	if f.Next == NextRetry {
		r.Status = StatusWaiting
	}
}

func (r *Run) decided(e Event, f Decided) {
	s := r.StepAt(f.Step, f.Undo)
	if s == nil || s.Last() == nil {
		return
	}
	if c := r.callAt(f.Pos); c != nil { // an attempt that had not called anything is decided about as a whole
		c.Decisions = append(c.Decisions, DecidedAt{f, e.Seq, e.At})
	}
	switch {
	case !f.Resumes():
		return
	case f.Decision == Record && f.Result != nil:
		s.Done, s.Result, s.ByRecord = true, f.Result, true
	case f.Decision == Resubmit:
		s.Pending, s.resubmit = Resubmit, &f
	default:
		s.Pending = Record
	}
	r.reopen()
	r.Resumed, r.ResumedAt = true, e.At
}

// needsReconciling reports whether a person must look at the run, were it to end now, before anybody knows what happened.
func (r *Run) needsReconciling() bool {
	return slices.ContainsFunc(r.Steps, r.inDoubt)
}

// inDoubt reports whether something of the step is unknown, were the run to end now, or
// whether it was left unfinished and waits for a person.
func (r *Run) inDoubt(s *Step) bool {
	return !r.CancelAsked && s.left() || slices.ContainsFunc(r.Operations(s), func(o *Operation) bool { return len(r.doubts(o, true)) > 0 })
}

// left reports whether a crash left the step's newest attempt, or a script that is not
// repeatable, and nothing of it is unknown: it can be resubmitted.
func (s *Step) left() bool {
	a := s.Last()
	return !s.Done && a != nil && a.Outcome == Failed && s.Pending == "" && (a.Code == codeInterrupted || a.Code == codeNotRepeatable)
}

// step finds or begins the step at p.
func (r *Run) step(p Pos) *Step {
	if s := r.StepAt(p.Step, p.Undo); s != nil {
		return s
	}
	s := &Step{ID: p.Step, Undo: p.Undo}
	r.Steps = append(r.Steps, s)
	return s
}

// StepAt is the step, or with undo its compensation; nil before its first attempt.
func (r *Run) StepAt(id string, undo bool) *Step {
	for _, s := range r.Steps {
		if s.ID == id && s.Undo == undo {
			return s
		}
	}
	return nil
}

func (r *Run) attempt(p Pos) *Attempt {
	s := r.StepAt(p.Step, p.Undo)
	if s == nil || p.Attempt < 1 || p.Attempt > len(s.Attempts) {
		return nil
	}
	return s.Attempts[p.Attempt-1]
}

// callAt is the call at p, or nil.
func (r *Run) callAt(p Pos) *Call {
	a := r.attempt(p)
	if a == nil || p.Call < 1 || p.Call > len(a.Calls) {
		return nil
	}
	return a.Calls[p.Call-1]
}

func (r *Run) request(p Pos) *Request {
	c := r.callAt(p)
	if c == nil || p.Request < 1 || p.Request > len(c.Requests) {
		return nil
	}
	return c.Requests[p.Request-1]
}

// Last is the newest attempt, nil before the first.
func (s *Step) Last() *Attempt {
	if len(s.Attempts) == 0 {
		return nil
	}
	return s.Attempts[len(s.Attempts)-1]
}

// Counts are the attempts, calls and requests of the run, counted apart:
// where they differ, something repeated by itself.
func (r *Run) Counts() (attempts, calls, requests int) {
	for _, s := range r.Steps {
		attempts += len(s.Attempts)
		for _, a := range s.Attempts {
			calls += len(a.Calls)
			for _, c := range a.Calls {
				for _, q := range c.Requests {
					if !q.NotSent {
						requests++
					}
				}
			}
		}
	}
	return attempts, calls, requests
}
