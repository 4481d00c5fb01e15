package engine

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// keptByDefault is how many connections to one host Go's transport keeps.
const keptByDefault = http.DefaultMaxIdleConnsPerHost

// keptConnections imitates, over a simulated wire, what Go's transport does with the connections that it keeps: a
// request on a kept one that breaks before any answer is sent again, on the next kept one and at last on a fresh one,
// if it can be sent again (see net/http.Transport).
type keptConnections struct {
	next http.RoundTripper
	most int

	mu   sync.Mutex
	idle int
}

func newKeptConnections(next http.RoundTripper, idle int) *keptConnections {
	return &keptConnections{next: next, most: max(keptByDefault, idle), idle: idle}
}

// RoundTrip implements http.RoundTripper.
func (k *keptConnections) RoundTrip(req *http.Request) (*http.Response, error) {
	for {
		kept := k.take()
		resp, err := k.next.RoundTrip(req)
		switch {
		case err == nil:
			resp.Body = &keptBody{resp.Body, k}
			return resp, nil
		case !kept || context.Cause(req.Context()) != nil || !replayable(req):
			return nil, err
		}
		if req, err = anew(req); err != nil {
			return nil, err
		}
	}
}

func (k *keptConnections) take() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.idle == 0 {
		return false
	}
	k.idle--
	return true
}

func (k *keptConnections) give() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.idle = min(k.idle+1, k.most)
}

// keptBody gives its connection back once it was read to its end.
type keptBody struct {
	io.ReadCloser
	k *keptConnections
}

func (b *keptBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) && b.k != nil {
		b.k.give()
		b.k = nil
	}
	return n, err
}

// replayable reports whether Go's transport would send a request again by itself.
func replayable(req *http.Request) bool {
	if req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
		return false
	}
	return readMethod(req.Method) || req.Method == http.MethodTrace || req.Header.Get("Idempotency-Key") != "" || req.Header.Get("X-Idempotency-Key") != ""
}

// anew is a request with its body from the beginning.
func anew(req *http.Request) (*http.Request, error) {
	out := req.WithContext(req.Context())
	if req.GetBody == nil {
		return out, nil
	}
	var err error
	out.Body, err = req.GetBody()
	return out, err
}

// warm makes kept connections before the first request: each is held by an answer that is not read, and given back once there are enough.
func warm(t *http.Transport, req *http.Request, path string, n int) {
	var held []io.Closer
	for range n {
		address := *req.URL
		address.Path, address.RawPath, address.RawQuery = path, "", ""
		first, err := http.NewRequest(http.MethodGet, address.String(), nil)
		if err != nil {
			break
		}
		resp, err := t.RoundTrip(first)
		if err != nil {
			break
		}
		held = append(held, &drained{resp.Body})
	}
	for _, body := range held {
		_ = body.Close()
	}
}

// drained reads a body to its end as it closes it, so that its connection is kept.
type drained struct{ io.ReadCloser }

func (d *drained) Close() error {
	_, err := io.Copy(io.Discard, d.ReadCloser)
	return errors.Join(err, d.ReadCloser.Close())
}
