// Package fault is what the provider can do wrong with one request.
//
// A Fault is a composition of three axes: when the effect commits (Commit), what
// the caller gets (Reply) and which requests it takes (On). A named fault is an
// alias for one such composition, one row of the table in names.go. ParseList reads
// both forms from JSON and refuses a list as a whole, never half of it.
//
// The package knows nothing of HTTP servers, clocks or ledgers; it only says what
// was asked for. Package faultprovider plays it.
package fault

import "time"

// Fault is one misbehaviour. The zero value is "none": commit, then answer.
type Fault struct {
	Name   string // the alias it was made from, or a label of one's own; "" for a bare composition
	Commit Commit
	Reply  Reply
	On     On
}

// When an effect commits.
type When string

// The values of Commit.When. The empty value means BeforeReply.
const (
	BeforeReply When = "before-reply" // After the arrival, and the reply waits for it
	Never       When = "never"        // nothing is committed
	Late        When = "late"         // After the arrival, whatever the caller got or did meanwhile
	Stuck       When = "stuck"        // nothing is committed, and the request never ends: its key stays in flight
)

// Commit is the first axis: when the effect enters the ledger.
type Commit struct {
	When  When
	After time.Duration // counted from the arrival of the request; 0 with BeforeReply is "at once"
}

// Kind is what the caller gets.
type Kind string

// The values of Reply.Do. The empty value means Normal.
const (
	Normal      Kind = "normal"       // the answer that the contract prescribes
	Status      Kind = "status"       // Reply.Status with an error body
	Reset       Kind = "reset"        // a TCP reset, no byte of an answer
	Nothing     Kind = "nothing"      // no answer until the caller gives up
	Cut         Kind = "cut"          // the head promises the whole body, Reply.Bytes of it come, then FIN
	CutReset    Kind = "cut-reset"    // the same, and a reset in place of the FIN
	CutChunked  Kind = "cut-chunked"  // a chunk of Reply.Bytes, and FIN before the last chunk
	CutUnframed Kind = "cut-unframed" // as cut, without a Content-Length: the end looks like a proper one
	NotJSON     Kind = "not-json"     // the right status, a body that is HTML
	TooLarge    Kind = "too-large"    // the right status, JSON of Reply.Bytes bytes
	WrongLength Kind = "wrong-length" // a whole body under a Content-Length of Reply.Bytes
	Redirect    Kind = "redirect"     // Reply.Status, by default 302, to the same address with ?moved
)

var whens = []When{BeforeReply, Never, Late, Stuck}

var kinds = []Kind{Normal, Status, Reset, Nothing, Cut, CutReset, CutChunked, CutUnframed, NotJSON, TooLarge, WrongLength, Redirect}

// Reply is the second axis: what the caller gets.
type Reply struct {
	Do         Kind
	Status     int           // with Status: 400..599; with Redirect: 301, 302, 303 (a client that follows sends a GET), 307 or 308 (it sends the same again)
	Error      string        // with Status: the "error" of the body; "" picks the usual one
	RetryAfter time.Duration // with Status: the Retry-After header, in whole seconds, rounded up; 0 sends none
	Bytes      int           // see Kind; 0 picks a value (half the body, or 5 MiB with TooLarge)
	Slow       time.Duration // the answer comes so much later
	Drip       time.Duration // the body comes one byte at a time, this far apart
	Stale      time.Duration // look-ups and reads: the ledger as it was so long ago
}

// Which requests a fault can take.
type Which string

// The values of On.Requests. The empty value means New. Control requests are never taken.
const (
	New    Which = "new"     // a write that would commit a new effect
	Replay Which = "replay"  // a write whose key is known, whatever it would be answered
	LookUp Which = "look-up" // a look-up by key, a read of one record or a list
	Any    Which = "any"     // every one of these, and refused requests too
)

// Always as On.Times keeps a fault in the queue until the queue is replaced.
const Always = -1

// On is the third axis: which requests the fault takes.
type On struct {
	Requests    Which
	Key         string  // only this idempotency key; "" is any
	Collection  string  // only this collection ("jobs"); "" is any
	Step        string  // only requests of this step, as X-Request-Id tells it, ~ID for its compensation; "" is any
	Attempt     int     // only of this attempt; 0 is any
	Request     int     // only the request of this number in its attempt; 0 is any
	Nth         int     // let Nth-1 matching requests pass first; 0 and 1 take the first
	Probability float64 // take a matching request with this probability, drawn from the seed; 0 is always
	Times       int     // how many requests it takes before it leaves the queue; 0 is one, Always is no end
}
