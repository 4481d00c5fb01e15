package engine

// Table a: how a call ended, and what that proves. The rows are in order; a call
// meets the one whose condition (see rowOf) holds, and every combination of a row
// and an effect has one entry.
//
// An idempotent write, one whose method the assumed contract declares to be so,
// may be repeated as a read may, and proves what a keyed write proves.
//
// A local write leaves a mark that can be looked up, so it is ambiguous only where
// its file cannot be read any more. One whose result was not kept is done.
var callRules = map[How]map[Effect]callRule{
	HowNeverSent:  {Read: {FoundNothing, NextAgain}, KeyedWrite: {FoundNotDone, NextAgain}, IdempotentWrite: {FoundNotDone, NextAgain}, LocalWrite: {FoundNotDone, NextAgain}, UnkeyedWrite: {FoundNotDone, NextAgain}},
	HowExpired:    {Read: {FoundNothing, NextStop}, KeyedWrite: {FoundNotDone, NextStop}, IdempotentWrite: {FoundNotDone, NextStop}, LocalWrite: {FoundNotDone, NextStop}, UnkeyedWrite: {FoundNotDone, NextStop}},
	HowAccepted:   {Read: {FoundNothing, NextNothing}, KeyedWrite: {FoundDone, NextNothing}, IdempotentWrite: {FoundDone, NextNothing}, LocalWrite: {FoundDone, NextNothing}, UnkeyedWrite: {FoundDone, NextNothing}},
	HowThrottled:  {Read: {FoundNothing, NextAgain}, KeyedWrite: {FoundNotDone, NextAgain}, IdempotentWrite: {FoundNotDone, NextAgain}, LocalWrite: {FoundNotDone, NextAgain}, UnkeyedWrite: {FoundNotDone, NextAgain}},
	HowServer:     {Read: {FoundNothing, NextAgain}, KeyedWrite: {FoundUnproven, NextAgain}, IdempotentWrite: {FoundUnproven, NextAgain}, LocalWrite: {FoundAmbiguous, NextStop}, UnkeyedWrite: {FoundAmbiguous, NextStop}},
	HowInFlight:   {Read: {FoundNothing, NextStop}, KeyedWrite: {FoundUnproven, NextAgain}, IdempotentWrite: {FoundUnproven, NextAgain}, LocalWrite: {FoundNotDone, NextStop}, UnkeyedWrite: {FoundNotDone, NextStop}},
	HowConflict:   {Read: {FoundNothing, NextStop}, KeyedWrite: {FoundUnproven, NextStop}, IdempotentWrite: {FoundUnproven, NextStop}, LocalWrite: {FoundNotDone, NextStop}, UnkeyedWrite: {FoundNotDone, NextStop}},
	HowKeyTaken:   {Read: {FoundNothing, NextStop}, KeyedWrite: {FoundNotDone, NextStop}, IdempotentWrite: {FoundNotDone, NextStop}, LocalWrite: {FoundNotDone, NextStop}, UnkeyedWrite: {FoundNotDone, NextStop}},
	HowClient:     {Read: {FoundNothing, NextStop}, KeyedWrite: {FoundNotDone, NextStop}, IdempotentWrite: {FoundNotDone, NextStop}, LocalWrite: {FoundNotDone, NextStop}, UnkeyedWrite: {FoundNotDone, NextStop}},
	HowUnexpected: {Read: {FoundNothing, NextStop}, KeyedWrite: {FoundAmbiguous, NextStop}, IdempotentWrite: {FoundUnproven, NextStop}, LocalWrite: {FoundAmbiguous, NextStop}, UnkeyedWrite: {FoundAmbiguous, NextStop}},
	HowRedirected: {Read: {FoundNothing, NextStop}, KeyedWrite: {FoundAmbiguous, NextStop}, IdempotentWrite: {FoundUnproven, NextStop}, LocalWrite: {FoundAmbiguous, NextStop}, UnkeyedWrite: {FoundAmbiguous, NextStop}},
	HowNoReply:    {Read: {FoundNothing, NextAgain}, KeyedWrite: {FoundAmbiguous, NextStop}, IdempotentWrite: {FoundUnproven, NextAgain}, LocalWrite: {FoundAmbiguous, NextStop}, UnkeyedWrite: {FoundAmbiguous, NextStop}},
	HowUnreadable: {Read: {FoundNothing, NextStop}, KeyedWrite: {FoundAmbiguous, NextStop}, IdempotentWrite: {FoundUnproven, NextStop}, LocalWrite: {FoundDone, NextStop}, UnkeyedWrite: {FoundAmbiguous, NextStop}},
}

type callRule struct {
	finding Finding
	next    Next
}

// callEnd is everything about the end of a call that table a looks at.
type callEnd struct {
	read       bool // the call is one
	began      bool // the first byte went out
	expired    bool // it was not sent: its key was past its retention
	status     int  // 0: no status line came
	accepted   bool // the status is in the accepted range, and no redirect was refused
	unreadable bool // the body was cut, too large, not JSON or not text
	elsewhere  bool // the status is that of a read which a write was redirected into
	retryAfter bool // the reply had a usable Retry-After
	inFlight   bool // the assumed contract says that its 409 means "in flight"
	keyTaken   bool // the assumed contract says that this status means a key known with another payload
}

// rowOf picks the row of table a. What is accepted does not throw; of a write it
// proves nothing, unless it is a 2xx.
func rowOf(e callEnd) How {
	accepted := e.accepted && (e.read || e.status/100 == 2)
	switch s := e.status; {
	case s == 0 && !e.began && e.expired:
		return HowExpired
	case s == 0 && !e.began:
		return HowNeverSent
	case s == 0:
		return HowNoReply
	case accepted && e.unreadable:
		return HowUnreadable
	case accepted:
		return HowAccepted
	case e.elsewhere:
		return HowRedirected
	case s == 429:
		return HowThrottled
	case s == 408 || s == 425 || s >= 500:
		return HowServer
	case s == 409 && (e.retryAfter || e.inFlight):
		return HowInFlight
	case s == 409:
		return HowConflict
	case e.keyTaken:
		return HowKeyTaken
	case s >= 400:
		return HowClient
	}
	return HowUnexpected
}

// Why is the row in words for a person, as the reason of an outcome.
func (h How) Why() string { return howWords[h] }

var howWords = map[How]string{
	HowNeverSent:  "it never left the caller",
	HowExpired:    "it was not sent: the provider may have forgotten the key",
	HowAccepted:   "the reply was accepted",
	HowThrottled:  "429: the provider did not take it",
	HowServer:     "the reply does not say whether it was done",
	HowInFlight:   "409: an earlier request under this key is still at work",
	HowConflict:   "409: it may already exist",
	HowKeyTaken:   "the provider refuses this payload under this key",
	HowClient:     "the provider refused it",
	HowUnexpected: "the reply is not one that was expected",
	HowRedirected: "it was redirected to another resource, whose answer says nothing about it",
	HowNoReply:    "it was sent, and nobody answered",
	HowUnreadable: "the reply cannot be read",
}
