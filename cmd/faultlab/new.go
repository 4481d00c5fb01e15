package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"faultlab/scenarios/lang"
)

func (a *app) newCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "Write a commented scenario file to begin with",
		Long: "new writes NAME" + lang.Ext + ", a scenario that already replays. It never overwrites a file.\n" +
			"faultlab help scenarios is the manual of such files.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := strings.TrimSuffix(args[0], lang.Ext) + lang.Ext
			name := strings.TrimSuffix(filepath.Base(path), lang.Ext)
			if name == "" || name == "." {
				return usage("%q is no name for a scenario", args[0])
			}
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			switch {
			case errors.Is(err, os.ErrExist):
				return failed(fmt.Errorf("%s exists already: choose another name", path))
			case err != nil:
				return failed(fmt.Errorf("cannot write %s: %w", path, errors.Unwrap(err)))
			}
			_, err = f.Write(lang.Starter(name))
			if err := errors.Join(err, f.Close()); err != nil {
				return failed(fmt.Errorf("write %s: %w", path, err))
			}
			fmt.Fprintf(a.Out, "%s written\n  %s\n", clean(path), clean("faultlab replay "+shellQuote(path)))
			return nil
		},
	}
}
