// Command faultlab is a workbench for retry safety. It reads flags, calls the
// rooms that know the rules, and turns their answers into text and exit codes; it
// has no rules of its own.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

func main() {
	time.Local = time.UTC // a script's local time is the same on every machine
	tuneMemory()
	// A write to a pipe that nobody reads fails with an error, where Go would end the program.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(execute(streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args[1:]))
}

// gcPercent lets the heap grow by half again before it is collected: with a heap this
// small, that saves a tenth of the processor's time for two megabytes.
const gcPercent = 150

func tuneMemory() {
	runtime.MemProfileRate = 0 // nobody can ask for the profile
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// signalled is the cause of a context that a signal ended.
type signalled struct{ sig syscall.Signal }

func (s signalled) Error() string {
	return "stopped by " + map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}[s.sig]
}

// untilSignal returns a context that SIGINT or SIGTERM ends. A second signal ends the program at once,
// also one that the program was started to ignore, as by nohup: Notify hears it all the same.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	stopped := make(chan struct{})
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case s := <-signals:
				if ctx.Err() != nil {
					os.Exit(exitSignal + int(s.(syscall.Signal)))
				}
				cancel(signalled{s.(syscall.Signal)})
			case <-stopped:
				return
			}
		}
	}()
	return ctx, func() { cancel(nil); close(stopped) }
}

// interruptedBy returns the exit code of a command that a signal cut short; 0 if none did.
func interruptedBy(ctx context.Context) int {
	if s := (signalled{}); errors.As(context.Cause(ctx), &s) {
		return exitSignal + int(s.sig)
	}
	return 0
}
