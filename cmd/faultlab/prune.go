package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"faultlab/scenarios/lang"
)

func (a *app) pruneCommand() *cobra.Command {
	var before string
	var dry bool
	c := &cobra.Command{
		Use:   "prune --before DURATION",
		Short: "Take old runs out of the state file",
		Long: "prune takes away runs that ended longer ago than DURATION, with everything known of\n" +
			"them: a delivery with their key is a new one from then on. Open runs and those that\n" +
			"need reconciling stay. Where another process owns the state file, that one prunes it.",
		Example: "  faultlab prune --before 30d --dry-run",
		Args:    cobra.NoArgs,
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
				return failed(errors.New("the process that owns the state did not prune it: use the same version in both places"))
			}
			r := out.Pruned
			verb := "took away"
			if dry {
				verb = "would take away"
			}
			fmt.Fprintf(a.Out, "%s %s with %s", verb, plural(r.Runs, "run"), plural(r.Events, "event"))
			if !dry {
				fmt.Fprintf(a.Out, ", %s freed", plural(int(r.Freed), "byte"))
			}
			fmt.Fprintf(a.Out, "; %d open and %d unreconciled stay\n", r.Open, r.Unreconciled)
			return nil
		},
	}
	c.Flags().StringVar(&before, "before", "", "how long ago a run must have ended, as `DURATION` 30d or 12h")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would go, and change nothing")
	return c
}
