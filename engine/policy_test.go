package engine

import (
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"

	"faultlab/engine/woml"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	exponential := woml.Retry{Backoff: "exponential", Delay: time.Second, MaxDelay: 10 * time.Second}
	fixed := woml.Retry{Backoff: "fixed", Delay: 3 * time.Second, MaxDelay: 30 * time.Second}
	for _, r := range []struct {
		policy  woml.Retry
		attempt int
		want    time.Duration
	}{
		{exponential, 2, time.Second}, {exponential, 3, 2 * time.Second}, {exponential, 4, 4 * time.Second},
		{exponential, 5, 8 * time.Second}, {exponential, 6, 10 * time.Second}, {exponential, 10, 10 * time.Second},
		{fixed, 2, 3 * time.Second}, {fixed, 10, 3 * time.Second},
	} {
		if got := Backoff(r.policy, r.attempt); got != r.want {
			t.Errorf("%s before attempt %d: %v, want %v", r.policy.Backoff, r.attempt, got, r.want)
		}
	}
}

func TestBackoffNeverShrinksNorExceedsItsMaximum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := woml.Retry{Backoff: "exponential", Delay: time.Duration(rapid.Int64Range(1, 86_400_000).Draw(t, "ms")) * time.Millisecond}
		p.MaxDelay = max(p.Delay, 30*time.Second)
		for n := 2; n < 10; n++ {
			a, b := Backoff(p, n), Backoff(p, n+1)
			if b < a || b > p.MaxDelay || a < p.Delay {
				t.Fatalf("%v then %v, from %v to %v", a, b, p.Delay, p.MaxDelay)
			}
		}
	})
}

func TestDue(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	policy := woml.Retry{Max: 3, Backoff: "exponential", Delay: time.Second, MaxDelay: 10 * time.Second}
	for _, r := range []struct {
		name  string
		terms retryTerms
		after time.Duration
		stops bool
	}{
		{"by the backoff", retryTerms{policy: policy, attempt: 1, failed: at}, time.Second, false},
		{"a shorter Retry-After does not hurry", retryTerms{policy: policy, attempt: 2, failed: at, retryAfter: time.Second}, 2 * time.Second, false},
		{"a longer Retry-After is kept", retryTerms{policy: policy, attempt: 1, failed: at, retryAfter: 7 * time.Second}, 7 * time.Second, false},
		{"a Retry-After beyond the maximum", retryTerms{policy: policy, attempt: 1, failed: at, retryAfter: 11 * time.Second}, 0, true},
		{"past the run's timeout", retryTerms{policy: policy, attempt: 1, failed: at, deadline: at.Add(999 * time.Millisecond)}, 0, true},
		{"at the run's timeout", retryTerms{policy: policy, attempt: 1, failed: at, deadline: at.Add(time.Second)}, time.Second, false},
		{"past the key's retention", retryTerms{policy: policy, attempt: 1, failed: at, keyBorn: at.Add(-time.Hour), retention: time.Hour}, 0, true},
		{"at the end of the key's retention", retryTerms{policy: policy, attempt: 1, failed: at, keyBorn: at.Add(time.Second - time.Hour), retention: time.Hour}, 0, true},
		{"a Retry-After of nearly 300 years", retryTerms{policy: policy, attempt: 1, failed: at, retryAfter: 9223372036 * time.Second}, 0, true},
		{"within the key's retention", retryTerms{policy: policy, attempt: 1, failed: at, keyBorn: at, retention: time.Hour}, time.Second, false},
	} {
		due, why := r.terms.due()
		if (why != "") != r.stops || !r.stops && due.Sub(at) != r.after {
			t.Errorf("%s: due after %v, %q", r.name, due.Sub(at), why)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"0": 0, "2": 2 * time.Second, " 120 ": 2 * time.Minute,
		"Mon, 30 Nov 2026 12:00:30 GMT": 30 * time.Second, "Mon, 30 Nov 2026 11:00:00 GMT": 0,
		"9223372036": 9223372036 * time.Second, "9223372037": 9223372036 * time.Second, "99999999999999999999": 9223372036 * time.Second,
		"": -1, "-1": -1, "soon": -1, "1.5": -1,
	} {
		d, ok := retryAfter(http.Header{"Retry-After": {value}}, now)
		if ok != (want >= 0) || ok && d != want {
			t.Errorf("%q: %v, %v; want %v", value, d, ok, want)
		}
	}
}
