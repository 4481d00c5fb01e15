package faultprovider

import "time"

// Kind is what an Entry of the log says.
type Kind string

// The vocabulary of the log, in the order in which one request can meet it. A request has one Received, at most one of
// the decisions NewOperation to Looked, at most one Commit (which can come after its end) and one end, Replied to Failed.
const (
	Received Kind = "received" // the request arrived, its body whole

	NewOperation Kind = "new"       // decision: a new operation under Fault
	Replay       Kind = "replay"    // decision: the key is known, EffectID is what it made
	Rejected     Kind = "rejected"  // decision: against the contract, Note says why
	InFlight     Kind = "in-flight" // decision: the first request under the key is not over; Note: "refused" or "waits"
	Looked       Kind = "look-up"   // decision: a look-up, a read or a list; EffectID is what it found, if anything

	Commit Kind = "commit" // the effect is in the ledger

	Replied Kind = "reply"   // end: the whole answer was given, with Status
	Cut     Kind = "cut"     // end: Status and a part of the body were given
	Reset   Kind = "reset"   // end: the connection was reset without an answer
	GaveUp  Kind = "gave-up" // end: the caller gave up before it got an answer
	Failed  Kind = "failed"  // end: the ledger could not keep what the request did; Note says why
)

// Entry is one line of the provider's request log.
type Entry struct {
	Seq        int64     `json:"seq"` // from 1, without gaps
	At         time.Time `json:"at"`
	Kind       Kind      `json:"kind"`
	Request    int64     `json:"request"` // ordinal of the request at this provider, from 1: ties its entries together
	RequestID  string    `json:"requestId,omitempty"`
	Method     string    `json:"method,omitempty"`
	Path       string    `json:"path,omitempty"` // with its query
	Collection string    `json:"collection,omitempty"`
	Key        string    `json:"key,omitempty"`
	Fault      string    `json:"fault,omitempty"` // on the decision: what the request got, "none" for a NewOperation without one
	EffectID   string    `json:"effectId,omitempty"`
	Status     int       `json:"status,omitempty"`
	Note       string    `json:"note,omitempty"`

	// Of a NewOperation under a key: why the key was not recognised although it was known, and what the key counts within.
	Cause Cause     `json:"cause,omitempty"`
	Scope *KeyScope `json:"scope,omitempty"`

	// Of a decision under a fault: the fault that the request took. A ledger does not keep it.
	Took *Taken `json:"-"`
}

// Taken is a fault as it was queued when a request took it, and what was queued then.
type Taken struct {
	Fault Fault
	Left  []Fault
}

// Cause is why a request under a known key is a new operation.
type Cause string

// The causes. A key that is not known has none: it is new, or what was done under it was not kept.
const (
	KeyForgotten   Cause = "forgotten"     // it is older than the contract keeps keys
	PayloadChanged Cause = "other-payload" // another payload is another operation under this contract
	ResultNotKept  Cause = "not-kept"      // the earlier result was an error, which this contract does not keep
	NotWaitedFor   Cause = "in-flight"     // the first request is not over, and this contract does not wait for it
)

// KeyScope is what a key counts within, by the contract: two requests under one key mean one operation only where all of
// it is the same. What the contract leaves out of the scope is empty.
type KeyScope struct {
	Account string `json:"account,omitempty"` // a digest of the Authorization header
	Method  string `json:"method,omitempty"`
	Route   string `json:"route,omitempty"`
	Fields  string `json:"fields,omitempty"` // a digest of the fields of the body that count
}
