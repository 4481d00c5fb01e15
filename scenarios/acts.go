package scenarios

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/faultprovider"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios/lang"
)

// acts carries the verbs out, each in an actor of the bench's clock. What a rule of
// the engine forbids comes back as *engine.Refused.
var acts map[string]func(*Bench, lang.Line) error

func init() { // the table refers to functions that refer to it
	acts = map[string]func(*Bench, lang.Line) error{
		"workflow":    (*Bench).actWorkflow,
		"assume":      (*Bench).actAssume,
		"contract":    (*Bench).actContract,
		"fault":       (*Bench).actFault,
		"clearfaults": (*Bench).actClearFaults,
		"policy":      (*Bench).actPolicy,
		"key":         (*Bench).actKey,
		"trigger":     (*Bench).actTrigger,
		"deliver":     (*Bench).actDeliver,
		"send":        (*Bench).actSend,
		"advance":     (*Bench).actAdvance,
		"wait":        (*Bench).actWait,
		"cancel":      (*Bench).actCancel,
		"rerun":       (*Bench).actRerun,
		"expire":      (*Bench).actExpire,
		"crash":       (*Bench).actCrash,
		"restart":     (*Bench).actRestart,
		"lookup":      (*Bench).actLookup,
		"record":      (*Bench).actResolve,
		"resubmit":    (*Bench).actResolve,
		"abandon":     (*Bench).actResolve,
		"escalate":    (*Bench).actResolve,
		"ask":         (*Bench).actAsk,
		"expect":      (*Bench).actExpect,
	}
}

func (b *Bench) actWorkflow(l lang.Line) error {
	src, err := b.file(l.Arg(0))
	if err != nil {
		return err
	}
	b.note(Note{Verb: l.Verb, Text: l.Text})
	return b.load(l.Arg(0), src)
}

// actAssume gives the caller another assumed contract. A worker is made with its
// assumptions, so there must be no run that has one already.
func (b *Bench) actAssume(l lang.Line) error {
	src, err := b.payload(l.Arg(0))
	if err != nil {
		return err
	}
	set, err := assume.Parse(src)
	if err != nil {
		return fmt.Errorf("%s:%w", l.Arg(0), err)
	}
	open, err := b.history.Open()
	if err != nil {
		return fmt.Errorf("list the open runs: %w", err)
	}
	if len(open) > 0 {
		return fmt.Errorf("a run is at work with what is assumed now: wait until it has ended")
	}
	b.mu.Lock()
	b.assumed = set
	old := b.eng
	b.mu.Unlock()
	eng := b.newEngine()
	b.mu.Lock()
	b.eng = eng
	b.mu.Unlock()
	old.Kill()
	b.note(Note{Verb: l.Verb, Text: l.Text})
	return nil
}

func (b *Bench) actContract(l lang.Line) error {
	c, ok := contract.Preset(l.Arg(0))
	if !ok {
		src, err := b.payload(l.Arg(0))
		if err != nil {
			return err
		}
		if c, err = contract.Parse(src); err != nil {
			return fmt.Errorf("%s:%w", l.Arg(0), err)
		}
	}
	if err := b.prov.SetContract(c); err != nil {
		return err
	}
	b.set(l.Verb, l.Text, func(s *Setting) { s.Contract = c.Name })
	return nil
}

func (b *Bench) actFault(l lang.Line) error {
	queue := b.prov.Faults()
	for _, arg := range l.Args {
		f, err := fault.Parse(arg)
		if err != nil {
			return err
		}
		queue = append(queue, f)
	}
	b.queue(l, queue)
	return nil
}

func (b *Bench) actClearFaults(l lang.Line) error {
	b.queue(l, nil)
	return nil
}

func (b *Bench) queue(l lang.Line, faults []faultprovider.Fault) {
	b.prov.QueueFaults(faults)
	b.set(l.Verb, l.Text, func(s *Setting) {
		s.Faults = nil
		for _, f := range faults {
			s.Faults = append(s.Faults, faultNames(f)...)
		}
	})
}

// mostTimes is up to how many times a fault that takes several requests is listed one by one.
const mostTimes = 20

// faultNames lists a fault as often as it will be taken.
func faultNames(f faultprovider.Fault) []string {
	name := f.Name
	if name == "" {
		text, _ := json.Marshal(f) // a fault is plain data
		name = string(text)
	}
	switch {
	case f.On.Times == fault.Always:
		return []string{name + " (always)"}
	case f.On.Times > mostTimes:
		return []string{fmt.Sprintf("%s ×%d", name, f.On.Times)}
	}
	var out []string
	for range max(1, f.On.Times) {
		out = append(out, name)
	}
	return out
}

func (b *Bench) actAdvance(l lang.Line) error {
	d, err := lang.ParseDuration(l.Arg(0))
	if err != nil {
		return err
	}
	return b.pass(d)
}

func (b *Bench) actWait(l lang.Line) error {
	if l.Expect != nil {
		return b.untilHolds(l.Expect)
	}
	b.settle()
	return nil
}

func (b *Bench) actExpect(l lang.Line) error {
	if failure := l.Expect.Compare(b.facts()); failure != nil {
		b.mu.Lock()
		b.script.failed = append(b.script.failed, failure)
		b.mu.Unlock()
		b.changed()
	}
	return nil
}

// actAsk waits for an answer where somebody is there to give one.
func (b *Bench) actAsk(l lang.Line) error {
	if !b.o.Ask {
		return nil
	}
	ev := b.clk.NewEvent("an answer")
	q := l.Question
	b.mu.Lock()
	b.script.asked, b.script.answer = &Question{Text: q.Text, Choices: q.Choices, Answer: q.Right, Because: q.Because}, ev
	b.mu.Unlock()
	b.changed()
	ev.Wait()
	return nil
}

// actExpire lets time pass until no key that the provider knows now is known any more.
func (b *Bench) actExpire(l lang.Line) error {
	c := b.prov.Contract()
	longest := c.Retention.For
	for _, d := range c.Retention.Collections {
		longest = max(longest, d)
	}
	if longest == 0 {
		return fmt.Errorf("the contract %s never forgets a key", c.Name)
	}
	if err := b.pass(longest + time.Second); err != nil {
		return err
	}
	b.note(Note{Verb: l.Verb, Text: spell(longest+time.Second) + " have passed: every key of before is forgotten"})
	return nil
}

func (b *Bench) actCrash(l lang.Line) error {
	point := l.Arg(0)
	if point == "" || point == crashNow {
		b.kill("now: the worker is gone")
		return nil
	}
	attempt, _ := strconv.Atoi(l.Opt("attempt"))
	b.note(Note{Verb: l.Verb, Text: "armed: " + l.Text})
	b.mu.Lock()
	b.crash = &crashPoint{point: point, step: l.Opt("step"), attempt: attempt}
	b.mu.Unlock()
	return nil
}

func (b *Bench) actRestart(lang.Line) error {
	if _, err := b.worker(); err == nil {
		b.kill("to start it again")
	}
	return b.restart()
}

func (b *Bench) actTrigger(l lang.Line) error {
	workflow, id, err := b.trigger(l.Arg(0))
	if err != nil {
		return err
	}
	payload := []byte("{}")
	if l.Arg(1) != "" {
		if payload, err = b.payload(l.Arg(1)); err != nil {
			return err
		}
	}
	e, err := b.worker()
	if err != nil {
		return err
	}
	b.note(Note{Verb: l.Verb, Text: l.Text})
	times, _ := strconv.Atoi(l.Opt("times"))
	for range max(1, times) {
		if _, err := e.Admit(engine.Delivery{Workflow: workflow, Trigger: id, Payload: payload}); err != nil {
			return refusedBy(err)
		}
	}
	return nil
}

// trigger finds a trigger by its id, or by workflow/id where two workflows have one of that name.
func (b *Bench) trigger(name string) (workflow, id string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	want, id, qualified := strings.Cut(name, "/")
	if !qualified {
		want, id = "", name
	}
	var found []string
	for _, d := range b.docs {
		for _, t := range d.Workflow.Triggers {
			if t.ID == id && (want == "" || want == d.Workflow.ID) {
				found = append(found, d.Workflow.ID)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", "", fmt.Errorf("no workflow that is loaded has a trigger %q", name)
	case 1:
		return found[0], id, nil
	}
	return "", "", fmt.Errorf("several workflows have a trigger %q: write %s/%s", name, found[0], id)
}

// refusedBy turns an engine's coded error into a refusal: the caller did what was asked, and said no.
func refusedBy(err error) error {
	if e, ok := err.(*engine.Error); ok {
		return &engine.Refused{Why: e.Code + ": " + e.Message}
	}
	return err
}

func (b *Bench) actCancel(l lang.Line) error {
	r, e, err := b.run(l.Arg(0))
	if err != nil {
		return err
	}
	b.note(Note{Verb: l.Verb, Text: r.ID})
	return e.Cancel(r.ID, "")
}

func (b *Bench) actRerun(l lang.Line) error {
	r, e, err := b.run(l.Arg(0))
	if err != nil {
		return err
	}
	b.note(Note{Verb: l.Verb, Text: r.ID})
	_, err = e.Rerun(r.ID, "")
	return refusedBy(err)
}

// run is the run of this number or id, the newest if it is empty, and the worker.
func (b *Bench) run(name string) (*engine.Run, *engine.Engine, error) {
	e, err := b.worker()
	if err != nil {
		return nil, nil, err
	}
	runs := b.line.Latest().Runs
	if len(runs) == 0 {
		return nil, nil, &engine.Refused{Why: "there is no run yet"}
	}
	if name == "" {
		return runs[len(runs)-1], e, nil
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(runs) {
		return runs[n-1], e, nil
	}
	for _, r := range runs {
		if r.ID == name {
			return r, e, nil
		}
	}
	return nil, nil, &engine.Refused{Why: fmt.Sprintf("there is no run %q: there are %d, numbered from 1", name, len(runs))}
}

func (b *Bench) actLookup(l lang.Line) error {
	targets, e, err := b.targets(l.Opt("run"), l.Opt("step"), l.Arg(0))
	if err != nil {
		return err
	}
	seen := map[runKey]bool{}
	for _, t := range targets {
		if l.Opt("step") == "" && l.Arg(0) == "" {
			t.key = ""
		}
		if seen[t] {
			continue
		}
		seen[t] = true
		if _, err := e.Lookup(b.root, t.run, t.key, engine.LookupOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// runKey is a run and the key of one of its calls; an empty key stands for all that is unknown of the run.
type runKey struct{ run, key string }

// targets are the unknown operations that a decision or a look-up is about: all, or
// those of a run, a step or a key. Without any it is the chosen run itself, of which the engine then says why not.
func (b *Bench) targets(run, step, key string) ([]runKey, *engine.Engine, error) {
	r, e, err := b.run(run)
	if err != nil {
		return nil, nil, err
	}
	var out []runKey
	for _, o := range b.line.Latest().Operations {
		for i, c := range o.Doubts {
			if (run == "" || o.DoubtRuns[i] == r.ID) && (step == "" || stepName(o.Step, o.Undo) == step) && (key == "" || c.Key == key) {
				out = append(out, runKey{o.DoubtRuns[i], c.Key})
			}
		}
	}
	if len(out) == 0 {
		out = []runKey{{r.ID, key}}
	}
	return out, e, nil
}

func (b *Bench) actResolve(l lang.Line) error {
	key := l.Opt("key")
	targets, e, err := b.targets(l.Opt("run"), l.Opt("step"), key)
	if err != nil {
		return err
	}
	t := targets[0]
	if len(targets) > 1 && key == "" && t.run == targets[1].run {
		t.key = "" // the engine names the keys to choose from
	}
	q := engine.Resolution{Run: t.run, Key: t.key, Decision: engine.Decision(l.Verb), Force: l.Has("--force")}
	if l.Verb == "escalate" {
		q.Reason = l.Arg(0)
	}
	if l.Has("result") {
		q.Result = json.RawMessage(l.Opt("result"))
	}
	return e.Resolve(q)
}
