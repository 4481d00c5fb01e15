//go:build unix

package tui

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// endingSignals are ours to handle: Bubble Tea leaves SIGHUP to the system, which would end the program with the terminal raw.
var endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// canSuspend reports whether a shell can bring the program back: the system ignores the
// stop of a process group that nobody in its session looks after (an orphaned one).
func canSuspend() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	group, parent := unix.Getpgrp(), os.Getppid()
	if theirs, err := unix.Getsid(parent); err != nil || theirs != session {
		return false
	}
	return group != session // the session's own group has no parent inside
}
