package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"faultlab/engine"
	"faultlab/engine/plain"
)

// inbox serves the commands of other processes to the owner of the state.
type inbox struct {
	a *app
	w *worker

	mu   sync.Mutex
	busy map[string]bool // by id: commands that are being carried out
	work sync.WaitGroup
	said map[string]bool // problems that were reported
	rung func(error)     // ends the owner's nap
}

// sweepEvery is after how many looks into the inbox it is swept.
const sweepEvery = 10

var errRung = errors.New("a command came")

// nap returns the context in which the owner sleeps until a command comes. It begins
// before the look into the inbox, so that no ring during the look is missed.
func (in *inbox) nap(serving context.Context) context.Context {
	nap, rung := in.a.clk.WithCancel(serving)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.rung = rung
	return nap
}

func (in *inbox) wake() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.rung != nil {
		in.rung(errRung)
	}
}

// listen lets the bell wake the owner, until stop. Without a bell, commands are found by looking.
func (in *inbox) listen() (stop func()) {
	bell, err := in.w.store.Bell()
	if err != nil {
		return func() {}
	}
	silent := in.a.clk.NewEvent("the end of the bell")
	in.a.clk.Go("bell", func() {
		defer silent.Set()
		for bell.Wait() == nil {
			in.wake()
		}
	})
	return func() {
		_ = bell.Close() // nobody can do anything about it, and the pipe stays for the next owner
		silent.Wait()
	}
}

// serveInbox carries out the commands of other processes, each in an actor of its own,
// until serving ends or the state fails. Begun commands go on to their end, or until ctx ends.
func (a *app) serveInbox(ctx, serving context.Context, w *worker) {
	in := &inbox{a: a, w: w, busy: map[string]bool{}, said: map[string]bool{}}
	defer in.listen()()
	for n := 0; serving.Err() == nil && w.eng.Err() == nil; n++ {
		nap := in.nap(serving)
		if n%sweepEvery == 0 {
			in.report(w.store.SweepInbox())
		}
		commands, err := w.store.Inbox(in.isBusy)
		in.report(err)
		for _, c := range commands {
			if in.begin(c.ID) {
				a.clk.Go("command "+c.ID, func() { defer in.end(c.ID); in.report(in.answer(ctx, c)) })
			}
		}
		_ = a.clk.Sleep(nap, inboxPace) // until somebody rings, at the latest
		in.wake()
	}
	in.work.Wait()
}

func (in *inbox) begin(id string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.busy[id] {
		return false
	}
	in.busy[id] = true
	in.work.Add(1)
	return true
}

func (in *inbox) isBusy(id string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.busy[id]
}

func (in *inbox) end(id string) {
	in.mu.Lock()
	delete(in.busy, id)
	in.mu.Unlock()
	in.work.Done()
}

// answer carries one command out and puts its answer down.
func (in *inbox) answer(ctx context.Context, c engine.Command) error {
	out := answer{Run: c.Run, Error: &problem{Message: "the command came too late: try again"}}
	if c.Before.IsZero() || in.a.clk.Now().Before(c.Before) {
		out = in.w.carryOut(ctx, c)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	if err := in.w.store.PutAnswer(c.ID, raw); err != nil {
		return fmt.Errorf("answer a command: %w", err)
	}
	return in.w.store.Ack(c.ID)
}

// report prints what is wrong with the inbox, each problem once.
func (in *inbox) report(err error) {
	if err == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if text := err.Error(); !in.said[text] {
		in.said[text] = true
		fmt.Fprintf(in.a.Err, "faultlab: inbox: %s\n", plain.Escape(text))
	}
}
