package script

import (
	"encoding/json"
	"time"
)

// Host is the world as a script may ask of it. Its methods are called by the goroutine that called Run, one at a
// time, and never after Run has returned. They may block: the script's own time limit does not run meanwhile.
//
// Tickets name what was begun: positive numbers in the order of beginning, shared by calls and timers, the same in
// every run of the same script that meets the same completions.
type Host interface {
	// Now is the time that the script's Date shows.
	Now() time.Time
	// Start begins one call. A refusal (bad input, say) means that nothing was begun: it rejects the promise at
	// once and no completion follows.
	Start(id int, c Call) *ServiceError
	// Timer asks for a completion with this ticket after d. Ticket 0 is the end of the script's own time, set when
	// no other timer can come before it.
	Timer(id int, d time.Duration)
	// Cancel withdraws what was begun. A withdrawn timer never completes; a withdrawn call still does, with
	// whatever its end was.
	Cancel(id int)
	// Next waits for the next completion of an open call or timer: timers in the order of their due times, then of
	// their tickets. It returns an error when the attempt must end (cancelled, the run's timeout); that error is
	// then the cause of Run's.
	Next() (Completion, error)
	// Secret is the value of a secret, and whether there is one of that name.
	Secret(name string) (value string, ok bool)
	// Log takes one line of the script's console. Level is log, info, warn, error or debug; secrets in the text are
	// already replaced and it is at most MaxLog characters long.
	Log(level, text string)
}

// The services that a script can call.
const (
	ServiceHTTP      = "http"      // services.http: operation request
	ServiceDB        = "db"        // services.db(target): query, execute, read, insert, update, delete, transaction
	ServiceWorkflows = "workflows" // services.workflows: call, start
	ServiceFetch     = "fetch"     // the unmanaged fetch: operation request
)

// PublicService is a service as scripts write it, and as its errors name it.
func PublicService(service string) string {
	if service == ServiceFetch {
		return service
	}
	return "services." + service
}

// Call is one use of a service by a script.
type Call struct {
	Service   string
	Operation string
	// Name is the name that the script gave the call, "" for none. It matches ^[a-z][a-z0-9._-]{0,127}$.
	Name string
	// Target is what the operation is addressed to: the connection object of services.db, the workflow id (a JSON
	// string) of services.workflows, nil for the others.
	Target json.RawMessage
	// Input is the request as strict JSON, not validated any further. Of fetch it is
	// {"url","method","headers":{...},"redirect"} with the body, if there is one, as "text" or "bytesBase64".
	Input json.RawMessage
	// Options are the call's options beside its name ({"timeout":"10s"} of services.workflows.call), nil for none.
	Options json.RawMessage
}

// Completion is the end of a call, or that a timer is due.
type Completion struct {
	ID int
	// Value is what the call's promise resolves to, as JSON. Of fetch it is the head of the response:
	// {"status","statusText","url","redirected","headers":{...}}. A timer has none.
	Value json.RawMessage
	// Body is the response's body of fetch; BodyErr, if set, is why it could not be read to its end.
	Body    []byte
	BodyErr *ServiceError
	// Err, if set, is why the call failed: its promise rejects with it.
	Err *ServiceError
}

// ServiceError is the failure of a call, as the script sees it: a WomlServiceError with these fields.
type ServiceError struct {
	Code      string
	Message   string
	Service   string
	Operation string
	CallID    string
	Retryable bool // the same call may succeed later
	Ambiguous bool // its effect may have happened
	// UnknownOption: the request has a member that does not exist. To the script it is a TypeError with the code.
	UnknownOption bool
	Details       json.RawMessage // safe to show (method, origin, status; never bodies), a JSON object or nil
	Cause         string          // the underlying error's text, for people; the script does not see it
}

// Error is the code and the sentence.
func (e *ServiceError) Error() string { return e.Code + ": " + e.Message }
