package engine

// Cancellation asks a run to end.
type Cancellation struct {
	Run   string
	Keep  bool   // leave what it has done; else that is undone
	Inbox string // the command of another process that asked, or empty
}

// Cancel asks a run to end: nothing new starts, and an open write becomes unknown. What
// the run has done is undone as after a failure, once nothing of it is unknown, unless it
// is to be kept. A run that is being undone already is not cancelled.
func (e *Engine) Cancel(q Cancellation) error {
	id, err := FindRun(e.o.History, q.Run)
	if err != nil {
		return err
	}
	leave, err := e.enterDecision(id)
	if err != nil {
		return err
	}
	defer leave()
	fact := CancelAsked{Keep: q.Keep, Inbox: q.Inbox}
	e.mu.Lock()
	rt := e.open[id]
	if rt == nil {
		e.mu.Unlock()
		return e.cancelLeft(id, fact)
	}
	var why error
	rt.read(func(r *Run) { why = r.cancelRefusal() }) // an end may be on its way to the disk
	if why != nil {
		e.mu.Unlock()
		return why
	}
	t, err := e.record(rt, e.clk.Now(), e.o.History.Append, fact)
	e.mu.Unlock()
	if err == nil {
		rt.stop(errCancelled) // before the disk has it: meanwhile the run could come to its next request
	}
	return e.durable(t, err)
}

// cancelLeft cancels a run that an earlier engine left open: it ends without going on first.
func (e *Engine) cancelLeft(id string, fact CancelAsked) error {
	rt, err := e.reopen(id)
	if err != nil {
		return err
	}
	if err := rt.run.cancelRefusal(); err != nil {
		return err
	}
	if err := e.durable(e.append(rt, fact)); err != nil {
		return err
	}
	return e.goOn(rt)
}

// cancelRefusal says why a run cannot be cancelled; nil where it can.
func (r *Run) cancelRefusal() error {
	switch {
	case r.Status.Ended():
		return &Refused{Why: "run " + r.ID + " has ended: there is nothing to cancel"}
	case r.undoing():
		return &Refused{Why: "run " + r.ID + " is being undone: it cannot be cancelled any more"}
	}
	return nil
}
