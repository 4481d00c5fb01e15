package store

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/historytest"
)

// typical is the history of a one-step run that posts a job and succeeds, as the appends that it comes in.
func typical(n int) [][]engine.Event {
	run := fmt.Sprintf("run_%012x", uint64(n)*0x9e3779b97f4a7c15>>16)
	hash := func(what string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(what+run))) }
	key, id := hash("key"), run+"-createFulfillment-1-1"
	pos := engine.Pos{Step: "createFulfillment", Attempt: 1, Call: 1}
	request := pos
	request.Request = 1
	all := func(facts ...engine.Fact) (events []engine.Event) {
		for i, f := range facts {
			events = append(events, engine.Event{Run: run, At: historytest.At.Add(time.Duration(n*len(facts) + i)), Fact: f})
		}
		return events
	}
	return [][]engine.Event{
		all(engine.Admitted{Workflow: "fulfill-retry-demo", Definition: "sha256:5a0f", Source: "<woml/>", Trigger: "incoming-order",
			Digest: hash("payload"), Payload: []byte(`{"orderId":"order-42","paymentId":"pay-42","amount":120}`), Seed: int64(n) << 32},
			engine.Started{}),
		all(engine.AttemptStarted{Pos: engine.Pos{Step: pos.Step, Attempt: 1}, Max: 3, Key: key},
			engine.CallStarted{Pos: pos, Service: "http", Operation: "request", Effect: engine.KeyedWrite, Key: key, Digest: hash("input")},
			engine.RequestSent{Pos: request, ID: id, Method: "POST", URL: "http://127.0.0.1:4040/jobs", Key: key,
				Body: []byte(`{"orderId":"order-42","paymentId":"pay-42","amount":120,"currency":"EUR","n":1}`)}),
		all(engine.RequestEnded{Pos: request, Status: 201, Began: true},
			engine.CallEnded{Pos: pos, How: engine.HowAccepted, Finding: engine.FoundDone, Next: engine.NextStop, Status: 201,
				Reply: []byte(`{"id":"job_7c1e2f","orderId":"order-42","paymentId":"pay-42","amount":120,"status":"queued","n":1}`)},
			engine.AttemptEnded{Pos: engine.Pos{Step: pos.Step, Attempt: 1}, Outcome: engine.Succeeded, Next: engine.NextStep,
				Reason: "the script returned a value", Result: []byte(`{"jobId":"job_7c1e2f","orderId":"order-42","paymentId":"pay-42","amount":120,"status":"queued"}`)},
			engine.Ended{Status: engine.StatusSucceeded}),
	}
}

// BenchmarkRuns writes typical runs, each append waited for before the next.
func BenchmarkRuns(b *testing.B) {
	for _, producers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("producers=%d", producers), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "state.db")
			s := open(b, path)
			var next atomic.Int64
			var all sync.WaitGroup
			b.ResetTimer()
			for range producers {
				all.Go(func() {
					for n := int(next.Add(1)); n <= b.N; n = int(next.Add(1)) {
						if err := play(s, n); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			fi, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(fi.Size())/float64(b.N), "bytes/run")
		})
	}
}

func play(s *Store, n int) error {
	for _, events := range typical(n) {
		if err := s.Append(events...).Wait(); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkLarge asks a store of 100,000 runs, 1,000 of them open.
func BenchmarkLarge(b *testing.B) {
	const runs, openRuns = 100_000, 1_000
	path := filepath.Join(b.TempDir(), "state.db")
	s := open(b, path)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var last engine.Ticket
	for n := range runs {
		appends := typical(n)
		if n%(runs/openRuns) == 0 {
			appends = appends[:2]
		}
		for _, events := range appends {
			last = s.Append(events...)
		}
		if n%100 == 0 {
			if err := last.Wait(); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := last.Wait(); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	for name, ask := range map[string]func() error{
		"list newest 20":    func() error { _, err := s.Runs(engine.Query{Limit: 20}); return err },
		"list 20 failed":    func() error { _, err := s.Runs(engine.Query{Limit: 20, Status: engine.StatusFailed}); return err },
		"list 20 of no one": func() error { _, err := s.Runs(engine.Query{Limit: 20, Workflow: "other"}); return err },
		"list all":          func() error { _, err := s.Runs(engine.Query{}); return err },
		"open runs":         func() error { _, err := s.Open(); return err },
		"events of a run":   func() error { _, err := s.Events(typical(5000)[0][0].Run); return err },
		"prefix":            func() error { _, err := s.Prefix("run_00", 3); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/(1<<20), "heap-growth-MiB")
		})
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("reopen", func(b *testing.B) {
		for b.Loop() {
			s, err := Open(path, Options{})
			if err != nil {
				b.Fatal(err)
			}
			open, err := s.Open()
			if err != nil || len(open) != openRuns {
				b.Fatalf("%d open runs, %v", len(open), err)
			}
			for _, run := range open {
				if _, err := s.Events(run); err != nil {
					b.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
