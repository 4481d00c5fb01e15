package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/engine/trigger"
	"faultlab/engine/woml"
	"faultlab/store"
)

// worker is an engine on a state file that this process owns.
type worker struct {
	app       *app
	store     *store.Store
	databases *store.Databases
	eng       *engine.Engine

	served map[string]bool // workflows that this process was started for: nobody else changes them

	mu   sync.Mutex
	docs map[string]*woml.Document // by workflow
}

// workerOptions are what the flags of a command say.
type workerOptions struct {
	assume  string // file of assumed contracts
	secrets string // file of secrets
	serves  bool   // it is a run: what it assumes is remembered beside the state
	exists  bool   // the state must be there: what is asked is about runs in it
	log     func(run string, at engine.Pos, level, text string)
	observe func([]engine.Event) // every append; see engine.Options
	docs    []*woml.Document
}

// explicit reports whether somebody asked for assumptions or secrets of this process.
func (o workerOptions) explicit() bool { return o.assume != "" || o.secrets != "" }

// flags are those of every command that can carry a run out.
func (o *workerOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.assume, "assume", "", "`FILE` of assumed contracts, by origin (default: what the last run was told)")
	f.StringVar(&o.secrets, "secrets", "", "`FILE` of NAME=value secrets, mode 0600 (default: the environment)")
}

// openWorker takes the state over. It starts nothing that was open: see engine.Recover.
func (a *app) openWorker(o workerOptions) (*worker, error) {
	path, err := a.statePath()
	if err != nil {
		return nil, err
	}
	declared, err := a.assumed(o)
	if err != nil {
		return nil, err
	}
	secrets, err := fileSecrets(o.secrets)
	if err != nil {
		return nil, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); o.exists && errors.Is(err, fs.ErrNotExist) {
		return nil, &store.FileError{Path: path, What: store.Missing}
	}
	s, err := store.Open(path, store.Options{})
	if err != nil {
		return nil, err
	}
	if o.serves {
		if err := a.rememberAssume(o.assume); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	w := &worker{app: a, store: s, databases: store.NewDatabases(path, nil), docs: map[string]*woml.Document{}, served: map[string]bool{}}
	w.eng = engine.New(engine.Options{Clock: a.clk, History: s, Assume: declared, Secrets: secrets, Log: o.log, Observe: o.observe, Folder: folder, Database: w.databases})
	for _, d := range o.docs {
		w.load(d)
		w.served[d.Workflow.ID] = true
	}
	return w, nil
}

// assumed are the contracts that a worker goes by.
func (a *app) assumed(o workerOptions) (*assume.Set, error) {
	if o.serves {
		return readAssume(o.assume)
	}
	return a.loadAssume(o.assume)
}

func (w *worker) load(d *woml.Document) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.docs[d.Workflow.ID] = d
	w.eng.Load(d)
}

func (w *worker) document(workflow string) *woml.Document {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.docs[workflow]
}

// loadKnown loads the newest document of every workflow that ran lately and was not
// given, so that a run that goes on finds the workflows that it calls. A run that cannot
// be read is passed over: what is asked may have nothing to do with it.
func (w *worker) loadKnown() error {
	runs, err := w.store.Runs(engine.Query{Limit: maxLimit})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, r := range runs {
		if seen[r.Workflow] || w.document(r.Workflow) != nil {
			continue
		}
		run, err := w.eng.Get(r.Run)
		if err != nil {
			continue
		}
		seen[r.Workflow] = true
		if d, _ := woml.Parse([]byte(run.Admitted.Source)); d != nil {
			w.load(d)
		}
	}
	return nil
}

// close lets go of the state; what is open goes on when somebody owns it again.
func (w *worker) close() error {
	w.eng.Close()
	if err := errors.Join(w.databases.Close(), w.store.Close()); err != nil {
		return failed(fmt.Errorf("close the state file: %w", err))
	}
	return nil
}

// answer is what came of a command, as it travels back through the inbox.
type answer struct {
	Pruned    *store.PruneReport `json:"pruned,omitempty"`
	Run       string             `json:"run,omitempty"`
	Duplicate bool               `json:"duplicate,omitempty"` // the run was there before
	Evidence  []evidence         `json:"evidence,omitempty"`
	Settled   []settledRun       `json:"settled,omitempty"`
	Error     *problem           `json:"error,omitempty"`
}

// The verbs of commands.
const (
	verbResolve = "resolve"
	verbLookup  = "lookup"
	verbCancel  = "cancel"
	verbRerun   = "rerun"
	verbTrigger = "trigger"
	verbPrune   = "prune"
	verbSettle  = "settle"
)

// resolveArgs, lookupArgs, cancelArgs and triggerArgs are the arguments of commands.
type resolveArgs struct {
	Key      string          `json:"key,omitempty"`
	Write    string          `json:"write,omitempty"`
	Step     string          `json:"step,omitempty"`
	Decision engine.Decision `json:"decision"`
	Reason   string          `json:"reason,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Force    bool            `json:"force,omitempty"`
}

// pruneArgs are those of prune.
type pruneArgs struct {
	Before time.Time `json:"before"`
	DryRun bool      `json:"dryRun,omitempty"`
}

type lookupArgs struct {
	Key  string `json:"key,omitempty"`
	Step string `json:"step,omitempty"`
	URL  string `json:"url,omitempty"`
}

type cancelArgs struct {
	Keep bool `json:"keep,omitempty"`
}

type triggerArgs struct {
	Workflow string          `json:"workflow"`
	Source   string          `json:"source,omitempty"` // of the document that was named; empty where a workflow was
	Trigger  string          `json:"trigger,omitempty"`
	Key      string          `json:"key,omitempty"`
	Payload  json.RawMessage `json:"payload"`
}

// carryOut does what a command says. It must be called from an actor of the clock.
func (w *worker) carryOut(ctx context.Context, c engine.Command) answer {
	var out answer
	var err error
	asked := c.Run
	if c.Verb != verbTrigger && c.Verb != verbSettle && c.Verb != verbPrune {
		c.Run, err = engine.FindRun(w.store, c.Run)
	}
	if err == nil {
		out, err = w.verb(ctx, c)
	}
	if err != nil {
		out.Error = problemOf(asked, err)
	}
	return out
}

func (w *worker) verb(ctx context.Context, c engine.Command) (out answer, err error) {
	out.Run = c.Run
	switch c.Verb {
	case verbResolve:
		var q resolveArgs
		if err = json.Unmarshal(c.Args, &q); err == nil {
			err = w.eng.Resolve(engine.Resolution{Run: c.Run, Key: q.Key, Write: q.Write, Step: q.Step, Decision: q.Decision, Reason: q.Reason, Result: q.Result, Force: q.Force, Inbox: c.ID})
		}
	case verbLookup:
		var q lookupArgs
		if err = json.Unmarshal(c.Args, &q); err == nil {
			out.Evidence, err = w.lookup(ctx, c.Run, q)
		}
	case verbSettle:
		out.Settled, err = w.settle(ctx, c.Args)
	case verbPrune:
		var q pruneArgs
		if err = json.Unmarshal(c.Args, &q); err == nil {
			out.Pruned = &store.PruneReport{}
			*out.Pruned, err = w.store.Prune(q.Before, q.DryRun)
		}
	case verbCancel:
		var q cancelArgs
		if len(c.Args) > 0 {
			err = json.Unmarshal(c.Args, &q)
		}
		if err == nil {
			err = w.eng.Cancel(engine.Cancellation{Run: c.Run, Keep: q.Keep, Inbox: c.ID})
		}
	case verbRerun:
		var r engine.Receipt
		r, err = w.eng.Rerun(c.Run, c.ID)
		out.Run = r.Run
	case verbTrigger:
		var q triggerArgs
		if err = json.Unmarshal(c.Args, &q); err == nil {
			var r engine.Receipt
			r, err = w.trigger(q, c.ID)
			out.Run, out.Duplicate = r.Run, r.Duplicate
		}
	default:
		err = fmt.Errorf("this faultlab does not know the command %q: use the same version in both places", c.Verb)
	}
	return out, err
}

func (w *worker) lookup(ctx context.Context, run string, q lookupArgs) ([]evidence, error) {
	found, err := w.eng.Lookup(ctx, run, q.Key, engine.LookupOptions{URL: q.URL, Step: q.Step})
	out := []evidence{}
	for _, e := range found {
		out = append(out, evidenceOf(e))
	}
	return out, err
}

// trigger delivers a payload as the workflow's trigger would, its schema included.
func (w *worker) trigger(q triggerArgs, command string) (engine.Receipt, error) {
	doc, err := w.asked(q)
	if err != nil {
		return engine.Receipt{}, err
	}
	t, err := triggerOf(doc, q.Trigger)
	if err != nil {
		return engine.Receipt{}, err
	}
	d := engine.Delivery{Workflow: doc.Workflow.ID, Key: q.Key, Payload: q.Payload, Inbox: command}
	if t != nil {
		d.Trigger = t.ID
		schema, err := schemaOf(*t)
		if err != nil {
			return engine.Receipt{}, err
		}
		if err := trigger.Fits(schema, q.Payload); err != nil {
			return engine.Receipt{}, err
		}
	}
	return w.eng.Admit(d)
}

// schemaOf is the trigger's schema as deliveries are held against it; nil takes every object.
func schemaOf(t woml.Trigger) (trigger.Schema, error) {
	if t.Schema == nil {
		return nil, nil
	}
	s, err := woml.CompileSchema(t.Schema)
	if err != nil {
		return nil, fmt.Errorf("the schema of webhook %s: %w", t.ID, err)
	}
	return s, nil
}

// schema is the text of a trigger's schema, nil where it has none.
func (w *worker) schema(workflow, id string) json.RawMessage {
	if doc := w.document(workflow); doc != nil {
		for _, t := range doc.Workflow.Triggers {
			if t.ID == id {
				return t.Schema
			}
		}
	}
	return nil
}

// asked is the document of a delivery: the one that is loaded, or the one that was sent
// along, which takes the place of one that an earlier run left.
func (w *worker) asked(q triggerArgs) (*woml.Document, error) {
	doc := w.document(q.Workflow)
	if q.Source == "" {
		if doc == nil {
			return nil, &engine.Refused{Why: fmt.Sprintf("no workflow %q is known here: name its file", q.Workflow)}
		}
		return doc, nil
	}
	sent, diags := woml.Parse([]byte(q.Source))
	switch {
	case sent == nil:
		return nil, fmt.Errorf("read the document: %s", diags[0].Message)
	case !w.served[q.Workflow]:
		w.load(sent)
	case doc.Hash != sent.Hash:
		return nil, &engine.Refused{Why: fmt.Sprintf("the process that owns the state serves another version of %s: start it again with this file, or name the workflow by its id", q.Workflow)}
	}
	return sent, nil
}

// triggerOf is the trigger of this id; with an empty one the first manual trigger, or
// else the first of all. A workflow that can only be called has none.
func triggerOf(d *woml.Document, id string) (*woml.Trigger, error) {
	var ids []string
	var chosen *woml.Trigger
	for i := range d.Workflow.Triggers {
		t := &d.Workflow.Triggers[i]
		if t.ID == id {
			return t, nil
		}
		ids = append(ids, t.ID)
		if chosen == nil || chosen.Kind != "manual" && t.Kind == "manual" {
			chosen = t
		}
	}
	if id != "" {
		return nil, &engine.Refused{Why: fmt.Sprintf("workflow %s has no trigger %s; it has %s", d.Workflow.ID, id, joined(ids))}
	}
	return chosen, nil
}
