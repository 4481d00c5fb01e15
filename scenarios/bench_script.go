package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/scenarios/expect"
	"faultlab/scenarios/lang"
)

// script is the scenario's own verbs being carried out.
type script struct {
	playing bool
	running bool          // its actor has begun: from then on it runs, or waits for the bench or an answer
	line    int           // the one at work
	over    chan struct{} // closed when nothing of it is left
	err     string        // why it stopped
	failed  []*lang.Failure
	asked   *Question
	answer  clock.Event // set by Answer

	end      context.CancelCauseFunc // of what it waits for
	tookOver bool                    // a person did something meanwhile
	through  bool                    // every line has been carried out
	last     *moment                 // that of the last line, once it has been carried out
}

// TookOver is what a State says once a person has done something while the scenario's own script was at work.
const TookOver = "you took over: the scenario stopped there, and what it expects is not checked any more"

var errTookOver = errors.New("a person took over")

// stops are the verbs at which a script ends once a person has taken over: those that
// let time pass, and those that claim what came of it. What comes before them only sets the scene.
var stops = map[string]bool{"wait": true, "advance": true, "expire": true, "expect": true}

// Play carries the scenario's script out, as an actor. It does nothing while the script is at work.
func (b *Bench) Play() {
	b.mu.Lock()
	if b.script.playing || b.stopped {
		b.mu.Unlock()
		return
	}
	ctx, end := b.clk.WithCancel(b.root)
	b.script = script{playing: true, over: make(chan struct{}), end: end}
	b.mu.Unlock()
	b.goScript(func() {
		b.mu.Lock()
		b.script.running = true
		b.mu.Unlock()
		b.finish(b.playAll(ctx))
	})
}

// finish ends the script, once.
func (b *Bench) finish(err error) {
	b.mu.Lock()
	if !b.script.playing {
		b.mu.Unlock()
		return
	}
	b.script.playing = false
	if err != nil {
		b.script.err = err.Error()
	}
	close(b.script.over)
	end := b.script.end
	b.mu.Unlock()
	end(nil)
	b.changed()
}

// goScript starts the script's actor. On the wall clock it does not count as work, or the bench would never be at rest for it.
func (b *Bench) goScript(f func()) {
	if b.wall != nil {
		b.wall.Wall.Go("script", f)
		return
	}
	b.clk.Go("script", f)
}

func (b *Bench) playAll(ctx context.Context) error {
	for i, l := range b.s.Lines {
		if b.stopsAt(l) {
			return nil
		}
		b.mu.Lock()
		b.script.line = l.Line
		b.mu.Unlock()
		b.changed()
		err := b.perform(ctx, l)
		if b.isStopped() || b.stopsAt(l) {
			return nil
		}
		if why := new(engine.Refused); errors.As(err, &why) {
			if b.s.ExpectsRefusal(i) {
				continue
			}
			return fmt.Errorf("%s:%d: %s was refused: %s", b.s.File, l.Line, l.Verb, why.Why)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %s: %w", b.s.File, l.Line, l.Verb, err)
		}
	}
	m := b.now()
	b.mu.Lock()
	b.script.last, b.script.through = m, true
	b.mu.Unlock()
	b.settle(ctx)
	return nil
}

// stopsAt reports whether a person has taken over and the script does not go beyond this line.
func (b *Bench) stopsAt(l lang.Line) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.script.tookOver && stops[l.Verb]
}

// takeOver ends the script's wait: what a person does while it is at work makes something else of the scenario.
func (b *Bench) takeOver() {
	b.mu.Lock()
	if !b.script.playing || b.script.tookOver || b.script.through {
		b.mu.Unlock()
		return
	}
	b.script.tookOver = true
	end := b.script.end
	b.mu.Unlock()
	end(errTookOver)
	b.changed()
}

// perform carries one line out and keeps it for the recording. A refusal is noted, and returned.
func (b *Bench) perform(ctx context.Context, l lang.Line) error {
	act := verbs[l.Verb].act
	if act == nil {
		return fmt.Errorf("%s is not a verb of a bench", l.Verb)
	}
	at := b.sinceStart(b.clk.Now())
	err := act(b, ctx, l)
	if b.isStopped() || ctx.Err() != nil && stops[l.Verb] { // a wait that was cut short was not carried out
		return err
	}
	if errors.Is(err, engine.ErrKilled) && b.down() {
		b.note(Note{Verb: l.Verb, Text: "the worker went down while this was done"})
		err = nil
	}
	var why *engine.Refused
	if err != nil && !errors.As(err, &why) {
		return err
	}
	b.mu.Lock()
	b.done = append(b.done, lang.Step{At: at, Until: b.sinceStart(b.clk.Now()), Line: l})
	b.mu.Unlock()
	if why != nil {
		b.note(Note{Verb: l.Verb, Text: why.Error(), Refused: true})
		return why
	}
	return nil
}

func (b *Bench) isStopped() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stopped
}

// settle blocks its actor until the bench is at rest, or ctx is over.
func (b *Bench) settle(ctx context.Context) {
	if b.wall != nil {
		_ = b.wall.wait(ctx)
		return
	}
	b.untilWoken(ctx, true)
}

// untilWoken blocks its actor until the bench is at rest or, unless only rest will
// do, until the next thing happens; or until ctx is over. It reports whether it is at rest.
func (b *Bench) untilWoken(ctx context.Context, onlyRest bool) (atRest bool) {
	w := &waiting{ev: b.clk.NewEvent("the bench to rest"), onlyRest: onlyRest}
	b.mu.Lock()
	if b.stopped {
		b.mu.Unlock()
		return true
	}
	b.waits = append(b.waits, w)
	b.mu.Unlock()
	stop := b.clk.OnCancel(ctx, func(error) { w.ev.Set() })
	w.ev.Wait()
	stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits = slices.DeleteFunc(b.waits, func(o *waiting) bool { return o == w })
	return w.rest
}

// waiting is an actor while it waits for the bench: the script's, or that of a wait which a person typed.
type waiting struct {
	ev       clock.Event
	onlyRest bool
	rest     bool // what woke it
}

// woken lets those go on who wait for what is so now.
func (b *Bench) woken() {
	b.mu.Lock()
	var woken []*waiting
	if len(b.waits) > 0 {
		rest := b.clockAtRest() // looked at only now: whoever was told of a rest may come late, when it is over
		b.waits = slices.DeleteFunc(b.waits, func(w *waiting) bool {
			if w.onlyRest && !rest {
				return false
			}
			w.rest, woken = rest, append(woken, w)
			return true
		})
	}
	b.mu.Unlock()
	for _, w := range woken {
		w.ev.Set()
	}
}

// clockAtRest reports whether nothing moves and nothing is due. While the script's actor runs that is never so on the virtual clock.
func (b *Bench) clockAtRest() bool {
	if b.wall != nil {
		return b.wall.atRest()
	}
	return b.virtual.AtRest()
}

// clockChanged is told by the clock that its rest or who is parked has changed.
func (b *Bench) clockChanged() {
	b.mu.Lock()
	lost := b.virtual != nil && b.script.playing && b.script.running && len(b.waits) == 0 && b.script.answer == nil && !b.stopped && b.virtual.AtRest()
	line := b.script.line
	b.mu.Unlock()
	if lost {
		b.finish(fmt.Errorf("%s:%d: nothing is left that could happen, and this line still waits", b.s.File, line))
	}
	b.changed()
}

// untilHolds lets time pass until an expectation holds; it is an error if the bench comes to rest first.
func (b *Bench) untilHolds(ctx context.Context, e *lang.Expectation) error {
	for {
		rest := b.wall != nil && b.wall.atRest()
		seen := b.line.Len()
		failure := expect.Compare(e, b.world())
		switch {
		case failure == nil || b.isStopped() || ctx.Err() != nil:
			return nil
		case rest:
			return fmt.Errorf("the simulation is idle and the condition is still false: %w", failure)
		}
		if rest = b.untilWoken(ctx, false); rest && b.line.Len() == seen && b.virtual != nil {
			return fmt.Errorf("the simulation is idle and the condition is still false: %w", failure)
		}
	}
}

// untilDecidable lets the worker finish what it is ending at this instant, so that a decision about a run that was
// waited for is not refused because the worker has not let go of it yet.
func (b *Bench) untilDecidable(ctx context.Context) {
	held := func(r *engine.Run) bool {
		eng, err := b.worker()
		return err == nil && (r.Status.Ended() || ending(r)) && !eng.Ended(r.ID).IsSet()
	}
	if b.virtual != nil {
		if slices.ContainsFunc(b.line.Latest().Runs, held) {
			b.virtual.EndOfInstant()
		}
		return
	}
	for _, r := range b.line.Latest().Runs {
		for r.Status.Ended() && held(r) && b.clk.Sleep(ctx, time.Millisecond) == nil {
		}
	}
}

// ending reports whether an attempt of the run left something unknown: the run ends next, or waits for what must end before it.
func ending(r *engine.Run) bool {
	return slices.ContainsFunc(r.Steps, func(s *engine.Step) bool { a := s.Last(); return a != nil && a.Outcome == engine.Unknown })
}

// Wait blocks until the script is over and the bench is at rest, or until ctx, a limit in real time, is over. Whoever calls it is no actor.
func (b *Bench) Wait(ctx context.Context) error {
	b.mu.Lock()
	over := b.script.over
	b.mu.Unlock()
	if over != nil {
		select {
		case <-over:
		case <-ctx.Done():
			return fmt.Errorf("wait for the scenario to end: %w", context.Cause(ctx))
		}
	}
	if b.virtual != nil {
		return b.virtual.Idle(ctx)
	}
	return b.wall.wait(ctx)
}

// Answer answers the question that waits; without one it does nothing.
func (b *Bench) Answer() {
	b.mu.Lock()
	ev := b.script.answer
	b.script.asked, b.script.answer = nil, nil
	b.mu.Unlock()
	if ev != nil {
		ev.Set()
		b.changed()
	}
}

// pass lets time pass, with all that falls due before its end: what is due at that very instant comes after the next
// line. No time is all that is left of this instant.
func (b *Bench) pass(ctx context.Context, d time.Duration) error {
	switch {
	case b.virtual == nil:
		return b.clk.Sleep(ctx, d)
	case d == 0:
		b.virtual.EndOfInstant()
		return context.Cause(ctx)
	}
	return b.virtual.SleepFirst(ctx, d)
}
