package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"faultlab/engine"
)

func (a *app) triggerCommand() *cobra.Command {
	var payload string
	q := triggerArgs{}
	var w workerOptions
	c := &cobra.Command{
		Use:   "trigger WORKFLOW",
		Short: "Start a workflow with a payload",
		Long: "trigger starts a run and waits for its end. WORKFLOW is a document's file, or the id\n" +
			"of a workflow that a running faultlab serves or that the state file knows. The\n" +
			"payload must fit the trigger's schema, as a delivery's must.",
		Example: "  faultlab trigger fulfill-retry-demo.woml --payload '{\"orderId\":\"order-42\",\"paymentId\":\"pay-42\",\"amount\":120}'\n" +
			"  faultlab trigger fulfill-retry-demo --payload @order.json",
		Args: cobra.ExactArgs(1),
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
			out, err := a.ask(cmd.Context(), request{verb: verbTrigger, args: q, settle: true, console: true, worker: w})
			if err != nil {
				return err
			}
			if out.Duplicate {
				fmt.Fprintf(a.Out, "duplicate: run %s was made by an earlier delivery with this key\n", out.Run)
			}
			return a.printStarted(out.Run)
		},
	}
	c.Flags().StringVar(&payload, "payload", "{}", "`JSON`, @FILE, or - for standard input")
	c.Flags().StringVar(&q.Key, "key", "", "Idempotency-Key of the delivery: `KEY`")
	c.Flags().StringVar(&q.Trigger, "trigger", "", "`ID` of the trigger that it comes from (default: the first manual one, else the first)")
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
		return nil, usage("the payload is not a JSON object: %s%s", shortened(string(raw), 60), hint)
	}
	return raw, nil
}

func (a *app) rerunCommand() *cobra.Command {
	var w workerOptions
	c := &cobra.Command{
		Use:   "rerun RUN",
		Short: "Start a new run with the payload of an earlier one",
		Long: "rerun is a new run: attempt.idempotencyKey is another one in it. Where a rerun must be\n" +
			"the same operation, the script makes its key from the business identity.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := a.ask(cmd.Context(), request{verb: verbRerun, run: args[0], settle: true, console: true, worker: w})
			if err != nil {
				return err
			}
			return a.printStarted(out.Run)
		},
	}
	w.flags(c.Flags())
	return c
}

// printStarted says how a run ended; one that did not succeed is a failure of the command.
func (a *app) printStarted(run string) error {
	r, err := a.printEnd("", run)
	if err != nil {
		return err
	}
	if r.Status == engine.StatusFailed || r.Status == engine.StatusCancelled {
		return quiet(exitFailed)
	}
	return nil
}

// printEnd says how a run stands, as the history has it now, and what comes next.
func (a *app) printEnd(before, run string) (*engine.Run, error) {
	r, err := a.readRun(run)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(a.Out, "%srun %s %s\n", before, r.ID, r.Status)
	if r.Message != "" {
		fmt.Fprintf(a.Out, "because: %s [%s]\n", clean(r.Message), r.Code)
	}
	if len(r.Stands) > 0 {
		fmt.Fprintf(a.Out, "not undone: %s\n", clean(strings.Join(r.Stands, ", ")))
	}
	switch {
	case r.Waits != nil:
		fmt.Fprintf(a.Out, "waits for %s: %s\n", r.Waits.Run, clean(a.command("get", r.Waits.Run)))
	case r.Reconcile:
		fmt.Fprintf(a.Out, "reconcile: needed: %s\n", clean(a.command("lookup", r.ID)))
	}
	return r, nil
}

func (a *app) cancelCommand() *cobra.Command {
	var q cancelArgs
	var w workerOptions
	c := &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run and undo what it has done",
		Long: "cancel ends a run: nothing new starts in it, and a request that was sent and not\n" +
			"answered becomes unknown. Then the finished steps are undone by their <compensate>, the\n" +
			"newest first, as after a failure; while something of the run is unknown nothing is\n" +
			"undone: look it up and resolve it first. With --keep nothing is undone.",
		Example:           "  faultlab cancel run_4be1\n  faultlab cancel run_4be1 --keep",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := a.ask(cmd.Context(), request{verb: verbCancel, run: args[0], args: q, settle: true, worker: w})
			if err != nil {
				return err
			}
			_, err = a.printEnd("", out.Run) // it may have been quicker than the cancel
			return err
		},
	}
	c.Flags().BoolVar(&q.Keep, "keep", false, "undo nothing: leave what the run has done as it is")
	w.flags(c.Flags())
	return c
}
