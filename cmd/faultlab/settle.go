package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"faultlab/engine"
	"faultlab/store"
)

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
	out := evidence{Step: stepName(e.Step, e.Undo), Attempt: e.Attempt, Call: e.Call, Key: e.Key, URL: e.URL, Found: e.Found, Unproven: e.Unproven, Records: e.Records, Status: e.Status,
		Error: e.Error, Match: e.Match, Conflicts: e.Conflicts, At: e.At}
	if json.Valid(e.Body) {
		out.Record = e.Body
	}
	return out
}

func (a *app) lookupCommand() *cobra.Command {
	var url string
	var asJSON bool
	var w workerOptions
	c := &cobra.Command{
		Use:   "lookup RUN [KEY]",
		Short: "Look up a run's writes by key",
		Long: "lookup asks the provider about the unknown writes of a run, or about the newest one\n" +
			"where none is unknown, and keeps each answer as evidence. It exits 0 when there is a\n" +
			"record, 1 when there is none, 2 when there was nothing to ask, and 3 when nobody\n" +
			"answered. No record does not mean that it did not happen: a late request can still\n" +
			"arrive.",
		Example:           "  faultlab lookup run_4be1\n  faultlab lookup run_4be1 --url '{origin}/payments?key={key}'",
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
	c.Flags().BoolVar(&asJSON, "json", false, "print the evidence as a JSON array")
	w.flags(c.Flags())
	return c
}

func second(args []string) string {
	if len(args) > 1 {
		return args[1]
	}
	return ""
}

// nothingAsked is wrong use where a look-up had nobody or nothing to ask about.
func nothingAsked(err error) error {
	p, file := (*problem)(nil), (*store.FileError)(nil)
	if errors.As(err, &p) && (p.Code == codeNoRun || p.Code == codeRefused) || errors.As(err, &file) && file.What == store.Missing {
		return &exit{exitUsage, err}
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
		if err := printJSON(a.Out, out.Evidence); err != nil {
			return err
		}
	} else {
		next, err := a.nextOf(out.Run, assumeFile)
		if err != nil {
			return err
		}
		for _, e := range out.Evidence {
			a.printOneEvidence(e, next)
		}
	}
	if code != 0 {
		return quiet(code)
	}
	return nil
}

func (a *app) printOneEvidence(e evidence, next []advised) {
	fmt.Fprintf(a.Out, "%s\n  step    %s, attempt %d\n  key     %s\n  from    %s\n", found(e), clean(e.Step), e.Attempt, clean(e.Key), clean(e.URL))
	if e.Record != nil {
		fmt.Fprintf(a.Out, "  record  %s\n", clean(shortened(string(e.Record), 400)))
	}
	if i := slices.IndexFunc(next, func(v advised) bool { return v.about(e) }); i >= 0 {
		a.printNext("  next    ", next[i])
	}
}

// found is evidence in one line.
func found(e evidence) string {
	text := string(e.Found)
	if e.Unproven {
		text += ", unproven"
	}
	if e.Status != 0 {
		text += fmt.Sprintf(" (%d)", e.Status)
	}
	if e.Error != "" {
		text += ": " + clean(e.Error)
	}
	switch e.Match {
	case engine.Matches:
		text += ", and it matches what was sent"
	case engine.Contradicts:
		text += ", but it contradicts what was sent in " + clean(strings.Join(e.Conflicts, ", "))
	case engine.Incomparable:
		text += ", but it cannot be compared with what was sent"
	}
	return text
}

func (a *app) resolveCommand() *cobra.Command {
	var record, resubmit, abandon, force bool
	var escalate, result, reason, write string
	var w workerOptions
	c := &cobra.Command{
		Use:   "resolve RUN [KEY]",
		Short: "Resolve an unknown operation",
		Long: "resolve takes one of four decisions. It needs evidence newer than the last request\n" +
			"under the key (see lookup); what contradicts the evidence needs --force, and the\n" +
			"history says so.\n\n" +
			"  --record     it happened: the record found is the reply, and the run goes on\n" +
			"  --resubmit   no record: one more attempt under the same key\n" +
			"  --abandon    no record, and it is not wanted any more\n" +
			"  --escalate   nobody can prove it: it stays unknown, for a person",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			q := resolveArgs{Key: second(args), Write: write, Reason: reason, Force: force}
			chosen := 0
			for _, d := range []struct {
				on bool
				d  engine.Decision
			}{{record, engine.Record}, {resubmit, engine.Resubmit}, {abandon, engine.Abandon}, {cmd.Flags().Changed("escalate"), engine.Escalate}} {
				if d.on {
					chosen++
					q.Decision = d.d
				}
			}
			if chosen != 1 {
				return usage("choose one of --record, --resubmit, --abandon and --escalate REASON")
			}
			if escalate != "" {
				q.Reason = escalate
			}
			if result != "" {
				if q.Decision != engine.Record {
					return usage("--result goes with --record")
				}
				if !json.Valid([]byte(result)) {
					return usage("--result is not JSON: %s", shortened(result, 60))
				}
				q.Result = json.RawMessage(result)
			}
			out, err := a.ask(cmd.Context(), request{verb: verbResolve, run: args[0], args: q, settle: true, console: true, worker: w})
			if err != nil {
				return err
			}
			_, err = a.printEnd(string(q.Decision)+": ", out.Run)
			return err
		},
	}
	c.Flags().BoolVar(&record, "record", false, "it happened; go on from there")
	c.Flags().BoolVar(&resubmit, "resubmit", false, "one more attempt under the same key")
	c.Flags().BoolVar(&abandon, "abandon", false, "not wanted any more")
	c.Flags().StringVar(&escalate, "escalate", "", "nobody can prove it: `REASON`, for the person who gets it")
	c.Flags().StringVar(&result, "result", "", "with --record: the step's result, given by hand as `JSON`")
	c.Flags().StringVar(&write, "write", "", "the write that it is about, by its `NAME` in get: where keys do not tell unknown writes apart")
	c.Flags().StringVar(&reason, "reason", "", "`WHY`, for the history")
	c.Flags().BoolVar(&force, "force", false, "decide against the evidence, where that is possible")
	w.flags(c.Flags())
	return c
}

// settleWords are a command about one unknown call.
func settleWords(verb, run, key string) []string {
	if key == "" {
		return []string{verb, run}
	}
	return []string{verb, run, key}
}
