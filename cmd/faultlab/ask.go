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
	"faultlab/engine/woml"
	"faultlab/store"
)

// inboxPace is how often the owner looks into its inbox, and a command for its answer.
const inboxPace = 100 * time.Millisecond

// ask has a command carried out: by the process that owns the state, or here where
// nobody does. In both cases it waits until the run has ended where settle is set.
func (a *app) ask(ctx context.Context, verb, run string, args any, settle bool, docs ...*woml.Document) (answer, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return answer{}, fmt.Errorf("encode the command: %w", err)
	}
	var id [8]byte
	rand.Read(id[:]) // never fails, says its documentation
	c := engine.Command{ID: hex.EncodeToString(id[:]), Verb: verb, Run: run, Args: raw}
	w, err := a.openWorker(workerOptions{docs: docs})
	var held store.ErrHeld
	if errors.As(err, &held) {
		return a.askOwner(ctx, held.Path, c)
	}
	if err != nil {
		return answer{}, failed(err)
	}
	out, err := a.doHere(ctx, w, c, settle)
	return out, errors.Join(err, w.close())
}

// askOwner puts the command into the owner's inbox and waits for what came of it.
func (a *app) askOwner(ctx context.Context, path string, c engine.Command) (answer, error) {
	c.Before = a.clk.Now().Add(time.Minute)
	if err := store.Put(path, c); err != nil {
		return answer{}, failed(err)
	}
	late := errors.New("the process that owns the state did not answer within a minute")
	ctx, done := a.clk.WithTimeout(ctx, time.Minute, late)
	defer done(nil)
	raw, err := store.AwaitAnswer(path, c.ID, func() error { return a.clk.Sleep(ctx, inboxPace/5) })
	if err != nil {
		return answer{}, failed(err)
	}
	var out answer
	if err := json.Unmarshal(raw, &out); err != nil {
		return answer{}, failed(fmt.Errorf("read the owner's answer: %w", err))
	}
	return out, out.Error.err()
}

// doHere owns the state for as long as the command takes. A run that a crash left
// open is first decided by what its history holds; other open runs are left alone.
func (a *app) doHere(ctx context.Context, w *worker, c engine.Command, settle bool) (answer, error) {
	if c.Run != "" {
		if err := w.eng.RecoverRun(c.Run); err != nil {
			return answer{}, failed(err)
		}
		if c.Verb != verbCancel {
			if err := a.awaitEnd(ctx, w, c.Run); err != nil {
				return answer{}, err
			}
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

// awaitEnd waits for a run's end, or for a signal.
func (a *app) awaitEnd(ctx context.Context, w *worker, run string) error {
	id, err := engine.FindRun(w.store, run)
	if err != nil {
		return failed(err)
	}
	ended := w.eng.Ended(id)
	over := a.clk.NewEvent("the end of " + id)
	stop := context.AfterFunc(ctx, over.Set)
	defer stop()
	a.clk.Go("wait for "+id, func() { ended.Wait(); over.Set() })
	over.Wait()
	if !ended.IsSet() {
		return failed(fmt.Errorf("stopped before run %s ended; it goes on when somebody owns the state again", id))
	}
	return nil
}

// serveInbox carries out what other processes ask, until the context ends.
func (a *app) serveInbox(ctx context.Context, w *worker) error {
	for {
		commands, err := w.store.Inbox()
		if err != nil {
			fmt.Fprintf(a.Err, "faultlab: %s\n", clean(err.Error()))
		}
		for _, c := range commands {
			out := answer{Run: c.Run, Error: &problem{Message: "the command came too late"}}
			if c.Before.IsZero() || a.clk.Now().Before(c.Before) {
				out = w.carryOut(ctx, c)
			}
			raw, err := json.Marshal(out)
			if err != nil {
				return fmt.Errorf("encode an answer: %w", err)
			}
			if err := errors.Join(w.store.PutAnswer(c.ID, raw), w.store.Ack(c.ID)); err != nil {
				return fmt.Errorf("answer a command: %w", err)
			}
		}
		if a.clk.Sleep(ctx, inboxPace) != nil {
			return nil
		}
	}
}
