package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"faultlab/engine/script"
)

// maxDepth is how deep workflows may call each other.
const maxDepth = 32

// childCall is one services.workflows.start or .call. The child's identity comes
// from the parent's step, the operation, the target and the call's name: a parent that
// tries again meets the same child. So the call may be repeated as a read may, and
// leaves nothing unknown: what the child did, and does, stands in the child's history.
type childCall struct {
	fact    CallStarted
	target  string
	payload json.RawMessage
	wait    bool
	timeout time.Duration // 0: none
}

func (c *childCall) started() CallStarted { return c.fact }

func (h *host) prepareWorkflow(c script.Call) (call, *script.ServiceError) {
	w := &childCall{wait: c.Operation == "call", payload: c.Input}
	if err := json.Unmarshal(c.Target, &w.target); err != nil || w.target == "" {
		return nil, refuse(c, "WOML_WORKFLOW_TARGET_INVALID", "the first argument is the id of a workflow, as \"fulfill-paid-order\"")
	}
	var payload map[string]json.RawMessage
	if err := json.Unmarshal(c.Input, &payload); err != nil || payload == nil {
		return nil, refuse(c, "WOML_WORKFLOW_PAYLOAD_INVALID", "the second argument, the payload, is an object")
	}
	if len(c.Input) > MaxPayload {
		return nil, refuse(c, "WOML_WORKFLOW_PAYLOAD_INVALID", fmt.Sprintf("the payload has %d bytes; at most %d are taken", len(c.Input), MaxPayload))
	}
	if len(c.Options) > 0 {
		var timeout json.RawMessage
		if err := options("the options of a call", c.Options, option{"timeout", &timeout}); err != nil {
			return nil, refuseInput(c, "WOML_WORKFLOW_CALL_OPTIONS_INVALID", err)
		}
		d, err := scriptDuration(timeout)
		if err != nil {
			return nil, refuse(c, "WOML_WORKFLOW_CALL_OPTIONS_INVALID", "timeout: "+err.Error())
		}
		if d < time.Millisecond || d > maxTimeout {
			return nil, refuse(c, "WOML_WORKFLOW_CALL_OPTIONS_INVALID", fmt.Sprintf("timeout %v is not within 1ms and 24h", d))
		}
		w.timeout = d
	}
	w.fact = CallStarted{Service: c.Service, Operation: c.Operation, Name: c.Name, Effect: Read,
		Target: workflowTarget + w.target, Digest: digestParts(w.target, c.Operation, string(c.Input))}
	return w, nil
}

func (c *childCall) perform(ctx context.Context, h *host, pos Pos, begun Ticket) (CallEnded, script.Completion) {
	if err := h.e.durable(begun, nil); err != nil {
		h.lost(err)
		return CallEnded{How: HowNeverSent}, failed("WOML_WORKFLOW_CALL_FAILED", err.Error())
	}
	depth, cycle, err := h.ancestry(c.target)
	switch {
	case err != nil:
		return CallEnded{How: HowNeverSent}, failed("WOML_WORKFLOW_CALL_FAILED", err.Error())
	case cycle && c.wait:
		return CallEnded{How: HowClient}, failed("WOML_WORKFLOW_CALL_CYCLE", fmt.Sprintf("%s is at work above this run: calling it would wait for itself", c.target))
	case depth > maxDepth:
		return CallEnded{How: HowClient}, failed("WOML_WORKFLOW_CALL_DEPTH_EXCEEDED", fmt.Sprintf("workflows call each other at most %d deep", maxDepth))
	}
	receipt, err := h.e.Admit(Delivery{Workflow: c.target, Payload: c.payload, folder: h.rt.folder(),
		parent: &Parent{Run: h.rt.id, Step: node(pos.Step, pos.Undo), Name: c.identity(), Depth: depth, Wait: c.wait}})
	if err != nil {
		code, how := "WOML_WORKFLOW_CALL_FAILED", HowNeverSent
		var e *Error
		if errors.As(err, &e) {
			if e.Code == codeDraining {
				return CallEnded{}, script.Completion{}
			}
			if code, how = e.Code, HowClient; code == codeQueueFull {
				how = HowThrottled
			}
		}
		return CallEnded{How: how}, failed(code, err.Error())
	}
	ended := CallEnded{How: HowAccepted, Child: receipt.Run}
	if !c.wait {
		return ended, script.Completion{Value: mustJSON(map[string]any{"workflowId": c.target, "runId": receipt.Run, "duplicate": receipt.Duplicate})}
	}
	return c.await(ctx, h, pos, receipt.Run)
}

// identity is the call's part of the child's: its operation, target and name.
func (c *childCall) identity() string { return childName(c.fact.Operation, c.target, c.fact.Name) }

func childName(operation, target, name string) string {
	id := operation + " " + target
	if name != "" {
		id += " " + name
	}
	return id
}

func failed(code, message string) script.Completion {
	return script.Completion{Err: &script.ServiceError{Code: code, Message: message}}
}

// await waits for the child's end. A child that outlives the wait goes on.
func (c *childCall) await(ctx context.Context, h *host, pos Pos, child string) (CallEnded, script.Completion) {
	if c.timeout > 0 {
		var done context.CancelCauseFunc
		ctx, done = h.e.clk.WithTimeout(ctx, c.timeout, errTimedOut)
		defer done(nil)
	}
	if _, err := h.e.append(h.rt, Waiting{Pos: pos, Child: child}); err != nil {
		h.lost(err)
		return CallEnded{How: HowNoReply, Child: child}, failed("WOML_WORKFLOW_CALL_FAILED", err.Error())
	}
	h.rt.lend()
	over := h.e.clk.NewEvent("the end of " + child)
	waits, done := h.e.untilRest(ctx)
	defer done()
	stop := h.e.clk.OnCancel(waits, func(error) { over.Set() })
	forget := h.e.tell(child, over)
	over.Wait()
	stop()
	ended := forget()
	if h.e.resting() { // the call stays open, and meets its child again
		return CallEnded{}, script.Completion{}
	}
	if err := h.rt.takeBack(h.ctx); err != nil {
		if errors.Is(err, errDraining) {
			return CallEnded{}, script.Completion{}
		}
		return CallEnded{How: HowNoReply, Child: child}, failed("WOML_WORKFLOW_CALL_FAILED", err.Error())
	}
	if cause := context.Cause(ctx); cause != nil && !ended {
		code := "WOML_WORKFLOW_CALL_FAILED"
		if errors.Is(cause, errTimedOut) {
			code = "WOML_WORKFLOW_CALL_TIMED_OUT"
		}
		return CallEnded{How: HowNoReply, Child: child}, failed(code, fmt.Sprintf("%s has not ended: %s", child, cause))
	}
	r, err := h.e.Get(child)
	if errors.Is(err, ErrNoRun) {
		return CallEnded{How: HowClient, Child: child}, failed("WOML_WORKFLOW_CALL_FAILED", child+" is not in the history any more")
	}
	if err != nil {
		return CallEnded{How: HowNoReply, Child: child}, failed("WOML_WORKFLOW_CALL_FAILED", err.Error())
	}
	switch {
	case !r.Status.Ended(): // nobody carries it out here
		return CallEnded{How: HowNoReply, Child: child}, failed("WOML_WORKFLOW_CALL_FAILED", child+" has not ended, and is not at work here")
	case r.Status != StatusSucceeded:
		how := HowClient // a failed child stays failed: calling it again meets the same end
		if r.Reconcile {
			how = HowConflict // it may have happened all the same, and a person will say
		}
		return CallEnded{How: how, Child: child}, failed("WOML_WORKFLOW_CALL_FAILED", fmt.Sprintf("%s %s: %s", child, r.Status, r.Message))
	}
	return CallEnded{How: HowAccepted, Child: child}, script.Completion{Value: r.Result()}
}

// Result is the result of the run's last step; nil unless the run succeeded.
func (r *Run) Result() json.RawMessage {
	if r.Status != StatusSucceeded || len(r.Steps) == 0 {
		return nil
	}
	return r.Steps[len(r.Steps)-1].Result
}

// ancestry is the depth that a child of this run would have, and whether its workflow is at work above it.
func (h *host) ancestry(target string) (depth int, cycle bool, err error) {
	var up Admitted
	h.rt.read(func(r *Run) { up = r.Admitted })
	depth = 1
	if up.Parent != nil {
		depth = up.Parent.Depth + 1
	}
	cycle = up.Workflow == target
	for n := 0; up.Parent != nil && n <= maxDepth; n++ {
		parent, err := h.e.Get(up.Parent.Run)
		if err != nil {
			return 0, false, err
		}
		waits := up.Parent.Wait
		if up = parent.Admitted; waits && up.Workflow == target {
			cycle = true
		}
	}
	return depth, cycle, nil
}

// lend gives the run's slot back while all that it does is wait for a child.
func (rt *running) lend() {
	rt.mu.Lock()
	rt.lent++
	first := rt.lent == 1
	rt.mu.Unlock()
	if first {
		rt.release()
	}
}

// takeBack waits for a slot again; a run that must end, by ctx's cause, needs none.
func (rt *running) takeBack(ctx context.Context) error {
	rt.mu.Lock()
	rt.lent--
	last := rt.lent == 0
	rt.mu.Unlock()
	if !last || context.Cause(ctx) != nil {
		return nil
	}
	return rt.acquire(ctx, false)
}
