package store_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
	"faultlab/store"
)

// BenchmarkDurableRuns is whole runs of one step that posts under a key, every
// acknowledged fact on disk, with 1 and 16 of them in flight. It posts to BENCH_URL
// (its /jobs answers 201; its /flaky 503 to a key's first request, then 201) or,
// where that is not set, to a server of its own. It reports runs/s, the 99th
// percentile of a run in ms, bytes on disk and processor time for each run, and the
// most memory that the process has held since it began. Its heap may grow as that of
// the built program may.
func BenchmarkDurableRuns(b *testing.B) {
	sizeMemory(b)
	base := os.Getenv("BENCH_URL")
	if base == "" {
		srv := httptest.NewServer(benchProvider())
		defer srv.Close()
		base = srv.URL
	}
	for _, mode := range []struct{ name, path, retry string }{{"ok", "/jobs", ""}, {"retry", "/flaky", `retry="5" retry-backoff="fixed" retry-delay="1ms"`}} {
		for _, flight := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", mode.name, flight), func(b *testing.B) { durableRuns(b, base+mode.path, mode.retry, flight) })
		}
	}
}

// sizeMemory sets what cmd/faultlab/memory.go sets.
func sizeMemory(b *testing.B) {
	if asked := flag.Lookup("test.memprofile"); asked == nil || asked.Value.String() == "" {
		runtime.MemProfileRate = 0
	}
	if os.Getenv("GOGC") == "" {
		before := debug.SetGCPercent(150)
		b.Cleanup(func() { debug.SetGCPercent(before) })
	}
}

func durableRuns(b *testing.B, url, retry string, flight int) {
	doc, diags := woml.Parse([]byte(`<woml><workflow id="bench" name="Bench" version="1.0.0"><triggers><manual id="start" /></triggers><steps><step id="create" name="Create" ` + retry + `><script>
const r = await services.http.request({method: "POST", url: "` + url + `", json: {amount: context.payload.amount, currency: "EUR", ref: "order-123456", note: "a small JSON body for the job"},
  idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}, {name: "create"});
return {jobId: r.data.id, status: r.status, attempt: attempt.number};</script></step></steps></workflow></woml>`))
	if doc == nil {
		b.Fatal(diags)
	}
	path := filepath.Join(b.TempDir(), "state.db")
	s, err := store.Open(path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	eng := engine.New(engine.Options{Clock: clock.NewWall(), History: s})
	eng.Load(doc)
	times := make([][]time.Duration, flight)
	var next atomic.Int64
	var wg sync.WaitGroup
	before, _ := usage()
	b.ResetTimer()
	for g := range flight {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for next.Add(1) <= int64(b.N) {
				start := time.Now()
				r, err := eng.Submit(engine.Delivery{Workflow: "bench", Payload: json.RawMessage(`{"amount":1250}`)})
				if err != nil {
					b.Error(err)
					return
				}
				eng.Ended(r.Run).Wait()
				times[g] = append(times[g], time.Since(start))
			}
		}()
	}
	wg.Wait()
	b.StopTimer()
	after, peak := usage()
	eng.Close()
	failed, err := s.Runs(engine.Query{Status: engine.StatusFailed, Limit: 1})
	if err != nil || len(failed) > 0 {
		b.Fatalf("runs failed: %v, %v", failed, err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	if info, err := os.Stat(path); err == nil {
		b.ReportMetric(float64(info.Size())/float64(b.N), "B/run")
	}
	b.ReportMetric(float64((after-before).Microseconds())/1000/float64(b.N), "cpu-ms/run")
	b.ReportMetric(peak, "peak-MiB")
}

// benchProvider answers 201 under /jobs and, under /flaky, 503 first.
func benchProvider() http.Handler {
	var mu sync.Mutex
	seen := map[string]bool{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		key := r.Header.Get("Idempotency-Key")
		mu.Lock()
		first := !seen[key]
		seen[key] = true
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/flaky" && first {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"job_00000001","status":"created"}`)
	})
}
