package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/engine/woml"
	"faultlab/store"
)

// worker is an engine on a state file that this process owns.
type worker struct {
	store *store.Store
	eng   *engine.Engine
}

// workerOptions are what the flags of run say.
type workerOptions struct {
	assume  *assume.Set
	secrets func(string) (string, bool)
	log     func(run, step, level, text string)
	docs    []*woml.Document
}

// openWorker takes the state over. It starts nothing that was open: see engine.Recover.
func (a *app) openWorker(o workerOptions) (*worker, error) {
	path, err := a.statePath()
	if err != nil {
		return nil, err
	}
	s, err := store.Open(path, store.Options{})
	if err != nil {
		return nil, err
	}
	if o.secrets == nil {
		o.secrets = environmentSecrets
	}
	w := &worker{store: s, eng: engine.New(engine.Options{Clock: a.clk, History: s, Assume: o.assume, Secrets: o.secrets, Log: o.log, Database: store.NewDatabases(path, nil)})}
	for _, d := range o.docs {
		w.eng.Load(d)
	}
	return w, nil
}

// close lets go of the state; what is open goes on when somebody owns it again.
func (w *worker) close() error {
	w.eng.Close()
	if err := w.store.Close(); err != nil {
		return failed(fmt.Errorf("close the state file: %w", err))
	}
	return nil
}

// answer is what came of a command, as it travels back through the inbox.
type answer struct {
	Run      string     `json:"run,omitempty"`
	Evidence []evidence `json:"evidence,omitempty"`
	Error    *problem   `json:"error,omitempty"`
}

// problem is an error on its way through the inbox.
type problem struct {
	Message string `json:"message"`
	Refused bool   `json:"refused,omitempty"`
	Code    string `json:"code,omitempty"`
}

func problemOf(err error) *problem {
	p := &problem{Message: err.Error(), Refused: engine.IsRefused(err) || errors.Is(err, engine.ErrNoRun)}
	var coded *engine.Error
	if errors.As(err, &coded) {
		p.Code, p.Refused = coded.Code, true
	}
	return p
}

func (p *problem) err() error {
	if p == nil {
		return nil
	}
	return failed(errors.New(p.Message))
}

// The verbs of commands.
const (
	verbResolve = "resolve"
	verbLookup  = "lookup"
	verbCancel  = "cancel"
	verbRerun   = "rerun"
	verbTrigger = "trigger"
)

// resolveArgs, lookupArgs and triggerArgs are the arguments of commands.
type resolveArgs struct {
	Key      string          `json:"key,omitempty"`
	Decision engine.Decision `json:"decision"`
	Reason   string          `json:"reason,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Force    bool            `json:"force,omitempty"`
}

type lookupArgs struct {
	Key string `json:"key,omitempty"`
	URL string `json:"url,omitempty"`
}

type triggerArgs struct {
	Workflow string          `json:"workflow"`
	Trigger  string          `json:"trigger,omitempty"`
	Key      string          `json:"key,omitempty"`
	Payload  json.RawMessage `json:"payload"`
}

// carryOut does what a command says. It must be called from an actor of the clock.
func (w *worker) carryOut(ctx context.Context, c engine.Command) (out answer) {
	var err error
	switch out.Run = c.Run; c.Verb {
	case verbResolve:
		var q resolveArgs
		if err = json.Unmarshal(c.Args, &q); err == nil {
			err = w.eng.Resolve(engine.Resolution{Run: c.Run, Key: q.Key, Decision: q.Decision, Reason: q.Reason, Result: q.Result, Force: q.Force, Inbox: c.ID})
		}
	case verbLookup:
		var q lookupArgs
		if err = json.Unmarshal(c.Args, &q); err == nil {
			var found []engine.EvidenceAt
			found, err = w.eng.Lookup(ctx, c.Run, q.Key, engine.LookupOptions{URL: q.URL})
			for _, e := range found {
				out.Evidence = append(out.Evidence, evidenceOf(e))
			}
		}
	case verbCancel:
		err = w.eng.Cancel(c.Run, c.ID)
	case verbRerun:
		var r engine.Receipt
		r, err = w.eng.Rerun(c.Run)
		out.Run = r.Run
	case verbTrigger:
		var q triggerArgs
		if err = json.Unmarshal(c.Args, &q); err == nil {
			var r engine.Receipt
			r, err = w.eng.Admit(engine.Delivery{Workflow: q.Workflow, Trigger: q.Trigger, Key: q.Key, Payload: q.Payload})
			out.Run = r.Run
		}
	default:
		err = fmt.Errorf("this faultlab does not know the command %q", c.Verb)
	}
	if err != nil {
		out.Error = problemOf(err)
	}
	return out
}
