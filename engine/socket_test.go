package engine_test

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"faultlab/engine"
)

// Each row is what a server does with one connection, and how the call ends that met it.
func TestSocketReadsWhatServersDo(t *testing.T) {
	t.Parallel()
	interim := "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
	final := "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"
	for _, r := range []struct {
		name  string
		serve func(c net.Conn, req *http.Request)
		how   engine.How
		says  string
	}{
		{"a reply", say(final), engine.HowAccepted, ""},
		{"interim replies before it", say(strings.Repeat(interim, 50) + final), engine.HowAccepted, ""},
		{"interim replies and no other", say(strings.Repeat(interim, 6)), engine.HowNoReply, "unexpected EOF"},
		{"interim replies without an end", say(strings.Repeat(interim, 10_000)), engine.HowNoReply, "262144 bytes"},
		{"a reply that ends with the connection", say("HTTP/1.0 200 OK\r\n\r\n{}"), engine.HowAccepted, ""},
		{"chunks", say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"), engine.HowAccepted, ""},
		{"a body that is cut", say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), engine.HowUnreadable, "broke off"},
		{"a head that is cut", say("HTTP/1.1 200 OK\r\nServer: x\r\n"), engine.HowNoReply, "unexpected EOF"},
		{"a head without an end", say("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<18) + "\r\n\r\n"), engine.HowNoReply, "262144 bytes"},
		{"not a word", say(""), engine.HowNoReply, "EOF"},
		{"another protocol", say("220 smtp.example ESMTP\r\n"), engine.HowNoReply, "malformed HTTP"},
		{"a reply before the request is read", early("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"), engine.HowClient, "413"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			c := oneCall(t, serveOnce(t, r.serve))
			if c.How != r.how || !strings.Contains(c.Message, r.says) {
				t.Errorf("the call ended by %q with %q, want %q and %q in it", c.How, c.Message, r.how, r.says)
			}
			if len(c.Requests) != 1 || !c.Requests[0].Began {
				t.Errorf("requests %+v, want one that went out", c.Requests)
			}
		})
	}
}

// What fails before the first byte of the request was never sent, whatever else went over the wire.
func TestSocketKnowsWhatWasNeverSent(t *testing.T) {
	t.Parallel()
	stranger := httptest.NewUnstartedServer(http.NotFoundHandler()) // nobody vouches for its certificate
	stranger.Config.ErrorLog = log.New(io.Discard, "", 0)
	stranger.StartTLS()
	t.Cleanup(stranger.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, r := range []struct{ name, base, says string }{
		{"nobody listens", "http://" + closed.Addr().String(), "refused"},
		{"a certificate that nobody vouches for", stranger.URL, "certificate"},
		{"a host name that is not ASCII", "http://bücher.example", "xn--"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			c := oneCall(t, r.base)
			if c.How != engine.HowNeverSent || !strings.Contains(c.Message, r.says) {
				t.Errorf("the call ended by %q with %q, want %q in it", c.How, c.Message, r.says)
			}
			if len(c.Requests) != 1 || c.Requests[0].Began {
				t.Errorf("requests %+v, want one that never went out", c.Requests)
			}
		})
	}
}

// say reads the request and answers so.
func say(text string) func(net.Conn, *http.Request) {
	return func(c net.Conn, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(c, text)
	}
}

// early answers so, and only then reads.
func early(text string) func(net.Conn, *http.Request) {
	return func(c net.Conn, r *http.Request) {
		_, _ = io.WriteString(c, text)
		_, _ = io.Copy(io.Discard, r.Body)
	}
}

// serveOnce gives the address of a server of one connection.
func serveOnce(t *testing.T, serve func(net.Conn, *http.Request)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-over })
	go func() {
		defer close(over)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			serve(c, req)
		}
	}()
	return "http://" + l.Addr().String()
}

// oneCall runs a script that posts half a megabyte, once, and gives its call.
func oneCall(t *testing.T, base string) *engine.Call {
	t.Helper()
	run := onWall(t, `return (await services.http.request({method: "POST", url: context.payload.base + "/jobs",
json: {pad: "x".repeat(500000)}, idempotency: {header: "Idempotency-Key", value: "k"}}, {name: "it"})).status;`, `{"base":"`+base+`"}`)
	return run.Steps[0].Attempts[0].Calls[0]
}
