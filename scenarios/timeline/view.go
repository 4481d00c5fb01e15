package timeline

import (
	"time"

	"faultlab/engine"
	"faultlab/faultprovider"
	"faultlab/faultprovider/expect"
	"faultlab/faultprovider/fault"
)

// Entry is one item of a bench's timeline: exactly one of Event, Log and Note is set.
type Entry struct {
	N       int // its place, 1 and up
	At      time.Time
	Event   *engine.Event          // the caller's side
	Log     *faultprovider.Entry   // the provider's side
	Effects []faultprovider.Effect // with Log: the effects that it made or changed
	Note    *Note                  // what was done to the bench
}

// Note is something that a person or the scenario did to the bench.
type Note struct {
	Verb     string    `json:"verb"`               // a verb of the table, as "fault" or "crash"; NoteConsole for what a script printed
	Text     string    `json:"text,omitempty"`     // its arguments and effect, in words
	Refused  bool      `json:"refused,omitempty"`  // it was not done; Text says why
	Run      string    `json:"run,omitempty"`      // with NoteConsole: whose script printed it
	Step     string    `json:"step,omitempty"`     // likewise
	Undo     bool      `json:"undo,omitempty"`     // likewise: it is the step's compensation
	Delivery *Delivery `json:"delivery,omitempty"` // what the caller's trigger answered, where an event was delivered
	Reply    *Reply    `json:"reply,omitempty"`    // what a request from outside got
	Bench    *Setting  `json:"bench,omitempty"`    // how the bench is set up from now on, where that changed
}

// NoteConsole is the Verb of a line that a script printed with console.
const NoteConsole = "console"

// Reply is what a request that the scenario itself sent to the provider got.
type Reply struct {
	Status int    `json:"status"` // 0: no reply
	Body   string `json:"body"`
}

// Setting is the part of a bench's state that verbs change.
type Setting struct {
	Faults     []fault.Fault `json:"faults"`   // queued and not yet taken
	Contract   string        `json:"contract"` // the one that the provider keeps, by name
	WorkerDown bool          `json:"workerDown"`
}

// View is the bench at one moment: a fold of the first N entries of its timeline.
// A view is never changed once made.
type View struct {
	N, Total    int
	Start, At   time.Time // of the first entry, and of entry N
	Runs        []*engine.Run
	RunVerdicts []RunVerdict // of Runs, in their order
	Operations  []Operation
	Effects     []faultprovider.Effect
	Log         []faultprovider.Entry
	Wire        []Row
	Setting
	Deliveries []Delivery
	Replies    []Reply // of requests that the scenario itself sent, in order
	Refusals   []Note  // verbs that were refused, in order
	Repeats    []Row   // requests that a transport sent again by itself, in order
}

// Counts are what a run did, counted apart: where they differ, something repeated by itself.
type Counts struct {
	Attempts    int `json:"attempts"`
	Calls       int `json:"calls"`
	Requests    int `json:"requests"`              // on the wire, those of its look-ups apart
	ByTransport int `json:"byTransport,omitempty"` // of the requests, those that a transport sent again by itself
}

// Counts counts what a run did, as the provider saw it.
func (v *View) Counts(r *engine.Run) (c Counts) {
	c.Attempts, c.Calls, c.Requests = r.Counts()
	for _, again := range v.Repeats {
		if again.Run == r.ID {
			c.ByTransport++
		}
	}
	c.Requests += c.ByTransport
	return c
}

// Delivery is one inbound event as the caller's trigger saw it.
type Delivery struct {
	At        time.Time `json:"at"`
	Trigger   string    `json:"trigger"`
	EventID   string    `json:"eventId,omitempty"` // its Idempotency-Key, or empty
	Run       string    `json:"run,omitempty"`     // the run that it made or met
	Duplicate bool      `json:"duplicate,omitempty"`
	Status    int       `json:"status"`         // the HTTP status that the sender got; 0: no answer
	Code      string    `json:"code,omitempty"` // WOML_..., where it was refused
}

// Operation is one logical effect that somebody wants, over all attempts, keys and runs.
type Operation struct {
	Step    string
	Undo    bool   // it is the compensation of the step
	Write   string // which of the step's writes, as the engine names it; empty where it has sent none
	Route   string // its method and path, as "POST /jobs"
	Several bool   // the step has other writes too
	Subject string // the value of the scenario's subject, or the run
	Runs    []string
	Keys    []string // in order of first use; more than one key is how duplicates are made
	Belief  engine.Belief
	Effects []faultprovider.Effect // the truth
	Undone  int                    // how many of them do not stand: their inverse is in the ledger
	Verdict engine.Verdict
	Why     string // one or two sentences for a person: why this verdict, what to do
	// Where something must be settled: in unknown operations, and in those that are done
	// while another write of them, under another key or in another run, is not known.
	Doubts    []*engine.Call // what must be looked up, the newest call of each key
	DoubtRuns []string       // the run of each doubt
	Options   []Option       // the four decisions
	Advice    engine.Advice  // what to do next about the doubts
	Unaskable bool           // none of the doubts can be looked up by a key, as the contract is assumed
}

// Name is the step, with ~ before that of a compensation, and where the step has several writes, which one it is.
func (o *Operation) Name() string {
	return operationName(engine.StepName(o.Step, o.Undo), o.Write, o.Several)
}

func operationName(step, write string, several bool) string {
	if several && write != "" {
		return step + " (" + write + ")"
	}
	return step
}

// Option is one decision that a person can take about an unknown operation.
type Option struct {
	Decision    engine.Decision
	Consequence string // what happens then, in one sentence
	Risk        string // what can come of it where it has to be forced
	Permission  engine.Permission
	Unavailable string // why it is refused, or what it goes against where it can be forced; empty where it is allowed
	Advised     bool   // it is what table e advises
}

// LogLines are the provider's decisions as its log prints them.
func (v *View) LogLines() []string { return expect.Lines(v.Log) }
