package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"faultlab/engine/script"
)

// tape is the journal of one attempt, played to its script again: the same calls
// get the same completions, in their recorded order, with recorded evidence in the
// place of an answer that never came. Nothing that was sent is sent again; the
// first call that was never made before is a normal send.
//
// Only the script's goroutine uses it.
type tape struct {
	calls   []*Call // recorded, in the order in which they began
	begun   int     // how many of them the script has made again
	pending []playing
	timers  map[int]time.Time // by ticket: when they are due, in the tape's time
	at      time.Time         // the tape's time
	open    int               // recorded calls without an end that are made again, and have not ended
	over    bool              // a new call was made: from here on all is live
	broken  error             // the script did something else than before
}

// playing is a recorded call whose completion the script waits for.
type playing struct {
	id   int
	call *Call
	work call
}

// errNotRepeatable says that a script, run again over its journal, did something else.
var errNotRepeatable = errors.New("this script is not repeatable, use --result to give the step's result by hand")

// newTape copies the calls: a look-up may add evidence to them meanwhile.
func newTape(a *Attempt) *tape {
	t := &tape{at: a.StartedAt, timers: map[int]time.Time{}}
	for _, c := range a.Calls {
		recorded := *c
		t.calls = append(t.calls, &recorded)
	}
	return t
}

// take matches a call against the journal. It is live where it must be performed: a new
// one or, with its recorded place, one that waits for a child and had not ended.
func (t *tape) take(id int, fact CallStarted, work call) (live bool, place Pos) {
	if t.broken != nil {
		return false, Pos{}
	}
	if t.begun == len(t.calls) {
		t.over = true
		return true, Pos{}
	}
	c := t.calls[t.begun]
	t.begun++
	if c.Service != fact.Service || c.Operation != fact.Operation || c.Name != fact.Name || c.Target != fact.Target || c.Key != fact.Key || c.Digest != fact.Digest {
		t.broken = fmt.Errorf("%w: call %d was %s and is now %s", errNotRepeatable, c.N(), c.Target, fact.Target)
		if c.Target == fact.Target {
			t.broken = fmt.Errorf("%w: call %d sends another key, header or body than before", errNotRepeatable, c.N())
		}
		return false, Pos{}
	}
	if _, child := work.(*childCall); child && !c.Ended {
		t.open++
		return true, c.Pos
	}
	t.pending = append(t.pending, playing{id, c, work})
	return false, Pos{}
}

// timer keeps a timer in the tape's time; false means that the tape is over and the timer is a live one.
func (t *tape) timer(id int, d time.Duration) bool {
	if t.over {
		return false
	}
	t.timers[id] = t.at.Add(d)
	return true
}

func (t *tape) cancel(id int) { delete(t.timers, id) }

// handOver gives the timers on that the tape did not bring to their end.
func (t *tape) handOver(arm func(id int, d time.Duration)) {
	for _, id := range sortedKeys(t.timers) {
		arm(id, t.timers[id].Sub(t.at))
	}
	clear(t.timers)
}

// next is the next completion in recorded order; ok is false when the tape has none to
// give. Once it is over, the timers that remain are for the clock: see handOver.
func (t *tape) next() (c script.Completion, ok bool, err error) {
	if t.broken != nil {
		return c, false, t.broken
	}
	first := -1
	for i, p := range t.pending {
		if first < 0 || p.call.EndSeq < t.pending[first].call.EndSeq {
			first = i
		}
	}
	timer, due := 0, time.Time{}
	for id, at := range t.timers {
		if timer == 0 || at.Before(due) || at.Equal(due) && id < timer {
			timer, due = id, at
		}
	}
	live := t.over || t.open > 0 && t.begun == len(t.calls)
	if timer != 0 && (first < 0 && !live || first >= 0 && due.Before(t.pending[first].call.EndedAt)) {
		delete(t.timers, timer)
		t.at = later(t.at, due)
		return script.Completion{ID: timer}, true, nil
	}
	if first < 0 {
		t.over = live
		return c, false, nil
	}
	p := t.pending[first]
	t.pending = append(t.pending[:first], t.pending[first+1:]...)
	t.at = later(t.at, p.call.EndedAt)
	c, err = p.completion()
	t.broken = err
	return c, err == nil, err
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// completion is what the script got, or gets now that evidence stands in for it.
func (p playing) completion() (script.Completion, error) {
	c := p.call
	if c.recorded() && c.Finding != FoundDone { // an answer that was accepted needs no evidence
		return p.fromEvidence()
	}
	if c.Code != "" {
		return script.Completion{ID: p.id, Err: &script.ServiceError{Code: c.Code, Message: c.Message, Service: script.PublicService(c.Service),
			Operation: c.Operation, CallID: callID(c.Pos), Retryable: c.Next == NextAgain, Ambiguous: c.Finding == FoundAmbiguous, Details: p.details()}}, nil
	}
	if c.Reply == nil {
		return script.Completion{}, fmt.Errorf("the reply to call %d is no longer kept, use --result to give the step's result by hand", c.N())
	}
	if c.Service != script.ServiceFetch {
		return script.Completion{ID: p.id, Value: c.Reply}, nil
	}
	stored := storedReply{Value: c.Reply}
	if err := json.Unmarshal(c.Reply, &stored); err != nil || stored.Value == nil {
		stored = storedReply{Value: c.Reply}
	}
	return script.Completion{ID: p.id, Value: stored.Value, Body: stored.Body}, nil
}

func (p playing) details() json.RawMessage {
	if w, ok := p.work.(*httpCall); ok {
		return details(w.req.method, w.req.url, p.call.Status)
	}
	return nil
}

// fromEvidence is the record as if it had been the reply.
func (p playing) fromEvidence() (script.Completion, error) {
	w, ok := p.work.(*httpCall)
	cited := p.call.cited()
	if !ok || cited == nil {
		return script.Completion{}, fmt.Errorf("there is no record to take as the reply to call %d, use --result to give the step's result by hand", p.call.N())
	}
	r := reply{status: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}, body: cited.Body}
	value, failure := w.value(r, nil, false)
	done := script.Completion{ID: p.id, Value: value, Err: failure}
	if w.fetch {
		done = w.response(done, r, nil, false)
		done.ID = p.id
	}
	return done, nil
}

// cited is the evidence that the call's recording cites, or the newest that found a record.
func (c *Call) cited() *EvidenceAt {
	d := c.Decision()
	for i := len(c.Evidence) - 1; i >= 0; i-- {
		if e := &c.Evidence[i]; e.Found == FoundRecord && (d == nil || d.Decided.Evidence == 0 || d.Decided.Evidence == e.Seq) {
			return e
		}
	}
	return nil
}

// replay runs an attempt's script again over its journal. It is not an attempt:
// the number stays that of the call whose answer was found.
func (rt *running) replay(ctx context.Context, p part, n int) error {
	h := newHost(rt, ctx, p, n)
	rt.read(func(r *Run) {
		a := r.attempt(h.pos)
		h.tape = newTape(a)
		h.calls = len(a.Calls)
		for _, c := range a.Calls {
			h.requests += len(c.Requests)
		}
	})
	res := h.run()
	if h.err != nil {
		return h.err
	}
	end := rt.judge(ctx, h, res, byRecord, rt.e.clk.Now())
	end.By = byRecord
	if h.tape.broken != nil {
		end.Outcome, end.Next, end.Code, end.Message = Unknown, NextReconcile, codeNotRepeatable, h.tape.broken.Error()
	}
	_, err := rt.e.append(rt, end)
	return err
}
