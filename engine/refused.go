package engine

import "errors"

// RefusedError says that an append breaks a rule of the history. Nothing of it is
// kept, its places stay empty, and other appends go on: it is no failed commit.
type RefusedError struct {
	Run string
	Why string // one of the reasons below, or why a fact cannot be written down
}

// Why an append is refused.
const (
	RefusedUnknownRun = "it was never admitted"
	RefusedKnownRun   = "it was admitted before"
	RefusedDelivery   = "its delivery key belongs to another run"
	RefusedChild      = "its parent's call made another run"
)

func (e *RefusedError) Error() string {
	return "the history refuses an event of run " + e.Run + ": " + e.Why
}

// ErrHistoryClosed is what appending to a closed history gives.
var ErrHistoryClosed = errors.New("the history is closed")
