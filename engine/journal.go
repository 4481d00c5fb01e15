package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"faultlab/engine/plain"
	"faultlab/engine/script"
)

// replayer is the journal of one attempt, played to its script again: the same calls
// get the same completions, in their recorded order. A call of an operation that a
// person has recorded gets the evidence in the place of an answer that never came.
// Nothing that may have been sent is sent again; the first call that was never made
// before is a normal send.
//
// Only the script's goroutine uses it.
type replayer struct {
	calls   []*Call // recorded, in the order in which they began
	made    []bool  // which of them the script has made again
	resumes bool    // a crash left the attempt open, and it goes on
	pending []playing
	timers  map[int]time.Time // by ticket: when they are due, in recorded time
	at      time.Time         // recorded time
	live    int               // calls that are performed now, beside the recorded ones
	over    bool              // a new call was made: from here on all is live
	broken  error             // the script did something else than before
}

// playing is a recorded call whose completion the script waits for.
type playing struct {
	id     int
	call   *Call
	work   call
	record *EvidenceAt // that stands in for its answer, or nil
}

// errNotRepeatable says that a script, run again over its journal, did something else.
var errNotRepeatable = errors.New("this script is not repeatable, use --result to give the step's result by hand")

// newReplayer copies the calls: a look-up may add evidence to them meanwhile.
// One that a crash cut off, and that another call of its operation has settled, has that one's reply.
func newReplayer(s *Step, a *Attempt) *replayer {
	t := &replayer{at: a.StartedAt, timers: map[int]time.Time{}, resumes: a.Outcome == ""}
	for _, c := range a.Calls {
		recorded := *c
		if c.Code == codeCallInterrupted && c.SettledBy != (Pos{}) {
			for _, o := range s.calls() {
				if o.Attempt == c.SettledBy.Attempt && o.Call == c.SettledBy.Call && o.Effect != Read && o.Reply != nil && o.content() == c.content() {
					recorded.Code, recorded.Message, recorded.Finding, recorded.Reply = "", "", FoundDone, o.Reply
				}
			}
		}
		t.calls = append(t.calls, &recorded)
	}
	t.made = make([]bool, len(t.calls))
	return t
}

// take matches a call against the journal. It is live where it must be performed: a new
// call or, with its recorded place, one that is known to have done nothing when a crash
// cut it off. known is what the step's other calls and the decisions say of it.
func (t *replayer) take(id int, fact CallStarted, work call, known answer) (live bool, place Pos) {
	if t.broken != nil {
		return false, Pos{}
	}
	i := t.find(known)
	if i < 0 {
		t.over = t.over || !known.given()
		t.live++
		return true, Pos{}
	}
	c := t.calls[i]
	if !known.recorded && !c.same(fact) {
		t.broken = fmt.Errorf("%w: call %d was %s and is now %s", errNotRepeatable, c.N(), c.Target, fact.Target)
		if c.Target == fact.Target {
			t.broken = fmt.Errorf("%w: call %d sends another key or body than before", errNotRepeatable, c.N())
		}
		return false, Pos{}
	}
	t.made[i] = true
	if c.cutOff() {
		t.live++
		return true, c.Pos
	}
	t.pending = append(t.pending, playing{id, c, work, known.record})
	return false, Pos{}
}

// find is the next recorded call that may be this one: of a recorded operation any call
// that is left, of another one the next in order. Recorded calls of such operations that
// the script makes no more are passed over. It is -1 where the journal has none.
func (t *replayer) find(known answer) int {
	return slices.IndexFunc(t.calls, func(c *Call) bool {
		switch {
		case t.made[c.N()-1]:
			return false
		case known.recorded:
			return c.Write == known.write
		}
		return !known.settled[c.Write]
	})
}

// same reports whether a recorded call is the one that a script makes now.
func (c *Call) same(fact CallStarted) bool {
	return c.Service == fact.Service && c.Operation == fact.Operation && c.Name == fact.Name && c.Target == fact.Target &&
		c.Key == fact.Key && c.Digest == fact.Digest
}

// cutOff reports whether a crash cut the call off before it did anything, or it waited in
// vain for a child that may have come to its end since: it is made again, in its place.
func (c *Call) cutOff() bool {
	return !c.Ended || c.unanswered() || c.Code == codeCallInterrupted && (c.Effect == Read || c.Finding == FoundNotDone)
}

// exhausted reports whether the script has made every call of the journal that it still makes.
func (t *replayer) exhausted() bool { return !slices.Contains(t.made, false) }

// timer keeps a timer in recorded time; false means that the journal is over and the timer is a live one.
func (t *replayer) timer(id int, d time.Duration) bool {
	if t.over {
		return false
	}
	t.timers[id] = t.at.Add(d)
	return true
}

func (t *replayer) cancel(id int) { delete(t.timers, id) }

// handOver gives the timers on that the journal did not bring to their end.
func (t *replayer) handOver(arm func(id int, due time.Time)) {
	for _, id := range plain.SortedKeys(t.timers) {
		arm(id, t.timers[id])
	}
	clear(t.timers)
}

// next is the next completion in recorded order; ok is false when the journal has none to
// give. Once it is over, the timers that remain are for the clock: see handOver.
func (t *replayer) next() (c script.Completion, ok bool, err error) {
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
	live := t.over || t.exhausted() && (t.live > 0 || t.resumes)
	if timer != 0 && (first < 0 && !live || first >= 0 && !due.After(t.pending[first].call.EndedAt)) {
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
	if p.record != nil && c.Finding != FoundDone { // an answer that was accepted needs no evidence
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
	if !ok {
		return script.Completion{}, fmt.Errorf("a record is no reply to call %d, use --result to give the step's result by hand", p.call.N())
	}
	r := reply{status: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}, body: p.record.Body}
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

// replay runs an attempt's script again over its journal: after a crash that left
// nothing ambiguous, which is the same attempt, or after a decision, which is none.
func (rt *running) replay(ctx context.Context, p part, n int) error {
	h := newHost(rt, ctx, p, n)
	by, resumes := h.rewind()
	res := h.run()
	if h.err != nil {
		return h.err
	}
	if err := rt.endCalls(h.pos); err != nil {
		return err
	}
	end := rt.judge(ctx, h, res, by, rt.e.clk.Now())
	if !resumes {
		end.By = byRecord
	}
	if h.tape.broken != nil {
		end.Outcome, end.Next, end.Code, end.Message = Unknown, NextReconcile, codeNotRepeatable, h.tape.broken.Error()
		if resumes {
			end.Outcome, end.Next, end.Reason = Failed, NextStop, interruptedMessage
			end.Message = fmt.Sprintf("%s, and it cannot go on by itself: %s, or resubmit it", interruptedMessage, end.Message)
		}
	}
	_, err := rt.e.append(rt, end)
	return err
}

// rewind lets the host play the journal of its attempt. It gives what the attempt is
// by, and whether a crash left it open.
func (h *host) rewind() (by string, resumes bool) {
	h.rt.read(func(r *Run) {
		a := r.attempt(h.pos)
		h.tape = newReplayer(r.StepAt(h.pos.Step, h.pos.Undo), a)
		h.calls = len(a.Calls)
		for _, c := range a.Calls {
			h.requests += len(c.Requests)
		}
		by = a.By
	})
	return by, h.tape.resumes
}
