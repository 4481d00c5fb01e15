package main

import (
	"context"
	"encoding/json"
	"io"

	"faultlab/engine"
	"faultlab/scenarios/lang"
)

// runsOnDisk are the runs of the state file as the workbench sees them: whoever owns
// the file carries out what is asked, and where nobody does, this process.
type runsOnDisk struct {
	ctx context.Context
	app *app
}

// store gives the workbench the runs on disk. Nothing is printed beside its screen.
func (a *app) store(ctx context.Context) runsOnDisk {
	quiet := *a
	quiet.Out, quiet.Err = io.Discard, io.Discard
	return runsOnDisk{ctx, &quiet}
}

// Runs implements tui.Store.
func (r runsOnDisk) Runs(q engine.Query) ([]engine.Summary, error) {
	h, err := r.app.openReader()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return h.Runs(q)
}

// Events implements tui.Store.
func (r runsOnDisk) Events(run string) ([]engine.Event, error) {
	h, err := r.app.openReader()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return h.Events(run)
}

// Do implements tui.Store.
func (r runsOnDisk) Do(run string, l lang.Line) error {
	key, err := r.keyOf(run, l)
	if err != nil {
		return err
	}
	q := request{verb: l.Verb, run: run, args: struct{}{}, settle: true}
	switch l.Verb {
	case verbLookup:
		q.args, q.settle = lookupArgs{Key: key}, false
	case verbCancel, verbRerun:
	default:
		a := resolveArgs{Key: key, Decision: engine.Decision(l.Verb), Force: l.Has("--force")}
		if l.Verb == string(engine.Escalate) {
			a.Reason = l.Arg(0)
		}
		if l.Has("result") {
			a.Result = json.RawMessage(l.Opt("result"))
		}
		q.verb, q.args = verbResolve, a
	}
	_, err = r.app.ask(r.ctx, q)
	return err
}

// keyOf is the key that a line means: the one that it names, or that of the unknown call of the step that it names.
func (r runsOnDisk) keyOf(run string, l lang.Line) (string, error) {
	if key := l.Opt("key"); key != "" {
		return key, nil
	}
	if l.Verb == verbLookup && l.Arg(0) != "" {
		return l.Arg(0), nil
	}
	if l.Opt("step") == "" {
		return "", nil
	}
	folded, err := r.app.readRun(run)
	if err != nil {
		return "", err
	}
	for _, s := range folded.Steps {
		if stepName(s.ID, s.Undo) == l.Opt("step") {
			for _, c := range folded.Doubts(s) {
				return c.Key, nil
			}
		}
	}
	return "", nil
}
