//go:build !unix

package tui

import "os"

var endingSignals = []os.Signal{os.Interrupt}

// canSuspend reports whether a shell can bring the program back: not on these systems.
func canSuspend() bool { return false }
