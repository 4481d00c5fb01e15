package scenarios

import (
	"context"
	"fmt"
	"time"

	"faultlab/engine/plain"
	"faultlab/scenarios/expect"
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
		"order":       (*Bench).actOrder,
		"cancel":      (*Bench).actCancel,
		"rerun":       (*Bench).actRerun,
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

// passing are the verbs that let time pass, until ctx is over.
var passing = map[string]func(*Bench, context.Context, lang.Line) error{
	"advance": (*Bench).actAdvance,
	"wait":    (*Bench).actWait,
	"expire":  (*Bench).actExpire,
}

// act carries one line out.
func (b *Bench) act(ctx context.Context, l lang.Line) error {
	if pass, ok := passing[l.Verb]; ok {
		return pass(b, ctx, l)
	}
	if act, ok := acts[l.Verb]; ok {
		return act(b, l)
	}
	return fmt.Errorf("%s is not a verb of a bench", l.Verb)
}

func isAct(verb string) bool { return acts[verb] != nil || passing[verb] != nil }

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
