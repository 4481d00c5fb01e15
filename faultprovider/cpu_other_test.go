//go:build !unix

package faultprovider

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
