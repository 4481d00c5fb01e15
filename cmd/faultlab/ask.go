package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"faultlab/engine"
	"faultlab/store"
)

const (
	inboxPace = 100 * time.Millisecond // how often the owner looks into its inbox
	endPace   = 10 * time.Millisecond  // how often a command looks whether its run has ended
	patience  = time.Minute            // how long a command waits for the owner to take it up
	// lookupPatience is longer: a look-up asks the provider once for each doubt, and each may take its time.
	lookupPatience = 5 * time.Minute
	settlePatience = 15 * time.Minute // of one batch: each of its look-ups may take its time
)

// request is what a command wants done with the state.
type request struct {
	verb    string
	run     string
	args    any
	settle  bool // wait until the run has ended
	yields  bool // where another process owns the state, its assumptions and secrets count
	console bool // print what scripts write to their console, where this process carries them out
	worker  workerOptions
}

// ask has a request carried out: by the process that owns the state, or here where
// nobody does.
func (a *app) ask(ctx context.Context, q request) (answer, error) {
	raw, err := json.Marshal(q.args)
	if err != nil {
		return answer{}, fmt.Errorf("encode the command: %w", err)
	}
	var id [8]byte
	rand.Read(id[:]) // never fails, says its documentation
	c := engine.Command{ID: hex.EncodeToString(id[:]), Verb: q.verb, Run: q.run, Args: raw}
	q.worker.exists = q.verb != verbTrigger
	if q.console {
		a.live()
		told := newLines(a.clk, a.Out, nil)
		q.worker.log = consoleTo(told)
		defer told.close()
	}
	w, err := a.openWorker(q.worker)
	var held store.ErrHeld
	if errors.As(err, &held) {
		out, w, err := a.askOwner(ctx, held, c, q)
		if w == nil {
			if err == nil && q.settle {
				err = a.awaitEndElsewhere(ctx, out.Run)
			}
			return out, err
		}
		return a.here(ctx, w, c, q)
	}
	if err != nil {
		return answer{}, failed(err)
	}
	return a.here(ctx, w, c, q)
}

// here carries a request out as the owner, and lets go of the state.
func (a *app) here(ctx context.Context, w *worker, c engine.Command, q request) (answer, error) {
	out, err := a.doHere(ctx, w, c, q.settle)
	if closing := w.close(); err == nil {
		err = closing
	}
	return out, err
}

// errOwnerLeft says that the owner went away before it took a command up.
var errOwnerLeft = errors.New("the owner of the state went away")

// askOwner puts the command into the owner's inbox and waits for what came of it.
// Where the owner goes away first, the state is this process's: then worker is set,
// and the command is still to be carried out.
func (a *app) askOwner(ctx context.Context, owner store.ErrHeld, c engine.Command, q request) (answer, *worker, error) {
	path := owner.Path
	if q.worker.explicit() && !q.yields {
		return answer{}, nil, usage("another process owns the state and has assumptions and secrets of its own: leave --assume and --secrets out")
	}
	limit := patience
	switch q.verb {
	case verbLookup:
		limit = lookupPatience
	case verbSettle, verbPrune:
		limit = settlePatience
	}
	c.Before = a.clk.Now().Add(patience)
	asked, err := store.Put(path, c)
	if err != nil {
		return answer{}, nil, failed(err)
	}
	ctx, done := a.clk.WithTimeout(ctx, limit, fmt.Errorf("the process that owns %s did not answer within %v", path, limit))
	defer done(nil)
	var mine *worker
	looks, pace := 0, endPace/10
	raw, err := asked.Await(func() (err error) {
		switch looks++; {
		case looks == stoppedLook:
			a.tellStopped(owner)
		case looks%10 == 0:
			if mine, err = a.inherit(c.ID, q.worker); mine != nil || err != nil {
				return errors.Join(errOwnerLeft, err)
			}
		}
		pace = min(2*pace, inboxPace/5)
		return a.clk.Sleep(ctx, pace)
	})
	if mine != nil {
		return answer{}, mine, nil
	}
	if err != nil {
		return answer{}, nil, failed(err)
	}
	var out answer
	if err := json.Unmarshal(raw, &out); err != nil {
		return answer{}, nil, failed(fmt.Errorf("read the owner's answer: %w", err))
	}
	return out, nil, out.Error.err()
}

// inherit takes the state over if its owner went away and left the command undone.
func (a *app) inherit(id string, o workerOptions) (*worker, error) {
	w, err := a.openWorker(o)
	if errors.As(err, new(store.ErrHeld)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	left, err := w.store.Inbox(nil) // takes those away that were carried out
	for _, c := range left {
		if c.ID == id {
			return w, nil
		}
	}
	return nil, errors.Join(err, w.close())
}

// doHere owns the state for as long as the command takes, and serves others
// meanwhile. A run that a crash left in the middle of an attempt is first decided by
// what its history holds; what else is open is left alone.
func (a *app) doHere(ctx context.Context, w *worker, c engine.Command, settle bool) (answer, error) {
	if err := w.loadKnown(); err != nil {
		return answer{}, failed(err)
	}
	serving, stop := a.clk.WithCancel(ctx)
	served := a.clk.NewEvent("the end of the inbox")
	a.clk.Go("inbox", func() { defer served.Set(); a.serveInbox(ctx, serving, w) })
	defer func() { stop(nil); served.Wait() }()
	if c.Verb == verbLookup || c.Verb == verbResolve {
		decided, err := w.eng.Decide(c.Run)
		if err != nil {
			return answer{}, a.runError(c.Run, err)
		}
		if decided {
			if err := a.awaitEnd(ctx, w, c.Run); err != nil {
				return answer{}, err
			}
		}
	}
	if c.Verb == verbSettle {
		if err := a.decideAll(ctx, w); err != nil {
			return answer{}, err
		}
	}
	out := w.carryOut(ctx, c)
	if out.Error != nil {
		return out, out.Error.err()
	}
	if settle {
		return out, a.awaitEnd(ctx, w, out.Run)
	}
	return out, nil
}

// decideAll goes on with the runs that a crash left in the middle of an attempt, and waits for their end.
func (a *app) decideAll(ctx context.Context, w *worker) error {
	open, err := w.store.Open()
	if err != nil {
		return failed(err)
	}
	for _, id := range open {
		decided, err := w.eng.Decide(id)
		if err != nil {
			continue // it cannot be read, and is left as it is
		}
		if decided {
			if err := a.awaitEnd(ctx, w, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// awaitEnd waits for a run's end and for those of the runs that its end lets go on, a
// failure of the state or a signal.
func (a *app) awaitEnd(ctx context.Context, w *worker, run string) error {
	seen := map[string]bool{}
	for waiting := []string{run}; len(waiting) > 0; waiting = waiting[1:] {
		if seen[waiting[0]] {
			continue
		}
		seen[waiting[0]] = true
		if err := a.awaitOneEnd(ctx, w, waiting[0]); err != nil {
			return err
		}
		next, err := w.eng.Followers(waiting[0])
		if err != nil {
			return a.runError(waiting[0], err)
		}
		waiting = append(waiting, next...)
	}
	return nil
}

func (a *app) awaitOneEnd(ctx context.Context, w *worker, run string) error {
	id, err := engine.FindRun(w.store, run)
	if err != nil {
		return a.runError(run, err)
	}
	ended := w.eng.Ended(id)
	for !ended.IsSet() {
		if err := w.eng.Err(); err != nil {
			return failed(err)
		}
		if a.clk.Sleep(ctx, endPace) != nil {
			return failed(fmt.Errorf("stopped before run %s ended: it goes on at the next faultlab run", id))
		}
	}
	return nil
}

// awaitEndElsewhere waits for the end of a run that another process carries out.
func (a *app) awaitEndElsewhere(ctx context.Context, run string) error {
	for {
		r, err := a.readRun(run)
		if err != nil {
			return err
		}
		if r.Status.Ended() {
			return nil
		}
		if a.clk.Sleep(ctx, inboxPace) != nil {
			return failed(fmt.Errorf("stopped waiting: run %s goes on in the process that owns it", r.ID))
		}
	}
}

// runError is one sentence about a run that cannot be had.
func (a *app) runError(run string, err error) error {
	if errors.Is(err, engine.ErrNoRun) {
		return failed(&problem{codeNoRun, noRun(run)})
	}
	return failed(err)
}

func noRun(run string) string {
	return fmt.Sprintf("there is no run %s: faultlab list shows those that there are", run)
}
