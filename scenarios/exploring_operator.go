package scenarios

import (
	"context"
	"fmt"
	"slices"

	"faultlab/engine"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
)

// Operators of an exploration: what is done about unknown operations once the runs have ended.
const (
	OperatorPatient = "patient" // looks them up once everything on its way has arrived
	OperatorPrompt  = "prompt"  // looks them up at once
	OperatorNone    = "none"    // nobody looks
)

// Operators are all of them.
var Operators = []string{OperatorPatient, OperatorPrompt, OperatorNone}

// lookUpRounds is how often an operator looks up what stays unknown before it escalates.
const lookUpRounds = 2

// mostResubmits is how often an operator resubmits one operation before it escalates.
const mostResubmits = 4

// settle lets the operator do one thing about what is unknown. It reports false where there is nothing left to do.
func (e *explorer) settle(ctx context.Context) bool {
	if e.b.down() || !slices.ContainsFunc(e.all(), inDoubt) {
		return false
	}
	e.phase = fmt.Sprint("operator ", e.rounds)
	if e.rounds >= lookUpRounds {
		v := e.b.line.Latest()
		i := slices.IndexFunc(v.Operations, func(o Operation) bool { return needsOperator(&o) })
		return i >= 0 && e.escalate(ctx, &v.Operations[i])
	}
	if err := e.do(ctx, "lookup"); err != nil {
		e.rounds++
		return true
	}
	if e.b.down() || e.halted {
		return true
	}
	v := e.b.line.Latest()
	for i := range v.Operations {
		o := &v.Operations[i]
		if !needsOperator(o) {
			continue
		}
		if d := e.otherDecision(o); d != "" {
			if e.decide(ctx, o, d, "") == nil {
				return true
			}
		}
		for _, option := range o.Options {
			if option.Advised && option.Permission == engine.Allowed && option.Decision != engine.Escalate && !e.tired(o, option.Decision) {
				if e.decide(ctx, o, option.Decision, "") == nil {
					e.rounds = 0
					return true
				}
			}
		}
	}
	e.rounds++
	return true
}

// otherDecision lets the operator take another decision than the advised one where table e allows it.
func (e *explorer) otherDecision(o *Operation) engine.Decision {
	var alts []string
	for _, option := range o.Options {
		if !option.Advised && option.Permission == engine.Allowed && option.Decision != engine.Escalate && !e.tired(o, option.Decision) {
			alts = append(alts, string(option.Decision))
		}
	}
	return engine.Decision(e.choose(explore.Decision, "the operator about "+o.Name(), alts, e.providerState))
}

// tired reports whether an operation was resubmitted as often as an operator does it.
func (e *explorer) tired(o *Operation, d engine.Decision) bool {
	n := 0
	for _, r := range e.runs {
		s := r.StepAt(o.Step, o.Undo)
		if s == nil || !slices.Contains(o.Runs, r.ID) {
			continue
		}
		for _, a := range s.Attempts {
			if a.By == "resubmit" {
				n++
			}
		}
	}
	return d == engine.Resubmit && n >= mostResubmits
}

// needsOperator reports whether an operation is unknown and nobody has escalated it.
func needsOperator(o *Operation) bool { return slices.ContainsFunc(o.Doubts, unescalated) }

func unescalated(c *engine.Call) bool {
	d := c.Decision()
	return d == nil || d.Decision != engine.Escalate
}

// inDoubt reports whether a run has an operation that is unknown and that nobody has escalated.
func inDoubt(r *engine.Run) bool {
	for _, s := range r.Steps {
		for _, o := range r.Operations(s) {
			if slices.ContainsFunc(r.DoubtsOf(o), unescalated) {
				return true
			}
		}
	}
	return false
}

func (e *explorer) escalate(ctx context.Context, o *Operation) bool {
	e.rounds = 0
	return e.decide(ctx, o, engine.Escalate, ` "nobody could prove it"`) == nil
}

// decide takes a decision about the first doubt of an operation that nobody has escalated.
func (e *explorer) decide(ctx context.Context, o *Operation, d engine.Decision, more string) error {
	i := slices.IndexFunc(o.Doubts, unescalated)
	if i < 0 {
		return nil
	}
	text := fmt.Sprintf("%s run=%d step=%s", d, slices.Index(e.order, o.DoubtRuns[i])+1, engine.StepName(o.Step, o.Undo))
	if len(o.Doubts) > 1 && o.Doubts[i].Key != "" {
		text += " key=" + lang.Quote(o.Doubts[i].Key)
	}
	if o.Several && o.Write != "" {
		text += " write=" + lang.Quote(o.Write)
	}
	l, err := lang.ParseLine(text + more)
	if err != nil {
		return err
	}
	return e.b.perform(ctx, l)
}
