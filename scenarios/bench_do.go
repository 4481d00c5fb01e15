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
	switch v := verbs[l.Verb]; {
	case v.now != nil:
		return v.now(b, l)
	case v.act == nil:
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
