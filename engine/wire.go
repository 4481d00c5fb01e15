package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
)

// wire is what carries requests: a connection of its own for each of them, or a
// simulation. Go's http.Transport carries them only where connections are to be
// shared: it repeats a request by itself when a shared one dies.
type wire struct {
	simulated http.RoundTripper
	shared    *http.Transport
	dial      dialer
	warming   sync.Once
}

func newWire(o Options) *wire {
	w := &wire{simulated: o.Transport, dial: o.Dial}
	if w.dial == nil {
		// The system's probes of idle connections would be set up for each request, and come after its timeout.
		w.dial = (&net.Dialer{KeepAlive: -1}).DialContext
	}
	if o.KeepAlive && w.simulated != nil {
		w.simulated = newKeptConnections(w.simulated, o.Idle)
	} else if o.KeepAlive {
		w.shared = &http.Transport{
			MaxIdleConnsPerHost:    max(keptByDefault, o.Idle),
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHead,
			TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1 only
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			DialContext:            w.dial,
		}
	}
	return w
}

func (w *wire) close() {
	if w.shared != nil {
		w.shared.CloseIdleConnections()
	}
}

// reply is how one request ended on the wire.
type reply struct {
	status   int // 0: no reply
	header   http.Header
	body     []byte
	tooLarge bool
	err      error // no reply, or a body that broke off
}

// exchange sends one request and reads its reply whole. began tells whether the first byte went out.
func (e *Engine) exchange(req *http.Request, id string) (r reply, resp *http.Response, began bool) {
	r, resp, began = e.exchangeOnce(req, id)
	if !e.o.RepeatsOnce || !began || r.status != 0 || context.Cause(req.Context()) != nil {
		return r, resp, began
	}
	again, err := anew(req)
	if err != nil {
		return r, resp, began
	}
	r, resp, _ = e.exchangeOnce(again, id)
	return r, resp, began
}

func (e *Engine) exchangeOnce(req *http.Request, id string) (r reply, resp *http.Response, began bool) {
	ctx := req.Context()
	if e.wire.simulated != nil {
		resp, r = roundTrip(e.wire.simulated, req)
		began = !neverSent(r)
	} else {
		resp, r, began = e.onSocket(req, id)
	}
	if cause := context.Cause(ctx); cause != nil && r.err != nil {
		r.err = cause
	}
	return r, resp, began
}

// onSocket is exchange on a real socket: time stands still while its bytes move.
func (e *Engine) onSocket(req *http.Request, id string) (resp *http.Response, r reply, began bool) {
	w := e.clk.Wire(id)
	s := &socket{dial: e.wire.dial}
	stop := e.clk.OnCancel(req.Context(), func(error) { w.GiveUp(); s.giveUp() })
	e.clk.Outside(func() {
		if e.wire.shared != nil {
			e.wire.warming.Do(func() { warm(e.wire.shared, req, e.o.WarmPath, e.o.Idle) })
			// Whose first byte went out on a shared connection is not to be seen.
			resp, r = roundTrip(e.wire.shared, req)
			began = !neverSent(r)
			return
		}
		req.Close = true
		resp, r = s.exchange(req)
		began = s.sent()
	})
	stop()
	w.Close()
	return resp, r, began
}

// neverSent reads the dial's own mark in an error, where there are no bytes to look at.
func neverSent(r reply) bool {
	var op *net.OpError
	return r.status == 0 && errors.As(r.err, &op) && op.Op == "dial"
}

func roundTrip(t http.RoundTripper, req *http.Request) (*http.Response, reply) {
	resp, err := t.RoundTrip(req)
	if err != nil {
		return nil, reply{err: err}
	}
	defer resp.Body.Close()
	return resp, readReply(resp)
}
