//go:build !unix

package store_test

import "time"

// usage is not known here.
func usage() (cpu time.Duration, peak float64) { return 0, 0 }
