package faultprovider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"faultlab/engine/clock"
	"faultlab/engine/plain"
)

// Transport returns the simulated shell: requests are played without a socket, on the calling goroutine, which on a
// virtual clock must be an actor. It behaves as http.Transport does: it closes request bodies, refuses what cannot be
// sent, sets Response.Request, returns a reset as a *net.OpError and a broken body as an error of its Read. Every host is
// this provider.
func (p *Provider) Transport() http.RoundTripper { return transport{p} }

type transport struct{ p *Provider }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	r, err := sendable(req)
	if err != nil {
		return nil, err
	}
	if isControl(r.Path) {
		status, content, body := t.p.control(r)
		return t.response(req, &reply{status: status, content: content, body: body, length: len(body), sends: len(body)}), nil
	}
	reply := t.p.play(r, simulated{t.p.clk, req.Context()})
	switch {
	case reply == nil:
		return nil, context.Cause(req.Context())
	case reply.how == resets:
		return nil, reset()
	}
	return t.response(req, reply), nil
}

// sendable does what http.Transport does before the first byte goes out: it checks the request and reads its body.
func sendable(req *http.Request) (*Request, error) {
	body := io.ReadCloser(http.NoBody)
	if req.Body != nil {
		body = req.Body
	}
	defer func() { _ = body.Close() }()
	if err := unsendable(req); err != nil {
		return nil, err
	}
	if req.Context().Err() != nil {
		return nil, context.Cause(req.Context())
	}
	r := &Request{
		ID: req.Header.Get(RequestIDHeader), Method: req.Method, Path: req.URL.EscapedPath(), RawQuery: req.URL.RawQuery,
		Header: req.Header,
	}
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	if r.Path == "" {
		r.Path = "/"
	}
	if err := r.read(body, req.ContentLength); err != nil {
		return nil, err
	}
	return r, nil
}

// read reads a body of a known length, or of an unknown one (-1; 0 may mean that too), up to MaxBody.
func (r *Request) read(body io.Reader, length int64) error {
	if body == http.NoBody {
		return nil
	}
	if length > 0 && length <= MaxBody {
		r.Body = make([]byte, length, length+1)
		n, err := io.ReadFull(body, r.Body)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return err
		}
		if more, _ := body.Read(r.Body[n:cap(r.Body)]); int64(n) < length || more > 0 {
			return fmt.Errorf("net/http: HTTP/1.x transport connection broken: http: ContentLength=%d with Body length %d", length, n+more)
		}
		return nil
	}
	var err error
	r.Body, err = io.ReadAll(io.LimitReader(body, MaxBody+1))
	r.oversize = len(r.Body) > MaxBody
	return err
}

// unsendable says why http.Transport would not send a request.
func unsendable(req *http.Request) error {
	switch {
	case req.URL == nil:
		return errors.New("http: nil Request.URL")
	case req.Header == nil:
		return errors.New("http: nil Request.Header")
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return fmt.Errorf("unsupported protocol scheme %q", req.URL.Scheme)
	case req.Method != "" && !plain.Token(req.Method):
		return fmt.Errorf("net/http: invalid method %q", req.Method)
	case req.URL.Host == "":
		return errors.New("http: no Host in request URL")
	}
	for name, values := range req.Header {
		if !plain.Token(name) {
			return fmt.Errorf("net/http: invalid header field name %q", name)
		}
		for _, value := range values {
			if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
				return fmt.Errorf("net/http: invalid header field value for %q", name)
			}
		}
	}
	return nil
}

// reset is what http.Transport returns when the peer resets the connection.
func reset() error {
	return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
}

// response is the reply as http.Transport hands it out.
func (t transport) response(req *http.Request, p *reply) *http.Response {
	values := [...]string{p.content, httpDate(t.p.clk.Now()), ""}
	h := make(http.Header, 4)
	h["Content-Type"], h["Date"] = values[0:1:1], values[1:2:2]
	for _, extra := range p.headers {
		h[extra[0]] = []string{extra[1]}
	}
	resp := &http.Response{
		Status: strconv.Itoa(p.status) + " " + statusText(p.status), StatusCode: p.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, ContentLength: int64(p.length), Request: req, Body: http.NoBody,
	}
	if p.length >= 0 {
		values[2] = strconv.Itoa(p.length)
		h["Content-Length"] = values[2:3:3]
	} else if p.chunked {
		resp.TransferEncoding = []string{"chunked"}
	} else {
		resp.Close = true
	}
	if req.Method != http.MethodHead && p.total() > 0 {
		resp.Body = newBody(t.p.clk, req.Context(), p)
	}
	return resp
}

func statusText(code int) string {
	if s := http.StatusText(code); s != "" {
		return s
	}
	return "status code " + strconv.Itoa(code)
}

func httpDate(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

// simulated is a caller without a socket.
type simulated struct {
	clk clock.Clock
	ctx context.Context
}

func (simulated) still() {}
func (simulated) move()  {}

func (s simulated) onGone(f func()) (stop func()) {
	return s.clk.OnCancel(s.ctx, func(error) { f() })
}

// simulatedBody is the body of a response without a socket.
type simulatedBody struct {
	bytes  io.Reader
	clk    clock.Clock
	ctx    context.Context
	end    error // what follows the last byte
	drip   time.Duration
	begun  bool
	closed bool
}

func newBody(clk clock.Clock, ctx context.Context, p *reply) *simulatedBody {
	b := &simulatedBody{bytes: p.reader(), clk: clk, ctx: ctx, end: io.EOF, drip: p.drip}
	switch {
	case p.length >= 0 && p.length < p.sends:
		b.bytes = io.LimitReader(b.bytes, int64(p.length))
	case p.breaks:
		b.end = reset()
	case p.length > p.sends || p.chunked:
		b.end = io.ErrUnexpectedEOF
	}
	return b
}

func (b *simulatedBody) Read(dst []byte) (int, error) {
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	if b.drip > 0 {
		dst = dst[:min(len(dst), 1)]
	}
	n, err := b.bytes.Read(dst)
	if b.drip > 0 && n > 0 {
		if b.begun {
			if err := b.clk.Sleep(b.ctx, b.drip); err != nil {
				return 0, err
			}
		}
		b.begun = true
	}
	if err == io.EOF {
		err = b.end
	}
	return n, err
}

func (b *simulatedBody) Close() error {
	b.closed = true
	return nil
}
