package engine

// Outcome is how an attempt ended. There are three: no answer is not a failure.
type Outcome string

// The outcomes of an attempt; the empty one means that it is still open.
const (
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
	Unknown   Outcome = "unknown"
)

// Belief is what the history alone says about an operation.
type Belief string

// The beliefs.
const (
	BeliefOpen        Belief = "open"        // an attempt runs or a retry is due
	BeliefDone        Belief = "done"        // a reply or recorded evidence proves the effect
	BeliefNotDone     Belief = "not-done"    // every write is proved not to have happened, or was abandoned
	BeliefUnknown     Belief = "unknown"     // nobody knows
	BeliefCompensated Belief = "compensated" // done, and its inverse is done too
)

// Verdict compares a belief with the truth, the number of effects in the provider's ledger.
type Verdict string

// The verdicts; the empty one means that belief is still open.
const (
	OneEffect      Verdict = "one effect"
	CleanFailure   Verdict = "clean failure"
	PhantomSuccess Verdict = "phantom success" // done, they say, and there is nothing
	FalseFailure   Verdict = "false failure"   // not done, they say, and it is there
	Unresolved     Verdict = "unresolved"
	Duplicate      Verdict = "duplicate"
	Compensated    Verdict = "compensated"
	Uncompensated  Verdict = "uncompensated" // an effect whose inverse is missing
)

// Status is the state of a run.
type Status string

// The statuses of a run. Waiting means that a retry is due or a child runs.
const (
	StatusQueued     Status = "queued"
	StatusRunning    Status = "running"
	StatusWaiting    Status = "waiting"
	StatusCancelling Status = "cancelling"
	StatusSucceeded  Status = "succeeded"
	StatusFailed     Status = "failed"
	StatusCancelled  Status = "cancelled"
)

// Ended reports whether a run with this status does nothing more by itself.
func (s Status) Ended() bool {
	return s == StatusSucceeded || s == StatusFailed || s == StatusCancelled
}

// Effect says what a call can do to the world.
type Effect string

// The kinds of calls that the rules tell apart.
const (
	Read            Effect = "read"             // GET, HEAD, OPTIONS
	KeyedWrite      Effect = "keyed write"      // carries a key that the assumed contract enforces
	IdempotentWrite Effect = "idempotent write" // its method is idempotent, the assumed contract says, as PUT by a stable id
	LocalWrite      Effect = "local write"      // services.db, with a mark that is committed together with what it changes
	UnkeyedWrite    Effect = "unkeyed write"    // any other
)

// Finding is what the end of one call proves about its effect.
type Finding string

// The findings of table a.
const (
	FoundNothing   Finding = ""          // a read: there is nothing to prove
	FoundDone      Finding = "done"      // proved
	FoundNotDone   Finding = "not done"  // proved
	FoundUnproven  Finding = "unproven"  // an answer that proves neither
	FoundAmbiguous Finding = "ambiguous" // no answer, or one that cannot be read
)

// Next is what the rules allow after a call or an attempt.
type Next string

// What can follow. A call knows Again and Stop, an attempt all but Again.
const (
	NextNothing   Next = ""          // nothing: the call has what it wanted
	NextAgain     Next = "again"     // repeating is safe
	NextStop      Next = "stop"      // repeating is wrong or useless
	NextStep      Next = "next step" // the attempt succeeded
	NextRetry     Next = "retry"     // one more attempt is due
	NextReconcile Next = "reconcile" // nobody knows: look it up
)

// Found is what a look-up by key said.
type Found string

// The answers of a look-up. No record does not mean that it did not happen: a late request can still arrive.
const (
	FoundRecord   Found = "found"
	FoundSeveral  Found = "several" // and not exactly one of them fits what was sent
	FoundNoRecord Found = "no record"
	FoundNoAnswer Found = "no answer"
)

// Match compares the record that a look-up found with what was sent.
type Match string

// How a record compares; the empty one means that there was none to compare.
const (
	Matches      Match = "matches"
	Contradicts  Match = "contradicts"
	Incomparable Match = "cannot be compared"
)

// Decision is what a person does about an unknown operation.
type Decision string

// The decisions. See Reconcile for what each of them needs.
const (
	Record   Decision = "record"   // the record found is this call's reply; go on from there
	Resubmit Decision = "resubmit" // one more attempt under the same key
	Abandon  Decision = "abandon"  // not wanted any more: not done
	Escalate Decision = "escalate" // nobody can prove it; stays unknown, with the reason
)
