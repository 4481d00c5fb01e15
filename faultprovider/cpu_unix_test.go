//go:build unix

package faultprovider

import (
	"syscall"
	"time"
)

// cpuTime is the processor time that the process has used: on a busy machine a truer measure than the time that passed.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
