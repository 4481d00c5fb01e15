package engine

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
)

// maxHead bounds the head of a reply and the 1xx replies before it, in bytes together.
const maxHead = 1 << 18

// dialer makes connections, as net.Dialer.DialContext does.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// socket is a connection that carries one request and then closes: HTTP/1.1, no
// compression, nothing kept and nothing repeated. It knows whether the request's
// first byte went out. That is a fact, not the text of an error: a reset can come
// from the dial, before and after the first byte alike.
type socket struct {
	dial dialer

	mu      sync.Mutex
	conn    net.Conn // as it was dialled; nil before
	givenUp bool
	began   bool // the first byte went out, or may have
}

var errGivenUp = errors.New("the request was given up before its first byte")

// exchange sends a request, whole, and then reads its reply. It is called once.
func (s *socket) exchange(req *http.Request) (*http.Response, reply) {
	c, err := s.connect(req)
	if err != nil {
		return nil, reply{err: err}
	}
	defer c.Close()
	b := buffers.Get().(*bufio.ReadWriter)
	defer buffers.Put(b)
	sending := &firstByte{c, s}
	b.Writer.Reset(sending)
	err = req.Write(b.Writer)
	if err == nil {
		err = b.Flush()
	}
	if err != nil && !s.sent() {
		return nil, reply{err: err}
	}
	head := &io.LimitedReader{R: c, N: maxHead}
	b.Reader.Reset(head)
	resp, failed := readHead(b.Reader, req)
	switch {
	case failed != nil && err != nil: // what kept the request from going out comes first
		return nil, reply{err: err}
	case failed != nil && head.N <= 0:
		return nil, reply{err: fmt.Errorf("the reply's head has more than %d bytes", maxHead)}
	case failed != nil:
		return nil, reply{err: failed}
	}
	head.N = math.MaxInt64
	return resp, readReply(resp)
}

// buffers are kept from one request to the next: a new pair would cost a third of what a request allocates.
var buffers = sync.Pool{New: func() any { return bufio.NewReadWriter(bufio.NewReader(nil), bufio.NewWriter(nil)) }}

// connect dials, and speaks TLS where the address asks for it.
func (s *socket) connect(req *http.Request) (net.Conn, error) {
	host, port := req.URL.Hostname(), req.URL.Port()
	if strings.IndexFunc(host, func(r rune) bool { return r > '~' }) >= 0 {
		return nil, fmt.Errorf("the host name %s is not ASCII: write it in its xn-- form", host)
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[req.URL.Scheme]
	}
	c, err := s.dial(req.Context(), "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	if !s.take(c) {
		c.Close()
		return nil, errGivenUp
	}
	if req.URL.Scheme != "https" {
		return c, nil
	}
	secured := tls.Client(c, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12})
	if err := secured.HandshakeContext(req.Context()); err != nil {
		c.Close()
		return nil, err
	}
	return secured, nil
}

func (s *socket) take(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = c
	return !s.givenUp
}

// giveUp ends the exchange wherever it is. It does not wait for its end.
func (s *socket) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.givenUp = true
	if s.conn != nil {
		s.conn.Close()
	}
}

// begin is called before the first byte of the request is written. What was given up does not begin any more.
func (s *socket) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.givenUp && !s.began {
		return errGivenUp
	}
	s.began = true
	return nil
}

func (s *socket) sent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.began
}

// firstByte stands above TLS, so that a handshake is not taken for the request.
type firstByte struct {
	conn net.Conn
	s    *socket
}

func (f *firstByte) Write(b []byte) (int, error) {
	if err := f.s.begin(); err != nil {
		return 0, err
	}
	return f.conn.Write(b)
}

// readHead reads a reply up to its body, past the interim ones (RFC 9110, 15.2).
func readHead(r *bufio.Reader, req *http.Request) (*http.Response, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, err // io.EOF: the other end closed without a word
	}
	for {
		resp, err := http.ReadResponse(r, req)
		if err != nil || resp.StatusCode/100 != 1 || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, err
		}
	}
}

// readReply reads the body, as far as it is taken.
func readReply(resp *http.Response) reply {
	r := reply{status: resp.StatusCode, header: resp.Header}
	body := bytes.NewBuffer(make([]byte, 0, min(max(resp.ContentLength, 0), 64<<10)+bytes.MinRead))
	_, r.err = body.ReadFrom(io.LimitReader(resp.Body, maxReply+1))
	r.body = body.Bytes()
	if len(r.body) > maxReply {
		r.body, r.tooLarge = nil, true
	}
	return r
}
