package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"faultlab/engine/clock"
)

// streams are where a command reads and writes.
type streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// app is what every command shares.
type app struct {
	streams
	clk   clock.Clock
	state string // path of the state file; empty is the default
}

// execute runs one command line and returns its exit code.
func execute(s streams, args []string) int {
	ctx, stop := untilSignal()
	defer stop()
	out := &wholeOutput{w: s.Out}
	root := newRoot(streams{In: s.In, Out: out, Err: s.Err})
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if flushed := out.flush(); flushed != nil && err == nil {
		err = failed(fmt.Errorf("write the output: %w", flushed))
	}
	if err == nil || readerGone(err) {
		return 0
	}
	code, final := exitUsage, false // of cobra's own errors: an unknown command or flag, a wrong number of arguments
	if e := (*exit)(nil); errors.As(err, &e) {
		code, final = e.code, e.final
	}
	if sig := interruptedBy(ctx); sig != 0 && !final {
		code = sig
	}
	printError(s.Err, err, code, slices.Contains(args, "--json"))
	return code
}

const groupAbout = "About faultlab"

// newRoot returns the tree of commands.
func newRoot(s streams) *cobra.Command {
	a := &app{streams: s, clk: clock.NewWall()}
	root := a.workbenchCommand()
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%w; see %s --help", flagError(err), c.CommandPath())
	})
	a.add(root, "Scenarios", a.scenariosCommand(), a.replayCommand(), a.exploreCommand(), a.demoCommand(), a.newCommand(), a.formatCommand())
	a.add(root, "Your own client or workflow", a.providerCommand(), a.checkCommand(), a.runCommand(), a.triggerCommand())
	a.add(root, "Runs", a.listCommand(), a.getCommand(), a.lookupCommand(), a.settleCommand(), a.resolveCommand(),
		a.rerunCommand(), a.cancelCommand(), a.pruneCommand(), a.backupCommand())
	a.add(root, groupAbout, a.infoCommand(), a.versionCommand())
	describe(root)
	root.SetHelpCommandGroupID(groupAbout)
	root.SetCompletionCommandGroupID(groupAbout)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Run, c.RunE = nil, func(_ *cobra.Command, args []string) error { return helpOn(root, args) }
		case "completion":
			c.Args, c.RunE = cobra.ArbitraryArgs, shellsOnly
		}
	}
	return root
}

// add puts commands below a heading of the help. Those that work on runs get the flag that names the state file.
func (a *app) add(root *cobra.Command, heading string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: heading, Title: heading + ":"})
	for _, c := range commands {
		c.GroupID = heading
		c.Args = counted(c.Args)
		if c.Name() == "run" || c.Name() == "trigger" || c.Name() == "info" || heading == "Runs" {
			a.stateFlag(c)
		}
		root.AddCommand(c)
	}
}

func (a *app) stateFlag(c *cobra.Command) {
	c.Flags().StringVar(&a.state, "state", "", "state `FILE` of runs (default: faultlab/state.db in the XDG state directory)")
}

// counted replaces cobra's error about the number of arguments.
func counted(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		return nil
	}
	return func(c *cobra.Command, args []string) error {
		if check(c, args) == nil {
			return nil
		}
		_, takes, _ := strings.Cut(c.Use, " ")
		given := plural(len(args), "argument") + " were given"
		switch {
		case takes == "":
			takes, given = "no arguments", fmt.Sprintf("%q was given", args[0])
		case len(args) == 0:
			given = "nothing was given"
		}
		return usage("%s takes %s, and %s; see %s --help", c.Name(), takes, given, c.CommandPath())
	}
}

// flagError says what a flag takes, where the parser only names the function that failed.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	f := bad.GetFlag()
	what, ok := map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "duration": "a duration, as 250ms or 1m30s"}[f.Value.Type()]
	if !ok {
		return err
	}
	return fmt.Errorf("not a valid --%s: %q; write %s", f.Name, bad.GetValue(), what)
}

// helpOn prints the help of one command.
func helpOn(root *cobra.Command, args []string) error {
	c, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return noCommand(root, []string{strings.Join(args, " ")})
	}
	c.InitDefaultHelpFlag()
	return c.Help()
}

// shellsOnly answers `completion` without a shell that it knows.
func shellsOnly(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	var shells []string
	for _, s := range c.Commands() {
		shells = append(shells, s.Name())
	}
	return usage("not a valid shell: %q; completion has %s", args[0], joined(shells))
}

// noCommand refuses an unknown command and names those that resemble it.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return usage("unknown command: %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return usage("unknown command: %q; see faultlab --help", args[0])
}
