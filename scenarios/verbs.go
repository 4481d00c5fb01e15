package scenarios

import (
	"context"
	"fmt"
	"slices"
	"time"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/scenarios/expect"
	"faultlab/scenarios/lang"
)

// verb is how a verb is carried out, and what must be so for it.
type verb struct {
	act   func(*Bench, context.Context, lang.Line) error // in an actor of the bench's clock, until ctx is over; what a rule of the engine forbids is *engine.Refused
	now   func(*Bench, lang.Line) error                  // at once, by nobody's actor, and not recorded: it concerns time itself
	needs []func(*Bench) string                          // each says why not, where it is not so
}

var verbs map[string]verb

func init() { // the table refers to functions that refer to it
	act := func(f func(*Bench, lang.Line) error, needs ...func(*Bench) string) verb {
		return verb{act: func(b *Bench, _ context.Context, l lang.Line) error { return f(b, l) }, needs: needs}
	}
	now := func(f func(*Bench, lang.Line) error) verb {
		return verb{now: f, needs: []func(*Bench) string{(*Bench).needsVirtual}}
	}
	settle := act((*Bench).actResolve, (*Bench).needsWorker, (*Bench).needsRun, (*Bench).needsUnknown)
	verbs = map[string]verb{
		"workflow":    act((*Bench).actWorkflow),
		"assume":      act((*Bench).actAssume, (*Bench).needsNoOpenRun),
		"contract":    act((*Bench).actContract),
		"fault":       act((*Bench).actFault),
		"clearfaults": act((*Bench).actClearFaults),
		"policy":      act((*Bench).actPolicy),
		"key":         act((*Bench).actKey),
		"trigger":     act((*Bench).actTrigger, (*Bench).needsWorker),
		"deliver":     act((*Bench).actDeliver),
		"send":        act((*Bench).actSend),
		"order":       act((*Bench).actOrder),
		"cancel":      act((*Bench).actCancel, (*Bench).needsWorker, (*Bench).needsOpenRun),
		"rerun":       act((*Bench).actRerun, (*Bench).needsWorker, (*Bench).needsRun),
		"crash":       act((*Bench).actCrash, (*Bench).needsWorker),
		"restart":     act((*Bench).actRestart),
		"lookup":      act((*Bench).actLookup, (*Bench).needsWorker, (*Bench).needsRun),
		"record":      settle,
		"resubmit":    settle,
		"abandon":     settle,
		"escalate":    settle,
		"ask":         act((*Bench).actAsk),
		"expect":      act((*Bench).actExpect),
		"advance":     {act: (*Bench).actAdvance},
		"wait":        {act: (*Bench).actWait},
		"expire":      {act: (*Bench).actExpire, needs: []func(*Bench) string{(*Bench).needsRetention}},
		"pause":       now(func(b *Bench, _ lang.Line) error { b.togglePause(); return nil }),
		"resume":      now(func(b *Bench, _ lang.Line) error { b.resume(); return nil }),
		"step":        now(func(b *Bench, _ lang.Line) error { b.stepOn(); return nil }),
		"speed":       now(func(b *Bench, l lang.Line) error { return b.setSpeed(l.Arg(0)) }),
		"faster":      now(func(b *Bench, _ lang.Line) error { b.shift(1); return nil }),
		"slower":      now(func(b *Bench, _ lang.Line) error { b.shift(-1); return nil }),
	}
}

// Unavailable says why a verb cannot be done now; empty where it can.
func (b *Bench) Unavailable(verb string) string {
	if b.isStopped() {
		return errBenchClosed.Error()
	}
	for _, need := range verbs[verb].needs {
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

func (b *Bench) actAdvance(ctx context.Context, l lang.Line) error {
	d, err := lang.ParseDuration(l.Arg(0))
	if err != nil {
		return err
	}
	return b.pass(ctx, d)
}

func (b *Bench) actWait(ctx context.Context, l lang.Line) error {
	if l.Expect != nil {
		if err := b.untilHolds(ctx, l.Expect); err != nil || ctx.Err() != nil {
			return err
		}
		b.untilDecidable(ctx)
		return nil
	}
	b.settle(ctx)
	return nil
}

func (b *Bench) actExpect(l lang.Line) error {
	if failure := expect.Compare(l.Expect, b.world()); failure != nil {
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
func (b *Bench) actExpire(ctx context.Context, l lang.Line) error {
	c := b.prov.Contract()
	longest := c.Retention.For
	for _, d := range c.Retention.Collections {
		longest = max(longest, d)
	}
	if longest == 0 {
		return fmt.Errorf("the contract %s never forgets a key", c.Name)
	}
	if err := b.pass(ctx, longest+time.Second); err != nil {
		return err
	}
	b.note(Note{Verb: l.Verb, Text: plain.Duration(longest+time.Second) + " have passed: every key of before is forgotten"})
	return nil
}
