package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"faultlab/engine/script"
)

// Database carries out services.db. What it refuses or cannot do is an *Error
// whose code is one of the WOML_DATABASE_ ones.
type Database interface {
	// Do runs one operation on one connection. The input is as the script wrote it,
	// the result as the script gets it. A write that returns an error changed nothing.
	Do(ctx context.Context, connection json.RawMessage, operation string, input json.RawMessage) (json.RawMessage, error)
}

// Turns is what a Database may implement beside it where statements must have an
// order that does not depend on the disk: Turn is called by the actor, may wait by
// its clock, and returns what gives the turn on after the statement.
type Turns interface{ Turn() (done func()) }

// dbCall is one use of services.db.
type dbCall struct {
	fact CallStarted
	in   script.Call
	local
}

func (c *dbCall) started() CallStarted { return c.fact }

func (h *host) prepareDB(c script.Call) (call, *script.ServiceError) {
	if h.e.o.Database == nil {
		return nil, refuse(c, "WOML_DATABASE_UNAVAILABLE", "services.db is not available here")
	}
	if len(c.Input) > maxInput {
		return nil, refuse(c, "WOML_DATABASE_INPUT_INVALID", fmt.Sprintf("the input has %d bytes; at most %d are taken", len(c.Input), maxInput))
	}
	if err := checkStatement(c); err != nil {
		return nil, refuseInput(c, "WOML_DATABASE_INPUT_INVALID", err)
	}
	work := &dbCall{in: c, local: local{effect: Read}}
	if c.Operation != "query" && c.Operation != "read" {
		work.local = h.localOf(c.Target)
	}
	work.fact = CallStarted{Service: c.Service, Operation: c.Operation, Name: c.Name, Effect: work.effect, File: work.file, Unmarked: work.unmarked,
		Target: "db." + c.Operation, Digest: digestParts(string(c.Target), c.Operation, string(c.Input))}
	return work, nil
}

// databaseRows is table a for databases: how an operation that failed with this code ended.
var databaseRows = map[string]How{
	"WOML_DATABASE_BUSY":             HowThrottled,
	"WOML_DATABASE_UNAVAILABLE":      HowNeverSent,
	"WOML_DATABASE_CONSTRAINT":       HowClient,
	"WOML_DATABASE_QUERY_FAILED":     HowClient,
	"WOML_DATABASE_STATEMENT_FAILED": HowClient,
	"WOML_DATABASE_ROWS_TOO_LARGE":   HowClient,
	"WOML_DATABASE_INPUT_INVALID":    HowClient,
	"WOML_DATABASE_PATH_FORBIDDEN":   HowClient,
	"WOML_DATABASE_TABLE_RESERVED":   HowClient,
	LocalResultLost:                  HowUnreadable,
}

func (c *dbCall) perform(ctx context.Context, h *host, pos Pos, begun Ticket) (CallEnded, script.Completion) {
	if err := h.e.durable(begun, nil); err != nil {
		h.lost(err)
		return CallEnded{How: HowNeverSent}, script.Completion{Err: &script.ServiceError{Code: "WOML_DATABASE_UNAVAILABLE", Message: err.Error()}}
	}
	if cause := context.Cause(ctx); cause != nil {
		return CallEnded{How: HowNeverSent}, script.Completion{Err: &script.ServiceError{Code: "WOML_DATABASE_UNAVAILABLE", Message: cause.Error()}}
	}
	var before *Call
	h.rt.read(func(r *Run) { before = r.writtenBefore(pos) })
	if before != nil {
		return repeated(before)
	}
	if t, ok := h.e.o.Database.(Turns); ok {
		defer t.Turn()()
	}
	var out json.RawMessage
	var err error
	h.e.clk.Hold(func() {
		if c.marks != nil {
			out, err = c.marks.Write(ctx, markOf(h.rt.id, pos), place(h.rt.folder(), c.in.Target), c.in.Operation, c.in.Input)
		} else {
			out, err = h.e.o.Database.Do(ctx, place(h.rt.folder(), c.in.Target), c.in.Operation, c.in.Input)
		}
	})
	if err == nil {
		return CallEnded{How: HowAccepted}, script.Completion{Value: out}
	}
	failure := &script.ServiceError{Code: "WOML_DATABASE_STATEMENT_FAILED", Message: err.Error()}
	how := HowNoReply
	if e, ok := err.(*Error); ok {
		failure.Code = e.Code
		if row, known := databaseRows[e.Code]; known {
			how = row
		}
	}
	return CallEnded{How: how}, script.Completion{Err: failure}
}

// rowsChanged is how many rows a write says that it changed.
func rowsChanged(result json.RawMessage) int64 {
	var r struct {
		RowsAffected int64 `json:"rowsAffected"`
	}
	if json.Unmarshal(result, &r) != nil {
		return 0
	}
	return r.RowsAffected
}
