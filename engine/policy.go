package engine

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"faultlab/engine/woml"
)

// Backoff is the delay before attempt n, n >= 2: the fixed delay, or the delay
// doubled for each attempt after the second, up to the maximum. No jitter.
func Backoff(p woml.Retry, n int) time.Duration {
	if p.Backoff == "fixed" {
		return p.Delay
	}
	d := p.Delay
	for i := 2; i < n && d < p.MaxDelay; i++ {
		d *= 2
	}
	return min(d, p.MaxDelay)
}

// attemptsAllowed is how many attempts a step may have: those of its policy, and one more for each of its first
// attempts, up to the n-th, that ended in a 429, as many as the policy bears.
func attemptsAllowed(p woml.Retry, s *Step, n int) int {
	borne := 0
	if p.Throttled > 0 && s != nil {
		for _, a := range s.Attempts[:min(n, len(s.Attempts))] {
			if n := len(a.Calls); n > 0 && a.Calls[n-1].How == HowThrottled {
				borne++
			}
		}
	}
	return p.Max + min(borne, p.Throttled)
}

// retryTerms is what limits one retry beside the budget.
type retryTerms struct {
	policy     woml.Retry
	attempt    int           // the one that failed
	failed     time.Time     // when
	retryAfter time.Duration // the reply's; 0 if none
	deadline   time.Time     // of the run; zero if none
	keyBorn    time.Time     // first request under the key; zero if none was sent
	retention  time.Duration // of the key, as assumed; 0 if unknown
}

// due is when the next attempt may start; why is a clause that says why there will be none.
func (t retryTerms) due() (at time.Time, why string) {
	if t.retryAfter > t.policy.MaxDelay {
		return at, fmt.Sprintf("the provider asks to wait %v, more than the retry-max-delay of %v", t.retryAfter, t.policy.MaxDelay)
	}
	at = t.failed.Add(max(Backoff(t.policy, t.attempt+1), t.retryAfter))
	if !t.deadline.IsZero() && at.After(t.deadline) {
		return at, "the next attempt would be due after the run's timeout"
	}
	if t.retention > 0 && !t.keyBorn.IsZero() && at.Sub(t.keyBorn) >= t.retention {
		return at, fmt.Sprintf("the next attempt would be due after the key's retention of %v", t.retention)
	}
	return at, ""
}

// retryAfter reads a Retry-After header, in seconds or as a date (RFC 9110, 10.2.3); ok is false where there is no usable one.
func retryAfter(h http.Header, now time.Time) (d time.Duration, ok bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0, false
	}
	if strings.Trim(v, "0123456789") == "" { // of any size: what no duration holds is longer than anybody waits
		n, err := strconv.ParseInt(v, 10, 64)
		if longest := int64(math.MaxInt64 / time.Second); err != nil || n > longest {
			n = longest
		}
		return time.Duration(n) * time.Second, true
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}
