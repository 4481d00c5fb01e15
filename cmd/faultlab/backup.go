package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"faultlab/store"
)

func (a *app) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the state file, also while a run uses it",
		Long: "backup copies the state file, as it is at one moment, to a new FILE. The process that\n" +
			"owns the state goes on meanwhile. To restore it, end that process, move the state\n" +
			"file and its -wal and -shm files away, and copy FILE to its place. A restored state has\n" +
			"forgotten what happened since: what was open then goes on from there and sends its\n" +
			"requests again, under the same keys.",
		Example: "  faultlab backup before-the-upgrade.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := a.statePath()
			if err == nil {
				err = store.BackUp(path, args[0])
			}
			if err != nil {
				return failed(err)
			}
			fmt.Fprintf(a.Out, "copied %s to %s\n", clean(path), clean(args[0]))
			return nil
		},
	}
}
