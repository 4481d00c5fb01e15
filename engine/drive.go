package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"faultlab/engine/script"
	"faultlab/engine/woml"
)

// part is what has attempts: a step, or its compensation.
type part struct {
	step   *woml.Step
	undo   bool
	retry  woml.Retry
	script woml.Script
	extra  map[string]json.RawMessage // further fields of the script's context
}

func (p part) pos(attempt int) Pos { return Pos{Step: p.step.ID, Undo: p.undo, Attempt: attempt} }

// drive carries one part on until it is done or has failed for good. It looks at
// the history alone, so that it goes on after a crash from where it stood.
func (rt *running) drive(ctx context.Context, p part) error {
	for before := true; ; before = false {
		move := rt.move(p)
		switch {
		case move.done:
			return nil
		case move.failed != nil:
			if cause := context.Cause(ctx); cause != nil && !before { // it may have failed because of that
				return cause
			}
			return move.failed
		case ctx.Err() != nil:
			if move.open {
				if err := rt.endOpen(p, context.Cause(ctx)); err != nil {
					return err
				}
			}
			return context.Cause(ctx)
		}
		if err := rt.sleepUntil(ctx, move.due, move.delay); err != nil {
			return err
		}
		if rt.e.resting() {
			return errDraining
		}
		var err error
		if move.journal {
			err = rt.replay(ctx, p, move.attempt)
		} else {
			err = rt.attempt(ctx, p, move.attempt, move.by)
		}
		if err != nil {
			return err
		}
	}
}

// move is what a part's history says must happen next.
type move struct {
	done    bool
	failed  *stepFailure
	due     time.Time     // not before
	delay   time.Duration // of the retry, when it was decided
	attempt int
	by      string
	open    bool // a crash left the attempt open
	journal bool // run the attempt's script again over its journal, for a record or because a crash left it open
}

func (rt *running) move(p part) (m move) {
	rt.read(func(r *Run) {
		s := r.StepAt(p.step.ID, p.undo)
		if s == nil {
			m = move{attempt: 1}
			return
		}
		a := s.Last()
		switch {
		case s.Done:
			m.done = true
		case s.Pending == Record, a.Outcome == "":
			m = move{attempt: a.N, journal: true, open: a.Outcome == ""}
		case s.Pending == Resubmit:
			m = move{attempt: a.N + 1, by: byResubmit}
		case a.Next == NextRetry:
			m = move{attempt: a.N + 1, by: byRetry, due: a.Due, delay: a.Due.Sub(a.EndedAt)}
		default:
			m.failed = failureOf(p, a, len(r.Doubts(s)) > 0)
		}
	})
	return m
}

// failureOf is what the part failed by. One whose doubts were settled is not unknown any more.
func failureOf(p part, a *Attempt, unknown bool) *stepFailure {
	f := &stepFailure{step: p.step.ID, code: a.Code, message: a.Message}
	if a.Outcome == Unknown && unknown {
		f.code = codeOperationUnknown
	} else if a.Max > 1 && a.N >= a.Max && a.Reason == budgetReason {
		f.code = codeExhausted
	}
	return f
}

// sleepUntil waits for a retry to be due, without holding a slot. A clock that was set
// back meanwhile makes no wait longer than it was meant to be.
func (rt *running) sleepUntil(ctx context.Context, due time.Time, delay time.Duration) error {
	d := min(due.Sub(rt.e.clk.Now()), delay)
	if due.IsZero() || d <= 0 {
		return nil
	}
	rt.release()
	waits, done := rt.e.untilRest(ctx)
	defer done()
	if err := rt.e.clk.Sleep(waits, d); err != nil {
		return err
	}
	return rt.acquire(ctx, false)
}

// attempt runs the part's script once and writes down how it ended.
func (rt *running) attempt(ctx context.Context, p part, n int, by string) error {
	h := newHost(rt, ctx, p, n)
	if _, err := rt.e.buffer(rt, AttemptStarted{Pos: p.pos(n), Max: h.maxAttempts, Key: h.key, By: by}); err != nil {
		return err
	}
	res := h.run()
	if h.err != nil {
		return h.err
	}
	// One moment for the end and for what is due after it.
	at := rt.e.clk.Now()
	end := rt.judge(ctx, h, res, by, at)
	write := rt.e.o.History.Buffer
	if end.Next == NextRetry { // nothing follows before the next attempt is due
		write = rt.e.o.History.Append
	}
	rt.e.mu.Lock()
	defer rt.e.mu.Unlock()
	_, err := rt.e.record(rt, at, write, end)
	return err
}

// judge is table b, with the words and the due time that go with its row, of an attempt that ended at a moment.
func (rt *running) judge(ctx context.Context, h *host, res script.Result, by string, at time.Time) AttemptEnded {
	end := AttemptEnded{Pos: h.pos}
	in := attemptEnd{how: returned, budgetLeft: by != byResubmit}
	if res.Err != nil {
		in.how, end.Code, end.Message = threw, res.Err.Code, res.Err.Message
		in.stopped = h.stopped(res.Err)
		if limits[res.Err.Code] {
			in.how = overLimit
		}
		if cause := context.Cause(ctx); cause != nil && res.Err.Code == script.CodeCancelled {
			end.Message = cause.Error()
			if errors.Is(cause, errRunTimeout) {
				end.Code = codeRunTimedOut
			}
		}
	}
	terms := retryTerms{policy: h.part.retry, attempt: h.pos.Attempt, failed: at}
	rt.read(func(r *Run) {
		s := r.step(h.pos)
		in.calls = slices.DeleteFunc(slices.Clone(r.attempt(h.pos).Calls), s.decidedAbout)
		in.unknown = r.stepBelief(s, true) == BeliefUnknown
		in.budgetLeft = in.budgetLeft && h.pos.Attempt < attemptsAllowed(h.part.retry, s, h.pos.Attempt)
		rt.terms(&terms, r, in.calls)
	})
	if h.part.undo { // what is undone is undone however long the run takes
		terms.deadline = time.Time{}
	}
	rule := attemptRuleFor(in)
	end.Outcome, end.Next, end.Reason = rule.outcome, rule.next, rule.reason
	if rule.outcome == Succeeded {
		end.Result = res.Value
	}
	if rule.outcome == Unknown && end.Code == "" && rule.below {
		end.Code, end.Message = codeChildUnsettled, rule.reason
	}
	if rule.outcome == Unknown && end.Code == "" {
		end.Code, end.Message = codeOperationUnknown, "the script ended, but nobody knows whether a write of it happened"
	}
	if rule.next == NextRetry {
		if due, why := terms.due(); why != "" {
			end.Next, end.Reason = NextStop, why
		} else {
			end.Due = due
		}
	}
	return end
}

// decidedAbout reports whether a person has settled the call: its key, or its operation by a record.
func (s *Step) decidedAbout(c *Call) bool {
	return s.someCall(func(o *Call) bool {
		d := o.Decision()
		switch {
		case d == nil || o.Write != c.Write || c.Effect == Read:
			return false
		case d.Decision == Record:
			return c.Finding != FoundDone
		}
		return d.abandons(c) && sameKey(o, c)
	})
}

// endOpen ends the attempt that a crash left open, of a run that may not go on with it.
func (rt *running) endOpen(p part, cause error) error {
	code := codeCancelled
	if errors.Is(cause, errRunTimeout) {
		code = codeRunTimedOut
	} else if errors.Is(cause, ErrKilled) {
		return cause
	}
	var s *Step
	rt.read(func(r *Run) { s = r.StepAt(p.step.ID, p.undo) })
	return rt.endInterrupted(s, code)
}

// budgetReason is the reason of the row that a used up budget meets.
const budgetReason = "no attempts are left"

// limits are the codes of a script that ended by a limit: repeating does not mend them.
var limits = map[string]bool{
	script.CodeTimeout: true, script.CodeNonJSONResult: true, script.CodeResultTooLarge: true, script.CodeContextTooLarge: true,
	script.CodeStackTooDeep: true, script.CodeCancelled: true, script.CodeCrashed: true, script.CodeSyntax: true, script.CodeUnsupported: true, codeNotRepeatable: true,
}

// terms collects what the attempt's calls say about the next one. The fold is locked.
func (rt *running) terms(t *retryTerms, r *Run, calls []*Call) {
	t.deadline = rt.deadline(r)
	for _, c := range calls {
		t.retryAfter = max(t.retryAfter, c.RetryAfter)
		if c.Key == "" || len(c.Requests) == 0 {
			continue
		}
		if keep := rt.assume.Of(c.Requests[0].URL).Retention; keep > 0 && (t.retention == 0 || keep < t.retention) {
			t.retention, t.keyBorn = keep, keyBorn(r, c.Key)
		}
	}
}

// keyBorn is when the first request of the run under this key was sent; zero if none was.
func keyBorn(r *Run, key string) (at time.Time) {
	r.eachRequest(func(_ *Call, q *Request) {
		if q.Key == key && !q.NotSent && (at.IsZero() || q.SentAt.Before(at)) {
			at = q.SentAt
		}
	})
	return at
}

func (r *Run) eachRequest(f func(*Call, *Request)) {
	for _, s := range r.Steps {
		for _, a := range s.Attempts {
			for _, c := range a.Calls {
				for _, q := range c.Requests {
					f(c, q)
				}
			}
		}
	}
}
