package clock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// These tests run net/http's own server and client over the loopback interface on the virtual clock.

// trace collects what actors did, and when.
type trace struct {
	v     *Virtual
	lines []string
}

func (tr *trace) add(format string, args ...any) {
	tr.lines = append(tr.lines, fmt.Sprintf("%10v ", tr.v.Now().Sub(epoch))+fmt.Sprintf(format, args...))
}

// provider answers /reply/2s after two seconds, /drop/1s with a reset, and /hang/0s when its caller gives up.
type provider struct {
	v       *Virtual
	tr      *trace
	arrived chan string // told of ids, unless nil
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	what, rest, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	after, _ := time.ParseDuration(rest)
	id := r.Header.Get("X-Request-Id")

	leave := p.v.Enter("provider " + id)
	defer leave()
	wire := p.v.Wire(id)
	p.tr.add("provider: %s arrives", id)
	if p.arrived != nil {
		p.arrived <- id
	}
	over := p.v.NewEvent("the end of " + id)
	gone := false
	wire.OnGiveUp(func() { gone = true; over.Set() })
	if what != "hang" {
		defer p.v.AfterFunc(after, over.Set)()
	}
	// A foreign client does not use the wire.
	defer context.AfterFunc(r.Context(), over.Set)()
	wire.Still()
	over.Wait()
	if gone || what == "hang" {
		p.tr.add("provider: %s is alone", id)
		panic(http.ErrAbortHandler)
	}
	wire.Move()
	p.tr.add("provider: %s gets its %s", id, what)
	if what == "drop" {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
		return
	}
	_, _ = io.WriteString(w, "job of "+id)
}

// caller is the RoundTripper of a caller that uses the wire.
type caller struct {
	v *Virtual
	t *http.Transport
}

func (c caller) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	wire := c.v.Wire(r.Header.Get("X-Request-Id"))
	defer wire.Close()
	defer c.v.OnCancel(r.Context(), func(error) { wire.GiveUp() })()
	c.v.Outside(func() {
		if resp, err = c.t.RoundTrip(r); err != nil {
			return
		}
		var body []byte
		body, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(strings.NewReader(string(body)))
	})
	return resp, err
}

// loopback is a provider that listens, on a clock, and a client for it.
type loopback struct {
	v      *Virtual
	tr     *trace
	url    string
	client *http.Client

	provider *provider
}

func listen(t *testing.T) *loopback {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := NewVirtual(epoch)
	tr := &trace{v: v}
	p := &provider{v: v, tr: tr}
	server := &http.Server{Handler: p}
	served := v.Do("listener", func() { v.Outside(func() { _ = server.Serve(l) }) })
	t.Cleanup(func() {
		_ = server.Close()
		v.Close()
		<-served
	})
	transport := &http.Transport{DisableKeepAlives: true}
	return &loopback{v, tr, "http://" + l.Addr().String(), &http.Client{Transport: caller{v, transport}}, p}
}

// post sends one request under id and returns how it ended.
func (b *loopback) post(ctx context.Context, path, id string, limit time.Duration) string {
	ctx, cancel := b.v.WithTimeout(ctx, limit, errLate)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+path, strings.NewReader("{}"))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("X-Request-Id", id)
	resp, err := b.client.Do(req)
	if cause := context.Cause(ctx); cause != nil {
		return cause.Error()
	}
	if err != nil {
		return "dropped"
	}
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

func TestSocketsKeepVirtualTime(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, path string
		limit      time.Duration
		want       []string
	}{
		{"a reply after two seconds", "/reply/2s", 10 * time.Second, []string{
			"        0s provider: a arrives", "        2s provider: a gets its reply", "        2s caller: job of a"}},
		{"a reply at once", "/reply/0s", time.Second, []string{
			"        0s provider: a arrives", "        0s provider: a gets its reply", "        0s caller: job of a"}},
		{"a drop after a second", "/drop/1s", 10 * time.Second, []string{
			"        1s caller: dropped", "        0s provider: a arrives", "        1s provider: a gets its drop"}[1:]},
		{"a hang with a limit of one second", "/hang/0s", time.Second, []string{
			"        0s provider: a arrives", "        1s provider: a is alone", "        1s caller: too late"}},
		{"a reply after a day, in time", "/reply/24h", 25 * time.Hour, []string{
			"        0s provider: a arrives", "   24h0m0s provider: a gets its reply", "   24h0m0s caller: job of a"}},
		{"a reply after a day, too late", "/reply/24h", time.Minute, []string{
			"        0s provider: a arrives", "      1m0s provider: a is alone", "      1m0s caller: too late"}},
	}
	cases[2].want = append(cases[2].want, "        1s caller: dropped")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for range 200 {
				b := listen(t)
				if err := b.v.Run(soon(t), func() {
					b.tr.add("caller: %s", b.post(t.Context(), c.path, "a", c.limit))
				}); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(b.tr.lines, c.want) {
					t.Fatalf("got\n%s\nwant\n%s", strings.Join(b.tr.lines, "\n"), strings.Join(c.want, "\n"))
				}
			}
		})
	}
}

// storm sends many requests at the same instants and lets many of their ends fall together.
func storm(t *testing.T) []string {
	b := listen(t)
	paths := []string{"/reply/0s", "/reply/1s", "/drop/1s", "/hang/0s", "/reply/24h", "/drop/0s"}
	err := b.v.Run(soon(t), func() {
		for i := range 3 * len(paths) {
			b.v.Go(fmt.Sprint("caller ", i), func() {
				for n := range 2 {
					id := fmt.Sprintf("%d.%d", i, n)
					b.tr.add("caller: %s %s", id, b.post(t.Context(), paths[(i+n)%len(paths)], id, 2*time.Second))
					b.v.Hold(func() {}) // as for a disk write
					b.tr.add("caller: %s is on disk", id)
				}
			})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.tr.lines
}

func TestManySocketsAtOneInstantGiveOneTrace(t *testing.T) {
	t.Parallel()
	want := storm(t)
	for i := range 200 {
		if got := storm(t); !slices.Equal(got, want) {
			t.Fatalf("round %d differs:\n%s\nfirst:\n%s", i, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestForeignClientHoldsNoTime(t *testing.T) {
	t.Parallel()
	b := listen(t)
	for _, id := range []string{"", "their-own-id"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/reply/1h", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Request-Id", id)
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if err := b.v.Idle(soon(t)); err != nil {
			t.Fatalf("id %q: %v", id, err)
		}
	}
	if got := b.v.Now().Sub(epoch); got != 2*time.Hour {
		t.Errorf("two replies after an hour each took %v", got)
	}
	if len(b.v.wires) != 0 {
		t.Errorf("%d wires are left over", len(b.v.wires))
	}
}

func TestForeignClientThatGoesAwayEndsAHang(t *testing.T) {
	t.Parallel()
	b := listen(t)
	b.provider.arrived = make(chan string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-b.provider.arrived; cancel() }()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/hang/0s", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestTransportThatSendsAgainIsSeenTwice(t *testing.T) {
	t.Parallel()
	// Go's transport repeats a keyed request by itself when a reused connection dies. The clock must bear two
	// provider's ends on one wire.
	b := listen(t)
	b.client.Transport = caller{b.v, &http.Transport{MaxConnsPerHost: 1}}
	var second string
	if err := b.v.Run(soon(t), func() {
		b.post(t.Context(), "/reply/0s", "warm", time.Minute)
		ctx, cancel := b.v.WithTimeout(t.Context(), time.Minute, errLate)
		defer cancel(nil)
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/drop/1s", nil)
		req.Header.Set("X-Request-Id", "again")
		_, err := b.client.Do(req)
		second = fmt.Sprint(err != nil)
	}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(strings.Join(b.tr.lines, "\n"), "again arrives"); n != 2 || second != "true" {
		t.Errorf("seen %d times, failed %s:\n%s", n, second, strings.Join(b.tr.lines, "\n"))
	}
	b.client.Transport.(caller).t.CloseIdleConnections()
}
