package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
)

// wire is what carries requests: real sockets, a fresh connection for each
// request, or a simulation. A fresh connection is the only thing that keeps Go's
// transport from repeating a keyed write by itself.
type wire struct {
	base      http.RoundTripper
	transport *http.Transport // nil for a simulation
}

func newWire(o Options) *wire {
	if o.Transport != nil {
		return &wire{base: o.Transport}
	}
	dial := o.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	t := &http.Transport{
		DisableKeepAlives:      !o.KeepAlive,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 1 << 18,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1 only
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dial(ctx, network, addr)
			return tracked(ctx, c, err)
		},
		DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dialTLS(ctx, dial, network, addr)
			return tracked(ctx, c, err)
		},
	}
	return &wire{base: t, transport: t}
}

func (w *wire) close() {
	if w.transport != nil {
		w.transport.CloseIdleConnections()
	}
}

func dialTLS(ctx context.Context, dial func(context.Context, string, string) (net.Conn, error), network, addr string) (net.Conn, error) {
	raw, err := dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	c := tls.Client(raw, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12})
	if err := c.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	return c, nil
}

// track knows whether the first byte of one request went out. That is a fact, not
// the text of an error: a reset can come from the dial, before and after the first byte alike.
type track struct {
	mu     sync.Mutex
	began  bool
	sealed bool
}

var errSealed = errors.New("the request was given up before its first byte")

// begin is called before the first byte is written.
func (t *track) begin() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sealed && !t.began {
		return errSealed
	}
	t.began = true
	return nil
}

// seal makes sure that nothing can begin any more, and tells whether it did.
func (t *track) seal() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sealed = true
	return t.began
}

type trackKey struct{}

// tracked wraps a connection, above TLS, so that the request's track sees its first byte.
func tracked(ctx context.Context, c net.Conn, err error) (net.Conn, error) {
	t, ok := ctx.Value(trackKey{}).(*track)
	if err != nil || !ok {
		return c, err
	}
	return &trackedConn{Conn: c, track: t}, nil
}

type trackedConn struct {
	net.Conn
	track *track
}

func (c *trackedConn) Write(b []byte) (int, error) {
	if err := c.track.begin(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
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
	ctx := req.Context()
	t := &track{}
	req = req.WithContext(context.WithValue(ctx, trackKey{}, t))
	if e.wire.transport == nil {
		resp, r = e.roundTrip(req)
		began = !neverSent(r)
	} else {
		w := e.clk.Wire(id)
		stop := e.clk.OnCancel(ctx, func(error) { w.GiveUp() })
		e.clk.Outside(func() { resp, r = e.roundTrip(req) })
		stop()
		w.Close()
		// A connection that is shared was dialled for another request: its first byte is not ours to see.
		began = t.seal() || e.o.KeepAlive && r.status == 0 && !neverSent(r) || r.status != 0
	}
	if cause := context.Cause(ctx); cause != nil && r.err != nil {
		r.err = cause
	}
	return r, resp, began
}

// neverSent reads the dial's own mark in an error: a simulated wire has no bytes to look at.
func neverSent(r reply) bool {
	var op *net.OpError
	return r.status == 0 && errors.As(r.err, &op) && op.Op == "dial"
}

func (e *Engine) roundTrip(req *http.Request) (*http.Response, reply) {
	resp, err := e.wire.base.RoundTrip(req)
	if err != nil {
		return nil, reply{err: err}
	}
	r := reply{status: resp.StatusCode, header: resp.Header}
	r.body, r.err = io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	resp.Body.Close()
	if len(r.body) > maxReply {
		r.body, r.tooLarge = nil, true
	}
	return resp, r
}
