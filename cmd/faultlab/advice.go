package main

import (
	"fmt"
	"time"

	"faultlab/engine"
	"faultlab/engine/assume"
)

// advised is what comes next for one unknown operation, as table e has it.
type advised struct {
	Run     string        `json:"run"`
	Step    string        `json:"step,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
	Call    int           `json:"call,omitempty"`
	Key     string        `json:"key,omitempty"`
	Advice  engine.Advice `json:"advice,omitempty"` // empty where the run waits for another one, or is at work
	Why     string        `json:"why"`
	Command string        `json:"command,omitempty"`

	call *engine.Call
}

// adviceOn is what comes next for each unknown operation of a run, or for the run that it waits for.
func (a *app) adviceOn(h engine.History, r *engine.Run, declared *assume.Set) ([]advised, error) {
	var out []advised
	for _, c := range r.Unsettled() {
		use, err := r.KeyUse(h, c)
		if err != nil {
			return nil, failed(err)
		}
		out = append(out, a.advise(r, c, r.Situation(c, use, declared, a.clk.Now())))
	}
	if r.Waits != nil {
		out = append(out, advised{Run: r.ID, Why: "it waits for " + r.Waits.Run + ": settle that run, and this one goes on by itself", Command: a.command("get", r.Waits.Run)})
	}
	return out, nil
}

// advise is what comes next for one unknown operation.
func (a *app) advise(r *engine.Run, c *engine.Call, s engine.Situation) advised {
	v := advised{Run: r.ID, Step: stepName(c.Step, c.Undo), Attempt: c.Attempt, Call: c.N(), Key: c.Key, Advice: s.Advice(), Why: s.Sentence(), call: c}
	words := settleWords("resolve", r.ID, c.Key)
	switch v.Advice {
	case engine.AdviseRecord:
		words = append(words, "--record")
	case engine.AdviseResult:
		words = append(words, "--record", "--result", "JSON")
	case engine.AdviseResubmit:
		words = append(words, "--resubmit")
	case engine.AdviseLookup:
		words = settleWords(verbLookup, r.ID, c.Key)
	default:
		if d := c.Decision(); d != nil && d.Decision == engine.Escalate {
			v.Why = fmt.Sprintf("Escalated on %s: %s. When somebody knows what happened, say it with --record --result JSON or --abandon, and --force.", stamp(d.At), d.Reason)
			break
		}
		words = append(words, "--escalate", "REASON")
	}
	if words[0] == "resolve" && c.Write != "" && r.ByWrite(c) {
		words = append(words, "--write", c.Write)
	}
	v.Command = a.command(words...)
	return v
}

// about reports whether the advice is about the call that a look-up asked about.
func (v advised) about(e evidence) bool {
	return v.Step == e.Step && v.Key == e.Key && (e.Key != "" || v.Attempt == e.Attempt && v.Call == e.Call)
}

// printNext prints what comes next, as a sentence and a command line.
func (a *app) printNext(label string, v advised) {
	indent := len(label)
	fmt.Fprintf(a.Out, "%s%s\n", label, wrap(clean(v.Why), indent))
	if v.Command != "" {
		fmt.Fprintf(a.Out, "%*s%s\n", indent, "", clean(v.Command))
	}
}

// withRun folds a run from the state file, whoever owns it, and has f look at it.
func (a *app) withRun(id string, f func(h engine.History, r *engine.Run) error) error {
	h, err := a.openReader()
	if err != nil {
		return err
	}
	defer h.Close()
	full, err := engine.FindRun(h, id)
	if err != nil {
		return a.runError(id, err)
	}
	events, err := h.Events(full)
	if err != nil {
		return failed(fmt.Errorf("read run %s: %w", full, err))
	}
	return f(h, engine.Fold(events))
}

// nextOf is adviceOn for a run of the state file.
func (a *app) nextOf(run string, assumeFile string) (next []advised, err error) {
	declared, err := a.loadAssume(assumeFile)
	if err != nil {
		return nil, err
	}
	err = a.withRun(run, func(h engine.History, r *engine.Run) error {
		next, err = a.adviceOn(h, r, declared)
		return err
	})
	return next, err
}

// pace lets something happen at most so many times a second.
type pace struct {
	clk  interface{ Now() time.Time }
	rate float64 // 0: as often as one likes
	next time.Time
}

// due is how long the next one has to wait; it is taken then.
func (p *pace) due() time.Duration {
	if p.rate <= 0 {
		return 0
	}
	now := p.clk.Now()
	if p.next.Before(now) {
		p.next = now
	}
	wait := p.next.Sub(now)
	p.next = p.next.Add(time.Duration(float64(time.Second) / p.rate))
	return wait
}
