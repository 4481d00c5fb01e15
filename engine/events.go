package engine

import (
	"encoding/json"
	"errors"
	"io"
	"syscall"
	"time"
)

// Event is one fact about one run, at its place in the history. Events are
// appended in order and never changed; every view of a run is a fold of them.
type Event struct {
	Seq  int64     // its place in the history, 1 and up, given by Append
	Run  string    // the run that it is about
	At   time.Time // when the engine's clock saw it
	Fact Fact
}

// Fact is what an event says. The facts below are the whole vocabulary.
type Fact interface{ Kind() Kind }

// Kind names a fact, in the history and on the screen.
type Kind string

// The kinds of facts, in the order in which a run meets them.
const (
	KindAdmitted       Kind = "admitted"
	KindStarted        Kind = "started"
	KindAttemptStarted Kind = "attempt.started"
	KindCallStarted    Kind = "call.started"
	KindRequestSent    Kind = "request.sent"
	KindRequestEnded   Kind = "request.ended"
	KindNotSent        Kind = "request.not-sent"
	KindCallEnded      Kind = "call.ended"
	KindAttemptEnded   Kind = "attempt.ended"
	KindCancelAsked    Kind = "cancel.asked"
	KindEnded          Kind = "ended"
	KindEvidence       Kind = "evidence"
	KindDecided        Kind = "decided"
	KindWaiting        Kind = "waiting"
	KindResumed        Kind = "resumed"
)

// Pos says where in a run something happened. Attempts, calls and requests are numbered from 1, each within the one above.
type Pos struct {
	Step    string `json:"s,omitempty"`
	Undo    bool   `json:"u,omitempty"` // the step's compensation, not the step
	Attempt int    `json:"a,omitempty"`
	Call    int    `json:"c,omitempty"`
	Request int    `json:"r,omitempty"`
}

// Where returns the place itself: every fact that has one says so by it.
func (p Pos) Where() Pos { return p }

// Admitted: the run exists. It is on disk before anybody is told so.
type Admitted struct {
	Workflow   string          `json:"workflow"`
	Definition string          `json:"def"`              // hash of the document
	Source     string          `json:"-"`                // the document itself; a History keeps each one once
	Assume     string          `json:"assume,omitempty"` // digest of the contracts that are assumed; empty where none was declared
	Assumed    string          `json:"-"`                // those contracts, as JSON; a History keeps each set once beside the document
	Trigger    string          `json:"trigger"`          // id of the trigger; empty for a child or a rerun
	Delivery   string          `json:"dkey,omitempty"`   // the inbound Idempotency-Key
	Digest     string          `json:"digest,omitempty"` // SHA-256 of the payload's canonical JSON, where a delivery key needs it
	Payload    json.RawMessage `json:"payload,omitempty"`
	Seed       int64           `json:"seed"`
	Folder     string          `json:"folder,omitempty"` // what relative database paths belong to; kept where the run or one that it calls may use a database
	Parent     *Parent         `json:"parent,omitempty"`
	RerunOf    string          `json:"rerun,omitempty"`
	Inbox      string          `json:"inbox,omitempty"` // the command's id where another process asked
}

// Parent names the call that started a child run.
type Parent struct {
	Run   string `json:"run"`
	Step  string `json:"step"`
	Name  string `json:"name"`
	Depth int    `json:"depth"` // 1 for the child of a run that nobody called
	Wait  bool   `json:"wait,omitempty"`
}

// Started: the run left the queue. Its timeout counts from here.
type Started struct{}

// AttemptStarted proves that an attempt began, not that anything was sent.
type AttemptStarted struct {
	Pos
	Max int    `json:"max"`          // attempts allowed in all
	Key string `json:"key"`          // attempt.idempotencyKey
	By  string `json:"by,omitempty"` // "retry", "resubmit" or, for the first, empty
}

// CallStarted: the script used a service. For HTTP the first request follows in the same append.
type CallStarted struct {
	Pos
	Service   string `json:"svc"`
	Operation string `json:"op"`
	Name      string `json:"name,omitempty"`
	Effect    Effect `json:"effect"`
	Key       string `json:"key,omitempty"`      // the idempotency key that the call carries
	Target    string `json:"target,omitempty"`   // what journal matching compares beside method, URL and body: database, workflow
	Digest    string `json:"digest,omitempty"`   // hash of the call's whole input
	File      string `json:"file,omitempty"`     // of a local write: the file that holds its mark, as the script named it
	Unmarked  string `json:"unmarked,omitempty"` // of a write of services.db: why it leaves no mark
	Write     string `json:"write,omitempty"`    // the operation that it belongs to, where it is answered by what is known of that one
	Content   string `json:"content,omitempty"`  // hash of what an HTTP write sends, the key left out: what two calls of one operation have in common
}

// RequestSent: everything about one HTTP request is on disk, and its first byte may go out from now on.
type RequestSent struct {
	Pos
	ID     string   `json:"id"` // its X-Request-Id
	Method string   `json:"m"`
	URL    string   `json:"url"`
	Key    string   `json:"key,omitempty"`
	Plain  string   `json:"pk,omitempty"`   // the key that a header carries which is no idempotency option; it protects nothing
	Header string   `json:"h,omitempty"`    // what carries the key; empty where the body does
	Shared bool     `json:"sh,omitempty"`   // the key is not the attempt's own: other runs may send it too
	Auth   []string `json:"auth,omitempty"` // credentials that a look-up carries too, as "Name: value", of which the history knows the secrets' names alone
	Secret []string `json:"-"`              // the other credentials, as they were sent; kept as the body is
	Body   []byte   `json:"-"`              // kept only while the step can still be reconciled
}

// RequestEnded: how one HTTP request ended on the wire.
type RequestEnded struct {
	Pos
	Status int    `json:"st,omitempty"` // 0: no reply
	Began  bool   `json:"b,omitempty"`  // the first byte went out
	Error  string `json:"e,omitempty"`
	GaveUp GaveUp `json:"gu,omitempty"` // why the caller stopped waiting; empty where the connection ended it
	Broke  Broke  `json:"br,omitempty"` // how the connection ended it; empty where it did so in another way
}

// Broke is how a connection ended without a whole reply.
type Broke string

// The ends.
const (
	BrokeReset  Broke = "reset"  // by the other side, at once
	BrokeCut    Broke = "cut"    // in the middle of the reply
	BrokeClosed Broke = "closed" // before the reply
)

// broke is the end of a connection that an error stands for.
func broke(err error) Broke {
	switch {
	case errors.Is(err, syscall.ECONNRESET):
		return BrokeReset
	case errors.Is(err, io.ErrUnexpectedEOF):
		return BrokeCut
	case errors.Is(err, io.EOF):
		return BrokeClosed
	}
	return ""
}

// GaveUp is why the caller stopped waiting for a reply.
type GaveUp string

// The reasons.
const (
	GaveUpTimeout    GaveUp = "timeout"     // the request's own time was over
	GaveUpRunTimeout GaveUp = "run-timeout" // the run's
	GaveUpCancel     GaveUp = "cancel"      // the run was cancelled
	GaveUpScript     GaveUp = "script"      // the script aborted it, or ended without it
	GaveUpKilled     GaveUp = "killed"      // the worker stopped
)

// gaveUp is the reason that an error stands for.
func gaveUp(err error) GaveUp {
	for _, g := range []struct {
		err error
		why GaveUp
	}{{errTimedOut, GaveUpTimeout}, {errRunTimeout, GaveUpRunTimeout}, {errCancelled, GaveUpCancel}, {errGaveUp, GaveUpScript}, {ErrKilled, GaveUpKilled}} {
		if errors.Is(err, g.err) {
			return g.why
		}
	}
	return ""
}

// NotSent: a request whose start is on disk was never sent.
type NotSent struct {
	Pos
	Why string `json:"why"`
}

// CallEnded: how a call ended and what that proves (table a).
type CallEnded struct {
	Pos
	How        How           `json:"how"`
	Finding    Finding       `json:"f,omitempty"`
	Next       Next          `json:"n,omitempty"`
	Status     int           `json:"st,omitempty"`
	RetryAfter time.Duration `json:"ra,omitempty"`
	Code       string        `json:"code,omitempty"` // empty when the script got a value
	Message    string        `json:"msg,omitempty"`
	Replay     bool          `json:"replay,omitempty"` // the provider marked it as an earlier answer
	Child      string        `json:"child,omitempty"`  // the run that services.workflows started
	Readings   []Reading     `json:"reads,omitempty"`  // what a script's own reads say of writes under a key
	From       Pos           `json:"from,omitzero"`    // nothing was sent: the reply to this earlier call of the step, or its evidence, is the answer
	Rows       int64         `json:"rows,omitempty"`   // that a local write changed
	Reply      []byte        `json:"-"`                // what the script got, as JSON; kept only while the step can still be reconciled
}

// AttemptEnded: an attempt's outcome and what follows (table b), with the next attempt's due time.
type AttemptEnded struct {
	Pos
	Outcome Outcome         `json:"outcome"`
	Next    Next            `json:"next"`
	Due     time.Time       `json:"due,omitzero"`
	Code    string          `json:"code,omitempty"`
	Message string          `json:"msg,omitempty"`
	Reason  string          `json:"why,omitempty"` // one clause for a person: why this outcome, why this next
	By      string          `json:"by,omitempty"`  // "record": the script ran again over its journal, which is no attempt of its own
	Result  json.RawMessage `json:"result,omitempty"`
}

// Waiting: the run waits for a child, and holds no slot meanwhile. Without a step it
// has done what it could, and its end waits for the child's.
type Waiting struct {
	Pos
	Child string `json:"child"`
}

// Resumed: what the end of the run waited for is settled, and the run goes on by itself.
// Calls that waited for that child in vain are open again, and their attempts with them.
type Resumed struct {
	Settled string `json:"settled"` // the run that was waited for
}

// CancelAsked: nothing new starts from here on.
type CancelAsked struct {
	Keep  bool   `json:"keep,omitempty"`  // what stands is not undone
	Inbox string `json:"inbox,omitempty"` // the command's id where another process asked
}

// Ended: the run does nothing more by itself. A decision can make it go on; then it ends again.
type Ended struct {
	Status    Status   `json:"status"`
	Reconcile bool     `json:"rec,omitempty"` // an operation of it is unknown
	Step      string   `json:"step,omitempty"`
	Code      string   `json:"code,omitempty"`
	Message   string   `json:"msg,omitempty"`
	Stands    []string `json:"stands,omitempty"` // finished steps whose inverse was not made, of a run that failed or was cancelled
	Waits     *Wait    `json:"waits,omitempty"`  // for what it waits, to go on by itself; then Reconcile is set too
}

// Wait names another run that must be settled before a run can be.
type Wait struct {
	Run string `json:"run"`
	Key string `json:"key,omitempty"` // the idempotency key that both use; empty where Run is a child
}

// Evidence: what a look-up by key said about one call.
type Evidence struct {
	Pos
	Key       string   `json:"key"`
	URL       string   `json:"url"`
	Address   string   `json:"at,omitempty"`    // the look-up template at this origin and collection, see assume.Contract.LookupAddress
	Asked     int64    `json:"asked,omitempty"` // the newest place in the history when the look-up was sent
	Found     Found    `json:"found"`
	Unproven  bool     `json:"unproven,omitempty"` // no record, at an address that was only assumed and has never found one
	Records   int      `json:"records,omitempty"`  // how many the reply had
	Status    int      `json:"st,omitempty"`
	Error     string   `json:"e,omitempty"`
	GaveUp    GaveUp   `json:"gu,omitempty"` // why nobody waited any longer for the reply
	Broke     Broke    `json:"br,omitempty"` // how the connection ended without one
	Match     Match    `json:"match,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"` // JSON pointers of the fields that contradict
	Unfit     string   `json:"unfit,omitempty"`     // why the script cannot take the record as its reply, when it was looked up
	Body      []byte   `json:"-"`                   // the one record
}

// Decided: a person's decision about an unknown operation.
type Decided struct {
	Pos
	Decision Decision        `json:"decision"`
	Key      string          `json:"key"`
	Evidence int64           `json:"evidence,omitempty"` // Seq of the evidence that it cites
	Forced   string          `json:"forced,omitempty"`   // the refusal that --force overrode
	Reason   string          `json:"reason,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`  // the step's result, given by hand
	Waits    bool            `json:"waits,omitempty"`   // Record: another doubt of the step is to be decided about first, the run stays as it is
	Replays  bool            `json:"replays,omitempty"` // Abandon: it was the last doubt, and the step goes on with what was recorded
	AnyKey   bool            `json:"anykey,omitempty"`  // Resubmit: the script may send another key than the one that is decided about
	Inbox    string          `json:"inbox,omitempty"`
}

// Kind implements Fact; so do the others below.
func (Admitted) Kind() Kind       { return KindAdmitted }
func (Started) Kind() Kind        { return KindStarted }
func (AttemptStarted) Kind() Kind { return KindAttemptStarted }
func (CallStarted) Kind() Kind    { return KindCallStarted }
func (RequestSent) Kind() Kind    { return KindRequestSent }
func (RequestEnded) Kind() Kind   { return KindRequestEnded }
func (NotSent) Kind() Kind        { return KindNotSent }
func (CallEnded) Kind() Kind      { return KindCallEnded }
func (AttemptEnded) Kind() Kind   { return KindAttemptEnded }
func (Waiting) Kind() Kind        { return KindWaiting }
func (Resumed) Kind() Kind        { return KindResumed }
func (CancelAsked) Kind() Kind    { return KindCancelAsked }
func (Ended) Kind() Kind          { return KindEnded }
func (Evidence) Kind() Kind       { return KindEvidence }
func (Decided) Kind() Kind        { return KindDecided }

// How names the row of table a by which a call ended.
type How string

// The rows of table a, in its order.
const (
	HowNeverSent  How = "never sent"
	HowExpired    How = "key past its retention"
	HowAccepted   How = "accepted"
	HowThrottled  How = "429"
	HowServer     How = "408, 425 or 5xx"
	HowInFlight   How = "409 in flight"
	HowConflict   How = "409"
	HowKeyTaken   How = "422 key taken"
	HowClient     How = "4xx"
	HowUnexpected How = "outside the accepted range"
	HowRedirected How = "redirected into a read"
	HowNoReply    How = "no reply"
	HowUnreadable How = "unreadable reply"
)

// Resumes reports whether the run goes on by the decision, and is not only settled by it.
func (f Decided) Resumes() bool {
	return f.Decision == Record && !f.Waits || f.Decision == Resubmit || f.Replays
}

// Body gives the part of a fact that a History keeps apart, to be dropped when the step is settled; nil where there is none.
func Body(f Fact) []byte {
	switch f := f.(type) {
	case RequestSent:
		return packBody(f.Secret, f.Body)
	case CallEnded:
		return f.Reply
	case Evidence:
		return f.Body
	}
	return nil
}

// WithBody is the fact with its body put back.
func WithBody(f Fact, body []byte) Fact {
	switch f := f.(type) {
	case RequestSent:
		f.Secret, f.Body = unpackBody(body)
		return f
	case CallEnded:
		f.Reply = body
		return f
	case Evidence:
		f.Body = body
		return f
	}
	return f
}

// Settles says whose bodies an event makes unnecessary: those of one step, or with an empty step those of the whole run.
func Settles(e Event) (step string, ok bool) {
	switch f := e.Fact.(type) {
	case AttemptEnded:
		return f.Step, f.Outcome == Succeeded && !f.Undo
	case Ended:
		// An interrupted step can still be recorded from the answers that its journal holds.
		return "", !f.Reconcile && f.Code != codeInterrupted
	}
	return "", false
}

// DecodeFact reads the JSON form of a fact of this kind, as EncodeFact wrote it.
// An unknown kind or malformed JSON is an error: such a history was written by somebody else.
func DecodeFact(k Kind, data []byte) (Fact, error) {
	decode, ok := decoders[k]
	if !ok {
		return nil, &UnknownKindError{Kind: k}
	}
	return decode(data)
}

// UnknownKindError says that a history holds a fact that this version does not know.
type UnknownKindError struct{ Kind Kind }

func (e *UnknownKindError) Error() string {
	return "the history holds a fact of kind " + string(e.Kind) + ", which this version does not know; use a newer faultlab"
}

var decoders = map[Kind]func([]byte) (Fact, error){
	KindAdmitted:       decodeAs[Admitted],
	KindStarted:        decodeAs[Started],
	KindAttemptStarted: decodeAs[AttemptStarted],
	KindCallStarted:    decodeAs[CallStarted],
	KindRequestSent:    decodeAs[RequestSent],
	KindRequestEnded:   decodeAs[RequestEnded],
	KindNotSent:        decodeAs[NotSent],
	KindCallEnded:      decodeAs[CallEnded],
	KindAttemptEnded:   decodeAs[AttemptEnded],
	KindWaiting:        decodeAs[Waiting],
	KindResumed:        decodeAs[Resumed],
	KindCancelAsked:    decodeAs[CancelAsked],
	KindEnded:          decodeAs[Ended],
	KindEvidence:       decodeAs[Evidence],
	KindDecided:        decodeAs[Decided],
}

func decodeAs[F Fact](data []byte) (Fact, error) {
	var f F
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	return f, nil
}
