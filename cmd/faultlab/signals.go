package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// signalled is the cause of a context that a signal ended.
type signalled struct{ sig syscall.Signal }

func (s signalled) Error() string { return fmt.Sprintf("stopped by %s", s.name()) }

func (s signalled) name() string {
	if s.sig == syscall.SIGTERM {
		return "SIGTERM"
	}
	return "SIGINT"
}

// exitSignal is added to a signal's number, as shells do.
const exitSignal = 128

// untilSignal is a context that SIGINT or SIGTERM ends. A second signal ends the program
// as it stands.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(signalled{s.(syscall.Signal)})
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// interruptedBy is the exit code of a command that a signal cut short; 0 if none did.
func interruptedBy(ctx context.Context) int {
	if s := (signalled{}); errors.As(context.Cause(ctx), &s) {
		return exitSignal + int(s.sig)
	}
	return 0
}
