//go:build !unix

package tui

import "os"

var endingSignals = []os.Signal{os.Interrupt}
