package timeline

import (
	"slices"

	"faultlab/engine"
	"faultlab/faultprovider"
	"faultlab/faultprovider/expect"
)

// Request is the arrival of a request at the provider, with its key as the provider read it.
type Request struct {
	faultprovider.Entry
	ID  engine.RequestID // zero where no script sent it
	Run int              // the number of its run, from 1; 0 where no script sent it
}

// Requests are all that reached the provider, in order: look-ups, those of other clients, and what a transport repeated too.
func (v *View) Requests() (out []Request) {
	for _, e := range expect.Requests(v.Log) {
		id, _ := engine.ParseRequestID(e.RequestID)
		out = append(out, Request{Entry: e, ID: id, Run: v.RunNumber(id.Run)})
	}
	return out
}

// RunNumber is a run's place in the order of admission, from 1; 0 if there is no such run.
func (v *View) RunNumber(id string) int {
	return 1 + slices.IndexFunc(v.Runs, func(r *engine.Run) bool { return r.ID == id })
}

// CallOf is the call that sent a request, by its X-Request-Id, and its run; nil where no script did.
func (v *View) CallOf(requestID string) *engine.Call {
	id, ok := engine.ParseRequestID(requestID)
	n := v.RunNumber(id.Run)
	if !ok || n == 0 {
		return nil
	}
	return callOf(v.Runs[n-1], id, requestID)
}

// callOf is the call of a run that sent a request; nil if there is none.
func callOf(r *engine.Run, id engine.RequestID, requestID string) *engine.Call {
	s := r.StepAt(id.Step, id.Undo)
	if s == nil || id.Attempt > len(s.Attempts) || id.Attempt < 1 {
		return nil
	}
	for _, c := range s.Attempts[id.Attempt-1].Calls {
		if slices.ContainsFunc(c.Requests, func(q *engine.Request) bool { return q.ID == requestID }) {
			return c
		}
	}
	return nil
}
