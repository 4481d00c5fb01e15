package faultprovider

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
)

// exchange is a plan in time for one request: the effect commits at one moment or never, the caller gets something at
// another. The two are independent.
type exchange struct {
	match
	way     time.Duration // how long each way takes: to the commit, and back to the caller
	fault   string        // what the log calls the fault
	took    *Taken
	commits bool
	stuck   bool      // it never ends: its key stays in flight
	after   bool      // the reply waits for the commit
	at      time.Time // of the commit
	reply   reply
	result  answer // what the provider itself takes for the result; its status is 0 if it neither did nor answered anything
}

// decide plans a request, unless it has to wait for the flight under its key. It does no I/O, and asks nothing but its
// arguments.
func (x *exchange) decide(now time.Time, r *Request, v *records, q *queue, c *Contract) {
	x.match.set(now, r, v, c)
	if x.waits {
		return
	}
	var f Fault
	if x.took = q.take(&x.match); x.took != nil {
		f = x.took.Fault
	}
	x.fault = f.String()
	x.plan(now, r, v, &f, c)
}

// plan adds the fault to what a request is.
func (x *exchange) plan(now time.Time, r *Request, v *records, f *Fault, c *Contract) {
	if x.kind == Looked {
		x.look(now, f.Reply.Stale, r, v, c)
	}
	x.reply.at = now.Add(x.way)
	x.reply.set(&x.answer, &f.Reply, c)
	x.stuck = f.Commit.When == fault.Stuck
	if x.makes != nil && f.Commit.When != fault.Never && !x.stuck {
		x.commits, x.at, x.after = true, now.Add(x.way+f.Commit.After), f.Commit.When != fault.Late
		if x.after {
			x.reply.at = x.at.Add(x.way)
		}
	}
	x.reply.at = x.reply.at.Add(f.Reply.Slow)
	if x.kind == NewOperation {
		x.conclude(&f.Reply)
	}
}

// conclude sets what the provider itself takes for the result of a new operation: what it answers, or would have answered
// had the connection lasted.
func (x *exchange) conclude(f *fault.Reply) {
	switch {
	case f.Do == fault.Redirect && !x.commits: // somebody in between sent the caller elsewhere
	case f.Do == fault.Status:
		x.result = answer{status: f.Status, body: x.reply.body}
	case x.commits || x.reply.how == answers:
		x.result = x.answer
	}
}

// keyOutcome is what becomes of a key when its first request is over.
type keyOutcome byte

const (
	forgets keyOutcome = iota // as if it had never been sent
	keeps                     // executes again, for the same payload only
	locks                     // answers 409
	stores                    // repeats get the result
	binds                     // repeats get the record
)

// keyOutcomeOf applies the contract to the status of a result; committed says whether it has an effect.
func keyOutcomeOf(c *Contract, status int, committed bool) keyOutcome {
	switch {
	case status == http.StatusTooManyRequests && !committed: // refused before the execution began
		return forgets
	case status >= 500 && c.AfterError == contract.Locked:
		return locks
	case c.Replay.Do == contract.StoredReply && status != 0 && slices.Contains(c.Store, class(status)):
		return stores
	case c.Replay.Do != contract.StoredReply && committed:
		return binds
	case status >= 500 && c.AfterError == contract.Kept:
		return keeps
	}
	return forgets
}

// class of a status: "2xx". 1xx and 3xx are never results here.
func class(status int) string {
	return string('0'+byte(status/100)) + "xx"
}

// cutHeader takes "Name: value" apart.
func cutHeader(line string) (name, value string) {
	name, value, _ = strings.Cut(line, ": ")
	return http.CanonicalHeaderKey(name), value
}
