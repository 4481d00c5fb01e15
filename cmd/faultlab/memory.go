package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// gcPercent lets the heap grow by half again before it is collected: so small as ours
// is, that spares a tenth of the processor's time for two megabytes.
const gcPercent = 150

// tuneMemory sets what the Go runtime would otherwise choose for a larger program.
// Who sets GOGC knows better.
func tuneMemory() {
	runtime.MemProfileRate = 0 // nobody can ask for the profile
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
