package scenarios

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"faultlab/engine"
	"faultlab/engine/woml"
	"faultlab/faultprovider"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
)

// openWorker loads the documents that the scenario embeds and starts the first worker.
func (b *Bench) openWorker() error {
	if !loads(b.s) {
		for _, name := range documentNames(b.s) {
			if err := b.load(name, b.s.Files[name]); err != nil {
				return err
			}
		}
	}
	b.eng = b.newEngine()
	return nil
}

// loads reports whether the script says by itself what is loaded.
func loads(s *lang.Scenario) bool {
	return slices.ContainsFunc(s.Lines, func(l lang.Line) bool { return l.Verb == "workflow" })
}

// load makes a document the one of its workflow for the runs that follow.
func (b *Bench) load(name string, src []byte) error {
	d, err := b.parse(name, src)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.sources[d.Workflow.ID] = d.Source
	b.mu.Unlock()
	b.use(d)
	return nil
}

// parse reads a document; its mistakes are placed in the scenario's file where it is embedded.
func (b *Bench) parse(name string, src []byte) (*woml.Document, error) {
	d, diags := timeline.Document(src)
	if d != nil {
		return d, nil
	}
	if _, ok := b.s.FileLine[name]; ok && bytes.Equal(src, b.s.Files[name]) {
		return nil, placed(b.s, name, diags[0])
	}
	return nil, fmt.Errorf("%s:%d:%d: %s: %s", name, diags[0].Line, diags[0].Column, diags[0].Code, diags[0].Message)
}

// placed is a mistake in an embedded document, where it stands in the scenario's file.
func placed(s *lang.Scenario, name string, d woml.Diagnostic) *lang.Error {
	return &lang.Error{File: s.File, Line: s.FileLine[name] + d.Line - 1, Column: d.Column, Message: d.Code + ": " + d.Message}
}

// use puts a document in the place of the former one of its workflow.
func (b *Bench) use(d *woml.Document) {
	b.mu.Lock()
	i := slices.IndexFunc(b.docs, func(old *woml.Document) bool { return old.Workflow.ID == d.Workflow.ID })
	if i >= 0 {
		b.docs[i] = d
	} else {
		b.docs = append(b.docs, d)
	}
	eng := b.eng
	b.mu.Unlock()
	if eng != nil { // not under b.mu: an engine tells the bench what it wrote down while it holds its own lock
		eng.Load(d)
	}
}

// newEngine makes a worker on the bench's history. Each worker draws other ids than the one before it.
func (b *Bench) newEngine() *engine.Engine {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := engine.Options{Clock: b.clk, History: b.history, Assume: b.assumed, Seed: b.seed + int64(b.workers)*1_000_003,
		KeepAlive: b.s.Client == lang.ClientNaive, Idle: b.s.Idle, WarmPath: "/_test/jobs", RepeatsOnce: b.s.Client == lang.ClientRepeatsOnce, Observe: b.observeEvents, Secrets: b.secret, Database: b.databases, Log: b.console, Memo: b.memo()}
	if b.socket != nil {
		o.Dial = b.socket.dial
	} else {
		o.Transport = onlyProvider{b.prov.Transport()}
	}
	b.workers++
	e := engine.New(o)
	for _, d := range b.docs {
		e.Load(d)
	}
	return e
}

// memo is what the benches of one exploration share; nil for others.
func (b *Bench) memo() *engine.Memo {
	if b.o.explorer == nil {
		return nil
	}
	return b.o.explorer.x.memo
}

// secret resolves every secret of a scenario's document to a value that its deliveries can name: its own name in lower case.
func (b *Bench) secret(name string) (string, bool) {
	return strings.ToLower(strings.ReplaceAll(name, "_", "-")), true
}

// longestConsole bounds what the timeline keeps of one line that a script printed, in bytes.
const longestConsole = 400

// console puts a line that a script printed on the timeline.
func (b *Bench) console(run string, at engine.Pos, level, text string) {
	if len(text) > longestConsole {
		text = strings.ToValidUTF8(text[:longestConsole], "") + "…"
	}
	b.note(Note{Verb: NoteConsole, Text: engine.StepName(at.Step, at.Undo) + ", " + level + ": " + text, Run: run, Step: at.Step, Undo: at.Undo})
}

// worker is the engine, or the reason why there is none.
func (b *Bench) worker() (*engine.Engine, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.setting.WorkerDown {
		return nil, &engine.Refused{Why: "the worker is down: restart it"}
	}
	return b.eng, nil
}

// down reports whether the worker has crashed and is not back.
func (b *Bench) down() bool {
	_, err := b.worker()
	return err != nil
}

// situation is what table e looks at for a call now: all runs of a bench stand on its timeline.
func (b *Bench) situation(runs []*engine.Run, r *engine.Run, c *engine.Call) (engine.Situation, error) {
	if _, err := b.worker(); err != nil {
		return engine.Situation{}, err
	}
	b.mu.Lock()
	assumed := b.assumed
	b.mu.Unlock()
	return r.Situation(c, engine.UseOf(c, runs...), assumed, b.clk.Now()), nil
}

// askable reports whether a call can be looked up, as the contract is assumed now.
func (b *Bench) askable(c *engine.Call) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return engine.Askable(c, b.assumed)
}

// callPlace is the place of a call among all runs.
type callPlace struct {
	run string
	pos engine.Pos
}

func callOf(run string, p engine.Pos) callPlace {
	p.Request = 0
	return callPlace{run, p}
}

// observeEvents puts what a worker wrote down on the timeline.
func (b *Bench) observeEvents(events []engine.Event) {
	b.mu.Lock()
	for _, e := range events {
		switch f := e.Fact.(type) {
		case engine.Admitted:
			b.numbers[e.Run] = len(b.numbers) + 1
		case engine.RequestSent:
			b.sent[f.ID] = sent{f.Method + " " + timeline.PathOf(f.URL, f.Key), b.workers, f.Call}
			if id, ok := engine.ParseRequestID(f.ID); ok {
				b.last[callOf(e.Run, f.Pos)] = id.Number
			}
		}
	}
	b.mu.Unlock()
	b.line.Append(timeline.EventEntries(events)...)
	b.o.explorer.events(events)
	b.observeCrashes(events)
}

// observeChange puts what the provider did on the timeline, with the effects that it made or changed.
func (b *Bench) observeChange(c faultprovider.Change) {
	entries := make([]Entry, 0, len(c.Entries))
	for i := range c.Entries {
		entries = append(entries, Entry{At: c.Entries[i].At, Log: &c.Entries[i]})
	}
	b.mu.Lock()
	for _, e := range c.Entries {
		if e.Kind == faultprovider.Commit {
			b.committed[e.RequestID] = true
		}
	}
	b.mu.Unlock()
	if n := len(entries); n > 0 && len(c.Effects) > 0 {
		at := slices.IndexFunc(c.Entries, func(e faultprovider.Entry) bool { return e.Kind == faultprovider.Commit })
		if at < 0 {
			at = n - 1
		}
		entries[at].Effects = c.Effects
	}
	b.line.Append(entries...)
	b.o.explorer.change(c)
	for _, e := range c.Entries {
		b.observeArrival(e)
	}
}
