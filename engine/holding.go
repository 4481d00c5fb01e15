package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"faultlab/engine/script"
)

// A run is held back while something below it is not settled: a child that it called
// is still at work, or something of that child, or of a child of it, is unknown. It then
// undoes nothing and does not end for good. While the child is at work the run waits
// for it; once the child has ended and only a person can settle it, the run ends with
// Waits set, and goes on by itself when that is done.

// workflowTarget begins the Target of a call of services.workflows.
const workflowTarget = "workflow "

// childCalls are the calls of the run that wait for a child, in all its attempts.
func (r *Run) childCalls() (calls []*Call) {
	for _, s := range r.Steps {
		for _, a := range s.Attempts {
			for _, c := range a.Calls {
				if c.Service == script.ServiceWorkflows && c.Operation == "call" {
					calls = append(calls, c)
				}
			}
		}
	}
	return calls
}

// parentOf is what a child that the call made names as its parent; Depth is left out.
func (r *Run) parentOf(c *Call) Parent {
	return Parent{Run: r.ID, Step: node(c.Step, c.Undo), Name: childName(c.Operation, strings.TrimPrefix(c.Target, workflowTarget), c.Name), Wait: true}
}

// children are the runs that the run called and waited for, each once.
func (r *Run) children(h History) (ids []string, err error) {
	for _, c := range r.childCalls() {
		id := c.Child
		if id == "" && (!c.Ended || c.How == HowNoReply) { // a crash or a cancel came before the child's id was written down
			if id, _, err = h.Child(r.parentOf(c)); err != nil {
				return nil, fmt.Errorf("find the child of run %s: %w", r.ID, err)
			}
		}
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// unanswered reports whether the call waited in vain for a child that may yet succeed.
func (c *Call) unanswered() bool {
	return c.Child != "" && (c.How == HowConflict || c.How == HowNoReply)
}

// waiting folds a Waiting in: the child's id is known before the call's end.
func (r *Run) waiting(f Waiting) {
	if c := r.callAt(f.Pos); c != nil {
		c.Child = f.Child
	}
	if r.Status != StatusCancelling {
		r.Status = StatusWaiting
	}
}

// resume folds a Resumed in. A step that stands at a child which it waited for in vain
// meets that child again: the call is open, and its attempt goes on from its journal. A
// run that was cancelled, or that undid something, takes nothing up any more but its inverses.
func (r *Run) resume(e Event) {
	r.reopen()
	r.Resumed, r.ResumedAt = true, e.At
	for _, s := range r.Steps {
		a := s.Last()
		if s.Done || a == nil || a.Outcome == "" || !s.Undo && !r.takesUp() {
			continue
		}
		for _, c := range a.Calls {
			if c.unanswered() {
				*c = Call{Pos: c.Pos, Service: c.Service, Operation: c.Operation, Name: c.Name, Effect: c.Effect, Target: c.Target,
					Digest: c.Digest, Child: c.Child, StartedAt: c.StartedAt}
				a.Outcome, a.Next, a.Code, a.Message, a.Reason = "", "", "", "", ""
			}
		}
	}
}

// takesUp reports whether the forward path of the run can still go on.
func (r *Run) takesUp() bool {
	return !r.CancelAsked && !slices.ContainsFunc(r.Steps, func(s *Step) bool { return s.Undo })
}

// standsAt gives the child that the step at which the run stands waited for in vain.
func (r *Run) standsAt() (child string, stands bool) {
	for _, s := range r.Steps {
		if a := s.Last(); a == nil || s.Done || !s.Undo && !r.takesUp() {
			continue
		} else if i := slices.IndexFunc(a.Calls, (*Call).unanswered); i >= 0 {
			return a.Calls[i].Child, true
		}
	}
	return "", false
}

// sentence says for what the end of a run waits, and what lets it go on.
func (w *Wait) sentence() string {
	if w.Key != "" {
		return fmt.Sprintf(" waits for %s, whose use of the same key %s is unknown: settle that run, and this one goes on by itself", w.Run, w.Key)
	}
	return fmt.Sprintf(" waits for %s, which it called: settle that run, and this one goes on by itself", w.Run)
}

// below gives the first child of the run that is not settled; open tells that it has
// not ended, and "" that there is none.
func (e *Engine) below(r *Run) (child string, open bool, err error) {
	ids, err := r.children(e.o.History)
	if err != nil {
		return "", false, err
	}
	for _, id := range ids {
		c, err := e.Get(id)
		switch {
		case errors.Is(err, ErrNoRun): // pruned by a version that did not look at parents
		case err != nil:
			return "", false, err
		case !c.Status.Ended():
			return id, true, nil
		case c.Reconcile && child == "": // those that are at work are waited for first
			child = id
		}
	}
	return child, false, nil
}

// waitBelow waits until no child of the run is at work. It gives a child that
// must still be settled, and tells whether one was at work.
func (rt *running) waitBelow() (w *Wait, waited bool, err error) {
	e := rt.e
	for {
		child, open, err := e.below(rt.snapshot())
		if err != nil || child == "" {
			return nil, waited, err
		}
		e.mu.Lock()
		here := e.open[child] != nil
		e.mu.Unlock()
		if !open || !here { // one that nobody carries out ends when somebody does
			return &Wait{Run: child}, waited, nil
		}
		if _, err := e.append(rt, Waiting{Child: child}); err != nil {
			return nil, waited, err
		}
		waited = true
		rt.release()
		rt.awaitEnd(child)
		if e.rest.Err() != nil {
			return nil, waited, context.Cause(e.rest)
		}
		if err := rt.cancelBelow(); err != nil { // it may have been cancelled meanwhile
			return nil, waited, err
		}
	}
}

// awaitEnd waits for the end of a child that is at work, or until the run is cancelled.
func (rt *running) awaitEnd(child string) {
	ctx := rt.ctx
	rt.read(func(r *Run) {
		if r.CancelAsked {
			ctx = rt.e.root
		}
	})
	over := rt.e.clk.NewEvent("the end of " + child)
	ctx, done := rt.e.untilRest(ctx)
	defer done()
	stop := rt.e.clk.OnCancel(ctx, func(error) { over.Set() })
	forget := rt.e.tell(child, over)
	over.Wait()
	stop()
	forget()
}

// cancelBelow cancels the children of a run that was cancelled, so far as they are at work and can be.
func (rt *running) cancelBelow() error {
	var asked, keep bool
	rt.read(func(r *Run) { asked, keep = r.CancelAsked, r.Keep })
	if !asked {
		return nil
	}
	ids, err := rt.snapshot().children(rt.e.o.History)
	if err != nil {
		return err
	}
	for _, id := range ids {
		rt.e.mu.Lock()
		here := rt.e.open[id] != nil
		rt.e.mu.Unlock()
		if !here {
			continue
		}
		if err := rt.e.Cancel(Cancellation{Run: id, Keep: keep}); err != nil && !errors.As(err, new(*Refused)) {
			return err
		}
	}
	return nil
}

// snapshot is the fold as it is now, for reads that take longer than its lock may.
// Only the run's own actor changes what they look at.
func (rt *running) snapshot() (r *Run) {
	rt.read(func(now *Run) { r = now })
	return r
}

// stillWaits reports whether what the end of the run waited for is not settled yet.
func (e *Engine) stillWaits(r *Run) (bool, error) {
	if child, _, err := e.below(r); child != "" || err != nil {
		return true, err
	}
	if r.Waits.Key == "" {
		return false, nil
	}
	other, err := e.Get(r.Waits.Run)
	if errors.Is(err, ErrNoRun) {
		return false, nil
	}
	return err == nil && other.doubtsKey(r.Waits.Key), err
}

// wake lets those go on that waited for a run which has ended.
func (e *Engine) wake(rt *running) error {
	var parent *Parent
	rt.read(func(r *Run) {
		if !r.Reconcile {
			parent = r.Admitted.Parent
		}
	})
	if parent != nil && parent.Wait {
		if err := leftForNeeds(e.resume(parent.Run)); err != nil {
			return err
		}
	}
	return e.wakeSharing(rt)
}

// Followers are the runs that may go on by themselves once a run is settled: the one that
// called it, and those that sent a key of it.
func (e *Engine) Followers(run string) (ids []string, err error) {
	r, err := e.Get(run)
	if err != nil {
		return nil, err
	}
	if p := r.Admitted.Parent; p != nil && p.Wait {
		ids = append(ids, p.Run)
	}
	for _, key := range r.sharedKeys() {
		sharing, err := e.sharers(key)
		if err != nil {
			return nil, err
		}
		for _, id := range sharing {
			if id != r.ID && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// resumeSettled lets those go on whose end waited for a run that was settled just before
// the last engine of this history stopped. One that cannot be read is left as it is.
func (e *Engine) resumeSettled() (left LeftError, err error) {
	const page = 200
	for q := (Query{Reconcile: true, Limit: page}); ; {
		runs, err := e.o.History.Runs(q)
		if err != nil {
			return left, fmt.Errorf("list the runs that wait for others: %w", err)
		}
		for _, s := range runs {
			if err := e.resume(s.Run); err != nil {
				if isHistory(err) || e.root.Err() != nil {
					return left, err
				}
				left = append(left, err)
			}
		}
		if len(runs) < page {
			return left, nil
		}
		q.Before = runs[len(runs)-1].Run
	}
}

// resume lets a run go on whose end waited for others, if none of them is left.
func (e *Engine) resume(run string) error {
	leave, err := e.enterDecision(run)
	if err != nil {
		return err
	}
	defer leave()
	e.mu.Lock()
	open := e.open[run] != nil
	e.mu.Unlock()
	if open { // it looks for itself when it ends
		return nil
	}
	rt, err := e.reopen(run)
	switch {
	case errors.Is(err, ErrNoRun):
		return nil
	case err != nil:
		return err
	case !rt.run.Status.Ended() || rt.run.Waits == nil:
		return nil
	}
	e.waitsFor(run, *rt.run.Waits)
	if still, err := e.stillWaits(rt.run); still || err != nil {
		return err
	}
	if err := e.needs(rt); err != nil {
		return err
	}
	settled := rt.run.Waits.Run
	e.mu.Lock()
	e.take(rt)
	e.mu.Unlock()
	if err := e.durable(e.append(rt, Resumed{Settled: settled})); err != nil {
		e.retire(rt, wasRefused(err))
		return err
	}
	e.goActor("run "+run, rt.main)
	return nil
}
