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

// workerOptions are the flags of a command, and what it adds.
type workerOptions struct {
	assume  string // file of assumed contracts
	secrets string // file of secrets
	serves  bool   // it is `faultlab run`: what it assumes is remembered beside the state
	exists  bool   // the state file must exist: the command is about runs in it
	log     func(run string, at engine.Pos, level, text string)
	observe func([]engine.Event) // every append; see engine.Options
	docs    []*woml.Document
}

// explicit reports whether assumptions or secrets were named for this process.
func (o workerOptions) explicit() bool { return o.assume != "" || o.secrets != "" }

const assumeUsage = "`FILE` of assumed contracts, by origin (default: that of the last faultlab run)"

// flags adds the flags of every command that can carry a run out.
func (o *workerOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.assume, "assume", "", assumeUsage)
	f.StringVar(&o.secrets, "secrets", "", "`FILE` of NAME=value secrets, mode 0600 (default: the environment)")
}

// openWorker becomes the owner of the state. It resumes no open run: see engine.Recover.
func (a *app) openWorker(o workerOptions) (*worker, error) {
	path, err := a.statePath()
	if err != nil {
		return nil, err
	}
	load := a.loadAssume
	if o.serves {
		load = readAssume
	}
	declared, err := load(o.assume)
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

// loadKnown loads the newest document of every workflow that ran lately and is not loaded,
// so that a run that resumes finds the workflows that it calls. A run that cannot be read
// is skipped: the command may have nothing to do with it.
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

// close gives the state up; open runs resume with its next owner.
func (w *worker) close() error {
	w.eng.Close()
	if err := errors.Join(w.databases.Close(), w.store.Close()); err != nil {
		return failed(fmt.Errorf("close the state file: %w", err))
	}
	return nil
}

// answer is the result of a command, as it travels back through the inbox.
type answer struct {
	Pruned    *store.PruneReport `json:"pruned,omitempty"`
	Run       string             `json:"run,omitempty"`
	Duplicate bool               `json:"duplicate,omitempty"` // the run was there before
	Evidence  []evidence         `json:"evidence,omitempty"`
	Settled   []settledRun       `json:"settled,omitempty"`
	Error     *problem           `json:"error,omitempty"`
}

// The verbs of commands. Arguments of resolve are an engine.Resolution, of cancel an
// engine.Cancellation, of settle settleArgs; rerun has none.
const (
	verbResolve = "resolve"
	verbLookup  = "lookup"
	verbCancel  = "cancel"
	verbRerun   = "rerun"
	verbTrigger = "trigger"
	verbPrune   = "prune"
	verbSettle  = "settle"
)

type pruneArgs struct {
	Before time.Time `json:"before"`
	DryRun bool      `json:"dryRun,omitempty"`
}

type lookupArgs struct {
	Key  string `json:"key,omitempty"`
	Step string `json:"step,omitempty"`
	URL  string `json:"url,omitempty"`
}

type triggerArgs struct {
	Workflow string          `json:"workflow"`
	Source   string          `json:"source,omitempty"` // of the document that was named; empty where a workflow was
	Trigger  string          `json:"trigger,omitempty"`
	Key      string          `json:"key,omitempty"`
	Payload  json.RawMessage `json:"payload"`
}

// carryOut does what a command says. It must be called from an actor of the clock.
func (w *worker) carryOut(ctx context.Context, c engine.Command) (out answer) {
	var err error
	asked := c.Run
	if c.Verb != verbTrigger && c.Verb != verbSettle && c.Verb != verbPrune {
		c.Run, err = engine.FindRun(w.store, asked)
	}
	out.Run = c.Run
	if err == nil {
		err = w.verb(ctx, c, &out)
	}
	if err != nil {
		out.Error = problemOf(asked, err)
	}
	return out
}

// with decodes the arguments of a command and calls do with them.
func with[T any](c engine.Command, do func(T) error) error {
	var args T
	if len(c.Args) > 0 {
		if err := json.Unmarshal(c.Args, &args); err != nil {
			return fmt.Errorf("read the arguments of %s: %w", c.Verb, err)
		}
	}
	return do(args)
}

func (w *worker) verb(ctx context.Context, c engine.Command, out *answer) (err error) {
	switch c.Verb {
	case verbResolve:
		return with(c, func(q engine.Resolution) error {
			q.Run, q.Inbox = c.Run, c.ID
			return w.eng.Resolve(q)
		})
	case verbCancel:
		return with(c, func(q engine.Cancellation) error {
			q.Run, q.Inbox = c.Run, c.ID
			return w.eng.Cancel(q)
		})
	case verbLookup:
		return with(c, func(q lookupArgs) error {
			found, err := w.eng.Lookup(ctx, c.Run, q.Key, engine.LookupOptions{URL: q.URL, Step: q.Step})
			for _, e := range found {
				out.Evidence = append(out.Evidence, evidenceOf(e))
			}
			return err
		})
	case verbSettle:
		return with(c, func(q settleArgs) error {
			out.Settled, err = w.settle(ctx, q)
			return err
		})
	case verbPrune:
		return with(c, func(q pruneArgs) error {
			report, err := w.store.Prune(q.Before, q.DryRun)
			out.Pruned = &report
			return err
		})
	case verbTrigger:
		return with(c, func(q triggerArgs) error {
			r, err := w.trigger(q, c.ID)
			out.Run, out.Duplicate = r.Run, r.Duplicate
			return err
		})
	case verbRerun:
		r, err := w.eng.Rerun(c.Run, c.ID)
		out.Run = r.Run
		return err
	}
	return fmt.Errorf("unknown command %q: use the same version of faultlab in both places", c.Verb)
}

// trigger delivers a payload as the workflow's trigger would, its schema included.
func (w *worker) trigger(q triggerArgs, command string) (engine.Receipt, error) {
	doc, err := w.documentOf(q)
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

// schemaOf compiles the schema that a trigger's deliveries must fit; nil takes every object.
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

// schema returns the text of a trigger's schema, nil if it has none.
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

// documentOf returns the document of a delivery: the one that is loaded, or the one that was
// sent along, which replaces one that an earlier run left.
func (w *worker) documentOf(q triggerArgs) (*woml.Document, error) {
	doc := w.document(q.Workflow)
	if q.Source == "" {
		if doc == nil {
			return nil, &engine.Refused{Why: fmt.Sprintf("unknown workflow %q: name its file", q.Workflow)}
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
		return nil, &engine.Refused{Why: fmt.Sprintf("the process that owns the state file serves another version of %s: restart it with this file, or name the workflow by its id", q.Workflow)}
	}
	return sent, nil
}

// triggerOf returns the trigger of this id; with an empty id the first manual trigger, else
// the first of all. A workflow that can only be called has none.
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
