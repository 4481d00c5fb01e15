package faultprovider

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"faultlab/engine/clock"
	"faultlab/faultprovider/contract"
)

func benchProvider(b *testing.B, name string) *Provider {
	b.Helper()
	c, _ := contract.Preset(name)
	p, err := New(Options{Clock: clock.NewWall(), Contract: c})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func jobRequest(n int) *http.Request {
	body := fmt.Sprintf(`{"orderId":"order-%d","paymentId":"pay-42","amount":120}`, n)
	req, err := http.NewRequest(http.MethodPost, "http://provider/jobs", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Idempotency-Key", fmt.Sprintf("key-0123456789abcdef-%d", n))
	return req
}

// BenchmarkSimulated counts whole exchanges of the simulated shell, the making of the request and the reading of the body
// included.
func BenchmarkSimulated(b *testing.B) {
	for _, name := range []string{"seed", "stripe-v1"} {
		for _, mode := range []string{"new", "replay"} {
			b.Run(name+"/"+mode, func(b *testing.B) {
				b.ReportAllocs()
				rt := benchProvider(b, name).Transport()
				began := cpuTime()
				for n := 0; b.Loop(); n++ {
					if mode == "replay" {
						n = 0
					}
					resp, err := rt.RoundTrip(jobRequest(n))
					if err != nil {
						b.Fatal(err)
					}
					if _, err := io.Copy(io.Discard, resp.Body); err != nil {
						b.Fatal(err)
					}
				}
				report(b, began)
			})
		}
	}
}

// BenchmarkMemory tells the live bytes per stored key.
func BenchmarkMemory(b *testing.B) {
	const keys = 100_000
	for range b.N {
		p := benchProvider(b, "seed")
		rt := p.Transport()
		before := live()
		for n := range keys {
			if _, err := rt.RoundTrip(jobRequest(n)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(live()-before)/keys, "B/key")
		runtime.KeepAlive(p)
	}
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// report gives the exchanges per second that passed, and per second of processor time.
func report(b *testing.B, began time.Duration) {
	b.Helper()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
	if used := cpuTime() - began; used > 0 {
		b.ReportMetric(float64(b.N)/used.Seconds(), "exchanges/cpu-s")
	}
}

// discarded is an http.ResponseWriter that forgets.
type discarded struct{ head http.Header }

func (d discarded) Header() http.Header         { return d.head }
func (d discarded) Write(b []byte) (int, error) { return len(b), nil }
func (d discarded) WriteHeader(int)             {}

// BenchmarkHandler counts what the socket shell adds to net/http.
func BenchmarkHandler(b *testing.B) {
	for _, mode := range []string{"new", "replay"} {
		b.Run(mode, func(b *testing.B) {
			b.ReportAllocs()
			h := benchProvider(b, "seed").Handler()
			began := cpuTime()
			body := &strings.Reader{}
			w := discarded{http.Header{}}
			req := jobRequest(0)
			req.Body = io.NopCloser(body)
			const text = `{"orderId":"order-42","paymentId":"pay-42","amount":120}`
			req.ContentLength = int64(len(text))
			for n := 0; b.Loop(); n++ {
				if mode == "new" {
					req.Header["Idempotency-Key"] = []string{"key-0123456789abcdef-" + strconv.Itoa(n)}
				}
				body.Reset(text)
				h.ServeHTTP(w, req)
			}
			report(b, began)
		})
	}
}

// BenchmarkSocket posts over kept connections; the client's own time is in it.
func BenchmarkSocket(b *testing.B) {
	for _, conns := range []int{1, 16} {
		for _, mode := range []string{"new", "replay"} {
			b.Run(fmt.Sprintf("%d/%s", conns, mode), func(b *testing.B) {
				p := benchProvider(b, "seed")
				address := newServer(b, p)
				transport := &http.Transport{MaxConnsPerHost: conns, MaxIdleConnsPerHost: conns}
				defer transport.CloseIdleConnections()
				var next atomic.Int64
				b.SetParallelism(conns)
				b.ResetTimer()
				began := cpuTime()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						n := int(next.Add(1))
						if mode == "replay" {
							n = 0
						}
						req := jobRequest(n)
						req.URL.Host = strings.TrimPrefix(address, "http://")
						resp, err := transport.RoundTrip(req)
						if err != nil {
							b.Error(err)
							return
						}
						_, _ = io.Copy(io.Discard, resp.Body)
						_ = resp.Body.Close()
					}
				})
				report(b, began)
			})
		}
	}
}
