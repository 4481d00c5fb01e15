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
			"file and its -wal and -shm files away, and copy FILE to its place. Assumed contracts\n" +
			"are beside the state file, in a file whose name ends in .assume.json: copy it too. A\n" +
			"restored state has no record of what happened since. Its unfinished runs go on from there\n" +
			"and can send requests again, under the same keys. Runs that were admitted since are\n" +
			"missing: if they are started again, they send their requests under other keys.",
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
