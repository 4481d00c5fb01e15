package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"faultlab/engine"
)

var statuses = []engine.Status{engine.StatusQueued, engine.StatusRunning, engine.StatusWaiting, engine.StatusCancelling,
	engine.StatusSucceeded, engine.StatusFailed, engine.StatusCancelled}

const (
	defaultLimit = 20
	maxLimit     = 200
)

func (a *app) listCommand() *cobra.Command {
	var status string
	var asJSON bool
	q := engine.Query{Limit: defaultLimit}
	c := &cobra.Command{
		Use:   "list",
		Short: "List runs, the newest first",
		Long: "list shows runs without their payloads. --reconcile shows those of which an operation\n" +
			"is unknown: faultlab get tells what settles it.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			q.Status = engine.Status(status)
			if status != "" && !slices.Contains(statuses, q.Status) {
				return usage("%q is no status: it is one of %s", status, joinStatuses())
			}
			if q.Limit < 1 || q.Limit > maxLimit {
				return usage("--limit %d is not within 1 and %d", q.Limit, maxLimit)
			}
			return a.list(q, asJSON)
		},
	}
	c.Flags().StringVar(&status, "status", "", "only runs with this `STATUS`: "+joinStatuses())
	c.Flags().BoolVar(&q.Reconcile, "reconcile", false, "only runs that need reconciling")
	c.Flags().StringVar(&q.Workflow, "workflow", "", "only runs of this `WORKFLOW`")
	c.Flags().IntVar(&q.Limit, "limit", defaultLimit, "`N` runs, at most 200")
	c.Flags().StringVar(&q.Before, "before", "", "only runs older than this `RUN`, for the next page")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}

func joinStatuses() string {
	names := make([]string, len(statuses))
	for i, s := range statuses {
		names[i] = string(s)
	}
	return joined(names)
}

func (a *app) list(q engine.Query, asJSON bool) error {
	h, err := a.openReader()
	if err != nil {
		return err
	}
	defer h.Close()
	runs, err := h.Runs(q)
	if err != nil {
		return failed(err)
	}
	if asJSON {
		if runs == nil {
			runs = []engine.Summary{}
		}
		return printJSON(a.Out, runs)
	}
	if len(runs) == 0 {
		fmt.Fprintln(a.Out, "no runs")
		return nil
	}
	rows := [][]string{{"RUN ID", "WORKFLOW", "STATUS", "ADMITTED", "ENDED", "RECONCILE"}}
	for _, r := range runs {
		reconcile := "-"
		if r.Reconcile {
			reconcile = "needed"
		}
		rows = append(rows, []string{r.Run, clean(r.Workflow), string(r.Status), stamp(r.Admitted), stamp(r.Ended), reconcile})
	}
	columns(a.Out, rows)
	return nil
}
