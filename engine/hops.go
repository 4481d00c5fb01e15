package engine

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"faultlab/engine/clock"
)

// hops is the RoundTripper under http.Client: each redirect is a request of its
// own, with its start on disk before its first byte.
type hops struct {
	h         *host
	pos       Pos
	req       *httpRequest
	effect    Effect        // of the call
	retention time.Duration // of its key, as assumed; 0 if unknown
	count     int           // of the requests that it has sent
	before    int           // how many of the call were sent before a crash
	method    string        // of the newest
	began     bool          // the first byte of any of them went out
	last      reply
}

// RoundTrip implements http.RoundTripper.
func (t *hops) RoundTrip(req *http.Request) (*http.Response, error) {
	h, e := t.h, t.h.e
	body, err := readBody(req)
	if err != nil {
		t.last = reply{err: err}
		return nil, err
	}
	t.count, t.method = t.count+1, req.Method
	pos := t.pos
	pos.Request = t.before + t.count
	h.mu.Lock()
	h.requests++
	id := RequestID{Run: h.rt.id, Step: pos.Step, Undo: pos.Undo, Attempt: pos.Attempt, Number: h.requests}.String()
	h.mu.Unlock()
	sent := RequestSent{Pos: pos, ID: id, Method: req.Method, URL: h.cleanURL(req.URL.String()), Body: body}
	if !readMethod(req.Method) {
		sent.Key, sent.Header = t.req.key, t.req.keyHeader
		if sent.Key == "" {
			sent.Plain = h.clean(req.Header.Get(h.rt.assume.Of(t.req.url).KeyHeader()))
		}
		sent.Shared = sent.Key != "" && sent.Key != h.key
		sent.Auth, sent.Secret = credentials(req.Header, sent.Header, h.clean)
	}
	if err := e.durable(e.append(h.rt, sent)); err != nil {
		t.last = reply{err: h.lost(err)}
		return nil, err
	}
	e.clk.Gate(clock.AtSend, id)
	cause := context.Cause(req.Context())
	if cause == nil {
		cause = t.mayGo(sent)
	}
	if cause != nil {
		t.last = reply{err: cause}
		if _, err := e.buffer(h.rt, NotSent{Pos: pos, Why: cause.Error()}); err != nil {
			h.lost(err)
		}
		return nil, cause
	}
	out := req.WithContext(req.Context()) // a copy, as deep as it is changed
	out.Header = req.Header.Clone()
	out.Header.Set("X-Request-Id", id)
	if body != nil {
		out.Body = io.NopCloser(bytes.NewReader(body))
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	r, resp, began := e.exchange(out, id)
	t.last, t.began = r, t.began || began
	e.clk.Gate(clock.AtRecord, id)
	ended := RequestEnded{Pos: pos, Status: r.status, Began: began}
	if r.err != nil {
		ended.Error, ended.GaveUp, ended.Broke = h.clean(innermost(r.err)), gaveUp(r.err), broke(r.err)
	}
	if _, err := e.buffer(h.rt, ended); err != nil {
		return nil, h.lost(err)
	}
	if resp == nil {
		return nil, r.err
	}
	resp.Request = out
	resp.Body = http.NoBody // read already; what it held is in t.last
	return resp, nil
}

// lost ends the attempt because the history cannot be written.
func (h *host) lost(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
	return err
}

func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	return io.ReadAll(req.Body)
}
