package engine

// Error is a refusal or a failure with a code for machines and a sentence for a person.
type Error struct {
	Code    string // WOML_..., as the language's reference names it
	Message string
}

func (e *Error) Error() string { return e.Message }

// ErrorCode is the code, for those who know the error by this method alone.
func (e *Error) ErrorCode() string { return e.Code }

// Refused says why a decision is not carried out. Force tells whether --force would carry it out all the same.
type Refused struct {
	Why   string
	Force bool
}

func (e *Refused) Error() string {
	if e.Force {
		return e.Why + " (--force does it all the same, and the history says so)"
	}
	return e.Why
}

// Codes that are the engine's own words for an end of a run or an attempt.
const (
	codePayload          = "WOML_TRIGGER_PAYLOAD_INVALID"
	codeQueueFull        = "WOML_POLICY_QUEUE_FULL"
	codeCancelled        = "WOML_SCRIPT_CANCELLED"
	codeCallInterrupted  = "WOML_CAPABILITY_INTERRUPTED"
	codeInterrupted      = "WOML_STEP_INTERRUPTED"
	codeExhausted        = "WOML_STEP_RETRIES_EXHAUSTED"
	codeRunTimedOut      = "WOML_WORKFLOW_TIMED_OUT"
	codeAnotherKey       = "FAULTLAB_KEY_NOT_REPEATABLE"
	codeAbandoned        = "FAULTLAB_KEY_ABANDONED"
	codeUndecided        = "FAULTLAB_KEY_UNDECIDED"
	codeNotRepeatable    = "FAULTLAB_SCRIPT_NOT_REPEATABLE"
	codeOperationUnknown = "FAULTLAB_OPERATION_UNKNOWN"
	codeKeyExpired       = "FAULTLAB_KEY_EXPIRED"
	codeChildUnsettled   = "FAULTLAB_CHILD_UNSETTLED"
	codeUndone           = "FAULTLAB_RUN_UNDONE"
	codeCompensation     = "FAULTLAB_COMPENSATION_FAILED"
)
