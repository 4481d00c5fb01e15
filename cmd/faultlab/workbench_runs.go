package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/scenarios/lang"
	"faultlab/store"
)

// runsOnDisk implements tui.Store with the runs of the state file. The file's owner, or this
// process if there is none, carries out what is asked. The file is opened for each look, as
// by the commands.
type runsOnDisk struct {
	app      *app
	worker   workerOptions
	declared atomic.Pointer[assume.Set] // as of the last look at a run
	uses     sync.Map                   // engine.KeyUse by callID, as of then too
	ctx      context.Context
	leave    context.CancelCauseFunc

	mu   sync.Mutex
	left bool     // nothing more is begun
	open []string // what was cut short when the workbench was left
	work sync.WaitGroup
}

// store returns the runs on disk for the workbench. It prints nothing beside the screen.
func (a *app) store(ctx context.Context, o workerOptions) (*runsOnDisk, error) {
	if _, err := readAssume(o.assume); err != nil {
		return nil, err
	}
	quiet := *a
	quiet.Out, quiet.Err = io.Discard, io.Discard
	r := &runsOnDisk{app: &quiet, worker: o}
	r.ctx, r.leave = a.clk.WithCancel(ctx)
	return r, nil
}

// close ends what is being carried out where it can resume later, waits for that, and
// returns what did not come to its end.
func (r *runsOnDisk) close() []string {
	r.mu.Lock()
	r.left = true
	r.mu.Unlock()
	r.leave(errors.New("the workbench was left"))
	r.work.Wait()
	return r.open
}

// read opens the state file for one look. If there is none it says what makes one.
func (r *runsOnDisk) read(look func(*store.Reader) error) error {
	err := r.app.reading(look)
	var file *store.FileError
	if errors.As(err, &file) && file.What == store.Missing {
		return fmt.Errorf("there are no runs yet: faultlab run and faultlab trigger keep theirs in %s; runs of a bench are not kept", file.Path)
	}
	return err
}

// Runs implements tui.Store.
func (r *runsOnDisk) Runs(q engine.Query) (list []engine.Summary, err error) {
	err = r.read(func(h *store.Reader) error {
		list, err = h.Runs(q)
		return err
	})
	return list, err
}

// Events implements tui.Store, and looks up what other runs have sent under the keys of the run's unknown calls.
func (r *runsOnDisk) Events(run string) (events []engine.Event, err error) {
	err = r.read(func(h *store.Reader) error {
		if declared, err := r.app.loadAssume(r.worker.assume); err == nil { // else those of the last look count
			r.declared.Store(declared)
		}
		if events, err = h.Events(run); err != nil {
			return err
		}
		folded := engine.Fold(events)
		for _, c := range folded.Unsettled() {
			use, err := folded.KeyUse(h, c)
			if err != nil {
				return err
			}
			r.uses.Store(callID{folded.ID, c.Pos}, use)
		}
		return nil
	})
	return events, err
}

// Unsettled implements tui.Store.
func (r *runsOnDisk) Unsettled(limit int) (out []*engine.Run, err error) {
	err = r.read(func(h *store.Reader) error {
		list, err := h.Runs(engine.Query{Reconcile: true, Limit: limit})
		for _, s := range list {
			events, err := h.Events(s.Run)
			if errors.Is(err, engine.ErrNoRun) { // pruned meanwhile
				continue
			} else if err != nil {
				return err
			}
			out = append(out, engine.Fold(events))
		}
		return err
	})
	return out, err
}

// callID is a call of a run.
type callID struct {
	run string
	pos engine.Pos
}

// Situation implements tui.Store, by what this process assumes and what other runs had sent
// under the key at the last look. Another owner may assume something else, and says so when asked.
func (r *runsOnDisk) Situation(run *engine.Run, c *engine.Call) engine.Situation {
	use := engine.UseOf(c, run)
	if known, ok := r.uses.Load(callID{run.ID, c.Pos}); ok {
		use = use.With(known.(engine.KeyUse))
	}
	return run.Situation(c, use, r.declared.Load(), r.app.clk.Now())
}

// settling is how old a file's last change must be for its time to tell it from the
// next one: file systems count time in steps, of 4 ms and of up to 2 s.
const settling = 2 * time.Second

// Version implements tui.Store by the sizes and times of the state file and of its
// write-ahead log. A change that is still fresh counts as another version at each look.
func (r *runsOnDisk) Version() string {
	path, err := r.app.statePath()
	if err != nil {
		return err.Error()
	}
	now := r.app.clk.Now()
	var version string
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		if err != nil || info.Size() == 0 {
			version += "none "
			continue
		}
		version += fmt.Sprintf("%d@%d ", info.Size(), info.ModTime().UnixNano())
		if now.Sub(info.ModTime()).Abs() < settling {
			version += now.String() + " "
		}
	}
	return version
}

// Do implements tui.Store.
func (r *runsOnDisk) Do(run string, l lang.Line) (string, error) {
	r.mu.Lock()
	if r.left {
		r.mu.Unlock()
		return "", context.Cause(r.ctx)
	}
	r.work.Add(1)
	r.mu.Unlock()
	defer r.work.Done()
	if named := l.Opt("run"); named != "" {
		run = named
	}
	q := requestOf(l)
	q.run, q.settle, q.worker, q.yields = run, q.verb != verbLookup, r.worker, true
	out, err := r.app.ask(r.ctx, q)
	if err != nil && r.ctx.Err() != nil {
		r.mu.Lock()
		r.open = append(r.open, l.Verb+" "+run+": "+err.Error())
		r.mu.Unlock()
	}
	return out.Run, err
}

// requestOf returns the request that a line of the workbench stands for.
func requestOf(l lang.Line) request {
	switch l.Verb {
	case verbLookup:
		return request{verb: verbLookup, args: lookupArgs{Key: l.Arg(0), Step: l.Opt("step")}}
	case verbCancel:
		return request{verb: verbCancel, args: engine.Cancellation{Keep: l.Has("--keep")}}
	case verbRerun:
		return request{verb: verbRerun}
	}
	q := engine.Resolution{Step: l.Opt("step"), Write: l.Opt("write"), Key: l.Opt("key"), Decision: engine.Decision(l.Verb), Force: l.Has("--force")}
	if q.Decision == engine.Escalate {
		q.Reason = l.Arg(0)
	}
	if l.Has("result") {
		q.Result = json.RawMessage(l.Opt("result"))
	}
	return request{verb: verbResolve, args: q}
}
