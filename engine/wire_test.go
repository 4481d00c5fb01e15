package engine_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

// dropper is a real server. It answers the first request on each path as it should,
// so that a client with kept connections has a warm one, and resets the connection
// of every later one.
type dropper struct {
	mu   sync.Mutex
	hits map[string]int
}

func (d *dropper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	d.mu.Lock()
	d.hits[r.Method+" "+r.URL.Path]++
	d.mu.Unlock()
	switch {
	case strings.HasPrefix(r.URL.Path, "/warm"):
		_, _ = io.WriteString(w, `{}`)
	case r.URL.Path == "/moved":
		w.Header().Set("Location", "/drop307")
		w.WriteHeader(http.StatusTemporaryRedirect)
	default:
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_ = c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}

// No request is repeated behind the script's back, whatever Go's transport would do with it.
func TestNoHiddenRetries(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ name, request, hit string }{
		{"POST with a body", `{method: "POST", url: base + "/drop", json: {a: 1}, idempotency: {header: "Idempotency-Key", value: "k"}}`, "POST /drop"},
		{"empty keyed POST", `{method: "POST", url: base + "/drop", idempotency: {header: "Idempotency-Key", value: "k"}}`, "POST /drop"},
		{"keyed DELETE", `{method: "DELETE", url: base + "/drop", idempotency: {header: "Idempotency-Key", value: "k"}}`, "DELETE /drop"},
		{"GET", `{url: base + "/drop"}`, "GET /drop"},
		{"POST behind a 307", `{method: "POST", url: base + "/moved", json: {a: 1}, redirect: "follow", idempotency: {header: "Idempotency-Key", value: "k"}}`, "POST /drop307"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if n := hits(t, r.request, false); n[r.hit] != 1 {
				t.Errorf("%d requests arrived as %s, want 1", n[r.hit], r.hit)
			}
		})
	}
}

// The naive client exists to show what happens otherwise: the same POST arrives twice.
func TestKeptConnectionsRepeatAKeyedPost(t *testing.T) {
	t.Parallel()
	n := hits(t, `{method: "POST", url: base + "/drop", json: {a: 1}, idempotency: {header: "Idempotency-Key", value: "k"}}`, true)
	if n["POST /drop"] < 2 {
		t.Errorf("%d requests arrived, want the transport's own repetition", n["POST /drop"])
	}
}

// hits warms the client, sends one request, and counts what arrived.
func hits(t *testing.T, request string, keep bool) map[string]int {
	t.Helper()
	d := &dropper{hits: map[string]int{}}
	srv := httptest.NewServer(d)
	t.Cleanup(srv.Close)
	src := document("", `|const base = context.payload.base;
await services.http.request({method: "POST", url: base + "/warm", json: {}, idempotency: {header: "Idempotency-Key", value: "w"}}, {name: "warm"});
return (await services.http.request(`+request+`, {name: "it"})).status;`)
	doc, diags := woml.Parse([]byte(src))
	if doc == nil {
		t.Fatal(diags)
	}
	eng := engine.New(engine.Options{Clock: clock.NewWall(), History: engine.NewMemory(), KeepAlive: keep})
	t.Cleanup(eng.Close)
	eng.Load(doc)
	r, err := eng.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(`{"base":"` + srv.URL + `"}`)})
	if err != nil {
		t.Fatal(err)
	}
	eng.Ended(r.Run).Wait()
	run, err := eng.Get(r.Run)
	if err != nil || run.Status != engine.StatusFailed {
		t.Fatalf("run %s, %v: the drop must not turn into a success", run.Status, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hits
}
