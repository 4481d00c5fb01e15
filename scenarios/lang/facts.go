package lang

import (
	"encoding/json"
	"time"
)

// Facts are what an expectation is compared with: a bench at one moment, in plain
// values. Words may be written with spaces or hyphens ("one effect", "one-effect").
// Times count from the bench's start.
type Facts interface {
	Exact() bool     // time is virtual: delays compare exactly, else a delay may be longer
	Runs() []RunFact // in order of admission
	Operations() []OperationFact
	Requests() []RequestFact    // every request on the wire, in order, look-ups and foreign clients' too
	Effects() []EffectFact      // the ledger's records, in order of commit
	Log() []string              // the provider's log lines
	Deliveries() []DeliveryFact // inbound events, in order
	Replies() []ReplyFact       // what each `send` got, in order
	Refusals() []RefusalFact    // verbs that the bench refused, in order
	Crashes() CrashesFact
	Untaken() []string // faults that were queued and that no request took, as the fault verb reads them
	Rows(database, table string) (int, error)
}

// RunFact is one run as its history tells it.
type RunFact struct {
	ID, Status, Code string
	Reconcile        bool   // an operation of it is unknown
	Verdict          string // about the run as a whole; empty while it is open
	Steps            []StepFact
}

// StepFact is one step of a run that has begun, or its compensation.
type StepFact struct {
	ID       string
	Undo     bool   // the compensation of the step, which expectations name ~ID
	Status   string // running, waiting, succeeded, failed, unknown or cancelled
	Result   json.RawMessage
	Attempts []AttemptFact
}

// AttemptFact is one attempt.
type AttemptFact struct {
	N              int
	Outcome        string // empty while it is open
	Code           string
	Started, Ended time.Duration
	Calls          []CallFact
}

// CallFact is one use of a service by a script.
type CallFact struct {
	Status int // 0: no reply
	Code   string
	Key    string // the idempotency key that it sent; may be empty
	Write  string // which of the step's writes it is; empty for a read
	Target string // its method and path, as "POST /jobs"
}

// OperationFact is one operation: what is believed of it, and the truth.
type OperationFact struct {
	Step, Subject   string // the step's name, ~ID for its compensation
	Write, Target   string // which of the step's writes it is: its name, and its method and path
	Runs            []int  // the numbers of its runs, from 1
	Keys            []string
	Belief, Verdict string // the verdict is empty while belief is open
	Evidence        []EvidenceFact
}

// EvidenceFact is what one look-up said.
type EvidenceFact struct {
	Run          int
	Found, Match string // the match is empty where there was nothing to compare
	Unproven     bool   // no record, at an address that was only assumed and has never found one
}

// RequestFact is one HTTP request on the wire.
type RequestFact struct {
	Run          int // the number of its run, from 1; 0 for a foreign client's
	Step         string
	Undo         bool
	Attempt      int
	Method, Path string
	Query        string // without its question mark
	Key          string
	Lookup       bool // a look-up by key, not a call of a script
	At           time.Duration
}

// EffectFact is one record in the provider's ledger.
type EffectFact struct {
	Collection  string // "jobs"
	ID, Key     string
	Step, Write string // the step and the write that asked for it, where a script did; the step's name, ~ID for its compensation
	Target      string // that write's method and path
	Body        json.RawMessage
}

// DeliveryFact is one inbound event as the caller's trigger answered it.
type DeliveryFact struct {
	Status    int
	Code      string
	Duplicate bool
}

// ReplyFact is what a foreign client's request got; Status 0 means no reply.
type ReplyFact struct {
	Status int
	Body   string
}

// CrashesFact says how often the worker crashed, and which crashes are still armed, as the crash verb reads them.
type CrashesFact struct {
	Happened int
	Armed    []string
}

// isWrite reports whether a write of a step, with its name and its method and path, is the one that an option chooses.
func isWrite(option, name, target string) bool {
	return option != "" && (option == name || option == target)
}

// RefusalFact is a verb that the bench refused, with its reason.
type RefusalFact struct {
	Verb, Reason string
}

// stepName is how a line names a step: its id, with ~ before it for its compensation.
func stepName(id string, undo bool) string {
	if undo {
		return "~" + id
	}
	return id
}

func (s StepFact) name() string { return stepName(s.ID, s.Undo) }

// name is how an operation is named: its step, and which of the step's writes it is where that is known.
func (o OperationFact) name() string {
	if o.Write == "" {
		return o.Step
	}
	return o.Step + " (" + o.Write + ")"
}
