package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"faultlab/engine/clock"
	"faultlab/engine/script"
)

// maxCalls is how many calls one attempt may make.
const maxCalls = 32

// host is the world of one run of a script: an attempt, or its journal played again.
type host struct {
	rt          *running
	e           *Engine
	ctx         context.Context // of the calls: the run's, ended early when the script is stopped
	stop        context.CancelCauseFunc
	part        part
	pos         Pos // without call and request
	key         string
	maxAttempts int   // as far as 429s before it moved them
	err         error // of the history, or a killed engine: the attempt may not go on

	mu       sync.Mutex
	done     []script.Completion       // of calls that have ended, not yet taken by the script
	wake     clock.Event               // set when there is something to take; nil while nobody waits
	timers   map[int]func() bool       // that the script waits for: stop it; nil once it is due
	open     int                       // calls that have begun and not ended
	ended    Ticket                    // of the newest end of a call, which may not be on disk yet; nil once that was waited for
	tickets  map[int]func(cause error) // of open calls: give it up
	calls    int                       // numbered so far
	requests int                       // numbered so far, over all calls
	unnamed  map[string]bool           // operations of which an unnamed write was made
	secrets  script.Redactor           // that the script was given
	tape     *replayer                 // the journal that is played; nil when all is new
	rehearse *rehearsal                // set where nothing is sent and nothing written down
	time     scriptTime
}

func newHost(rt *running, ctx context.Context, p part, attempt int) *host {
	h := &host{rt: rt, e: rt.e, part: p, pos: p.pos(attempt), tickets: map[int]func(error){}}
	h.key = stepKey(rt.doc.Hash, node(p.step.ID, p.undo), rt.id)
	h.ctx, h.stop = rt.e.clk.WithCancel(ctx)
	rt.read(func(r *Run) { h.maxAttempts = attemptsAllowed(p.retry, r.StepAt(h.pos.Step, h.pos.Undo), attempt-1) })
	return h
}

// run runs the script and returns when all its calls have ended.
func (h *host) run() script.Result {
	defer h.stop(nil)
	h.rt.read(func(r *Run) { h.time.tell(r.attempt(h.pos).StartedAt) })
	prog, err := script.Compile(h.part.script.Source)
	if err != nil {
		var refused *script.Error
		errors.As(err, &refused)
		return script.Result{Err: refused}
	}
	res := h.e.o.Memo.run(h.ctx, prog, h.input(), h)
	h.drain()
	return res
}

func (h *host) input() script.Input {
	in := script.Input{Steps: map[string]json.RawMessage{}, Extra: h.part.extra,
		Attempt: script.Attempt{Number: h.pos.Attempt, MaxAttempts: h.maxAttempts, IdempotencyKey: h.key}}
	h.rt.read(func(r *Run) {
		in.Payload = r.Admitted.Payload
		in.Seed = attemptSeed(r.Admitted.Seed, h.part.step.ID, h.part.undo, h.pos.Attempt)
		for _, s := range r.Steps {
			if s.Done && !s.Undo {
				in.Steps[s.ID] = s.Result
			}
		}
	})
	return in
}

// Now implements script.Host.
func (h *host) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.time.now()
}

// Timer implements script.Host.
func (h *host) Timer(id int, d time.Duration) {
	if h.tape != nil && h.tape.timer(id, d) {
		return
	}
	h.mu.Lock()
	h.arm(id, h.time.told.Add(d), d)
	ended := h.ended
	h.ended = nil
	h.mu.Unlock()
	if ended == nil {
		return
	}
	// The script waits, perhaps for long: what its calls came to is on disk before.
	if err := h.e.durable(ended, nil); err != nil {
		h.lost(err)
	}
}

// arm sets a timer that is due at a moment of the script's time, and that the clock waits for. h.mu is held.
func (h *host) arm(id int, due time.Time, wait time.Duration) {
	if h.timers == nil {
		h.timers = map[int]func() bool{}
	}
	h.time.due(id, due)
	if h.rehearse != nil { // due as soon as the script waits for it
		h.timers[id] = nil
		return
	}
	h.timers[id] = h.e.clk.AfterFunc(wait, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, on := h.timers[id]; on {
			h.timers[id] = nil
			h.awake()
		}
	})
}

// Cancel implements script.Host.
func (h *host) Cancel(id int) {
	if h.tape != nil {
		h.tape.cancel(id)
	}
	h.mu.Lock()
	stop := h.timers[id]
	delete(h.timers, id)
	giveUp := h.tickets[id]
	h.mu.Unlock()
	if stop != nil {
		stop()
	}
	if giveUp != nil {
		giveUp(errGaveUp)
	}
}

// deliver hands a completion to the script. h.mu is held.
func (h *host) deliver(c script.Completion) {
	h.done = append(h.done, c)
	h.awake()
}

// awake lets the script look for what it waits for. h.mu is held.
func (h *host) awake() {
	if h.wake != nil {
		h.wake.Set()
		h.wake = nil
	}
}

// take gives what completes next for the script, if anything has: the calls in the order
// of their ends, and each timer before what ended after it was due, as the journal will
// give them again, however late the clock was with the timer. h.mu is held.
func (h *host) take() (c script.Completion, ok bool) {
	now := h.e.clk.Now()
	timers := slices.Collect(maps.Keys(h.timers))
	timer, due := 0, slices.ContainsFunc(timers, func(id int) bool { return h.timers[id] == nil })
	if len(timers) > 0 {
		timer = h.time.first(timers)
	}
	switch {
	case len(h.done) > 0 && (len(timers) == 0 || h.time.moment(h.done[0].ID, now).Before(h.time.ends[timer])):
		c, h.done = h.done[0], h.done[1:]
	case len(h.done) > 0 || due:
		if stop := h.timers[timer]; stop != nil {
			stop()
		}
		delete(h.timers, timer)
		c = script.Completion{ID: timer}
	default:
		return c, false
	}
	h.time.take(c.ID, now)
	return c, true
}

// Next implements script.Host.
func (h *host) Next() (script.Completion, error) {
	for {
		h.mu.Lock()
		if h.err != nil {
			h.mu.Unlock()
			return script.Completion{}, h.err
		}
		if h.tape != nil { // what is recorded came before all that is live
			c, ok, err := h.tape.next()
			if ok || err != nil {
				h.time.tell(h.tape.at)
				h.mu.Unlock()
				return c, err
			}
			h.tape.handOver(func(id int, due time.Time) {
				h.arm(id, due, due.Sub(later(h.time.told, h.e.clk.Now())))
			})
		}
		if c, ok := h.take(); ok {
			h.mu.Unlock()
			return c, nil
		}
		if cause := context.Cause(h.ctx); cause != nil {
			h.mu.Unlock()
			return script.Completion{}, cause
		}
		resting := h.e.resting()
		if resting && h.open == 0 {
			h.err = errDraining
			h.mu.Unlock()
			return script.Completion{}, errDraining
		}
		wake := h.e.clk.NewEvent("a call of " + h.part.step.ID)
		h.wake = wake
		h.mu.Unlock()
		stop := h.e.clk.OnCancel(h.ctx, func(error) { wake.Set() })
		rest := func() {}
		if !resting {
			rest = h.e.clk.OnCancel(h.e.rest, func(error) { wake.Set() })
		}
		wake.Wait()
		stop()
		rest()
	}
}

// drain gives up what is still open and waits for its end.
func (h *host) drain() {
	h.mu.Lock()
	for id, stop := range h.timers {
		delete(h.timers, id)
		if stop != nil {
			stop()
		}
	}
	open := h.open
	h.mu.Unlock()
	if open == 0 {
		return
	}
	h.stop(errGaveUp)
	for {
		h.mu.Lock()
		if h.open == 0 {
			h.mu.Unlock()
			return
		}
		h.done = nil
		wake := h.e.clk.NewEvent("the end of the calls of " + h.part.step.ID)
		h.wake = wake
		h.mu.Unlock()
		wake.Wait()
	}
}

// Log implements script.Host. A journal that is played again stays silent.
func (h *host) Log(level, text string) {
	if h.e.o.Log != nil && h.rehearse == nil && (h.tape == nil || h.tape.over) {
		h.e.o.Log(h.rt.id, h.pos, level, text)
	}
}

// call is one call on its way: checked, and not yet begun.
type call interface {
	// started is the fact that is written before anything leaves; its Pos is set by the host.
	started() CallStarted
	// perform does it, and tells how it ended and what the script gets. pos has the
	// call's number; begun stands for the start on disk, to be waited for before anything leaves.
	perform(ctx context.Context, h *host, pos Pos, begun Ticket) (CallEnded, script.Completion)
}

// Start implements script.Host.
func (h *host) Start(id int, c script.Call) *script.ServiceError {
	work, refusal := h.prepare(c)
	if refusal != nil {
		return refusal
	}
	fact := work.started()
	if why := h.nameless(fact); why != "" {
		return refuse(c, inputInvalid[c.Service], why)
	}
	known := h.known(fact)
	if h.tape != nil {
		live, place := h.tape.take(id, fact, work, known)
		if !live {
			return nil
		}
		fact.Pos = place
	}
	again := fact.Call != 0 // its start stands in the history
	switch {
	case again:
	case known.code != "":
		return refuse(c, known.code, known.why)
	case known.given():
		given, err := known.answer(id, fact, work)
		if err != nil {
			return refuse(c, codeNotRepeatable, err.Error())
		}
		work, fact = given, given.fact
		if h.rehearse != nil {
			h.mu.Lock()
			h.deliver(given.done)
			h.mu.Unlock()
			return nil
		}
	}
	if h.rehearse != nil {
		h.rehearse.reached = true
		h.err = errRehearsed
		return nil
	}
	return h.begin(id, c, fact, work)
}

// begin starts a call: a new one, or one whose start stands in the history.
func (h *host) begin(id int, c script.Call, fact CallStarted, work call) *script.ServiceError {
	if h.e.resting() {
		h.rest(id)
		return nil
	}
	again := fact.Call != 0
	h.mu.Lock()
	if h.calls >= maxCalls && !again {
		h.mu.Unlock()
		return refuse(c, "FAULTLAB_CALL_LIMIT", fmt.Sprintf("an attempt makes at most %d calls", maxCalls))
	}
	if !again {
		h.calls++
		fact.Pos = h.pos
		fact.Call = h.calls
	}
	h.open++
	ctx, giveUp := h.e.clk.WithCancel(h.ctx)
	h.tickets[id] = giveUp
	h.mu.Unlock()
	begun, err := Ticket(onDisk{}), error(nil)
	if !again {
		begun, err = h.e.buffer(h.rt, fact)
	}
	if err != nil {
		h.fail(id, err)
		return nil
	}
	h.e.clk.Go("call "+strconv.Itoa(fact.Call)+" of "+h.part.step.ID, func() {
		defer giveUp(nil)
		growStack(0)
		ended, completion := work.perform(ctx, h, fact.Pos, begun)
		if ended.How == "" {
			h.rest(id)
			return
		}
		completion.ID = id
		written := h.end(fact, ended, completion)
		if c, ok := work.(*dbCall); ok && ended.How == HowAccepted && !ended.Replay {
			c.ended(markOf(h.rt.id, fact.Pos), written)
		}
	})
	return nil
}

// onDisk is the ticket of what was written down before.
type onDisk struct{}

func (onDisk) Wait() error { return nil }
func (onDisk) Last() int64 { return 0 }
func (onDisk) Done() bool  { return true }

// nameless refuses the second unnamed write of one operation: which of them a later
// attempt makes could not be told. Of services.workflows each target is one of its
// own, and two calls of one must both have a name.
func (h *host) nameless(fact CallStarted) string {
	child := fact.Service == script.ServiceWorkflows
	if fact.Effect == Read && !child || fact.Service == script.ServiceFetch {
		return ""
	}
	operation := fact.Service + "." + fact.Operation
	if child {
		operation += " of " + fact.Target
	}
	before, again := h.unnamed[operation]
	if again && (fact.Name == "" || before && child) {
		return fmt.Sprintf("a step makes at most one services.%s without a name: give each a name, as {name: \"create-job\"}", operation)
	}
	if fact.Name == "" || child {
		if h.unnamed == nil {
			h.unnamed = map[string]bool{}
		}
		h.unnamed[operation] = fact.Name == ""
	}
	return ""
}

// inputInvalid are the codes of bad input, by service.
var inputInvalid = map[string]string{script.ServiceHTTP: "WOML_HTTP_INPUT_INVALID", script.ServiceDB: "WOML_DATABASE_INPUT_INVALID",
	script.ServiceWorkflows: "WOML_WORKFLOW_CALL_OPTIONS_INVALID"}

// end writes a call's end down and hands it to the script, in one order.
func (h *host) end(fact CallStarted, ended CallEnded, c script.Completion) (written Ticket) {
	ended.Pos = fact.Pos
	rule := callRules[ended.How][fact.Effect]
	ended.Finding, ended.Next = rule.finding, rule.next
	if c.Err != nil {
		c.Err.Message = h.clean(c.Err.Message)
		c.Err.Service, c.Err.Operation, c.Err.CallID = script.PublicService(fact.Service), fact.Operation, callID(fact.Pos)
		c.Err.Retryable, c.Err.Ambiguous = ended.Next == NextAgain, ended.Finding == FoundAmbiguous
		ended.Code, ended.Message = c.Err.Code, c.Err.Message
	} else {
		ended.Reply = replyOf(c)
		if fact.Service == script.ServiceDB && fact.Effect != Read {
			ended.Rows = rowsChanged(c.Value)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open--
	write := h.e.buffer
	if h.open > 0 || len(h.timers) > 0 { // the script may wait on, and nothing follows meanwhile
		write = h.e.append
	}
	written, err := write(h.rt, ended)
	if err != nil {
		h.err = err
	}
	h.ended = written
	delete(h.tickets, c.ID)
	h.rt.read(func(r *Run) {
		if recorded := r.callAt(fact.Pos); recorded != nil && recorded.Ended {
			h.time.due(c.ID, recorded.EndedAt)
		}
	})
	h.deliver(c)
	return written
}

// fail ends the attempt because the history cannot be written.
func (h *host) fail(id int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
	h.open--
	delete(h.tickets, id)
	h.deliver(script.Completion{ID: id})
}

// stopped reports whether the error that came through says that repeating is wrong:
// its call says so, or it was refused before anything began.
func (h *host) stopped(err *script.Error) (stopped bool) {
	if err.Service == nil {
		return false
	}
	n, found := callNumber(err.Service.CallID)
	if !found {
		return true
	}
	h.rt.read(func(r *Run) {
		p := h.pos
		p.Call = n
		if c := r.callAt(p); c != nil {
			stopped = c.Next == NextStop && c.SettledBy == (Pos{}) // what is settled may be asked again under its key
		}
	})
	return stopped
}

func callID(p Pos) string { return "call_" + strconv.Itoa(p.Call) }

func callNumber(id string) (int, bool) {
	var n int
	_, err := fmt.Sscanf(id, "call_%d", &n)
	return n, err == nil
}

// refuse is the failure of a call that was never begun.
func refuse(c script.Call, code, why string) *script.ServiceError {
	return &script.ServiceError{Code: code, Message: why, Service: script.PublicService(c.Service), Operation: c.Operation}
}

// prepare checks a call's input.
func (h *host) prepare(c script.Call) (call, *script.ServiceError) {
	switch c.Service {
	case script.ServiceHTTP:
		return h.prepareHTTP(c)
	case script.ServiceFetch:
		return h.prepareFetch(c)
	case script.ServiceDB:
		return h.prepareDB(c)
	case script.ServiceWorkflows:
		return h.prepareWorkflow(c)
	}
	return nil, refuse(c, "WOML_MODULE_SERVICE_UNKNOWN", fmt.Sprintf("there is no service %q", c.Service))
}

// storedReply is what the script got, in the form in which the history keeps it.
type storedReply struct {
	Value json.RawMessage `json:"v,omitempty"`
	Body  []byte          `json:"b,omitempty"`
}

func replyOf(c script.Completion) []byte {
	if len(c.Body) == 0 {
		return c.Value
	}
	raw, err := json.Marshal(storedReply{c.Value, c.Body})
	if err != nil {
		return nil
	}
	return raw
}
