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

// runsOnDisk are the runs of the state file as the workbench sees them: whoever owns
// the file carries out what is asked, and where nobody does, this process. The file is
// opened for each look and let go again, as by the commands.
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

// store gives the workbench the runs on disk. Nothing is printed beside its screen.
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

// close waits for what is being carried out, which ends where it can go on later, and
// says what did not come to its end.
func (r *runsOnDisk) close() []string {
	r.mu.Lock()
	r.left = true
	r.mu.Unlock()
	r.leave(errors.New("the workbench was left"))
	r.work.Wait()
	return r.open
}

// Runs implements tui.Store.
func (r *runsOnDisk) Runs(q engine.Query) ([]engine.Summary, error) {
	h, err := r.reader()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return h.Runs(q)
}

// reader opens the state file to be looked at. Where there is none yet it says what makes one.
func (r *runsOnDisk) reader() (*store.Reader, error) {
	h, err := r.app.openReader()
	var file *store.FileError
	if errors.As(err, &file) && file.What == store.Missing {
		return nil, fmt.Errorf("no run has been kept yet: faultlab run and faultlab trigger keep theirs in %s; those of a bench are not kept", file.Path)
	}
	return h, err
}

// Events implements tui.Store.
func (r *runsOnDisk) Events(run string) ([]engine.Event, error) {
	h, err := r.reader()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	if declared, err := r.app.loadAssume(r.worker.assume); err == nil { // else what was known before counts
		r.declared.Store(declared)
	}
	events, err := h.Events(run)
	if err != nil {
		return nil, err
	}
	return events, r.readUses(h, events)
}

// Unsettled implements tui.Store.
func (r *runsOnDisk) Unsettled(limit int) ([]*engine.Run, error) {
	h, err := r.reader()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	list, err := h.Runs(engine.Query{Reconcile: true, Limit: limit})
	if err != nil {
		return nil, err
	}
	var out []*engine.Run
	for _, s := range list {
		events, err := h.Events(s.Run)
		switch {
		case errors.Is(err, engine.ErrNoRun): // pruned meanwhile
		case err != nil:
			return nil, err
		default:
			out = append(out, engine.Fold(events))
		}
	}
	return out, nil
}

// Situation implements tui.Store, by what this process assumes and what other runs had sent
// under the key at the last look. Another owner may assume something else, and then says so
// when it is asked.
func (r *runsOnDisk) Situation(run *engine.Run, c *engine.Call) engine.Situation {
	use := engine.UseOf(c, run)
	if known, ok := r.uses.Load(callID{run.ID, c.Pos}); ok {
		use = use.With(known.(engine.KeyUse))
	}
	return run.Situation(c, use, r.declared.Load(), r.app.clk.Now())
}

// callID is a call of a run.
type callID struct {
	run string
	pos engine.Pos
}

// readUses looks up what other runs have sent under the keys of a run's unknown calls.
func (r *runsOnDisk) readUses(h engine.History, events []engine.Event) error {
	run := engine.Fold(events)
	for _, c := range run.Unsettled() {
		use, err := run.KeyUse(h, c)
		if err != nil {
			return err
		}
		r.uses.Store(callID{run.ID, c.Pos}, use)
	}
	return nil
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
	about, err := r.carryOut(run, l)
	if err != nil && r.ctx.Err() != nil {
		r.mu.Lock()
		r.open = append(r.open, l.Verb+" "+run+": "+err.Error())
		r.mu.Unlock()
	}
	return about, err
}

func (r *runsOnDisk) carryOut(run string, l lang.Line) (about string, err error) {
	if named := l.Opt("run"); named != "" {
		run = named
	}
	switch l.Verb {
	case verbLookup:
		return r.ask(request{verb: verbLookup, run: run, args: lookupArgs{Key: l.Arg(0), Step: l.Opt("step")}})
	case verbCancel:
		return r.ask(request{verb: l.Verb, run: run, args: cancelArgs{Keep: l.Has("--keep")}, settle: true})
	case verbRerun:
		return r.ask(request{verb: l.Verb, run: run, args: struct{}{}, settle: true})
	}
	q := resolveArgs{Step: l.Opt("step"), Write: l.Opt("write"), Key: l.Opt("key"), Decision: engine.Decision(l.Verb), Force: l.Has("--force")}
	if q.Decision == engine.Escalate {
		q.Reason = l.Arg(0)
	}
	if l.Has("result") {
		q.Result = json.RawMessage(l.Opt("result"))
	}
	return r.ask(request{verb: verbResolve, run: run, args: q, settle: true})
}

// ask has a request carried out, by this process with what it assumes or by the owner
// of the state with what that one does.
func (r *runsOnDisk) ask(q request) (string, error) {
	q.worker, q.yields = r.worker, true
	out, err := r.app.ask(r.ctx, q)
	return out.Run, err
}
