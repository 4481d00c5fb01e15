package engine_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

// setClock is the wall clock as somebody has set it. Like a time that was read from
// disk, what it shows has no monotonic part.
type setClock struct {
	*clock.Wall
	ahead time.Duration
}

func (c setClock) Now() time.Time { return c.Wall.Now().Round(0).Add(c.ahead) }

// flaky answers 503 to the first request, and 201 to later ones.
type flaky struct{ requests atomic.Int64 }

func (f *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	status := http.StatusCreated
	if f.requests.Add(1) == 1 {
		status = http.StatusServiceUnavailable
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"id":"job_1"}`)), Request: r}, nil
}

// A clock that jumps while the worker is away loses nothing: a due retry waits no longer
// than it was meant to, and happens once.
func TestAClockThatJumps(t *testing.T) {
	t.Parallel()
	doc, diags := woml.Parse([]byte(document(`<config timeout="10m" />`, `retry="3" retry-backoff="fixed" retry-delay="700ms"|`+post)))
	if doc == nil {
		t.Fatal(diags)
	}
	for name, jump := range map[string]time.Duration{"back by a day": -24 * time.Hour, "ahead by a minute": time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider, h, wall := &flaky{}, engine.NewMemory(), clock.NewWall()
			failed := make(chan struct{})
			before := engine.New(engine.Options{Clock: setClock{wall, 0}, History: h, Transport: provider, Observe: func(events []engine.Event) {
				for _, e := range events {
					if _, ok := e.Fact.(engine.AttemptEnded); ok {
						close(failed)
					}
				}
			}})
			before.Load(doc)
			r, err := before.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(`{"orderId":"order-42"}`)})
			if err != nil {
				t.Fatal(err)
			}
			<-failed
			before.Close()

			after := engine.New(engine.Options{Clock: setClock{wall, jump}, History: h, Transport: provider})
			t.Cleanup(after.Close)
			if err := after.Recover(); err != nil {
				t.Fatal(err)
			}
			after.Ended(r.Run).Wait()
			run, err := after.Get(r.Run)
			if err != nil {
				t.Fatal(err)
			}
			attempts := run.Steps[0].Attempts
			if run.Status != engine.StatusSucceeded || len(attempts) != 2 || provider.requests.Load() != 2 {
				t.Fatalf("run %s (%s) after %d attempts and %d requests, want succeeded after 2 and 2", run.Status, run.Message, len(attempts), provider.requests.Load())
			}
			if attempts[0].Key != attempts[1].Key {
				t.Errorf("the attempts have keys %s and %s", attempts[0].Key, attempts[1].Key)
			}
			if passed := attempts[1].StartedAt.Sub(attempts[0].EndedAt); (passed < 0) != (jump < 0) {
				t.Errorf("the second attempt began %v after the first ended; the history tells what the clock showed", passed)
			}
		})
	}
}
