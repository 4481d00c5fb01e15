package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkRun is the step of a typical workflow: one managed call, its key and a small result, with a host that
// answers at once.
func BenchmarkRun(b *testing.B) {
	p := mustCompile(b, `
		const response = await services.http.request({
			method: "POST", url: "http://127.0.0.1:4040/jobs", json: { orderId: context.payload.orderId }, timeout: "10s",
			idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey },
		}, { name: "create-fulfillment" });
		return { jobId: response.data.id, idempotencyKey: attempt.idempotencyKey, attempt: attempt.number };`)
	in := Input{
		Payload: json.RawMessage(`{"orderId":"order-42","paymentId":"pay-42","amount":120}`),
		Attempt: Attempt{Number: 1, MaxAttempts: 3, IdempotencyKey: "sha256:9f3a"},
	}
	h := &instantHost{value: json.RawMessage(`{"status":201,"ok":true,"headers":{"content-type":"application/json"},"data":{"id":"job_1","orderId":"order-42"},"url":"http://127.0.0.1:4040/jobs","redirected":false}`)}
	benchmark(b, p, in, h)
}

func BenchmarkRunThatOnlyReturns(b *testing.B) {
	benchmark(b, mustCompile(b, `return { ok: true }`), Input{}, &instantHost{})
}

func BenchmarkLargeContextAndResult(b *testing.B) {
	item := `{"id":%d,"name":"a name","tags":["x","y"],"price":12.5}`
	var items []string
	for i := range 10_000 {
		items = append(items, fmt.Sprintf(item, i))
	}
	payload := json.RawMessage("[" + strings.Join(items, ",") + "]")
	b.SetBytes(int64(len(payload)))
	benchmark(b, mustCompile(b, `return context.payload`), Input{Payload: payload}, &instantHost{})
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := compile(`const r = await services.http.request({ url: "http://a/" }); return r.data`); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmark(b *testing.B, p *Program, in Input, h Host) {
	b.ReportAllocs()
	for b.Loop() {
		if got := Run(context.Background(), p, in, h); got.Err != nil {
			b.Fatal(got.Err)
		}
	}
}

// instantHost answers every call with one value.
type instantHost struct {
	value json.RawMessage
	open  int
}

func (h *instantHost) Now() time.Time                        { return epoch }
func (h *instantHost) Start(id int, _ Call) *ServiceError    { h.open = id; return nil }
func (h *instantHost) Timer(int, time.Duration)              {}
func (h *instantHost) Cancel(int)                            {}
func (h *instantHost) Next() (Completion, error)             { return Completion{ID: h.open, Value: h.value}, nil }
func (h *instantHost) Secret(string) (value string, ok bool) { return "", false }
func (h *instantHost) Log(string, string)                    {}
