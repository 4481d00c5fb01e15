package scenarios

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"faultlab/engine"
	"faultlab/engine/woml"
	"faultlab/scenarios/lang"
)

// Do carries one verb out, written as in files and in the palette. What is wrong
// with it, or why it cannot be done now, is the error; else it is done by an actor,
// and what becomes of it shows on the timeline. Everything done is kept for Recording.
func (b *Bench) Do(line string) error {
	l, err := lang.ParseLine(line)
	if err != nil {
		return err
	}
	if why := b.Unavailable(l.Verb); why != "" {
		return errors.New(why)
	}
	if paced, ok := paces[l.Verb]; ok {
		return paced(b, l)
	}
	if !isAct(l.Verb) {
		return fmt.Errorf("%s is not a verb of a bench", l.Verb)
	}
	if err := l.Check(names{docs: b.documents()}); err != nil {
		return err
	}
	if l, err = b.takeFiles(l); err != nil {
		return err
	}
	rest := b.clockAtRest()
	if b.virtual != nil && b.virtual.Paused() {
		b.virtual.Do(l.Verb, func() { b.typed(l, rest) }) // the first thing once time goes on
		return nil
	}
	b.clk.Go(l.Verb, func() { b.typed(l, rest) })
	return nil
}

// typed carries a typed line out at the moment that its author saw, which is later
// than the clock's last event while a wait is being paced.
func (b *Bench) typed(l lang.Line, rest bool) {
	if b.virtual != nil {
		if ahead := b.virtual.Shown().Sub(b.virtual.Now()); ahead > 0 {
			_ = b.clk.Sleep(b.root, ahead.Round(time.Millisecond)) // it ends early only with the bench
		}
	}
	b.recordMoment(rest)
	if l.Verb != "expect" && l.Verb != "wait" {
		b.takeOver()
	}
	err := b.perform(b.root, l)
	switch why := new(engine.Refused); {
	case err == nil || b.isStopped():
	case errors.As(err, &why):
		b.recordAlso("expect refused " + l.Verb)
	default:
		b.note(Note{Verb: l.Verb, Text: err.Error(), Refused: true})
	}
}

// recordMoment puts into the recording when what comes next was done: when the bench
// was at rest, or in the instant of the line before it and after what that line set
// off. After a line that only sets something up it was so anyway.
func (b *Bench) recordMoment(rest bool) {
	now := b.sinceStart(b.clk.Now())
	b.mu.Lock()
	last, same := "", false
	if n := len(b.done); n > 0 {
		last, same = b.done[n-1].Line.Verb, b.done[n-1].Until == now
	}
	b.mu.Unlock()
	switch v := lang.VerbNamed(last); {
	case v == nil, last == "wait", v.Group == "Setting":
	case rest:
		b.recordAlso("wait")
	case same:
		b.recordAlso("advance 0s")
	}
}

// recordAlso puts a line into the recording that nobody typed, from the end of the last one until now.
func (b *Bench) recordAlso(line string) {
	l, err := lang.ParseLine(line)
	if err != nil {
		return // of a verb that a recording cannot expect to be refused
	}
	now := b.sinceStart(b.clk.Now())
	b.mu.Lock()
	defer b.mu.Unlock()
	at := time.Duration(0)
	if n := len(b.done); n > 0 {
		at = b.done[n-1].Until
	}
	b.done = append(b.done, lang.Step{At: at, Until: now, Line: l})
}

// takeFiles reads the files on disk that a typed line names. The line then names them as the scenario does.
func (b *Bench) takeFiles(l lang.Line) (lang.Line, error) {
	v := lang.VerbNamed(l.Verb)
	for i, a := range v.Args {
		if i >= len(l.Args) || a.Kind != lang.KindFile && a.Kind != lang.KindPayload {
			continue
		}
		name, err := b.takeFile(l.Arg(i))
		if err == nil {
			l, err = l.WithArg(i, name)
		}
		if err != nil {
			return l, err
		}
	}
	return l, nil
}

// needs says what must be so for a verb to be done, and why not where it is not so.
var needs = map[string][]func(*Bench) string{
	"trigger":  {(*Bench).needsWorker},
	"rerun":    {(*Bench).needsWorker, (*Bench).needsRun},
	"cancel":   {(*Bench).needsWorker, (*Bench).needsOpenRun},
	"crash":    {(*Bench).needsWorker},
	"lookup":   {(*Bench).needsWorker, (*Bench).needsRun},
	"record":   {(*Bench).needsWorker, (*Bench).needsRun, (*Bench).needsUnknown},
	"resubmit": {(*Bench).needsWorker, (*Bench).needsRun, (*Bench).needsUnknown},
	"abandon":  {(*Bench).needsWorker, (*Bench).needsRun, (*Bench).needsUnknown},
	"escalate": {(*Bench).needsWorker, (*Bench).needsRun, (*Bench).needsUnknown},
	"pause":    {(*Bench).needsVirtual},
	"resume":   {(*Bench).needsVirtual},
	"step":     {(*Bench).needsVirtual},
	"speed":    {(*Bench).needsVirtual},
	"faster":   {(*Bench).needsVirtual},
	"slower":   {(*Bench).needsVirtual},
	"expire":   {(*Bench).needsRetention},
	"assume":   {(*Bench).needsNoOpenRun},
	"restart":  nil,
}

// Unavailable says why a verb cannot be done now; empty where it can.
func (b *Bench) Unavailable(verb string) string {
	if b.isStopped() {
		return errBenchClosed.Error()
	}
	for _, need := range needs[verb] {
		if why := need(b); why != "" {
			return why
		}
	}
	return ""
}

func (b *Bench) needsWorker() string {
	if _, err := b.worker(); err != nil {
		return err.Error()
	}
	return ""
}

func (b *Bench) needsRun() string {
	if len(b.line.Latest().Runs) == 0 {
		return "there is no run yet"
	}
	return ""
}

func (b *Bench) openRun() bool {
	return slices.ContainsFunc(b.line.Latest().Runs, func(r *engine.Run) bool { return !r.Status.Ended() })
}

func (b *Bench) needsOpenRun() string {
	if !b.openRun() {
		return "no run is at work"
	}
	return ""
}

func (b *Bench) needsNoOpenRun() string {
	if b.openRun() {
		return "a run is at work with what is assumed now: wait until it has ended"
	}
	return ""
}

func (b *Bench) needsUnknown() string {
	for _, o := range b.line.Latest().Operations {
		if len(o.Doubts) > 0 {
			return ""
		}
	}
	return "no operation is unknown"
}

func (b *Bench) needsVirtual() string {
	if b.virtual == nil {
		return "the bench runs on the machine's clock, which nobody can hold"
	}
	return ""
}

func (b *Bench) needsRetention() string {
	if c := b.prov.Contract(); c.Retention.For == 0 && len(c.Retention.Collections) == 0 {
		return "the contract " + c.Name + " never forgets a key"
	}
	return ""
}

// paces are the verbs that concern time itself: they are done at once, by nobody's actor, and are not recorded.
var paces = map[string]func(*Bench, lang.Line) error{
	"pause":  func(b *Bench, _ lang.Line) error { b.togglePause(); return nil },
	"resume": func(b *Bench, _ lang.Line) error { b.resume(); return nil },
	"step":   func(b *Bench, _ lang.Line) error { b.stepOn(); return nil },
	"speed":  func(b *Bench, l lang.Line) error { return b.setSpeed(l.Arg(0)) },
	"faster": func(b *Bench, _ lang.Line) error { b.shift(1); return nil },
	"slower": func(b *Bench, _ lang.Line) error { b.shift(-1); return nil },
}

// Recording is what was done so far as a scenario file that replays to the same
// timeline. What was done while something was held at a gate has no other place in a
// file than its instant: there it replays after all that happens in that instant.
func (b *Bench) Recording() ([]byte, error) {
	b.mu.Lock()
	s, done := *b.s, slices.Clone(b.done)
	s.Files, s.Names = maps.Clone(s.Files), slices.Clone(s.Names)
	for _, name := range slices.Sorted(maps.Keys(b.extra)) {
		s.Files[name], s.Names = b.extra[name], append(s.Names, name)
	}
	s.Seed = b.seed
	b.mu.Unlock()
	return lang.Record(&s, slices.Concat(b.implied(done), done, b.untilNow(done)))
}

// untilNow is the line that ends a recording: what has happened since the last line is to happen in the replay too,
// whose report tells the moment of its last line.
func (b *Bench) untilNow(done []lang.Step) []lang.Step {
	if len(done) == 0 {
		return nil
	}
	last, now := done[len(done)-1], b.sinceStart(b.clk.Now())
	text := "advance 0s"
	switch v := lang.VerbNamed(last.Line.Verb); {
	case last.Line.Text == "" && v.Name == "wait", v.Name == "expect", v.Group == "Setting":
		return nil
	case b.clockAtRest():
		text = "wait"
	}
	l, err := lang.ParseLine(text)
	if err != nil {
		return nil // of words that the language has
	}
	return []lang.Step{{At: now, Until: now, Line: l}}
}

// implied are the lines that load what the scenario embeds. Where a line of what was
// done loads another document, they must be said too: a script loads all or none by itself.
func (b *Bench) implied(done []lang.Step) (out []lang.Step) {
	if loads(b.s) || !slices.ContainsFunc(done, func(s lang.Step) bool { return s.Line.Verb == "workflow" }) {
		return nil
	}
	for _, name := range documentNames(b.s) {
		if l, err := lang.ParseLine("workflow " + lang.Quote(name)); err == nil {
			out = append(out, lang.Step{Line: l})
		}
	}
	return out
}

func (b *Bench) documents() (docs []*woml.Document) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.docs)
}
