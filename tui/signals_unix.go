//go:build unix

package tui

import (
	"os"
	"syscall"
)

// endingSignals are ours to handle: Bubble Tea leaves SIGHUP to the system, which would end the program with the terminal raw.
var endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
