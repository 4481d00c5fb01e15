package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"faultlab/engine"
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

// failed is an end by something that went wrong, as opposed to wrong use.
func failed(err error) error { return &exit{exitFailed, err} }

// usage is an end by wrong use.
func usage(format string, args ...any) error { return &exit{exitUsage, fmt.Errorf(format, args...)} }

// execute runs one command line and gives its exit code.
func execute(s streams, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(s.Err, "faultlab: "+clean(text))
	}
	var e *exit
	if errors.As(err, &e) {
		return e.code
	}
	if engine.IsRefused(err) || errors.Is(err, engine.ErrNoRun) {
		return exitFailed
	}
	return exitUsage // cobra's own errors: an unknown command or flag, a wrong number of arguments
}

// newRoot is the tree of commands.
func newRoot(s streams) *cobra.Command {
	a := &app{streams: s, clk: clock.NewWall()}
	root := &cobra.Command{
		Use:   "faultlab",
		Short: "A workbench for retry safety",
		Long: "faultlab shows what the caller believes beside what the provider did.\n" +
			"Without a command it opens the workbench.",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.PersistentFlags().StringVar(&a.state, "state", "", "state file of runs (default: faultlab/state.db in the XDG state directory)")
	for _, c := range a.commands() {
		root.AddCommand(c)
	}
	return root
}

func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{a.checkCommand(), a.runCommand(), a.triggerCommand(), a.rerunCommand(), a.cancelCommand(),
		a.listCommand(), a.getCommand(), a.lookupCommand(), a.resolveCommand(), a.pruneCommand(), a.versionCommand()}
}
