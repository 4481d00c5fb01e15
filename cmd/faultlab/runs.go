package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/scenarios/lang"
	"faultlab/store"
)

var statuses = []string{string(engine.StatusQueued), string(engine.StatusRunning), string(engine.StatusWaiting), string(engine.StatusCancelling),
	string(engine.StatusSucceeded), string(engine.StatusFailed), string(engine.StatusCancelled)}

const maxLimit = 200 // runs on one page of a list

func (a *app) listCommand() *cobra.Command {
	var q engine.Query
	var status string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List runs, the newest first",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			q.Status = engine.Status(status)
			switch {
			case status != "" && !slices.Contains(statuses, status):
				return usage("not a valid --status: %q; write one of %s", status, joined(statuses))
			case q.Limit < 1 || q.Limit > maxLimit:
				return usage("not a valid --limit: %d; write 1 to %d", q.Limit, maxLimit)
			}
			return a.reading(func(h *store.Reader) error { return a.list(h, q, asJSON) })
		},
	}
	c.Flags().StringVar(&status, "status", "", "only runs with this `STATUS`: "+joined(statuses))
	c.Flags().BoolVar(&q.Reconcile, "reconcile", false, "only runs that need reconciling")
	c.Flags().StringVar(&q.Workflow, "workflow", "", "only runs of this `WORKFLOW`")
	c.Flags().IntVar(&q.Limit, "limit", 20, "`N` runs, at most 200")
	c.Flags().StringVar(&q.Before, "before", "", "only runs older than this `RUN`, for the next page")
	jsonFlag(c, &asJSON, "a JSON array")
	return c
}

func (a *app) list(h *store.Reader, q engine.Query, asJSON bool) error {
	runs, err := h.Runs(q)
	switch {
	case err != nil:
		return err
	case asJSON:
		return printJSON(a.Out, append([]engine.Summary{}, runs...), "  ")
	case len(runs) == 0:
		fmt.Fprintln(a.Out, "no runs")
		return nil
	}
	rows := [][]string{{"RUN ID", "WORKFLOW", "STATUS", "ADMITTED", "ENDED", "RECONCILE"}}
	for _, r := range runs {
		reconcile := "-"
		if r.Reconcile {
			reconcile = "needed"
		}
		rows = append(rows, []string{r.Run, plain.Escape(r.Workflow), string(r.Status), stamp(r.Admitted), stamp(r.Ended), reconcile})
	}
	columns(a.Out, rows)
	return nil
}

func (a *app) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the state file, also while a run uses it",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := a.statePath()
			if err == nil {
				err = store.BackUp(path, args[0])
			}
			if err == nil {
				a.say("copied %s to %s", path, args[0])
			}
			return failed(err)
		},
	}
}

func (a *app) pruneCommand() *cobra.Command {
	var before string
	var dry bool
	c := &cobra.Command{
		Use:   "prune --before DURATION",
		Short: "Delete old runs from the state file",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			age, err := lang.ParseDuration(before)
			if err != nil || age == 0 {
				return usage("say how long ago a run must have ended, as --before 30d or --before 12h")
			}
			out, err := a.ask(cmd.Context(), request{verb: verbPrune, args: pruneArgs{Before: a.clk.Now().Add(-age), DryRun: dry}})
			switch {
			case err != nil:
				return err
			case out.Pruned == nil:
				return failed(errors.New("the process that owns the state file did not prune it: use the same version in both places"))
			}
			r := out.Pruned
			verb, freed := "deleted", fmt.Sprintf(", %s freed", plural(int(r.Freed), "byte"))
			if dry {
				verb, freed = "would delete", ""
			}
			a.say("%s %s with %s%s; %d open and %d unreconciled stay", verb, plural(r.Runs, "run"), plural(r.Events, "event"), freed, r.Open, r.Unreconciled)
			return nil
		},
	}
	c.Flags().StringVar(&before, "before", "", "how long ago a run must have ended, as `DURATION` 30d or 12h")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be deleted, and change nothing")
	return c
}

func (a *app) triggerCommand() *cobra.Command {
	var payload string
	q := triggerArgs{}
	var w workerOptions
	c := &cobra.Command{
		Use:   "trigger WORKFLOW",
		Short: "Start a workflow with a payload",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if q.Payload, err = a.readPayload(payload); err != nil {
				return err
			}
			q.Workflow = args[0]
			if file, err := os.Stat(args[0]); err == nil && !file.IsDir() || strings.HasSuffix(args[0], ".woml") {
				docs, err := a.loadDocuments(args)
				if err != nil {
					return err
				}
				q.Workflow, q.Source = docs[0].Workflow.ID, docs[0].Source
			}
			return a.start(cmd, request{verb: verbTrigger, args: q, worker: w})
		},
	}
	c.Flags().StringVar(&payload, "payload", "{}", "`JSON`, @FILE, or - for standard input")
	c.Flags().StringVar(&q.Key, "key", "", "Idempotency-Key of the delivery: `KEY`")
	c.Flags().StringVar(&q.Trigger, "trigger", "", "`ID` of the trigger that is used (default: the first manual one, else the first)")
	w.flags(c.Flags())
	return c
}

// readPayload reads JSON that is given by hand, from a file or from standard input.
func (a *app) readPayload(arg string) (json.RawMessage, error) {
	raw := []byte(arg)
	var err error
	if arg == "-" {
		if raw, err = io.ReadAll(a.In); err != nil {
			return nil, failed(fmt.Errorf("read the payload from standard input: %w", err))
		}
	} else if file, ok := strings.CutPrefix(arg, "@"); ok {
		if raw, err = readFile(file); err != nil {
			return nil, err
		}
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || object == nil {
		hint := ""
		if _, err := os.Stat(arg); err == nil || strings.HasSuffix(arg, ".json") {
			hint = "; @" + arg + " reads a file"
		}
		return nil, usage("the payload is not a JSON object: %s%s", plain.Shorten(string(raw), 60), hint)
	}
	return raw, nil
}

func (a *app) rerunCommand() *cobra.Command {
	var w workerOptions
	c := &cobra.Command{
		Use:               "rerun RUN",
		Short:             "Start a new run with the payload of an earlier one",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.start(cmd, request{verb: verbRerun, run: args[0], worker: w})
		},
	}
	w.flags(c.Flags())
	return c
}

// start asks for a new run and says how it ended; a run that did not succeed is a failure of the command.
func (a *app) start(cmd *cobra.Command, q request) error {
	q.settle, q.console = true, true
	out, err := a.ask(cmd.Context(), q)
	if err != nil {
		return err
	}
	if out.Duplicate {
		a.say("duplicate: run %s was made by an earlier delivery with this key", out.Run)
	}
	r, err := a.printEnd("", out.Run)
	if err != nil {
		return err
	}
	return quietIf(r.Status == engine.StatusFailed || r.Status == engine.StatusCancelled)
}

// printEnd says how a run stands, as the history has it now, and what comes next.
func (a *app) printEnd(before, run string) (*engine.Run, error) {
	r, err := a.readRun(run)
	if err != nil {
		return nil, err
	}
	a.say("%srun %s %s", before, r.ID, r.Status)
	if r.Message != "" {
		a.say("because: %s [%s]", r.Message, r.Code)
	}
	if len(r.Stands) > 0 {
		a.say("not undone: %s", joined(r.Stands))
	}
	switch {
	case r.Waits != nil:
		a.say("waits for %s: %s", r.Waits.Run, a.command("get", r.Waits.Run))
	case r.Reconcile:
		a.say("reconcile: needed: %s", a.command("lookup", r.ID))
	}
	return r, nil
}

func (a *app) cancelCommand() *cobra.Command {
	var q engine.Cancellation
	var w workerOptions
	c := &cobra.Command{
		Use:               "cancel RUN",
		Short:             "End a run and undo what it has done",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := a.ask(cmd.Context(), request{verb: verbCancel, run: args[0], args: q, settle: true, worker: w})
			if err == nil {
				_, err = a.printEnd("", out.Run) // it may have ended before the cancel
			}
			return err
		},
	}
	c.Flags().BoolVar(&q.Keep, "keep", false, "undo nothing: what the run has done stays")
	w.flags(c.Flags())
	return c
}
