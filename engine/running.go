package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"faultlab/engine/assume"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

// running is a run that this engine is carrying out.
type running struct {
	e   *Engine
	id  string
	doc *woml.Document

	assume *assume.Set // what was assumed when the run was admitted

	// From take on.
	ctx  context.Context // ends when the run is cancelled or the engine is killed
	stop context.CancelCauseFunc

	mu   sync.Mutex
	run  *Run   // the fold, as far as it was appended
	lent int    // calls that wait for children
	took string // the child that the run's own actor took up last

	// guarded by Engine.mu
	place *waiter
	slot  bool
}

// Causes that end a run's context.
var (
	errCancelled  = errors.New("the run was cancelled")
	errRunTimeout = errors.New("the run's timeout is over")
)

// take makes the run one that this engine carries out, until retire. e.mu is held.
func (e *Engine) take(rt *running) {
	rt.ctx, rt.stop = e.clk.WithCancel(e.root)
	e.open[rt.id] = rt
}

// read looks at the fold while nobody changes it.
func (rt *running) read(f func(*Run)) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	f(rt.run)
}

// main carries the run out from wherever its history stands. An error that it
// returns to nobody is one of the history or of a killed engine: nothing more may
// be said about the run then, and recovery will.
func (rt *running) main() {
	err := rt.work()
	rt.release()
	if err == nil {
		err = rt.e.wake(rt)
	}
	rt.e.retire(rt, err == nil || wasRefused(err))
	if err == nil && rt.snapshot().Waits != nil { // what it waits for may have been settled meanwhile
		_ = rt.e.resume(rt.id) // an error of the history, which recovery looks at again
	}
}

// retire forgets a run that nobody carries out any more. With told, those who wait for it
// are woken: they look at the history, which says how far it came.
func (e *Engine) retire(rt *running, told bool) {
	e.mu.Lock()
	delete(e.open, rt.id)
	var over []clock.Event
	if told {
		over = e.told[rt.id]
		if ev := e.ended[rt.id]; ev != nil {
			over = append(over, ev)
		}
		delete(e.ended, rt.id)
		delete(e.told, rt.id)
	}
	e.mu.Unlock()
	for _, ev := range over {
		ev.Set()
	}
	rt.stop(ErrKilled)
}

// work carries the run out until it has ended. Where a child was at work when the run
// had done what it could, the run takes up what became of it.
func (rt *running) work() error {
	for {
		again, err := rt.finish(rt.forward())
		if err != nil || !again {
			return err
		}
	}
}

// forward carries the steps out that are not done, and gives why it could not.
func (rt *running) forward() error {
	var started, resumed time.Time
	var cancelled bool
	rt.read(func(r *Run) { started, resumed, cancelled = r.StartedAt, r.ResumedAt, r.CancelAsked })
	if cancelled {
		return rt.endCancelled()
	}
	acquire := rt.ensureSlot // a run that goes on from its own end has its slot still
	if started.IsZero() {
		acquire = func(ctx context.Context) error { return rt.acquire(ctx, true) }
	}
	if err := acquire(rt.ctx); errors.Is(err, errCancelled) {
		return rt.endCancelled()
	} else if err != nil {
		return err
	}
	growStack(0)
	if started.IsZero() {
		if _, err := rt.e.buffer(rt, Started{}); err != nil {
			return &historyError{err}
		}
		started = rt.e.clk.Now()
	}
	if resumed.After(started) {
		started = resumed
	}
	ctx := rt.ctx
	if limit := rt.doc.Workflow.Config.Timeout; limit > 0 {
		var done context.CancelCauseFunc
		ctx, done = rt.e.clk.WithTimeout(ctx, min(started.Add(limit).Sub(rt.e.clk.Now()), limit), errRunTimeout)
		defer done(nil)
	}
	return rt.steps(ctx)
}

// endCancelled ends what a crash or a decision left to go on with, of a run that was cancelled before it did.
func (rt *running) endCancelled() error {
	if err := rt.endLeft(); err != nil {
		return err
	}
	if err := rt.endRecords(); err != nil {
		return err
	}
	return errCancelled
}

// stepFailure ends the forward path of a run.
type stepFailure struct{ step, code, message string }

func (f *stepFailure) Error() string { return f.message }

// steps drives the steps that are not done, in order, until one fails or the run must end.
func (rt *running) steps(ctx context.Context) error {
	for i := range rt.doc.Workflow.Steps {
		s := &rt.doc.Workflow.Steps[i]
		if failed := rt.undoneBefore(s); failed != nil {
			return failed
		}
		if err := rt.drive(ctx, part{step: s, retry: s.Retry, script: s.Script}); err != nil {
			return err
		}
	}
	return nil
}

// undoneBefore is the failure of a run that is being undone already, at a step that could
// still be carried out: what was undone is not taken up again.
func (rt *running) undoneBefore(s *woml.Step) (failed error) {
	m := rt.move(part{step: s, retry: s.Retry})
	rt.read(func(r *Run) {
		if r.undoing() && !m.done && m.failed == nil {
			failed = &stepFailure{step: s.ID, code: codeUndone, message: "what the run had done before this step was undone"}
		}
	})
	return failed
}

// finish writes the run's end, once no child of it is at work, and after what must be
// undone was undone. While something of the run is unknown it undoes nothing. With again
// a child came to its end meanwhile, at which the run stands, and it goes on.
func (rt *running) finish(cause error) (again bool, err error) {
	if errors.Is(cause, ErrKilled) || isHistory(cause) || rt.e.root.Err() != nil {
		return false, cause
	}
	asked := rt.cancelled()
	wait, again, err := rt.waitForOthers(cause)
	if again || err != nil {
		return again, err
	}
	failed := rt.failure(cause)
	if failed != nil && wait == nil {
		wait, err = rt.waitForSharing()
		if err != nil {
			return false, err
		}
	}
	if failed != nil && wait == nil {
		if err := rt.settleFailure(failed); err != nil {
			return false, err
		}
		if rt.snapshot().undoing() { // inverses can have children too
			if wait, again, err = rt.waitForOthers(nil); again || err != nil {
				return again, err
			}
			if wait == nil {
				if wait, err = rt.waitForSharing(); err != nil {
					return false, err
				}
			}
		}
	}
	end := Ended{Status: StatusSucceeded, Waits: wait}
	rt.read(func(r *Run) {
		end.Reconcile = r.needsReconciling() || wait != nil
		switch {
		case failed == nil && wait != nil:
			failed = &stepFailure{code: codeChildUnsettled, message: "something of a run that it called is unknown"}
		case failed == nil && end.Reconcile:
			failed = &stepFailure{code: codeOperationUnknown, message: "an operation of the run is unknown"}
		case failed == nil:
			return
		}
		end.Status, end.Step, end.Code, end.Message = StatusFailed, failed.step, failed.code, failed.message
		end.Stands = rt.standing(r)
		if r.CancelAsked {
			end.Status, end.Step = StatusCancelled, ""
		}
	})
	if wait != nil {
		rt.e.waitsFor(rt.id, *wait)
		end.Message += "; it" + wait.sentence()
	}
	return rt.end(end, asked)
}

// end writes the run's end, unless it was asked meanwhile to be cancelled: then it goes on to end by that.
func (rt *running) end(end Ended, asked bool) (again bool, err error) {
	e := rt.e
	e.mu.Lock()
	if !asked && rt.cancelled() {
		e.mu.Unlock()
		return true, nil
	}
	t, err := e.record(rt, e.clk.Now(), e.o.History.Append, end)
	e.mu.Unlock()
	return false, e.durable(t, err)
}

// waitForOthers waits for the children of the run that are at work. It gives what must be
// settled before the run can be, and with again that the run stands at a child which is now.
// A run with an unknown operation of its own waits for the decision about that first.
func (rt *running) waitForOthers(cause error) (w *Wait, again bool, err error) {
	if err := rt.cancelBelow(); err != nil {
		return nil, false, err
	}
	var own bool
	rt.read(func(r *Run) { own = r.needsReconciling() })
	if own {
		return nil, false, nil
	}
	w, waited, err := rt.waitBelow()
	if err != nil || w != nil {
		return w, false, err
	}
	if !waited && errors.Is(cause, errRunTimeout) { // it came too late
		return nil, false, nil
	}
	var stands bool
	var child string
	rt.read(func(r *Run) { child, stands = r.standsAt() })
	if !stands || !waited && child == rt.took { // one that was taken up, and gave nothing, gives nothing the next time
		return nil, false, nil
	}
	rt.took = child
	_, err = rt.e.append(rt, Resumed{Settled: child})
	return nil, true, err
}

// waitForSharing gives another run whose use of a key that this one sent too is unknown,
// if there is something that this one would undo.
func (rt *running) waitForSharing() (*Wait, error) {
	var keep bool
	rt.read(func(r *Run) { keep = r.keeps() })
	for _, s := range rt.doc.Workflow.Steps {
		if s.Compensate != nil && rt.inverseLeft(s.ID) && !keep {
			return rt.e.sharedDoubt(rt.snapshot())
		}
	}
	return nil, nil
}

// inverseLeft reports whether a step's inverse is due, and has neither been made nor failed for good.
func (rt *running) inverseLeft(step string) (left bool) {
	if !rt.inverseDue(step) {
		return false
	}
	rt.read(func(r *Run) {
		u := r.StepAt(step, true)
		left = u == nil || !u.Done && u.open()
	})
	return left
}

// settleFailure undoes what a run has done that failed or was cancelled, unless that must wait or is not wanted.
func (rt *running) settleFailure(failed *stepFailure) error {
	var keep bool
	rt.read(func(r *Run) { keep = r.keeps() })
	if keep {
		failed.message += ", and what it did was to be left as it is"
		return nil
	}
	return rt.undo(failed)
}

// keeps reports whether the run was cancelled, and what it did is to be left as it is.
func (r *Run) keeps() bool { return r.CancelAsked && r.Keep }

// failure is what a run failed by for good, if it did: a step, or the time that it took.
func (rt *running) failure(cause error) *stepFailure {
	var failed *stepFailure
	switch {
	case errors.Is(cause, errCancelled), cause == nil && rt.cancelled():
		return cancelledFailure()
	case errors.As(cause, &failed):
		return failed
	case errors.Is(cause, errRunTimeout):
		failed = &stepFailure{code: codeRunTimedOut, message: fmt.Sprintf("the run took longer than its timeout of %v", rt.doc.Workflow.Config.Timeout)}
		rt.read(func(r *Run) { failed.step = rt.unfinished(r) })
	}
	return failed
}

// cancelled reports whether the run was asked to end.
func (rt *running) cancelled() (asked bool) {
	rt.read(func(r *Run) { asked = r.CancelAsked })
	return asked
}

func cancelledFailure() *stepFailure {
	return &stepFailure{code: codeCancelled, message: errCancelled.Error()}
}

// unfinished is the step at which the run stands.
func (rt *running) unfinished(r *Run) string {
	for _, s := range rt.doc.Workflow.Steps {
		if st := r.StepAt(s.ID, false); st == nil || !st.Done {
			return s.ID
		}
	}
	return ""
}

// historyError marks a failure of the history itself, after which nothing may be written or sent.
type historyError struct{ err error }

func (h *historyError) Error() string { return "write the history: " + h.err.Error() }
func (h *historyError) Unwrap() error { return h.err }

func isHistory(err error) bool {
	var h *historyError
	return errors.As(err, &h)
}

// compact is the payload without white space, as the history keeps it.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
