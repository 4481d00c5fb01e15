package faultprovider

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"faultlab/engine/clock"
)

// newServer serves a provider on the loopback interface and returns its address.
func newServer(t testing.TB, p *Provider) string {
	t.Helper()
	return serve(t, p.Server(0))
}

func serve(t testing.TB, server *http.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return "http://" + l.Addr().String()
}

func newWall(t testing.TB, o Options) *Provider {
	t.Helper()
	o.Clock = clock.NewWall()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"127.0.0.1:4040": true, "127.9.9.9:0": true, "[::1]:80": true, "localhost:80": true,
		"0.0.0.0:4040": false, ":4040": false, "192.168.1.2:80": false, "example.com:80": false, "127.0.0.1": false, "[::]:80": false,
	} {
		if got := Loopback(address); got != want {
			t.Errorf("Loopback(%q) = %v", address, got)
		}
	}
}

// raw sends bytes on a connection of its own and returns everything that comes back, and the error that ended it.
func raw(t *testing.T, address, text string) (string, error) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if c, ok := conn.(*net.TCPConn); ok && strings.Contains(text, "Connection: close") {
		_ = c.CloseWrite()
	}
	out, err := io.ReadAll(conn)
	return string(out), err
}

// TestBytesOnTheWire looks at misbehaviour as a client sees it that is no HTTP library.
func TestBytesOnTheWire(t *testing.T) {
	t.Parallel()
	p := newWall(t, Options{Seed: 1})
	address := newServer(t, p)
	const post = "POST /jobs HTTP/1.1\r\nHost: x\r\nIdempotency-Key: %s\r\nContent-Length: 13\r\n\r\n{\"orderId\":1}"
	for _, c := range []struct{ fault, head, body, err string }{
		{"commit-then-drop", "", "", "connection reset by peer"},
		{"cut-body", "HTTP/1.1 201 Created|Content-Length: 33", `{"id":"job_xxxx`, ""}, // FIN, not RST
		{"cut-unframed", "HTTP/1.1 201 Created|Connection: close", `{"id":"job_xxxx`, ""},
		{"wrong-length", "HTTP/1.1 201 Created|Content-Length: 16", `{"id":"job_xxxxxxxx","orderId":1}`, ""},
		{"drip", "HTTP/1.1 201 Created|Content-Length: 33|Connection: close", `{"id":"job_xxxxxxxx","orderId":1}`, ""},
	} {
		(&lab{t: t, p: p}).faults(c.fault)
		got, err := raw(t, address, fmt.Sprintf(post, c.fault))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || got != "" {
				t.Errorf("%s: %q, %v; want an error with %q", c.fault, got, err, c.err)
			}
			continue
		}
		head, body, _ := strings.Cut(got, "\r\n\r\n")
		if err != nil || len(body) > len(c.body)+1 || len(body) < len(c.body)-1 {
			t.Errorf("%s: %q, %v; want about %d bytes of a body and a FIN", c.fault, got, err, len(c.body))
		}
		for _, line := range strings.Split(c.head, "|") {
			if !strings.Contains(head+"\r\n", line+"\r\n") {
				t.Errorf("%s: no line %q in\n%s", c.fault, line, head)
			}
		}
	}
}

func TestHangEndsWithTheConnection(t *testing.T) {
	t.Parallel()
	arrived, gone := make(chan struct{}), make(chan struct{})
	p := newWall(t, Options{Observe: func(e Entry) {
		switch e.Kind {
		case NewOperation:
			close(arrived)
		case GaveUp:
			close(gone)
		}
	}})
	(&lab{t: t, p: p}).faults("hang-before-commit")
	conn, err := net.Dial("tcp", strings.TrimPrefix(newServer(t, p), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST /jobs HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	<-arrived
	_ = conn.Close()
	<-gone
}

func TestReadLimits(t *testing.T) {
	t.Parallel()
	p := newWall(t, Options{})
	address := serve(t, p.Server(500*time.Millisecond))
	for name, c := range map[string]struct{ sent, want string }{
		"head too slow":  {"POST /jobs HTTP/1.1\r\nHost:", ""},
		"body too slow":  {"POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{", "HTTP/1.1 408 Request Timeout"},
		"body too large": {"POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n", "HTTP/1.1 413 Request Entity Too Large"},
		"head too large": {"GET /jobs/1 HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", "HTTP/1.1 431 Request Header Fields Too Large"},
		"in time":        {"GET /jobs/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 404 Not Found"},
	} {
		got, _ := raw(t, address, c.sent)
		if line, _, _ := strings.Cut(got, "\r\n"); line != c.want {
			t.Errorf("%s: %q, want %q", name, line, c.want)
		}
	}
	if n := len(p.Effects()); n != 0 {
		t.Errorf("%d effects of requests that were not whole", n)
	}
}

// TestSlowAnswersAreNotCutOff: the limit to read a request is over once it is read.
func TestSlowAnswersAreNotCutOff(t *testing.T) {
	t.Parallel()
	p := newWall(t, Options{})
	server := serve(t, p.Server(500*time.Millisecond))
	(&lab{t: t, p: p}).faults(`{"reply":{"slow":"1s"}}`)
	req, err := http.NewRequest(http.MethodPost, server+"/jobs", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Idempotency-Key", "k")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("answered with %s", resp.Status)
	}
}
