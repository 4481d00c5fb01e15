package engine_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// lab is an engine on a virtual clock beside a world that the test scripts.
type lab struct {
	t       *testing.T
	clk     *clock.Virtual
	hist    engine.History
	world   *world
	eng     *engine.Engine
	docs    []*woml.Document
	options func(*engine.Options)
	starts  int64 // a seed would give the same ids to the runs of a second engine
}

// world answers requests, and remembers what it was asked and what it did.
type world struct {
	clk     clock.Clock
	mu      sync.Mutex
	seen    []seen
	effects map[string]string // key, or request id without one -> body
	answer  func(n int, s seen) answer

	records   []record      // every effect, in the order of the commits
	retention time.Duration // how long a key is remembered; 0: for ever
	loose     string        // what the paths begin with at which keys are not enforced; empty: nowhere
}

// record is an effect with the request that made it.
type record struct {
	seen
	arrived time.Time
}

// seen is one request as it arrived.
type seen struct{ method, path, key, id, body string }

// answer is what the world does with one request.
type answer struct {
	commit bool
	status int // 0: no reply
	body   string
	header map[string]string
	after  time.Duration
	broken string // "reset", "refused", "hang", "cut", "stall"
}

func newLab(t *testing.T, answer func(n int, s seen) answer, docs ...string) *lab {
	t.Helper()
	clk := clock.NewVirtual(epoch)
	t.Cleanup(clk.Close)
	l := &lab{t: t, clk: clk, hist: engine.NewMemory(), world: &world{clk: clk, effects: map[string]string{}, answer: answer}}
	for _, src := range docs {
		doc, diags := woml.Parse([]byte(src))
		if doc == nil {
			t.Fatalf("the test's document: %+v", diags)
		}
		l.docs = append(l.docs, doc)
	}
	return l
}

// start makes the lab's engine, as a process that begins does.
func (l *lab) start() *engine.Engine {
	l.starts++
	o := engine.Options{Clock: l.clk, History: l.hist, Transport: l.world, Seed: 6 + l.starts, Assume: declare(l.t, `{"origins":{"*":{"enforces":true}}}`)}
	if l.options != nil {
		l.options(&o)
	}
	l.eng = engine.New(o)
	for _, d := range l.docs {
		l.eng.Load(d)
	}
	return l.eng
}

// run lets f happen as an actor and returns when nothing is left to do.
func (l *lab) run(f func()) {
	l.t.Helper()
	if err := l.clk.Run(context.Background(), f); err != nil {
		l.t.Fatal(err)
	}
}

// once starts the lab, delivers one payload and gives back how the run ended.
func (l *lab) once(payload string) *engine.Run {
	l.t.Helper()
	l.start()
	var id string
	l.run(func() {
		r, err := l.eng.Admit(engine.Delivery{Workflow: l.docs[0].Workflow.ID, Payload: json.RawMessage(payload)})
		if err != nil {
			l.t.Error(err)
			return
		}
		id = r.Run
	})
	return l.get(id)
}

func (l *lab) get(id string) *engine.Run {
	l.t.Helper()
	events, err := l.hist.Events(id)
	if err != nil {
		l.t.Fatal(err)
	}
	return engine.Fold(events)
}

// onWall runs one script on the machine's clock, over real sockets.
func onWall(t *testing.T, script, payload string) *engine.Run {
	t.Helper()
	return stepOnWall(t, "|"+script, payload, nil)
}

// stepOnWall is onWall for a step with attributes, over connections that dial makes; nil: real ones.
func stepOnWall(t *testing.T, step, payload string, dial func(ctx context.Context, network, addr string) (net.Conn, error)) *engine.Run {
	t.Helper()
	doc, diags := woml.Parse([]byte(document("", step)))
	if doc == nil {
		t.Fatal(diags)
	}
	eng := engine.New(engine.Options{Clock: clock.NewWall(), History: engine.NewMemory(), Dial: dial})
	t.Cleanup(eng.Close)
	eng.Load(doc)
	r, err := eng.Admit(engine.Delivery{Workflow: "orders", Payload: json.RawMessage(payload)})
	if err != nil {
		t.Fatal(err)
	}
	eng.Ended(r.Run).Wait()
	run, err := eng.Get(r.Run)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		req.Body.Close()
	}
	s := seen{req.Method, req.URL.Path, req.Header.Get("Idempotency-Key"), req.Header.Get("X-Request-Id"), string(body)}
	arrived := w.clk.Now()
	w.mu.Lock()
	n := len(w.seen)
	a := w.answer(n, s)
	if a.broken != "refused" {
		w.seen = append(w.seen, s)
	}
	w.mu.Unlock()
	if a.after > 0 {
		if err := w.clk.Sleep(req.Context(), a.after); err != nil {
			return nil, err
		}
	}
	if a.commit {
		w.commit(s, arrived)
	}
	switch a.broken {
	case "refused":
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case "reset":
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	case "hang":
		gone := w.clk.NewEvent("the caller to give up")
		stop := w.clk.OnCancel(req.Context(), func(error) { gone.Set() })
		gone.Wait()
		stop()
		return nil, context.Cause(req.Context())
	}
	h := http.Header{"Content-Type": {"application/json"}}
	for k, v := range a.header {
		h.Set(k, v)
	}
	var r io.Reader = strings.NewReader(a.body)
	switch a.broken {
	case "cut":
		r = io.MultiReader(r, brokenReader{})
	case "stall":
		r = io.MultiReader(r, stalledReader{w.clk, req.Context()})
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(r), Request: req}, nil
}

// commit makes the effect of a request, unless its key is known.
func (w *world) commit(s seen, arrived time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := cmp.Or(s.key, s.id)
	if w.loose != "" && strings.HasPrefix(s.path, w.loose) {
		id = s.id
	}
	if !w.knows(id) {
		w.effects[id] = s.body
		w.records = append(w.records, record{s, arrived})
	}
}

// knows reports whether there is an effect under a key that is not forgotten.
func (w *world) knows(key string) bool {
	_, there := w.effects[key]
	if !there || w.retention == 0 {
		return there
	}
	for _, r := range slices.Backward(w.records) {
		if cmp.Or(r.key, r.id) == key {
			return w.clk.Now().Sub(r.arrived) < w.retention
		}
	}
	return there
}

// stalledReader gives nothing until the caller gives up.
type stalledReader struct {
	clk clock.Clock
	ctx context.Context
}

func (s stalledReader) Read([]byte) (int, error) {
	gone := s.clk.NewEvent("the caller to give up")
	defer s.clk.OnCancel(s.ctx, func(error) { gone.Set() })()
	gone.Wait()
	return 0, context.Cause(s.ctx)
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// posts counts the writes that reached the world.
func (w *world) posts() (n int) {
	for _, s := range w.seen {
		if s.method != "GET" {
			n++
		}
	}
	return n
}

// replies answers the n-th write with the n-th answer, the last one again and again, and look-ups from what was committed.
func (l *lab) replies(list ...answer) {
	writes := 0
	l.world.answer = func(_ int, s seen) answer {
		if s.method == "GET" {
			key := s.path[strings.LastIndex(s.path, "/")+1:]
			if body, ok := l.world.effects[key]; ok {
				return answer{status: 200, body: `{"id":"job_1",` + strings.TrimPrefix(body, "{")}
			}
			return answer{status: 404, body: `{"error":"not_found"}`}
		}
		a := list[min(writes, len(list)-1)]
		writes++
		return a
	}
}

// document is a workflow of steps, each given by its attributes and script.
func document(config string, steps ...string) string {
	var b strings.Builder
	b.WriteString(`<woml><workflow id="orders" name="Orders" version="1.0.0">` + config + `<triggers><manual id="start" /></triggers><steps>`)
	for i, s := range steps {
		attributes, script, _ := strings.Cut(s, "|")
		fmt.Fprintf(&b, "<step id=\"step%d\" name=\"Step\" %s>%s</step>", i+1, attributes, scriptTags(script))
	}
	b.WriteString(`</steps></workflow></woml>`)
	return b.String()
}

// scriptTags puts a script, and after "~~~" its inverse, into their elements.
func scriptTags(script string) string {
	do, undo, has := strings.Cut(script, "~~~")
	out := "<script>" + do + "</script>"
	if has {
		out += "<compensate><script>" + undo + "</script></compensate>"
	}
	return out
}

const post = `const r = await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {orderId: context.payload.orderId},
  timeout: "10s", idempotency: {header: "Idempotency-Key", value: attempt.idempotencyKey}}, {name: "create"});
return {job: r.data.id, attempt: attempt.number};`

const retry3 = `retry="3" retry-backoff="exponential" retry-delay="1s" retry-max-delay="10s"|`

var (
	created = answer{commit: true, status: 201, body: `{"id":"job_1","orderId":"o1"}`}
	replay  = answer{status: 200, body: `{"id":"job_1","orderId":"o1"}`}
	refused = answer{status: 503, body: `{"error":"unavailable"}`}
	hidden  = answer{commit: true, status: 503, body: `{"error":"unavailable"}`}
	dropped = answer{commit: true, broken: "reset"}
	lost    = answer{broken: "reset"}
)

// isRefused reports whether an error is a refusal that a person can act on, and not a failure.
func isRefused(err error) bool { return errors.As(err, new(*engine.Refused)) }

func declare(t *testing.T, text string) *assume.Set {
	t.Helper()
	s, err := assume.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
