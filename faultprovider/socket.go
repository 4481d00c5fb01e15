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
	"sync/atomic"
	"time"

	"faultlab/engine/clock"
)

// Handler returns the socket shell: an http.Handler for an http.Server of HTTP/1, control surface included. Served by
// anything whose connections cannot be hijacked, a misbehaviour below HTTP becomes an aborted connection.
//
// On a virtual clock the request joins the wire of its X-Request-Id, and time stands still while its bytes move.
func (p *Provider) Handler() http.Handler { return &handler{p: p} }

type handler struct {
	p    *Provider
	date atomic.Pointer[dateLine]
}

// dateLine is the Date header of one second.
type dateLine struct {
	second int64
	value  []string
}

func (h *handler) dateHeader() []string {
	now := h.p.clk.Now()
	if d := h.date.Load(); d != nil && d.second == now.Unix() {
		return d.value
	}
	d := &dateLine{now.Unix(), []string{httpDate(now)}}
	h.date.Store(d)
	return d.value
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r := &Request{
		ID: req.Header.Get(RequestIDHeader), Method: req.Method, Path: req.URL.EscapedPath(), RawQuery: req.URL.RawQuery,
		Header: req.Header,
	}
	if err := h.read(req, r); err != nil {
		h.unread(w, err)
		return
	}
	if isControl(r.Path) {
		h.serveControl(w, req, r)
		return
	}
	leave := h.p.clk.Enter("provider")
	defer leave()
	c := &connected{clk: h.p.clk, wire: h.p.clk.Wire(r.ID), ctx: req.Context()}
	reply := h.p.play(r, c)
	if reply == nil {
		panic(http.ErrAbortHandler) // a return would write a 200
	}
	switch {
	case reply.how == resets:
		hangUp(w)
	case reply.plain():
		h.answer(w, reply)
	default:
		h.misbehave(w, req, reply, c)
	}
}

// read reads the body whole, if it is not too large.
func (h *handler) read(req *http.Request, r *Request) (err error) {
	if r.oversize = req.ContentLength > MaxBody; !r.oversize && req.ContentLength != 0 {
		err = r.read(req.Body, req.ContentLength)
	}
	if r.oversize {
		drain(req)
		return nil
	}
	return err
}

// drained is how much of a body that is too large is read, in bytes: a client that is still sending when the connection
// is closed gets a reset in place of the 413.
const drained = 8 << 20

func drain(req *http.Request) {
	if req.Header.Get("Expect") == "" { // else it waits for a word before it sends
		_, _ = io.CopyN(io.Discard, req.Body, drained)
	}
}

// unread answers a request whose body did not come.
func (h *handler) unread(w http.ResponseWriter, err error) {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Connection", "close")
	body := errorBody("request_timeout", "the body did not come in time")
	h.answer(w, &reply{status: http.StatusRequestTimeout, content: jsonContent, body: body})
}

var jsonHeader = []string{jsonContent}

// autoLength is up to how many bytes net/http counts a body by itself.
const autoLength = 1024

// answer writes a reply as any server would.
func (h *handler) answer(w http.ResponseWriter, p *reply) {
	head := w.Header()
	head["Content-Type"] = jsonHeader
	if p.content != jsonContent {
		head["Content-Type"] = []string{p.content}
	}
	head["Date"] = h.dateHeader()
	for _, extra := range p.headers {
		head[extra[0]] = []string{extra[1]}
	}
	if p.status == http.StatusRequestEntityTooLarge {
		head.Set("Connection", "close")
	}
	if n := p.total(); n > autoLength {
		head.Set("Content-Length", strconv.Itoa(n))
	}
	w.WriteHeader(p.status)
	if p.tail == "" {
		_, _ = w.Write(p.body)
		return
	}
	h.p.clk.Outside(func() { _, _ = io.Copy(w, p.reader()) }) // the caller may stop reading before the end
}

// hangUp resets the connection: the caller sees ECONNRESET, not the end of a stream.
func hangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	resetOnClose(conn)
	_ = conn.Close()
}

// resetOnClose makes the end of a connection a reset, in place of a FIN.
func resetOnClose(conn net.Conn) {
	if c, ok := conn.(interface{ SetLinger(int) error }); ok {
		_ = c.SetLinger(0)
	}
}

// misbehave writes a reply that no ordinary server would write, and ends the connection with a FIN or a reset.
func (h *handler) misbehave(w http.ResponseWriter, req *http.Request, p *reply, c *connected) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write(h.head(p)); err != nil || req.Method == http.MethodHead {
		return
	}
	body := p.reader()
	if p.chunked && p.sends > 0 {
		_, _ = fmt.Fprintf(conn, "%x\r\n", p.sends)
	}
	if p.drip > 0 {
		err = c.drip(conn, body, p.drip)
	} else {
		h.p.clk.Outside(func() { _, err = io.Copy(conn, body) })
	}
	if p.breaks {
		resetOnClose(conn)
		return
	}
	if p.chunked && p.sends > 0 {
		_, _ = io.WriteString(conn, "\r\n")
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
	}
}

// head is the status line and the header, as bytes.
func (h *handler) head(p *reply) []byte {
	var b strings.Builder
	b.WriteString("HTTP/1.1 " + strconv.Itoa(p.status) + " " + statusText(p.status) + "\r\n")
	b.WriteString("Content-Type: " + p.content + "\r\nDate: " + h.dateHeader()[0] + "\r\n")
	for _, extra := range p.headers {
		b.WriteString(extra[0] + ": " + extra[1] + "\r\n")
	}
	if p.length >= 0 {
		b.WriteString("Content-Length: " + strconv.Itoa(p.length) + "\r\n")
	}
	if p.chunked {
		b.WriteString("Transfer-Encoding: chunked\r\n")
	} else if p.length < 0 || p.drip > 0 && !p.cut() { // the others do not say that they will end the connection
		b.WriteString("Connection: close\r\n")
	}
	b.WriteString("\r\n")
	return []byte(b.String())
}

// connected is a caller behind a socket.
type connected struct {
	clk  clock.Clock
	wire clock.Wire
	ctx  context.Context // ends when the connection does
}

func (c *connected) still() { c.wire.Still() }
func (c *connected) move()  { c.wire.Move() }

// onGone hears of a managed caller by its wire, of any other by its connection.
func (c *connected) onGone(f func()) (stop func()) {
	c.wire.OnGiveUp(f)
	return c.clk.OnCancel(c.ctx, func(error) { f() })
}

// drip writes a body byte by byte.
func (c *connected) drip(conn net.Conn, body io.Reader, every time.Duration) error {
	var b [1]byte
	for n := 0; ; n++ {
		if _, err := body.Read(b[:]); err != nil {
			return nil // its end
		}
		if n > 0 {
			c.still()
			err := c.clk.Sleep(context.Background(), every)
			c.move()
			if err != nil {
				return err
			}
		}
		if _, err := conn.Write(b[:]); err != nil {
			return err
		}
	}
}
