package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/store"
)

const (
	inboxPace = 100 * time.Millisecond // how often the owner looks into its inbox
	endPace   = 10 * time.Millisecond  // how often a command looks whether its run has ended
	patience  = time.Minute            // how long a command waits for the owner to take it up
)

// longer is how long a command waits for its answer where that takes longer than patience: each look-up may take its time.
var longer = map[string]time.Duration{verbLookup: 5 * time.Minute, verbSettle: 15 * time.Minute, verbPrune: 15 * time.Minute}

// request is what a command wants done with the state.
type request struct {
	verb    string
	run     string
	args    any
	settle  bool // wait until the run has ended
	yields  bool // use the owner's assumptions and secrets if another process owns the state
	console bool // print what scripts write to their console, if this process runs them
	worker  workerOptions
}

// ask carries out a request: in the process that owns the state, or here if there is none.
func (a *app) ask(ctx context.Context, q request) (answer, error) {
	raw, err := json.Marshal(q.args)
	if err != nil {
		return answer{}, fmt.Errorf("encode the command: %w", err)
	}
	c := engine.Command{ID: rand.Text(), Verb: q.verb, Run: q.run, Args: raw}
	q.worker.exists = q.verb != verbTrigger
	if q.console {
		a.live()
		out := newLines(a.clk, a.Out, nil)
		q.worker.log = consoleTo(out)
		defer out.close()
	}
	w, err := a.openWorker(q.worker)
	var out answer
	if held := (store.ErrHeld{}); errors.As(err, &held) {
		if out, w, err = a.askOwner(ctx, held, c, q); w == nil {
			if err == nil && q.settle {
				err = a.awaitEndElsewhere(ctx, out.Run)
			}
			return out, err
		}
	}
	if err != nil {
		return answer{}, failed(err)
	}
	out, err = a.askHere(ctx, w, c, q.settle)
	return out, cmp.Or(err, w.close())
}

// errOwnerLeft says that the owner went away before it took a command up.
var errOwnerLeft = errors.New("the owner of the state went away")

// askOwner puts the command into the owner's inbox and waits for its answer. If the owner
// goes away first, this process owns the state: then it returns a worker, and the command
// is still to be carried out.
func (a *app) askOwner(ctx context.Context, owner store.ErrHeld, c engine.Command, q request) (answer, *worker, error) {
	if q.worker.explicit() && !q.yields {
		return answer{}, nil, usage("another process owns the state file and has assumptions and secrets of its own: leave --assume and --secrets out")
	}
	c.Before = a.clk.Now().Add(patience)
	asked, err := store.Put(owner.Path, c)
	if err != nil {
		return answer{}, nil, failed(err)
	}
	limit := cmp.Or(longer[q.verb], patience)
	ctx, done := a.clk.WithTimeout(ctx, limit, fmt.Errorf("the process that owns %s did not answer within %v", owner.Path, limit))
	defer done(nil)
	var mine *worker
	looks, pace := 0, endPace/10
	raw, err := asked.Await(func() (err error) {
		switch looks++; {
		case looks == stoppedLook:
			a.reportStopped(owner)
		case looks%10 == 0:
			if mine, err = a.takeOver(c.ID, q.worker); mine != nil || err != nil {
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

// takeOver opens the state if its owner went away and did not carry the command out.
func (a *app) takeOver(id string, o workerOptions) (*worker, error) {
	w, err := a.openWorker(o)
	if errors.As(err, new(store.ErrHeld)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	left, err := w.store.Inbox(nil) // takes those away that were carried out
	if slices.ContainsFunc(left, func(c engine.Command) bool { return c.ID == id }) {
		return w, nil
	}
	return nil, errors.Join(err, w.close())
}

// askHere owns the state for as long as the command takes, and serves others meanwhile.
// A run that a crash left in the middle of an attempt is first decided by what its
// history holds; other open runs are left alone.
func (a *app) askHere(ctx context.Context, w *worker, c engine.Command, settle bool) (answer, error) {
	if err := w.loadKnown(); err != nil {
		return answer{}, failed(err)
	}
	serving, stop := a.clk.WithCancel(ctx)
	served := a.clk.NewEvent("the end of the inbox")
	a.clk.Go("inbox", func() { defer served.Set(); a.serveInbox(ctx, serving, w) })
	defer func() { stop(nil); served.Wait() }()
	var err error
	switch c.Verb {
	case verbLookup, verbResolve:
		err = a.decide(ctx, w, c.Run)
	case verbSettle:
		err = a.decideAll(ctx, w)
	}
	if err != nil {
		return answer{}, err
	}
	out := w.carryOut(ctx, c)
	if out.Error == nil && settle {
		return out, a.awaitEnd(ctx, w, out.Run)
	}
	return out, out.Error.err()
}

// decide resumes a run that a crash left in the middle of an attempt, and waits for its end.
func (a *app) decide(ctx context.Context, w *worker, run string) error {
	decided, err := w.eng.Decide(run)
	if err != nil {
		return runError(run, err)
	}
	if decided {
		return a.awaitEnd(ctx, w, run)
	}
	return nil
}

// decideAll does the same for all open runs. A run that cannot be read is left as it is.
func (a *app) decideAll(ctx context.Context, w *worker) error {
	open, err := w.store.Open()
	if err != nil {
		return failed(err)
	}
	for _, id := range open {
		if decided, err := w.eng.Decide(id); err != nil || !decided {
			continue
		}
		if err := a.awaitEnd(ctx, w, id); err != nil {
			return err
		}
	}
	return nil
}

// awaitEnd waits for a run's end and for those of the runs that then resume, a failure
// of the state or a signal.
func (a *app) awaitEnd(ctx context.Context, w *worker, run string) error {
	seen := map[string]bool{}
	for waiting := []string{run}; len(waiting) > 0; waiting = waiting[1:] {
		if seen[waiting[0]] {
			continue
		}
		seen[waiting[0]] = true
		id, err := engine.FindRun(w.store, waiting[0])
		if err != nil {
			return runError(waiting[0], err)
		}
		for ended := w.eng.Ended(id); !ended.IsSet(); {
			if err := w.eng.Err(); err != nil {
				return failed(err)
			}
			if a.clk.Sleep(ctx, endPace) != nil {
				return failed(fmt.Errorf("stopped before run %s ended: it resumes at the next faultlab run", id))
			}
		}
		next, err := w.eng.Followers(id)
		if err != nil {
			return runError(id, err)
		}
		waiting = append(waiting, next...)
	}
	return nil
}

// awaitEndElsewhere waits for the end of a run in another process.
func (a *app) awaitEndElsewhere(ctx context.Context, run string) error {
	for {
		r, err := a.readRun(run)
		if err != nil || r.Status.Ended() {
			return err
		}
		if a.clk.Sleep(ctx, inboxPace) != nil {
			return failed(fmt.Errorf("stopped waiting: run %s goes on in the process that owns it", r.ID))
		}
	}
}

// stoppedLook is the look for an answer, after some 50 ms, at which a command checks whether
// the owner is stopped: a running one has taken the command up by then.
const stoppedLook = 6

// reportStopped says that the owner of the state is stopped, if it is: nothing happens before it continues.
func (a *app) reportStopped(owner store.ErrHeld) {
	if owner.PID != 0 && isStopped(owner.PID) {
		fmt.Fprintf(a.Err, "faultlab: process %d, which owns %s, is stopped: waiting for it to continue (kill -CONT %d); Ctrl-C withdraws the command\n",
			owner.PID, plain.Escape(owner.Path), owner.PID)
	}
}

// isStopped reports whether a process is stopped, by a signal or a debugger.
func isStopped(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err == nil { // proc(5): the state follows the name, which may have any sign in it
		after := bytes.LastIndexByte(stat, ')') + 2
		return after < len(stat) && (stat[after] == 'T' || stat[after] == 't')
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		return false // there is a /proc, and the process is not in it
	}
	out, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && bytes.HasPrefix(bytes.TrimSpace(out), []byte("T"))
}
