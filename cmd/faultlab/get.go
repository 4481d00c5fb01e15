package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/store"
)

// runView is a run as get shows it. Payloads and results are left out unless asked for.
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
		Use:   "get RUN",
		Short: "Show a run: its steps, attempts, calls, and what settles it",
		Long: "get shows what the history says of a run. Payloads and results are left out unless\n" +
			"asked for. RUN is a run's id or a beginning of it.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRuns,
		RunE: func(_ *cobra.Command, args []string) error {
			declared, err := a.loadAssume(f.assume)
			if err != nil {
				return err
			}
			return a.withRun(args[0], func(h engine.History, r *engine.Run) error {
				declared := r.Assumed(declared)
				v := a.viewOf(r, f, declared)
				if err := v.judge(h, r); err != nil {
					return failed(err)
				}
				if v.Next, err = a.adviceOn(h, r, declared); err != nil {
					return err
				}
				if v.Stopped, err = a.stopped(r); err != nil {
					return err
				}
				if f.asJSON {
					return printJSON(a.Out, v)
				}
				a.printRun(v)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&f.results, "results", false, "show the results of steps")
	c.Flags().BoolVar(&f.payloads, "payloads", false, "show the payload and the records of look-ups")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&f.assume, "assume", "", "`FILE` of assumed contracts, by origin (default: what the last run was told)")
	return c
}

// readRun folds a run from the state file, whoever owns it.
func (a *app) readRun(id string) (run *engine.Run, err error) {
	err = a.withRun(id, func(_ engine.History, r *engine.Run) error {
		run = r
		return nil
	})
	return run, err
}

func (a *app) viewOf(r *engine.Run, f getFlags, declared *assume.Set) runView {
	v := runView{Run: r.ID, Workflow: r.Admitted.Workflow, Status: r.Status, Code: r.Code, Message: r.Message, RerunOf: r.Admitted.RerunOf,
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
		for _, t := range s.Attempts {
			tv := attemptOf(t, f, declared)
			if tv.Next == engine.NextReconcile && settledSince(r, s, t) {
				tv.Next, tv.Settled = "", true
			}
			sv.Attempts = append(sv.Attempts, tv)
		}
		v.Steps = append(v.Steps, sv)
	}
	return v
}

// settledSince reports whether nothing of the attempt is unknown any more.
func settledSince(r *engine.Run, s *engine.Step, t *engine.Attempt) bool {
	return s.Done || t != s.Last() || r.Status.Ended() && !r.Reconcile || r.Waits == nil && len(r.Doubts(s)) == 0
}

// stopped reports whether the run has not ended, and no process owns the state file that could carry it on.
func (a *app) stopped(r *engine.Run) (bool, error) {
	if r.Status.Ended() {
		return false, nil
	}
	path, err := a.statePath()
	if err != nil {
		return false, err
	}
	return !store.Owned(path), nil
}

// judge adds what is believed of the run's operations, and of the run as a whole.
func (v *runView) judge(h engine.History, r *engine.Run) (err error) {
	for i, s := range r.Steps {
		for _, o := range r.Operations(s) {
			if len(o.Calls) == 0 {
				continue
			}
			of := operationView{Write: o.Write, Belief: r.BeliefOf(o)}
			if of.UndoneIn, err = r.UndoneIn(h, o); err != nil {
				return err
			}
			v.Steps[i].Operations = append(v.Steps[i].Operations, of)
		}
	}
	v.Verdict, err = r.BelievedVerdict(h)
	return err
}

func attemptOf(t *engine.Attempt, f getFlags, declared *assume.Set) attemptView {
	v := attemptView{Attempt: t.N, Max: t.Max, By: t.By, Key: t.Key, Outcome: t.Outcome, Next: t.Next, Due: t.Due, Code: t.Code,
		Message: t.Message, Reason: t.Reason, Started: t.StartedAt, Ended: t.EndedAt, Calls: []callView{}}
	for _, c := range t.Calls {
		cv := callView{Call: c.N(), Name: c.Name, Target: c.Target, Effect: c.Effect, Key: c.Key, Requests: len(c.Requests), How: c.How,
			Finding: c.Finding, Code: c.Code, Status: c.Status, Message: c.Message, SettledBy: c.SettledBy.Call, SettledIn: c.SettledBy.Attempt}
		if len(c.Requests) > 0 {
			cv.Assumed = !declared.Of(c.Requests[0].URL).Declared
		}
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

func (a *app) printRun(v runView) {
	fmt.Fprintf(a.Out, "run       %s\nworkflow  %s\nstatus    %s\n", v.Run, clean(v.Workflow), v.Status)
	if v.Reconcile != "" {
		fmt.Fprintf(a.Out, "reconcile: %s\n", v.Reconcile)
	}
	if v.Verdict != "" {
		fmt.Fprintf(a.Out, "verdict   %s, as far as the history says\n", v.Verdict)
	}
	if v.Waits != "" {
		fmt.Fprintf(a.Out, "waits     for %s\n", v.Waits)
	}
	if v.Message != "" {
		fmt.Fprintf(a.Out, "because   %s: %s\n", v.Code, clean(v.Message))
	}
	for _, line := range []struct{ label, text string }{{"rerun of", v.RerunOf}, {"parent", v.Parent}, {"delivery", v.Delivery}, {"payload", string(v.Payload)}} {
		if line.text != "" {
			fmt.Fprintf(a.Out, "%-9s %s\n", line.label, clean(line.text))
		}
	}
	fmt.Fprintf(a.Out, "admitted  %s\nended     %s\ncounted   %s, %s, %s\n",
		stamp(v.Admitted), stamp(v.Ended), plural(v.Attempts, "attempt"), plural(v.Calls, "call"), plural(v.Requests, "request"))
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
	fmt.Fprintf(a.Out, "\n%s\n", clean(title))
	for _, o := range s.Operations {
		if len(s.Operations) > 1 {
			fmt.Fprintf(a.Out, "  operation %s: %s\n", clean(o.Write), o.Belief)
		}
		if o.UndoneIn != "" {
			fmt.Fprintf(a.Out, "  undone in %s: %s does not stand, use a new key\n", o.UndoneIn, clean(o.Write))
		}
	}
	if len(s.Attempts) > 0 { // the same for all attempts
		fmt.Fprintf(a.Out, "  key %s\n", clean(s.Attempts[0].Key))
	}
	for _, t := range s.Attempts {
		a.printAttempt(t)
	}
	if s.Result != nil {
		fmt.Fprintf(a.Out, "  result %s\n", clean(string(s.Result)))
	}
}

func (a *app) printAttempt(t attemptView) {
	outcome := string(t.Outcome)
	if outcome == "" {
		outcome = "open"
	}
	if t.By != "" {
		outcome += " (" + t.By + ")"
	}
	fmt.Fprintf(a.Out, "  attempt %d of %d: %s\n", t.Attempt, t.Max, outcome)
	if t.Code != "" {
		fmt.Fprintf(a.Out, "    %s [%s]\n", clean(t.Message), t.Code)
	}
	if t.Settled {
		fmt.Fprintf(a.Out, "    settled since (%s)\n", clean(t.Reason))
	} else if t.Reason != "" {
		fmt.Fprintf(a.Out, "    next: %s (%s)\n", t.Next, clean(t.Reason))
	} else if !t.Due.IsZero() {
		fmt.Fprintf(a.Out, "    next: %s, due %s\n", t.Next, stamp(t.Due))
	}
	for _, c := range t.Calls {
		a.printCall(t, c)
	}
}

func (a *app) printCall(t attemptView, c callView) {
	end := "open"
	switch {
	case c.Status != 0:
		end = fmt.Sprint(c.Status)
	case c.Requests == 0 && c.Code != "": // of a database or a workflow: its row of the rules is named after HTTP
		end = c.Code
	case c.How != "":
		end = string(c.How)
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
	fmt.Fprintf(a.Out, "    call %d %s: %s\n", c.Call, clean(c.Target), end)
	if c.Key != "" && c.Key != t.Key {
		fmt.Fprintf(a.Out, "      key %s\n", clean(c.Key))
	}
	for _, e := range c.Evidence {
		fmt.Fprintf(a.Out, "      evidence %s  %s\n", stamp(e.At), found(e))
		if e.Record != nil {
			fmt.Fprintf(a.Out, "        record %s\n", clean(string(e.Record)))
		}
	}
	for _, d := range c.Decisions {
		fmt.Fprintf(a.Out, "      decision %s  %s\n", stamp(d.At), strings.TrimSpace(strings.Join([]string{string(d.Decision), clean(d.Reason)}, " ")))
		if d.Forced != "" {
			fmt.Fprintf(a.Out, "        forced against: %s\n", clean(d.Forced))
		}
	}
}
