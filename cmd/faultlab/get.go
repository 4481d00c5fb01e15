package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/engine/plain"
	"faultlab/store"
)

// runView is a run as get shows it, without payloads and results unless asked for.
type runView struct {
	Run       string            `json:"run"`
	Workflow  string            `json:"workflow"`
	Status    engine.Status     `json:"status"`
	Reconcile string            `json:"reconcile,omitempty"` // "needed"
	Verdict   engine.RunVerdict `json:"verdict,omitempty"`   // as far as the history says; empty while the run is open
	Waits     string            `json:"waits,omitempty"`     // the run that must be settled before this one goes on by itself
	Code      string            `json:"code,omitempty"`
	Message   string            `json:"message,omitempty"`
	RerunOf   string            `json:"rerunOf,omitempty"`
	Parent    string            `json:"parent,omitempty"`
	Delivery  string            `json:"deliveryKey,omitempty"`
	Admitted  time.Time         `json:"admitted"`
	Ended     time.Time         `json:"ended,omitzero"`
	Attempts  int               `json:"attempts"`
	Calls     int               `json:"calls"`
	Requests  int               `json:"requests"`
	Payload   json.RawMessage   `json:"payload,omitempty"`
	Steps     []stepView        `json:"steps"`
	Stopped   bool              `json:"stopped,omitempty"` // the run has not ended, and no faultlab run process is active
	Next      []advised         `json:"next,omitempty"`    // what comes next for each unknown operation
}

type stepView struct {
	Step         string          `json:"step"`
	Compensation bool            `json:"compensation,omitempty"`
	Belief       engine.Belief   `json:"belief,omitempty"`
	Operations   []operationView `json:"operations,omitempty"` // one for each write
	ByRecord     bool            `json:"byRecord,omitempty"`
	Attempts     []attemptView   `json:"attempts"`
	Result       json.RawMessage `json:"result,omitempty"`
}

type operationView struct {
	Write    string        `json:"write"`
	Belief   engine.Belief `json:"belief"`
	UndoneIn string        `json:"undoneIn,omitempty"` // the run that undid it: it does not stand
}

type attemptView struct {
	Attempt int            `json:"attempt"`
	Max     int            `json:"maxAttempts"`
	By      string         `json:"by,omitempty"`
	Key     string         `json:"key"`
	Outcome engine.Outcome `json:"outcome,omitempty"`
	Next    engine.Next    `json:"next,omitempty"`
	Due     time.Time      `json:"due,omitzero"`
	Code    string         `json:"code,omitempty"`
	Message string         `json:"message,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Settled bool           `json:"settled,omitempty"` // what was unknown of it when it ended is not any more
	Started time.Time      `json:"started"`
	Ended   time.Time      `json:"ended,omitzero"`
	Calls   []callView     `json:"calls"`
}

type callView struct {
	Call      int            `json:"call"`
	Name      string         `json:"name,omitempty"`
	Target    string         `json:"target"`
	Effect    engine.Effect  `json:"effect"`
	Assumed   bool           `json:"assumed"` // nobody declared the contract of its origin
	Key       string         `json:"key,omitempty"`
	Requests  int            `json:"requests"`
	How       engine.How     `json:"how,omitempty"`
	Finding   engine.Finding `json:"finding,omitempty"`
	Code      string         `json:"code,omitempty"`
	Status    int            `json:"status,omitempty"`
	Message   string         `json:"message,omitempty"`
	SettledBy int            `json:"settledBy,omitempty"` // the number of the call that settled it
	SettledIn int            `json:"settledIn,omitempty"` // the attempt of that call
	Evidence  []evidence     `json:"evidence,omitempty"`
	Decisions []decisionView `json:"decisions,omitempty"`
}

// decisionView is a decision about a call.
type decisionView struct {
	Decision engine.Decision `json:"decision"`
	Reason   string          `json:"reason,omitempty"`
	Forced   string          `json:"forced,omitempty"`
	At       time.Time       `json:"at"`
}

type getFlags struct {
	results, payloads, asJSON bool
	assume                    string
}

func (a *app) getCommand() *cobra.Command {
	var f getFlags
	c := &cobra.Command{
		Use:               "get RUN",
		Short:             "Show a run: its steps, attempts, calls, and what settles it",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRuns,
		RunE: func(_ *cobra.Command, args []string) error {
			declared, err := a.loadAssume(f.assume)
			if err != nil {
				return err
			}
			return a.withRun(args[0], func(h engine.History, r *engine.Run) error {
				v, err := a.viewOf(h, r, f, r.Assumed(declared))
				switch {
				case err != nil:
					return err
				case f.asJSON:
					return printJSON(a.Out, v, "  ")
				}
				a.printRun(v)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&f.results, "results", false, "show the results of steps")
	c.Flags().BoolVar(&f.payloads, "payloads", false, "show the payload and the records of look-ups")
	jsonFlag(c, &f.asJSON, "JSON")
	c.Flags().StringVar(&f.assume, "assume", "", assumeUsage)
	return c
}

func (a *app) viewOf(h engine.History, r *engine.Run, f getFlags, declared *assume.Set) (v runView, err error) {
	v = runView{Run: r.ID, Workflow: r.Admitted.Workflow, Status: r.Status, Code: r.Code, Message: r.Message, RerunOf: r.Admitted.RerunOf,
		Delivery: r.Admitted.Delivery, Admitted: r.AdmittedAt, Ended: r.EndedAt, Steps: []stepView{}}
	v.Attempts, v.Calls, v.Requests = r.Counts()
	if r.Reconcile {
		v.Reconcile = "needed"
	}
	if p := r.Admitted.Parent; p != nil {
		v.Parent = p.Run
	}
	if r.Waits != nil {
		v.Waits = r.Waits.Run
	}
	if f.payloads {
		v.Payload = r.Admitted.Payload
	}
	for _, s := range r.Steps {
		sv := stepView{Step: s.ID, Compensation: s.Undo, Belief: r.StepBelief(s), ByRecord: s.ByRecord}
		if f.results {
			sv.Result = s.Result
		}
		for _, o := range r.Operations(s) {
			if len(o.Calls) == 0 {
				continue
			}
			undone, err := r.UndoneIn(h, o)
			if err != nil {
				return v, err
			}
			sv.Operations = append(sv.Operations, operationView{o.Write, r.BeliefOf(o), undone})
		}
		for _, t := range s.Attempts {
			tv := attemptOf(t, f, declared)
			if tv.Next == engine.NextReconcile && settledSince(r, s, t) {
				tv.Next, tv.Settled = "", true
			}
			sv.Attempts = append(sv.Attempts, tv)
		}
		v.Steps = append(v.Steps, sv)
	}
	if v.Stopped, err = a.stopped(r); err != nil {
		return v, err
	}
	if v.Verdict, err = r.BelievedVerdict(h); err == nil {
		v.Next, err = a.adviceOn(h, r, declared)
	}
	return v, err
}

// settledSince reports whether nothing of the attempt is unknown any more.
func settledSince(r *engine.Run, s *engine.Step, t *engine.Attempt) bool {
	return s.Done || t != s.Last() || r.Status.Ended() && !r.Reconcile || r.Waits == nil && len(r.Doubts(s)) == 0
}

// stopped reports whether the run has not ended and no process owns the state file that could resume it.
func (a *app) stopped(r *engine.Run) (bool, error) {
	path, err := a.statePath()
	return err == nil && !r.Status.Ended() && !store.Owned(path), err
}

func attemptOf(t *engine.Attempt, f getFlags, declared *assume.Set) attemptView {
	v := attemptView{Attempt: t.N, Max: t.Max, By: t.By, Key: t.Key, Outcome: t.Outcome, Next: t.Next, Due: t.Due, Code: t.Code,
		Message: t.Message, Reason: t.Reason, Started: t.StartedAt, Ended: t.EndedAt, Calls: []callView{}}
	for _, c := range t.Calls {
		cv := callView{Call: c.N(), Name: c.Name, Target: c.Target, Effect: c.Effect, Key: c.Key, Requests: len(c.Requests), How: c.How,
			Finding: c.Finding, Code: c.Code, Status: c.Status, Message: c.Message, SettledBy: c.SettledBy.Call, SettledIn: c.SettledBy.Attempt}
		cv.Assumed = len(c.Requests) > 0 && !declared.Of(c.Requests[0].URL).Declared
		for _, e := range c.Evidence {
			ev := evidenceOf(e)
			if !f.payloads {
				ev.Record = nil
			}
			cv.Evidence = append(cv.Evidence, ev)
		}
		for _, d := range c.Decisions {
			cv.Decisions = append(cv.Decisions, decisionView{d.Decided.Decision, d.Reason, d.Forced, d.At})
		}
		v.Calls = append(v.Calls, cv)
	}
	return v
}

// say prints a line of escaped text.
func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.Out, plain.Escape(fmt.Sprintf(format, args...)))
}

func (a *app) printRun(v runView) {
	reconcile, verdict, waits, because := v.Reconcile, string(v.Verdict), v.Waits, v.Message
	if verdict != "" {
		verdict += ", as far as the history says"
	}
	if waits != "" {
		waits = "for " + waits
	}
	if because != "" {
		because = v.Code + ": " + because
	}
	for _, line := range [][2]string{{"run", v.Run}, {"workflow", v.Workflow}, {"status", string(v.Status)}, {"reconcile:", reconcile}, {"verdict", verdict},
		{"waits", waits}, {"because", because}, {"rerun of", v.RerunOf}, {"parent", v.Parent}, {"delivery", v.Delivery}, {"payload", string(v.Payload)},
		{"admitted", stamp(v.Admitted)}, {"ended", stamp(v.Ended)},
		{"counted", plural(v.Attempts, "attempt") + ", " + plural(v.Calls, "call") + ", " + plural(v.Requests, "request")}} {
		if line[1] != "" {
			a.say("%-9s %s", line[0], line[1])
		}
	}
	for _, s := range v.Steps {
		a.printStep(s)
	}
	if v.Stopped {
		fmt.Fprint(a.Out, "\nnext: No faultlab run process is active. The run goes on when you start one with its\n"+
			"      document: scheduled retries resume, a write without an answer becomes unknown.\n")
	}
	for _, next := range v.Next {
		fmt.Fprintln(a.Out)
		a.printNext("next: ", next)
	}
}

func (a *app) printStep(s stepView) {
	title := "step " + s.Step
	if s.Compensation {
		title = "compensation of " + s.Step
	}
	if s.Belief != "" {
		title += ": " + string(s.Belief)
	}
	if s.ByRecord {
		title += ", by record"
	}
	fmt.Fprintln(a.Out)
	a.say("%s", title)
	for _, o := range s.Operations {
		if len(s.Operations) > 1 {
			a.say("  operation %s: %s", o.Write, o.Belief)
		}
		if o.UndoneIn != "" {
			a.say("  undone in %s: %s does not stand, use a new key", o.UndoneIn, o.Write)
		}
	}
	if len(s.Attempts) > 0 { // the same for all attempts
		a.say("  key %s", s.Attempts[0].Key)
	}
	for _, t := range s.Attempts {
		a.printAttempt(t)
	}
	if s.Result != nil {
		a.say("  result %s", s.Result)
	}
}

func (a *app) printAttempt(t attemptView) {
	outcome := cmp.Or(string(t.Outcome), "open")
	if t.By != "" {
		outcome += " (" + t.By + ")"
	}
	a.say("  attempt %d of %d: %s", t.Attempt, t.Max, outcome)
	if t.Code != "" {
		a.say("    %s [%s]", t.Message, t.Code)
	}
	if t.Settled {
		a.say("    settled since (%s)", t.Reason)
	} else if t.Reason != "" {
		a.say("    next: %s (%s)", t.Next, t.Reason)
	} else if !t.Due.IsZero() {
		a.say("    next: %s, due %s", t.Next, stamp(t.Due))
	}
	for _, c := range t.Calls {
		a.printCall(t, c)
	}
}

func (a *app) printCall(t attemptView, c callView) {
	end := cmp.Or(string(c.How), "open")
	switch {
	case c.Status != 0:
		end = strconv.Itoa(c.Status)
	case c.Requests == 0 && c.Code != "": // of a database or a workflow: its row of the rules is named after HTTP
		end = c.Code
	}
	for _, more := range []string{string(c.Finding), string(c.Effect), plural(c.Requests, "request")} {
		if more != "" {
			end += ", " + more
		}
	}
	if c.Assumed {
		end += ", contract assumed"
	}
	if c.SettledBy != 0 {
		end += fmt.Sprintf(", settled by call %d", c.SettledBy)
		if c.SettledIn != t.Attempt {
			end += fmt.Sprintf(" of attempt %d", c.SettledIn)
		}
	}
	a.say("    call %d %s: %s", c.Call, c.Target, end)
	if c.Key != "" && c.Key != t.Key {
		a.say("      key %s", c.Key)
	}
	for _, e := range c.Evidence {
		a.say("      evidence %s  %s", stamp(e.At), e)
		if e.Record != nil {
			a.say("        record %s", e.Record)
		}
	}
	for _, d := range c.Decisions {
		a.say("      decision %s  %s", stamp(d.At), strings.TrimSpace(string(d.Decision)+" "+d.Reason))
		if d.Forced != "" {
			a.say("        forced against: %s", d.Forced)
		}
	}
}
