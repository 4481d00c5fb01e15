package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"faultlab/engine/woml"
)

func (a *app) triggerCommand() *cobra.Command {
	var payload, key, id string
	c := &cobra.Command{
		Use:   "trigger WORKFLOW",
		Short: "Start a workflow with a payload",
		Long: "trigger starts a run. WORKFLOW is a document's file, or the id of a workflow that a\n" +
			"running faultlab serves. With nobody running it carries the run out and waits for its end.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := a.readPayload(payload)
			if err != nil {
				return err
			}
			q := triggerArgs{Workflow: args[0], Trigger: id, Key: key, Payload: body}
			var docs []*woml.Document
			if _, err := os.Stat(args[0]); err == nil {
				if docs, err = a.loadDocuments(args); err != nil {
					return err
				}
				q.Workflow = docs[0].Workflow.ID
			}
			out, err := a.ask(cmd.Context(), verbTrigger, "", q, true, docs...)
			if err != nil {
				return err
			}
			return a.printStarted(out.Run)
		},
	}
	c.Flags().StringVar(&payload, "payload", "{}", "JSON, @FILE, or - for standard input")
	c.Flags().StringVar(&key, "key", "", "Idempotency-Key of the delivery")
	c.Flags().StringVar(&id, "trigger", "", "id of the trigger that it comes from")
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
		return nil, usage("the payload is not a JSON object: %s", shortened(string(raw), 60))
	}
	return raw, nil
}

func (a *app) rerunCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rerun RUN",
		Short: "Start a new run with the payload of an earlier one",
		Long: "rerun is a new run: attempt.idempotencyKey is another one in it. Where a rerun must be\n" +
			"the same operation, the script makes its key from the business identity.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			docs, err := a.documentOf(args[0])
			if err != nil {
				return err
			}
			out, err := a.ask(cmd.Context(), verbRerun, args[0], struct{}{}, true, docs...)
			if err != nil {
				return err
			}
			return a.printStarted(out.Run)
		},
	}
}

// documentOf is the document that a run was admitted with.
func (a *app) documentOf(run string) ([]*woml.Document, error) {
	r, err := a.readRun(run)
	if err != nil {
		return nil, err
	}
	d, diags := woml.Parse([]byte(r.Admitted.Source))
	if d == nil {
		return nil, failed(fmt.Errorf("the document of run %s cannot be read by this faultlab: %s", r.ID, diags[0].Message))
	}
	return []*woml.Document{d}, nil
}

func (a *app) printStarted(run string) error {
	r, err := a.readRun(run)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "run %s %s\n", r.ID, r.Status)
	if r.Reconcile {
		fmt.Fprintf(a.Out, "reconcile: needed; faultlab lookup %s\n", r.ID)
	}
	if r.Status.Ended() && r.Message != "" {
		fmt.Fprintf(a.Out, "%s: %s\n", r.Code, clean(r.Message))
		return quiet(exitFailed)
	}
	return nil
}

func (a *app) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run: nothing new starts, and an open write becomes unknown",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := a.ask(cmd.Context(), verbCancel, args[0], struct{}{}, true)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "cancelled: run %s; what was sent is not undone by it\n", out.Run)
			return nil
		},
	}
}

func (a *app) pruneCommand() *cobra.Command {
	var before time.Duration
	var dry bool
	c := &cobra.Command{
		Use:   "prune --before DURATION",
		Short: "Take old runs out of the state file",
		Long:  "prune takes away runs that ended longer ago than DURATION. Open runs and those that\nneed reconciling stay.",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if before <= 0 {
				return usage("say how old a run must be, as --before 720h")
			}
			w, err := a.openWorker(workerOptions{})
			if err != nil {
				return failed(err)
			}
			r, err := w.store.Prune(a.clk.Now().Add(-before), dry)
			if err := w.close(); err != nil {
				return err
			}
			if err != nil {
				return failed(err)
			}
			verb := "took away"
			if dry {
				verb = "would take away"
			}
			fmt.Fprintf(a.Out, "%s %d runs with %d events; %d open and %d unreconciled ones stay; %d bytes freed\n", verb, r.Runs, r.Events, r.Open, r.Unreconciled, r.Freed)
			return nil
		},
	}
	c.Flags().DurationVar(&before, "before", 0, "how long ago a run must have ended, as 720h")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would go, and change nothing")
	return c
}
