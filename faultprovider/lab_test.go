package faultprovider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"faultlab/engine/clock"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// lab is a provider on a virtual clock, and a client for it. What the client sees is written down.
type lab struct {
	t      *testing.T
	v      *clock.Virtual
	p      *Provider
	client *http.Client
	base   string
	n      int // requests
	lines  []string
}

// shells are the two ways to reach a provider. Every test of behaviour runs through both.
var shells = map[string]func(l *lab){
	"simulated": func(l *lab) {
		l.base, l.client = "http://provider", &http.Client{Transport: l.p.Transport()}
	},
	"socket": func(l *lab) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			l.t.Fatal(err)
		}
		server := l.p.Server(0)
		served := l.v.Do("listener", func() { l.v.Outside(func() { _ = server.Serve(listener) }) })
		l.t.Cleanup(func() { _ = server.Close(); <-served })
		l.base = "http://" + listener.Addr().String()
		l.client = &http.Client{Transport: onWire{l.v, &http.Transport{DisableKeepAlives: true, DisableCompression: true}}}
	},
}

// onWire is the RoundTripper of a caller that holds time while its bytes move, as the engine's is.
type onWire struct {
	v *clock.Virtual
	t *http.Transport
}

func (c onWire) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	wire := c.v.Wire(r.Header.Get(RequestIDHeader))
	defer wire.Close()
	defer c.v.OnCancel(r.Context(), func(error) { wire.GiveUp() })()
	c.v.Outside(func() {
		if resp, err = c.t.RoundTrip(r); err != nil {
			return
		}
		body, broken := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		resp.Body = &readBody{bytes.NewReader(body), broken}
	})
	return resp, err
}

// readBody is a body that was read already, with the error that ended it.
type readBody struct {
	*bytes.Reader
	end error
}

func (b *readBody) Read(dst []byte) (int, error) {
	n, err := b.Reader.Read(dst)
	if err == io.EOF && b.end != nil {
		err = b.end
	}
	return n, err
}

func (b *readBody) Close() error { return nil }

func newLab(t *testing.T, shell string, o Options) *lab {
	t.Helper()
	v := clock.NewVirtual(epoch)
	t.Cleanup(v.Close)
	o.Clock = v
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, v: v, p: p}
	shells[shell](l)
	l.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return l
}

// inBoth runs a test in both shells.
func inBoth(t *testing.T, o Options, test func(l *lab)) {
	t.Helper()
	for shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, shell, o)
			l.run(func() { test(l) })
		})
	}
}

// run runs f as an actor, until nothing is left to do.
func (l *lab) run(f func()) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	if err := l.v.Run(ctx, f); err != nil {
		l.t.Errorf("%v\n%s", err, strings.Join(l.lines, "\n"))
	}
}

var errLate = errors.New("too late")

// patience is how long the lab's client waits for an answer.
const patience = 10 * time.Second

type with = [2]string

// send sends one request and says what its caller gets.
func (l *lab) send(method, path, body string, headers ...with) string {
	l.n++
	return l.sendAs(fmt.Sprintf("r%d", l.n), method, path, body, headers...)
}

func (l *lab) sendAs(id, method, path, body string, headers ...with) string {
	ctx, cancel := l.v.WithTimeout(context.Background(), patience, errLate)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, method, l.base+path, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	req.Header.Set(RequestIDHeader, id)
	for _, h := range headers {
		req.Header.Set(h[0], h[1])
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	return got(ctx, resp)
}

// ended names the end of a request without an answer.
func ended(ctx context.Context, err error) string {
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx).Error()
	case errors.Is(err, syscall.ECONNRESET):
		return "reset"
	}
	return "error: " + err.Error()
}

// got writes an answer down.
func got(ctx context.Context, resp *http.Response) string {
	body, err := io.ReadAll(resp.Body)
	out := fmt.Sprintf("%d %s", resp.StatusCode, body)
	if len(body) > 1000 {
		out = fmt.Sprintf("%d %s... %d bytes", resp.StatusCode, body[:40], len(body))
	}
	for _, name := range []string{"Retry-After", "Idempotent-Replayed", "Should-Retry", "Location"} {
		if v := resp.Header.Get(name); v != "" {
			out += " " + name + ": " + v
		}
	}
	if resp.ContentLength != int64(len(body)) && err == nil {
		out += fmt.Sprintf(" (length %d)", resp.ContentLength)
	}
	if ct := resp.Header.Get("Content-Type"); ct != jsonContent {
		out += " " + ct
	}
	switch {
	case context.Cause(ctx) != nil:
		out += " then " + context.Cause(ctx).Error()
	case err != nil:
		var broken *os.SyscallError // what is around it names the addresses
		if errors.As(err, &broken) {
			err = broken
		}
		out += " then " + err.Error()
	}
	return out
}

// say writes down what happened, and when.
func (l *lab) say(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf("%9s  ", l.v.Now().Sub(epoch))+fmt.Sprintf(format, args...))
}

// pass lets time pass.
func (l *lab) pass(d time.Duration) { _ = l.v.Sleep(context.Background(), d) }

// want fails if what was got is not what was wanted.
func (l *lab) want(what, got, want string) {
	l.t.Helper()
	if got != want {
		l.t.Errorf("%s\n\tgot  %s\n\twant %s", what, got, want)
	}
}

func (l *lab) faults(names ...string) {
	l.t.Helper()
	var list []Fault
	for _, name := range names {
		f, err := fault.Parse(name)
		if err != nil {
			l.t.Fatal(err)
		}
		list = append(list, f)
	}
	l.p.QueueFaults(list)
}

// post is a POST under a key, written as the contract wants it, with the fields of a JSON object.
func (l *lab) post(c *Contract, collection, key, fields string) string {
	body, headers := keyed(c, key, fields, l.v.Now())
	return l.send(http.MethodPost, "/"+collection, body, headers...)
}

// keyed writes a key as a contract wants it.
func keyed(c *Contract, key, fields string, now time.Time) (body string, headers []with) {
	body = "{" + fields + "}"
	switch c.Carrier.In {
	case contract.InHeader:
		if c.Key.Syntax == contract.StructuredString {
			key = `"` + key + `"`
		}
		headers = append(headers, with{c.Carrier.Name, key})
	case contract.InBody:
		body = fmt.Sprintf(`{%s,%q:%q}`, fields, c.Carrier.Name, key)
	}
	if c.Carrier.FirstSent != "" {
		headers = append(headers, with{c.Carrier.FirstSent, httpDate(now)})
	}
	return body, headers
}

// kinds are the kinds of the log's entries, with their fault, status or note.
func (l *lab) kinds() string {
	var out []string
	for _, e := range l.p.Log(0) {
		word := string(e.Kind)
		switch {
		case e.Fault != "":
			word += ":" + e.Fault
		case e.Note != "":
			word += ":" + strings.ReplaceAll(e.Note, " ", "-")
		case e.Status != 0:
			word += fmt.Sprintf(":%d", e.Status)
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

func preset(t testing.TB, name string) Contract {
	t.Helper()
	c, ok := contract.Preset(name)
	if !ok {
		t.Fatalf("no preset %s", name)
	}
	return c
}
