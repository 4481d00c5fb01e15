//go:build unix

package store_test

import (
	"runtime"
	"syscall"
	"time"
)

// usage is the processor time that the process has used, and the most memory that it has held, in MiB.
// On a busy machine both are truer measures than the time that passed.
func usage() (cpu time.Duration, peak float64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	unit := 1024.0 // bytes in one of Maxrss, getrusage(2)
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), float64(u.Maxrss) * unit / (1 << 20)
}
