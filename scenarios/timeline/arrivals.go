package timeline

import (
	"faultlab/engine/plain"
	"fmt"
	"strings"
	"time"
)

const (
	crowd      = 50 // so many requests are seen better when they are counted than when they are drawn
	maxSpans   = 24 // rows of a histogram
	maxBarWide = 50 // columns of its longest bar
)

// spans are the lengths of time that a histogram counts in.
var spans = []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour}

// ArrivalsText is a histogram of when requests arrived at the provider, look-ups left
// out: a row for each span of time. It is empty where they are no crowd.
func ArrivalsText(v *View) string {
	var at []time.Duration
	for _, r := range v.Requests() {
		if !r.ID.Lookup {
			at = append(at, v.Since(r.At))
		}
	}
	if len(at) < crowd {
		return ""
	}
	wide := spans[len(spans)-1] // what arrives later still is counted in the last row
	for _, s := range spans {
		if at[len(at)-1]/s < maxSpans {
			wide = s
			break
		}
	}
	counts := make([]int, min(int(at[len(at)-1]/wide)+1, maxSpans))
	most := 0
	for _, t := range at {
		i := min(int(t/wide), len(counts)-1)
		counts[i]++
		most = max(most, counts[i])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "arrivals of %d requests, in spans of %s\n", len(at), plain.Seconds(wide))
	for i, n := range counts {
		bar := strings.Repeat("█", (n*maxBarWide+most-1)/most)
		b.WriteString(strings.TrimRight(fmt.Sprintf("%9s %4d %s", plain.Seconds(time.Duration(i)*wide), n, bar), " ") + "\n")
	}
	return b.String()
}
