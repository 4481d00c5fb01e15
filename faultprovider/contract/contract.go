// Package contract is the idempotency rules that a provider keeps.
//
// A Contract is a set of knobs; a preset is a named set of them, modelled on public
// documentation as seen in 2026. No preset claims to be equivalent with a vendor's
// service: what the documentation does not say is listed in Assumptions.
//
// The package holds rules only: no clock, no ledger, no HTTP. Package faultprovider
// keeps the rules, Parse reads a contract file and refuses it with line and column.
package contract

import (
	"cmp"
	"time"
)

// Contract is one set of idempotency rules. Use a preset or Parse to make one; the zero value is not valid.
type Contract struct {
	Name        string   // short and unique: "stripe-v1"
	Title       string   // one line for a list
	Note        string   // where it comes from
	Assumptions []string // what the source does not say and the preset had to choose

	Carrier     Carrier
	Missing     Refusal // a POST without a key; Do: Execute or Reject
	Key         Key
	Scope       Scope
	Fingerprint Fingerprint
	Mismatch    Refusal // a known key with another payload; Do: Reject, ReplayFirst or Execute
	Retention   Retention
	Store       []string // classes of results kept under the key when Replay.Do is StoredReply: "2xx", "4xx", "5xx"
	AfterError  AfterError
	Replay      Replay
	InFlight    InFlight
	LookUp      LookUp
	Hints       Hints
}

// Place is where a key travels.
type Place string

// The places of a key. Nowhere means that the provider never looks for one.
const (
	InHeader Place = "header"
	InBody   Place = "body" // a top-level field of the JSON body
	InPath   Place = "path" // the last segment: PUT /jobs/{key}
	Nowhere  Place = "nowhere"
)

// Carrier says how the key travels.
type Carrier struct {
	In        Place
	Name      string // of the header or of the body's field
	FirstSent string // header with the time of the client's first attempt (an HTTP date); "" where there is none
}

// Action is what the provider does with a request that breaks a rule.
type Action string

// The actions. Not every rule allows every one; Check says which.
const (
	Execute     Action = "execute"      // as a new operation
	Reject      Action = "reject"       // with Status and Error
	ReplayFirst Action = "replay-first" // answer as if the payload were the first one
	Wait        Action = "wait"         // until the first request is over, then answer as its replay
)

// Refusal is an action and, for Reject, what the caller is told.
type Refusal struct {
	Do     Action
	Status int
	Error  string // the "error" of the JSON body
}

// Syntax is how a key is written.
type Syntax string

// The syntaxes.
const (
	Raw              Syntax = "raw"
	StructuredString Syntax = "structured-string" // RFC 8941 string: "in quotes"
	UUID             Syntax = "uuid"
)

// Charset is which characters a key may have.
type Charset string

// The charsets.
const (
	AnyChar Charset = "any"
	ASCII   Charset = "ascii" // 0x20..0x7e
)

// Overlong is what happens to a key above MaxLength.
type Overlong string

// The treatments of an overlong key.
const (
	RejectLong Overlong = "reject"
	Truncate   Overlong = "truncate" // two keys with one beginning become one key
)

// Key is what a key may look like. A key that breaks it is refused with Status and Error.
type Key struct {
	Syntax    Syntax
	MaxLength int // in characters; 0 is no limit
	Charset   Charset
	Overlong  Overlong
	Status    int    // from 400 to 599; 0 is 400
	Error     string // the "error" of the refusal's body; "" is idempotency_key_invalid
}

// badRequest is the status that a bad key gets where the contract names none.
const badRequest = 400

// Refused is the status and the error that a bad key gets.
func (k Key) Refused() (status int, code string) {
	return cmp.Or(k.Status, badRequest), cmp.Or(k.Error, "idempotency_key_invalid")
}

// Scope is what, besides its text, makes two keys the same key.
type Scope struct {
	Account bool     // the Authorization header
	Method  bool     // POST /jobs and PUT /jobs differ
	Route   bool     // /jobs and /charges differ
	Fields  []string // top-level fields of the body, such as "region"; a look-up sends them in its query
}

// By is how two payloads are compared.
type By string

// The ways to compare payloads.
const (
	ByNone      By = "none"
	ByBytes     By = "bytes"
	ByJSON      By = "json"      // re-serialized as JSON.stringify(JSON.parse(body)) does; the order of keys counts
	ByCanonical By = "canonical" // RFC 8785; the order of keys does not count
	ByFields    By = "fields"    // the canonical form of Fields alone
)

// Fingerprint says which payloads are the same.
type Fingerprint struct {
	By     By
	Fields []string
}

// From is the moment that a retention counts from.
type From string

// The moments.
const (
	FirstSeen   From = "first-seen"
	Completed   From = "completed"
	ClientClock From = "client-clock" // Carrier.FirstSent; the distance to it counts in both directions
)

// Expired is what a key means after its retention.
type Expired string

// The meanings of an expired key.
const (
	NewOperation Expired = "new-operation"
	Refuse       Expired = "refuse" // 412
)

// Retention is how long a key is known.
type Retention struct {
	For         time.Duration // 0 is for ever
	From        From
	Expired     Expired
	Collections map[string]time.Duration // overrides For by collection
}

// AfterError is what becomes of a key whose result was a 5xx that is not stored.
// A 4xx that is not stored always releases its key, and so does a 429.
type AfterError string

// The fates of a key after a 5xx.
const (
	Released AfterError = "released" // as if it had never been sent
	Kept     AfterError = "kept"     // executes again, for the same payload only
	Locked   AfterError = "locked"   // answers 409 for the retention
)

// ReplayAction is how a repeat is answered.
type ReplayAction string

// The answers to a repeat.
const (
	StoredReply    ReplayAction = "stored-reply"     // status and body of the first result
	CurrentState   ReplayAction = "current-state"    // the record as it is now
	ConflictWithID ReplayAction = "conflict-with-id" // an error that names the existing record
	Accepted       ReplayAction = "accepted"         // a success without a record in it
)

// Replay is the answer to a repeat.
type Replay struct {
	Do     ReplayAction
	Status int    // 0 is that of the first result
	Marker string // header that marks a repeat: "Idempotent-Replayed: true"; "" sends none
}

// InFlight is what happens to a second request while the first one under its key is not over.
type InFlight struct {
	Refusal    // Do: Reject, Wait or Execute
	RetryAfter time.Duration
	Lease      time.Duration // after it the key may be taken again; 0 is never
}

// LookUpBy is how a caller can ask for an operation.
type LookUpBy string

// The look-ups.
const (
	LookUpNone   LookUpBy = "none"   // GET of one record by its id is all there is
	LookUpByKey  LookUpBy = "key"    // GET /jobs/by-idempotency-key/{key}
	LookUpByList LookUpBy = "filter" // GET /jobs?{field}={value}
)

// LookUp is how a caller can ask what happened.
type LookUp struct {
	By       LookUpBy
	Filter   string        // with LookUpByList: the parameter that filters by key; "" where only fields of the record do
	Lag      time.Duration // it answers from the ledger as it was so long ago
	InFlight Refusal       // a key in flight; Do: Reject (404 by default)
}

// Hints are headers that tell a caller what to do next.
type Hints struct {
	RetryAfter  time.Duration // on every 409 and 503 that the contract itself answers; 0 sends none
	ShouldRetry string        // header that says "true" or "false" on errors; "" sends none
}
