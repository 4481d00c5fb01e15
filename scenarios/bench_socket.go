package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"syscall"

	"faultlab/engine/clock"
	"faultlab/faultprovider"
)

// onlyProvider is a simulated wire that knows one host. Every other one refuses the
// connection, as an address does at which nobody listens.
type onlyProvider struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t onlyProvider) RoundTrip(req *http.Request) (*http.Response, error) {
	if !ours(hostport(req)) {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, connectionRefused(hostport(req))
	}
	return t.next.RoundTrip(req)
}

// hostport is the request's address with its port.
func hostport(req *http.Request) string {
	if req.URL.Port() != "" {
		return req.URL.Host
	}
	return net.JoinHostPort(req.URL.Hostname(), map[string]string{"https": "443"}[req.URL.Scheme]+map[string]string{"http": "80"}[req.URL.Scheme])
}

// connectionRefused is what dialling an address gives at which nobody listens.
func connectionRefused(addr string) error {
	err := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	if a, e := netip.ParseAddrPort(addr); e == nil {
		err.Addr = net.TCPAddrFromAddrPort(a)
	}
	return err
}

// socket is a bench's provider on a real listener.
type socket struct {
	addr  string
	serve *http.Server
	over  chan struct{} // closed when the listener is gone
}

// listen serves the provider on addr; an empty one is any free port of the loopback.
func listen(clk clock.Clock, serve *http.Server, addr string) (*socket, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for the provider: %w", err)
	}
	s := &socket{addr: l.Addr().String(), serve: serve, over: make(chan struct{})}
	clk.Go("the provider's listener", func() {
		clk.Outside(func() {
			defer close(s.over)
			_ = s.serve.Serve(l) // ends with ErrServerClosed, or the listener is gone: requests then say so
		})
	})
	return s, nil
}

func (s *socket) close() error {
	err := s.serve.Close()
	<-s.over
	return err
}

// dial maps the documents' address to the bench's listener, and refuses every other one.
func (s *socket) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if !ours(addr) {
		return nil, connectionRefused(addr)
	}
	return (&net.Dialer{}).DialContext(ctx, network, s.addr)
}

// ledger hands every change of the provider's ledger to the timeline.
type ledger struct{ observe func(faultprovider.Change) }

// Load implements faultprovider.Ledger: a bench begins with nothing.
func (l ledger) Load(func(faultprovider.Change) error) error { return nil }

// Append implements faultprovider.Ledger.
func (l ledger) Append(c faultprovider.Change) faultprovider.Ticket {
	l.observe(c)
	return kept{}
}

// Reset implements faultprovider.Ledger.
func (l ledger) Reset() error { return nil }

// kept is the ticket of a change that is as durable as a bench.
type kept struct{}

func (kept) Wait() error { return nil }

var errBenchClosed = errors.New("the bench is closed")
