package faultprovider

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
)

// closing notices that it was closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

// TestTransportRefusesWhatTheRealOneRefuses sends unsendable requests through http.Transport and through the simulation
// and demands the same words, and that the body is closed.
func TestTransportRefusesWhatTheRealOneRefuses(t *testing.T) {
	t.Parallel()
	p := newWall(t, Options{})
	// What it talks to reads and never answers: an answer may come before the transport sees that the body is too long.
	real := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		mine, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		return mine, nil
	}}
	address := &url.URL{Scheme: "http", Host: "provider.example", Path: "/jobs"}
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errLate)
	for name, spoil := range map[string]func(r *http.Request){
		"no URL":                 func(r *http.Request) { r.URL = nil },
		"no header":              func(r *http.Request) { r.Header = nil },
		"no host":                func(r *http.Request) { r.URL = &url.URL{Scheme: "http", Path: "/jobs"} },
		"bad scheme":             func(r *http.Request) { r.URL = &url.URL{Scheme: "gopher", Host: "x"} },
		"bad method":             func(r *http.Request) { r.Method = "PO ST" },
		"bad header name":        func(r *http.Request) { r.Header["Bad Name"] = []string{"x"} },
		"bad header value":       func(r *http.Request) { r.Header.Set("Idempotency-Key", "a\nb") },
		"cancelled before":       func(r *http.Request) { *r = *r.WithContext(cancelled) },
		"body shorter than said": func(r *http.Request) { r.ContentLength = 5 },
		"body longer than said":  func(r *http.Request) { r.ContentLength = 1 },
	} {
		var texts [2]string
		for i, rt := range []http.RoundTripper{real, p.Transport()} {
			body := &closing{Reader: strings.NewReader("{}")}
			r := (&http.Request{Method: http.MethodPost, URL: address, Header: http.Header{"Idempotency-Key": {"k"}}, Body: body, ContentLength: 2}).WithContext(t.Context())
			spoil(r)
			resp, err := rt.RoundTrip(r)
			if err == nil {
				_ = resp.Body.Close()
				t.Errorf("%s: no error", name)
				continue
			}
			texts[i] = err.Error()
			if !body.closed {
				t.Errorf("%s: the body was not closed", name)
			}
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: http.Transport says %q, the simulation %q", name, texts[0], texts[1])
		}
	}
}

// TestResponsesAreAlike compares the responses of both transports, header by header.
func TestResponsesAreAlike(t *testing.T) {
	t.Parallel()
	p := newWall(t, Options{Contract: preset(t, "stripe-v1")})
	address := newServer(t, p)
	real := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	for name, f := range map[string]string{
		"created": "none", "error": "unavailable", "cut": "cut-body", "unframed": "cut-unframed", "HTML": "not-json", "large": "too-large", "odd status": `{"reply":{"status":599}}`,
	} {
		var seen [2]string
		for i, rt := range []http.RoundTripper{real, p.Transport()} {
			(&lab{t: t, p: p}).faults(f)
			req, err := http.NewRequest(http.MethodPost, address+"/jobs", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Idempotency-Key", name+string(rune('0'+i)))
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			resp.Header.Set("Date", "now")
			if resp.Request != req {
				t.Errorf("%s: the response does not know its request", name)
			}
			var header strings.Builder
			_ = resp.Header.Write(&header)
			seen[i] = strings.Join([]string{resp.Status, resp.Proto, header.String(), masked(string(body[:min(len(body), 80)]))}, "\n")
			if err != nil {
				seen[i] += " then " + err.Error()
			}
			if resp.ContentLength >= 0 && resp.Header.Get("Content-Length") == "" {
				t.Errorf("%s: a length and no header", name)
			}
		}
		if seen[0] != seen[1] {
			t.Errorf("%s: http.Transport\n%s\nthe simulation\n%s", name, seen[0], seen[1])
		}
	}
}

func TestResetIsAResetError(t *testing.T) {
	t.Parallel()
	p := newWall(t, Options{})
	(&lab{t: t, p: p}).faults("commit-then-drop")
	seed := preset(t, "seed")
	err := roundTrip(p.Transport(), &seed, "k")
	var op *net.OpError
	if !errors.Is(err, syscall.ECONNRESET) || !errors.As(err, &op) || op.Op != "read" {
		t.Errorf("a drop is %v", err)
	}
}

func TestBodyAfterTheEnd(t *testing.T) {
	t.Parallel()
	p := newWall(t, Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://provider/jobs", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Idempotency-Key", "k")
	resp, err := p.Transport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	cancel(errLate)
	if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, errLate) {
		t.Errorf("a read after the cancellation: %v", err)
	}
	_ = resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("a read after Close: %v", err)
	}
}
