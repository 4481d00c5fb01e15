package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/engine/plain"
	"faultlab/store"
)

// advised is what to do next about one unknown operation, by table e.
type advised struct {
	Run     string        `json:"run"`
	Step    string        `json:"step,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
	Call    int           `json:"call,omitempty"`
	Key     string        `json:"key,omitempty"`
	Advice  engine.Advice `json:"advice,omitempty"` // empty where the run waits for another one
	Why     string        `json:"why"`
	Command string        `json:"command,omitempty"`
}

// adviceOn returns what to do next about each unknown operation of a run, and about the run that it waits for.
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
		out = append(out, advised{Run: r.ID, Why: "it waits for " + r.Waits.Run + ": settle that run, and this one resumes by itself", Command: a.command("get", r.Waits.Run)})
	}
	return out, nil
}

func (a *app) advise(r *engine.Run, c *engine.Call, s engine.Situation) advised {
	v := advised{Run: r.ID, Step: engine.StepName(c.Step, c.Undo), Attempt: c.Attempt, Call: c.N(), Key: c.Key, Advice: s.Advice(), Why: s.Sentence()}
	words := []string{verbResolve, r.ID}
	if c.Key != "" {
		words = append(words, c.Key)
	}
	switch v.Advice {
	case engine.AdviseRecord:
		words = append(words, "--record")
	case engine.AdviseResult:
		words = append(words, "--record", "--result", "JSON")
	case engine.AdviseResubmit:
		words = append(words, "--resubmit")
	case engine.AdviseLookup:
		words[0] = verbLookup
	default:
		if d := c.Decision(); d != nil && d.Decision == engine.Escalate {
			v.Why = fmt.Sprintf("Escalated on %s: %s. When somebody knows what happened, decide with --record --result JSON or --abandon, and --force.", stamp(d.At), d.Reason)
			break
		}
		words = append(words, "--escalate", "REASON")
	}
	if words[0] == verbResolve && c.Write != "" && r.ByWrite(c) {
		words = append(words, "--write", c.Write)
	}
	v.Command = a.command(words...)
	return v
}

// printNext prints what to do next, as a sentence and a command line.
func (a *app) printNext(label string, v advised) {
	fmt.Fprintf(a.Out, "%s%s\n", label, wrap(plain.Escape(v.Why), len(label)))
	if v.Command != "" {
		a.say("%*s%s", len(label), "", v.Command)
	}
}

// evidence is what a look-up proved, as JSON and through the inbox.
type evidence struct {
	Step      string          `json:"step"`
	Attempt   int             `json:"attempt"`
	Call      int             `json:"call"`
	Key       string          `json:"key"`
	URL       string          `json:"url"`
	Found     engine.Found    `json:"found"`
	Unproven  bool            `json:"unproven,omitempty"` // no record, at an address that was only assumed and has never found one
	Records   int             `json:"records,omitempty"`
	Status    int             `json:"status,omitempty"`
	Error     string          `json:"error,omitempty"`
	Match     engine.Match    `json:"match,omitempty"`
	Conflicts []string        `json:"conflicts,omitempty"`
	At        time.Time       `json:"at"`
	Record    json.RawMessage `json:"record,omitempty"`
}

func evidenceOf(e engine.EvidenceAt) evidence {
	out := evidence{Step: engine.StepName(e.Step, e.Undo), Attempt: e.Attempt, Call: e.Call, Key: e.Key, URL: e.URL, Found: e.Found, Unproven: e.Unproven,
		Records: e.Records, Status: e.Status, Error: e.Error, Match: e.Match, Conflicts: e.Conflicts, At: e.At}
	if json.Valid(e.Body) {
		out.Record = e.Body
	}
	return out
}

// String is the evidence in one line.
func (e evidence) String() string {
	text := string(e.Found)
	if e.Unproven {
		text += ", unproven"
	}
	if e.Status != 0 {
		text += fmt.Sprintf(" (%d)", e.Status)
	}
	if e.Error != "" {
		text += ": " + e.Error
	}
	switch e.Match {
	case engine.Matches:
		text += ", and it matches what was sent"
	case engine.Contradicts:
		text += ", but it contradicts what was sent in " + joined(e.Conflicts)
	case engine.Incomparable:
		text += ", but it cannot be compared with what was sent"
	}
	return text
}

func (a *app) lookupCommand() *cobra.Command {
	var url string
	var asJSON bool
	var w workerOptions
	c := &cobra.Command{
		Use:               "lookup RUN [KEY]",
		Short:             "Look up a run's writes by key",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := a.ask(cmd.Context(), request{verb: verbLookup, run: args[0], args: lookupArgs{Key: second(args), URL: url}, worker: w})
			if err != nil {
				return nothingAsked(err)
			}
			return a.printEvidence(out, asJSON, w.assume)
		},
	}
	c.Flags().StringVar(&url, "url", "", "look-up address instead of the assumed one: a `TEMPLATE` with {url}, {origin} and {key}")
	jsonFlag(c, &asJSON, "the evidence as a JSON array")
	w.flags(c.Flags())
	return c
}

// second returns the second argument; "" if there is none.
func second(args []string) string {
	if len(args) > 1 {
		return args[1]
	}
	return ""
}

// nothingAsked turns the error of a look-up that had nobody or nothing to ask about into wrong use.
func nothingAsked(err error) error {
	p, file := (*problem)(nil), (*store.FileError)(nil)
	if errors.As(err, &p) && (p.Code == codeNoRun || p.Code == codeRefused) || errors.As(err, &file) && file.What == store.Missing {
		return misused(err)
	}
	return err
}

// printEvidence prints what was found; the worst of it is the exit code.
func (a *app) printEvidence(out answer, asJSON bool, assumeFile string) error {
	code := 0
	for _, e := range out.Evidence {
		switch {
		case e.Found == engine.FoundNoAnswer:
			code = exitNoAnswer
		case e.Found == engine.FoundNoRecord && code == 0:
			code = exitFailed
		}
	}
	if asJSON {
		if err := printJSON(a.Out, append([]evidence{}, out.Evidence...), "  "); err != nil {
			return err
		}
	} else {
		declared, err := a.loadAssume(assumeFile)
		if err != nil {
			return err
		}
		err = a.withRun(out.Run, func(h engine.History, r *engine.Run) error {
			next, err := a.adviceOn(h, r, declared)
			for _, e := range out.Evidence {
				a.printOneEvidence(e, next)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if code != 0 {
		return quiet(code)
	}
	return nil
}

func (a *app) printOneEvidence(e evidence, next []advised) {
	a.say("%s", e)
	a.say("  step    %s, attempt %d", e.Step, e.Attempt)
	a.say("  key     %s", e.Key)
	a.say("  from    %s", e.URL)
	if e.Record != nil {
		a.say("  record  %s", plain.Shorten(string(e.Record), 400))
	}
	i := slices.IndexFunc(next, func(v advised) bool {
		return v.Step == e.Step && v.Key == e.Key && (e.Key != "" || v.Attempt == e.Attempt && v.Call == e.Call)
	})
	if i >= 0 {
		a.printNext("  next    ", next[i])
	}
}

func (a *app) resolveCommand() *cobra.Command {
	var q engine.Resolution
	var escalate, result string
	var w workerOptions
	decide := map[engine.Decision]*bool{engine.Record: new(bool), engine.Resubmit: new(bool), engine.Abandon: new(bool)}
	c := &cobra.Command{
		Use:               "resolve RUN [KEY]",
		Short:             "Resolve an unknown operation",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			var chosen []engine.Decision
			for d, on := range decide {
				if *on {
					chosen = append(chosen, d)
				}
			}
			if cmd.Flags().Changed("escalate") {
				chosen = append(chosen, engine.Escalate)
			}
			if len(chosen) != 1 {
				return usage("choose one of --record, --resubmit, --abandon and --escalate REASON")
			}
			q.Key, q.Decision = second(args), chosen[0]
			if escalate != "" {
				q.Reason = escalate
			}
			if result != "" {
				if q.Decision != engine.Record {
					return usage("--result goes with --record")
				}
				if !json.Valid([]byte(result)) {
					return usage("--result is not JSON: %s", plain.Shorten(result, 60))
				}
				q.Result = json.RawMessage(result)
			}
			out, err := a.ask(cmd.Context(), request{verb: verbResolve, run: args[0], args: q, settle: true, console: true, worker: w})
			if err == nil {
				_, err = a.printEnd(string(q.Decision)+": ", out.Run)
			}
			return err
		},
	}
	c.Flags().BoolVar(decide[engine.Record], "record", false, "it happened; go on from there")
	c.Flags().BoolVar(decide[engine.Resubmit], "resubmit", false, "one more attempt under the same key")
	c.Flags().BoolVar(decide[engine.Abandon], "abandon", false, "not wanted any more")
	c.Flags().StringVar(&escalate, "escalate", "", "nobody can prove it: `REASON`, for the person who gets it")
	c.Flags().StringVar(&result, "result", "", "with --record: the step's result as `JSON`, given by hand")
	c.Flags().StringVar(&q.Write, "write", "", "the write to decide about, by its `NAME` in get: where keys do not tell unknown writes apart")
	c.Flags().StringVar(&q.Reason, "reason", "", "`WHY`, for the history")
	c.Flags().BoolVar(&q.Force, "force", false, "decide against the evidence, where that is possible")
	w.flags(c.Flags())
	return c
}
