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

// Exit codes beside 0.
const (
	exitFailed   = 1 // a scenario's expectation, a check or a run failed; no such run; a decision was refused
	exitUsage    = 2 // wrong use
	exitNoAnswer = 3 // lookup: the provider did not answer
)

// exit is an end with a code. Its sentence may be empty where the output has said it all.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// quiet is an end whose reason was printed already.
func quiet(code int) error { return &exit{code: code} }

// failed is an end by something that went wrong, as opposed to wrong use; an error
// that has its code keeps it.
func failed(err error) error {
	if e := (*exit)(nil); errors.As(err, &e) {
		return err
	}
	return &exit{exitFailed, err}
}

// usage is an end by wrong use.
func usage(format string, args ...any) error { return &exit{exitUsage, fmt.Errorf(format, args...)} }

// execute runs one command line and gives its exit code.
func execute(s streams, args []string) int {
	ctx, stop := untilSignal()
	defer stop()
	out := &wholeOutput{w: s.Out}
	asJSON := slices.Contains(args, "--json")
	root := newRoot(streams{In: s.In, Out: out, Err: s.Err})
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if flushed := out.flush(); flushed != nil && err == nil {
		err = failed(fmt.Errorf("write the output: %w", flushed))
	}
	if err == nil || readerGone(err) {
		return 0
	}
	code := exitUsage // of cobra's own errors: an unknown command or flag, a wrong number of arguments
	if e := (*exit)(nil); errors.As(err, &e) {
		code = e.code
	}
	if sig := interruptedBy(ctx); sig != 0 {
		code = sig
	}
	printError(s.Err, err, code, asJSON)
	return code
}

// newRoot is the tree of commands.
func newRoot(s streams) *cobra.Command {
	a := &app{streams: s, clk: clock.NewWall()}
	var f workbenchFlags
	root := &cobra.Command{
		Use:   "faultlab",
		Short: "A workbench for retry safety",
		Long: "faultlab shows what the caller of an unreliable API believes beside what the provider\n" +
			"did, and settles unknown outcomes by key. Without a command it opens the workbench.",
		Example: "  faultlab                          the workbench\n" +
			"  faultlab replay --all             the catalogue, as a test\n" +
			"  faultlab provider                 an API that misbehaves, for your own client\n" +
			"  faultlab run workflow.woml        your own workflow, with its webhook",
		Args:          noCommand,
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
		RunE:                       func(c *cobra.Command, _ []string) error { return a.workbench(c.Context(), c, f) },
	}
	f.flags(a.withState(root))
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%w; see %s --help", flagError(err), c.CommandPath())
	})
	for _, group := range a.commands() {
		root.AddGroup(&cobra.Group{ID: group.name, Title: group.name + ":"})
		for _, c := range group.commands {
			c.GroupID = group.name
			c.Args = counted(c.Args)
			root.AddCommand(c)
		}
	}
	root.AddCommand(manuals()...)
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

// counted has a command say in this program's words that it was given too much or too little.
func counted(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		return nil
	}
	return func(c *cobra.Command, args []string) error {
		if check(c, args) == nil {
			return nil
		}
		_, takes, _ := strings.Cut(c.Use, " ")
		switch {
		case takes == "":
			return usage("%s takes nothing, and %q was given; see %s --help", c.Name(), args[0], c.CommandPath())
		case len(args) == 0:
			return usage("%s takes %s, and nothing was given; see %s --help", c.Name(), takes, c.CommandPath())
		}
		return usage("%s takes %s, and %s were given; see %s --help", c.Name(), takes, plural(len(args), "word"), c.CommandPath())
	}
}

// flagError says what a flag takes, where the parser only says which of its functions failed.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	f := bad.GetFlag()
	what, ok := map[string]string{"int": "whole number", "int64": "whole number", "float64": "number", "duration": "duration, as 250ms or 1m30s"}[f.Value.Type()]
	if !ok {
		return err
	}
	return fmt.Errorf("--%s: %q is no %s", f.Name, bad.GetValue(), what)
}

// helpOn is the help of one command.
func helpOn(root *cobra.Command, args []string) error {
	c, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return noCommand(root, []string{strings.Join(args, " ")})
	}
	c.InitDefaultHelpFlag()
	return c.Help()
}

// shellsOnly answers where completion is not followed by a shell that it knows.
func shellsOnly(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	var shells []string
	for _, s := range c.Commands() {
		shells = append(shells, s.Name())
	}
	return usage("there is no completion for %q: the shells are %s", args[0], joined(shells))
}

// withState gives a command the flag that names the state file.
func (a *app) withState(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.state, "state", "", "state `FILE` of runs (default: faultlab/state.db in the XDG state directory)")
	return c
}

// noCommand refuses a word that is no command, with those that resemble it.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := c.SuggestionsFor(args[0])
	if len(near) == 0 {
		return usage("there is no command %q: see faultlab --help", args[0])
	}
	return usage("there is no command %q: did you mean %s?", args[0], strings.Join(near, " or "))
}

// group is a heading of the help.
type group struct {
	name     string
	commands []*cobra.Command
}

const groupAbout = "About faultlab"

func (a *app) commands() []group {
	return []group{
		{"Scenarios", []*cobra.Command{a.scenariosCommand(), a.replayCommand(), a.demoCommand(), a.newCommand(), a.formatCommand()}},
		{"Your own client or workflow", []*cobra.Command{a.providerCommand(), a.checkCommand(), a.withState(a.runCommand()), a.withState(a.triggerCommand())}},
		{"Runs", []*cobra.Command{a.withState(a.listCommand()), a.withState(a.getCommand()), a.withState(a.lookupCommand()), a.withState(a.settleCommand()), a.withState(a.resolveCommand()),
			a.withState(a.rerunCommand()), a.withState(a.cancelCommand()), a.withState(a.pruneCommand()), a.withState(a.backupCommand())}},
		{groupAbout, []*cobra.Command{a.withState(a.infoCommand()), a.versionCommand()}},
	}
}
