//go:build !unix

package tui

import "os"

// askTerminal does not ask: the console here has no such question.
func askTerminal(in, out *os.File, limit int) (light, known bool, typed []byte) {
	return false, false, nil
}

var endingSignals = []os.Signal{os.Interrupt}

// canSuspend reports whether a shell can bring the program back: not on these systems.
func canSuspend() bool { return false }
