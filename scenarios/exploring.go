package scenarios

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"faultlab/engine"
	"faultlab/faultprovider"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
)

// The alphabet: the named faults that a request can meet, by what it is.
var alphabet = map[fault.Which][]string{
	fault.New: {"fail-before-commit", "commit-then-error", "drop-before-commit", "commit-then-drop", "hang-before-commit", "commit-then-hang",
		"late-commit", "error-then-commit", "rate-limited", "bad-request", "cut-body"},
	fault.Replay: {"fail-before-commit", "drop-before-commit", "hang-before-commit", "rate-limited"}, // nothing is committed either way
	fault.LookUp: {"look-up-error", "look-up-drop", "look-up-stale"},
}

// crashPoints are those that an exploration tries. A crash in flight leaves the same disk and ledger as one after the
// effect or, without an effect, after the reply: it is not tried apart.
var crashPoints = []string{lang.CrashBeforeSend, lang.CrashAfterEffect, lang.CrashAfterReply, lang.CrashAfterRecord, lang.CrashInBackoff, lang.CrashAtLookup}

// Exploration is a scenario as a world of schedules: its own settings, deliveries and waits are kept; faults, crashes and
// decisions come from the schedule and the operator.
type Exploration struct {
	scenario *lang.Scenario
	lines    []lang.Line
	operator string
	faults   map[fault.Which][]string
	herd     int  // callers of the scenario's largest herd, where the search has fewer
	ages     bool // how old keys are, and what time it is, can matter
	bare     bool // no line waits for what only the wire's rows tell
	memo     *engine.Memo

	history func() engine.History // of each schedule; nil: in memory. Tests plant faults of an engine with it
}

// NewExploration reads a scenario for a search. contractName replaces the contract that it keeps, unless it is empty. An error
// says why the scenario cannot be explored.
func NewExploration(s *lang.Scenario, operator, contractName string) (*Exploration, error) {
	x := &Exploration{memo: &engine.Memo{}, operator: cmp.Or(operator, OperatorPatient), faults: map[fault.Which][]string{}}
	switch {
	case !slices.Contains(Operators, x.operator):
		return nil, fmt.Errorf("not an operator: %q; use %s", operator, strings.Join(Operators, ", "))
	case s.Runs == lang.RunsReal:
		return nil, fmt.Errorf("%s cannot be explored: it runs on real sockets only", s.File)
	}
	for class, names := range alphabet {
		x.faults[class] = slices.Clone(names)
	}
	plain := *s
	plain.Lines, plain.Title, plain.Teach, plain.Before, plain.Group, plain.Lessons, plain.Cases, plain.Twin = nil, "", "", "", "", nil, nil, ""
	x.scenario = &plain
	if contractName != "" {
		l, err := lang.ParseLine("contract " + contractName)
		if err == nil {
			err = l.Check(names{})
		}
		if err != nil {
			return nil, err
		}
		x.lines = append(x.lines, l)
	}
	acts := 0
	for _, l := range s.Lines {
		switch l.Verb {
		case "fault":
			x.own(l)
		case "contract":
			if contractName == "" {
				x.lines = append(x.lines, l)
			}
		case "crash", "restart", "lookup", "record", "resubmit", "abandon", "escalate", "ask", "expect", "clearfaults", "order":
		default:
			l, err := x.bounded(l)
			if err != nil {
				return nil, err
			}
			x.lines = append(x.lines, l)
			if slices.Contains([]string{"trigger", "deliver", "send", "rerun"}, l.Verb) {
				acts++
			}
		}
	}
	if acts == 0 {
		return nil, fmt.Errorf("%s cannot be explored: no line of it starts a run (trigger, deliver, rerun or send)", s.File)
	}
	x.ages = x.tellsTime()
	x.bare = !slices.ContainsFunc(x.lines, func(l lang.Line) bool { return l.Verb == "wait" && len(l.Args) > 0 })
	return x, x.repeatable()
}

// mostAtOnce is how many callers of a herd a search tells apart: what two can do to each other, more can do too.
const mostAtOnce = 2

var manyTimes = regexp.MustCompile(`\btimes=[0-9]+`)

// bounded is a line with no more callers than are told apart.
func (x *Exploration) bounded(l lang.Line) (lang.Line, error) {
	if n, _ := strconv.Atoi(l.Opt("times")); n > mostAtOnce {
		x.herd = max(x.herd, n)
		return lang.ParseLine(manyTimes.ReplaceAllString(l.String(), fmt.Sprint("times=", mostAtOnce)))
	}
	return l, nil
}

// own adds the faults of a line to the alphabet.
func (x *Exploration) own(l lang.Line) {
	for _, word := range l.Args {
		f, err := fault.Parse(word)
		if err != nil || f.Name == "none" {
			continue
		}
		class := cmp.Or(f.On.Requests, fault.New)
		text := f.Name
		if strings.HasPrefix(word, "{") {
			f.On = fault.On{}
			own, err := json.Marshal(f)
			if err != nil {
				continue
			}
			if text = string(own); text[0] == '"' {
				text = f.Name // narrowed, and otherwise the named one
			}
		}
		for _, c := range []fault.Which{fault.New, fault.Replay, fault.LookUp} {
			if (class == fault.Any || class == c) && !slices.Contains(x.faults[c], text) {
				x.faults[c] = append(x.faults[c], text)
			}
		}
	}
}

// tellsTime reports whether a script can read the clock, or keys are forgotten after a time.
func (x *Exploration) tellsTime() bool {
	for _, l := range x.lines {
		if slices.Contains([]string{"contract", "assume", "expire", "advance"}, l.Verb) {
			return true
		}
	}
	for _, name := range x.scenario.Names {
		if text := string(x.scenario.Files[name]); strings.Contains(text, "Date") || strings.Contains(text, "performance") || strings.Contains(text, "rate") {
			return true
		}
	}
	return false
}

// repeatable says why the scenario's documents cannot be carried out again and again.
func (x *Exploration) repeatable() error {
	for _, name := range x.scenario.Names {
		if !strings.HasSuffix(name, ".woml") {
			continue
		}
		if d, diags := timeline.Document(x.scenario.Files[name]); d == nil {
			return placed(x.scenario, name, diags[0])
		}
	}
	return nil
}

// Run carries one schedule out.
func (x *Exploration) Run(ctx context.Context, c explore.Chooser) (explore.Result, error) {
	r, _, err := x.carryOut(ctx, c)
	return r, err
}

// carryOut carries one schedule out and returns what came of it, with the lines that did it.
func (x *Exploration) carryOut(ctx context.Context, c explore.Chooser) (r explore.Result, e *explorer, err error) {
	e = &explorer{x: x, chooser: c, runs: map[string]*engine.Run{}, inHand: map[string]string{}, fates: map[string]string{}, stopped: make(chan struct{}), sites: map[string]int{}}
	o := Options{explorer: e}
	if x.history != nil {
		o.History = x.history()
	}
	b, err := Open(x.scenario, o)
	if err != nil {
		return r, e, err
	}
	e.b = b
	b.OnPanic(func(name string, v any, _ []byte) {
		e.problems = append(e.problems, fmt.Sprintf("panic in %s: %v", name, v))
	})
	b.playWith(e.script)
	ended := make(chan error, 1)
	go func() { ended <- b.Wait(ctx) }()
	select {
	case <-e.stopped:
	case err = <-ended:
		if err == nil {
			r = e.judge(b.Report())
		} else if ctx.Err() == nil {
			e.problems, err = append(e.problems, "did not come to rest: "+err.Error()), nil
			r.Problems = e.problems
		}
	}
	return r, e, errors.Join(err, b.Close())
}

// explorer answers what happens at each choice of a bench, and keeps what the state of the bench is made of.
type explorer struct {
	x       *Exploration
	b       *Bench
	chooser explore.Chooser
	stopped chan struct{} // closed once what follows is known
	halted  bool

	runs     map[string]*engine.Run
	order    []string          // of admission
	effects  []string          // ids in the order of their commits
	inHand   map[string]string // by X-Request-Id: how a request ended whose end is not on disk yet
	fates    map[string]string // by X-Request-Id: the fault that a request met
	sites    map[string]int    // how often each was passed
	phase    string            // of the script
	late     []lang.Line       // deliveries that come again at the end
	rounds   int               // of look-ups without an end
	requests int               // that have met their fault or none
	met      []metFault
	crashed  []place

	problems []string
	buf      []byte
}

// metFault is a fault that a schedule let a request meet.
type metFault struct {
	name    string
	class   fault.Which
	managed bool
	id      engine.RequestID
	ordinal int // of the request, among all that came, from 1
}

// over reports whether nothing more is to happen.
func (e *explorer) over() bool { return e != nil && e.halted }

// choose asks for what happens at a site; empty for the ideal.
func (e *explorer) choose(kind explore.Kind, site string, alts []string, provider func([]byte) []byte) string {
	if e.halted || len(alts) == 0 {
		return ""
	}
	key := kind.String() + alts[0] + site // the crash points of one request are sites of their own
	if kind == explore.Crash {
		site += ", " + strings.TrimPrefix(alts[0], "crash ")
	}
	if e.sites[key]++; e.sites[key] > 1 {
		site = fmt.Sprintf("%s, time %d", site, e.sites[key])
	}
	n := e.chooser.Choose(explore.Choice{Site: site, Kind: kind, Alts: alts, State: func() explore.State { return e.state(kind, alts[0], provider) }})
	switch {
	case n == explore.Stop:
		e.halted = true
		close(e.stopped)
	case n > 0:
		return alts[n-1]
	}
	return ""
}

// fault answers the provider: what a request meets. The provider's lock is held.
func (e *explorer) fault(a faultprovider.Arrival) (faultprovider.Fault, bool) {
	e.requests++
	id, managed := engine.ParseRequestID(a.RequestID)
	site := fmt.Sprintf("request %d", e.requests)
	if managed {
		site = e.place(id)
	}
	name := e.choose(explore.Fault, site, e.x.faults[a.Class], func(b []byte) []byte { return e.b.prov.AppendStateLocked(b, e.x.ages) })
	if name == "" {
		return faultprovider.Fault{}, false
	}
	f, err := fault.Parse(name)
	if err != nil {
		e.problems = append(e.problems, err.Error())
		return faultprovider.Fault{}, false
	}
	e.met = append(e.met, metFault{name, a.Class, managed, id, e.requests})
	return f, true
}

// place names a request: by its run's number, step, attempt and number in the attempt.
func (e *explorer) place(id engine.RequestID) string {
	what := "request"
	if id.Lookup {
		what = "look-up"
	}
	site := fmt.Sprintf("%s attempt %d, %s %d", engine.StepName(id.Step, id.Undo), id.Attempt, what, id.Number)
	if n := slices.Index(e.order, id.Run) + 1; n > 1 {
		site = fmt.Sprintf("run %d, %s", n, site)
	}
	return site
}

// crash reports whether the worker dies at a place.
func (e *explorer) crash(p place) bool {
	if e == nil || e.halted || !slices.Contains(crashPoints, p.point) || e.b.down() {
		return false
	}
	site := fmt.Sprintf("%s attempt %d", p.step, p.attempt)
	if p.point != lang.CrashInBackoff {
		site += fmt.Sprintf(", call %d", p.call)
		if p.request > 0 {
			site += fmt.Sprintf(", request %d", p.request)
		}
	}
	if p.number > 1 {
		site = fmt.Sprintf("run %d, %s", p.number, site)
	}
	if p.point == lang.CrashAfterReply && e.b.hasCommitted(p) {
		return false // the disk and the ledger are as at after-effect
	}
	if e.choose(explore.Crash, site, []string{"crash " + p.point}, e.providerState) == "" {
		return false
	}
	e.crashed = append(e.crashed, p)
	return true
}

func (e *explorer) providerState(b []byte) []byte { return e.b.prov.AppendState(b, e.x.ages) }

// events folds what a worker wrote down.
func (e *explorer) events(events []engine.Event) {
	if e == nil {
		return
	}
	for _, ev := range events {
		r := e.runs[ev.Run]
		if r == nil {
			r = &engine.Run{}
			e.runs[ev.Run], e.order = r, append(e.order, ev.Run)
		}
		r.Apply(ev)
		switch f := ev.Fact.(type) {
		case engine.CallEnded:
			for _, q := range r.StepAt(f.Step, f.Undo).Attempts[f.Attempt-1].Calls[f.Call-1].Requests {
				delete(e.inHand, q.ID)
			}
		case engine.Evidence:
			for id := range e.inHand {
				if q, ok := engine.ParseRequestID(id); ok && q.Lookup && q.Run == ev.Run && q.Step == f.Step && q.Undo == f.Undo {
					delete(e.inHand, id)
				}
			}
		}
	}
}

// change keeps the ids of effects, which texts are compared without.
func (e *explorer) change(c faultprovider.Change) {
	if e == nil {
		return
	}
	for _, entry := range c.Entries {
		switch entry.Kind {
		case faultprovider.Replied, faultprovider.Cut, faultprovider.Reset, faultprovider.GaveUp:
			if !e.b.down() {
				e.inHand[entry.RequestID] = fmt.Sprint(entry.Kind, entry.Status, e.fates[entry.RequestID])
			}
		case faultprovider.NewOperation, faultprovider.Replay, faultprovider.Rejected, faultprovider.InFlight, faultprovider.Looked:
			e.fates[entry.RequestID] = entry.Fault
		}
	}
	for i := range c.Effects {
		if id := c.Effects[i].ID; !slices.Contains(e.effects, id) {
			e.effects = append(e.effects, id)
		}
	}
}

// script is the scenario's own lines, and then the operator.
func (e *explorer) script(ctx context.Context) error {
	if err := e.orderRuns(ctx); err != nil {
		return err
	}
	for i, l := range e.x.lines {
		e.phase = fmt.Sprint("line ", i)
		if err := e.line(ctx, l); err != nil {
			return err
		}
		if err := e.redeliver(ctx, i, l); err != nil {
			return err
		}
	}
	if err := e.deliverLate(ctx); err != nil {
		return err
	}
	for round := 0; !e.halted; round++ {
		if round > 40 {
			return errors.New("the operator did not come to an end")
		}
		e.phase = "rest"
		if err := e.rest(ctx); err != nil {
			return err
		}
		if e.halted || e.x.operator == OperatorNone || !e.settle(ctx) {
			break
		}
	}
	return nil
}

// Alternatives of deviations that are neither faults nor crashes.
const (
	secondFirst  = "run 2 goes first"
	againAtOnce  = "delivered again at once"
	againInOut   = "delivered again while a request is out"
	againCrashed = "delivered again after a crash"
	againAtEnd   = "delivered again at the end"
)

// orderRuns lets the second of two runs go first where both want to send at the same moment.
func (e *explorer) orderRuns(ctx context.Context) error {
	if e.x.starts() < 2 || e.choose(explore.Order, "two runs at the same moment", []string{secondFirst}, e.providerState) == "" {
		return nil
	}
	return e.do(ctx, "order 2 1")
}

// starts is how many runs the scenario's lines can start.
func (x *Exploration) starts() (n int) {
	for _, l := range x.lines {
		switch l.Verb {
		case "trigger", "deliver", "rerun":
			times, _ := strconv.Atoi(l.Opt("times"))
			n += max(1, times)
			if l.Has("twice") || l.Has("at-once") {
				n++
			}
		}
	}
	return n
}

// redeliver lets a delivery come again: its sender did not hear the answer.
func (e *explorer) redeliver(ctx context.Context, i int, l lang.Line) error {
	if l.Verb != "deliver" || l.Has("when") {
		return nil
	}
	site := fmt.Sprint("delivery ", i+1)
	switch e.choose(explore.Redelivery, site, []string{againAtOnce, againInOut, againCrashed, againAtEnd}, e.providerState) {
	case againAtOnce:
		return e.line(ctx, l)
	case againInOut:
		return e.do(ctx, l.String()+" when="+lang.WhenInFlight)
	case againCrashed:
		return e.do(ctx, l.String()+" when="+lang.WhenAfterCrash)
	case againAtEnd:
		e.late = append(e.late, l)
	}
	return nil
}

// deliverLate makes the deliveries that come again once everything is at rest.
func (e *explorer) deliverLate(ctx context.Context) error {
	if len(e.late) == 0 {
		return nil
	}
	if err := e.do(ctx, "wait"); err != nil {
		return err
	}
	if err := e.revive(ctx); err != nil {
		return err
	}
	for _, l := range e.late {
		if err := e.line(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// line carries one line out. One that lets time pass brings a worker back that died meanwhile.
func (e *explorer) line(ctx context.Context, l lang.Line) error {
	err := e.b.perform(ctx, l)
	var why *engine.Refused
	switch {
	case e.halted:
		return nil
	case err != nil && !errors.As(err, &why) && l.Verb != "wait": // a wait whose condition does not come ends at rest
		return fmt.Errorf("%s: %w", l, err)
	case l.Verb == "wait":
		return e.revive(ctx)
	}
	return nil
}

// rest waits until nothing moves, or for a prompt operator until every run has ended, with a worker that is there.
func (e *explorer) rest(ctx context.Context) error {
	text := "wait"
	if e.x.operator == OperatorPrompt && !e.b.down() && len(e.order) > 0 {
		text = "wait for run ended"
	}
	if err := e.do(ctx, text); err != nil {
		if err = e.do(ctx, "wait"); err != nil {
			return err
		}
	}
	return e.revive(ctx)
}

// revive starts a worker that died, and lets it come to rest.
func (e *explorer) revive(ctx context.Context) error {
	for !e.halted && e.b.down() {
		if err := e.do(ctx, "restart"); err != nil {
			return err
		}
		if err := e.do(ctx, "wait"); err != nil {
			return err
		}
	}
	return nil
}

func (e *explorer) do(ctx context.Context, text string) error {
	if e.halted {
		return nil
	}
	l, err := lang.ParseLine(text)
	if err != nil {
		return err
	}
	err = e.b.perform(ctx, l)
	if why := new(engine.Refused); errors.As(err, &why) {
		return nil
	}
	return err
}

// judge tells the worst verdict of runs and operations, and the invariants that did not hold.
func (e *explorer) judge(rep *Report) explore.Result {
	v := rep.View
	r := explore.Result{Verdict: "one effect", Problems: e.problems}
	worst := -1
	name := func(gravity int, verdict, cause string) {
		if gravity > worst {
			worst, r.Verdict, r.Cause = gravity, verdict, cause
		}
	}
	for i, is := range v.RunVerdicts {
		name(is.Gravity(), string(is.RunVerdict), causeOf(is))
		if !v.Runs[i].Status.Ended() && !v.WorkerDown {
			r.Problems = append(r.Problems, "a run is "+string(v.Runs[i].Status)+" at rest")
		}
	}
	for i := range v.Operations {
		o := &v.Operations[i]
		name(o.Verdict.Gravity(), string(o.Verdict), o.Name())
	}
	if rep.Stopped != "" {
		r.Problems = append(r.Problems, rep.Stopped)
	}
	if len(v.Runs) == 0 && len(v.Operations) == 0 {
		r.Verdict = "nothing ran"
	}
	r.Trace = explore.StateOf(e.state0(nil, "end", e.providerState))
	return r
}

// causeOf tells what stands of a run and what does not.
func causeOf(is RunVerdict) string {
	var parts []string
	for _, name := range is.Stands {
		parts = append(parts, name+" stands")
	}
	for _, name := range is.Missing {
		parts = append(parts, name+" is missing")
	}
	return strings.Join(parts, ", ")
}

// playWith carries f out in the place of the scenario's script, as its actor.
func (b *Bench) playWith(f func(ctx context.Context) error) {
	b.mu.Lock()
	ctx, end := b.clk.WithCancel(b.root)
	b.script = script{playing: true, over: make(chan struct{}), end: end}
	b.mu.Unlock()
	b.goScript(func() {
		b.mu.Lock()
		b.script.running = true
		b.mu.Unlock()
		err := f(ctx)
		if err == nil {
			b.settle(ctx)
		}
		b.finish(err)
	})
}

// hasCommitted reports whether the newest request at a place has an effect in the ledger.
func (b *Bench) hasCommitted(p place) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := engine.RequestID{Run: p.run, Step: strings.TrimPrefix(p.step, "~"), Undo: strings.HasPrefix(p.step, "~"), Attempt: p.attempt, Number: p.request}
	return b.committed[id.String()]
}
