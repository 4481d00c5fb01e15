package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"faultlab/engine/assume"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
)

// Options say what an engine runs on. Clock and History are required.
type Options struct {
	Clock   clock.Clock
	History History
	// Transport carries requests instead of real sockets: a simulated wire. An
	// error of it that is a *net.OpError with Op "dial" counts as never sent.
	Transport http.RoundTripper
	// Dial makes the connections of real sockets; nil is a plain net.Dialer.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// KeepAlive lets requests share connections, as a client has it that nobody
	// configured. Go's transport then repeats some of them by itself. It exists to
	// show that; leave it off.
	KeepAlive bool
	// Idle connections are there before the first request, with KeepAlive: warmed by reading WarmPath at its host, which
	// must answer with a body. A simulated wire needs no warming.
	Idle     int
	WarmPath string
	// RepeatsOnce sends a request once more by itself, on a fresh connection, when the first one broke before a reply. It
	// exists to show what such a client does; leave it off.
	RepeatsOnce bool
	Assume      *assume.Set
	Secrets     func(name string) (value string, ok bool)
	// Seed makes ids and scripts' randomness repeatable; 0 takes one from the operating system.
	Seed int64
	// Observe sees every append in the history's order, before it is durable. It must be quick and never call back.
	Observe func([]Event)
	Log     func(run string, at Pos, level, text string) // console.* of scripts; nil drops it
	// Folder is what relative database paths of the runs that are admitted here belong to;
	// empty leaves them to the process that carries the run out.
	Folder   string
	Database Database // services.db; nil refuses it
	Memo     *Memo    // shared by engines that do the same again and again; nil remembers nothing
}

// Engine runs workflows. Its methods that wait must be called from an actor of its clock.
type Engine struct {
	o    Options
	clk  clock.Clock
	root context.Context
	stop context.CancelCauseFunc
	rest context.Context // ends when the engine drains
	wire *wire

	restNow context.CancelCauseFunc

	mu      sync.Mutex // guards what follows, and gives appends and observations one order
	docs    map[string]*woml.Document
	parsed  map[string]*woml.Document // by definition hash: what was loaded, and what runs of the history were admitted with
	open    map[string]*running
	ended   map[string]clock.Event
	told    map[string][]clock.Event // set at the end of a run, for waits that can end without it
	admits  map[string]clock.Event   // deliveries that are being admitted, by identity
	pools   map[string]*pool
	sharing map[string][]string // runs that wait for another one's use of a key, by the run that is waited for
	judging []*judgement        // decisions that are being judged
	rand    *mathrand.Rand
	dead    error
	lost    error // why the history takes nothing more
	actors  int
	idle    []clock.Event // set when no actor is left

	draining bool
	assumes  assumptions
}

// ErrKilled ends every wait of an engine that was killed or closed.
var ErrKilled = errors.New("the worker has stopped")

// New makes an engine. It starts nothing: see Load, Admit and Recover.
func New(o Options) *Engine {
	e := &Engine{o: o, clk: o.Clock, docs: map[string]*woml.Document{}, parsed: map[string]*woml.Document{},
		open: map[string]*running{}, ended: map[string]clock.Event{}, told: map[string][]clock.Event{}, admits: map[string]clock.Event{}, pools: map[string]*pool{}, sharing: map[string][]string{}}
	e.root, e.stop = e.clk.WithCancel(context.Background())
	e.rest, e.restNow = e.clk.WithCancel(e.root)
	e.wire = newWire(o)
	e.assumes = newAssumptions(o.Assume)
	e.rand = mathrand.New(mathrand.NewPCG(seedOf(o.Seed), 0x6661756c746c6162))
	if marks, ok := o.Database.(Marks); ok {
		marks.Sweep(e.markIsOver)
	}
	return e
}

func seedOf(seed int64) uint64 {
	if seed != 0 {
		return uint64(seed)
	}
	var b [8]byte
	rand.Read(b[:]) // never fails, says its documentation
	return binary.BigEndian.Uint64(b[:])
}

// newID makes a run's id and its seed. Where no seed is given, the id's first two digits
// are those of the moment: runs that are written together then stand together in an
// index by id, and a commit changes one of its pages, not one for each run. e.mu is held.
func (e *Engine) newID() (id string, seed int64) {
	b := make([]byte, 0, 9)
	if e.o.Seed == 0 {
		b = append(b, byte(e.clk.Now().Unix()/2))
	}
	b = binary.BigEndian.AppendUint64(b, e.rand.Uint64())
	return "run_" + hex.EncodeToString(b[:len(b)-2]), e.rand.Int64()
}

// Load makes a workflow runnable. A document with the same workflow id replaces the
// former one for new runs; runs that are open keep the document they were admitted with.
func (e *Engine) Load(d *woml.Document) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.docs[d.Workflow.ID], e.parsed[d.Hash] = d, d
}

// document is the one of an open run: loaded, or read from what the history keeps.
func (e *Engine) document(a Admitted) (*woml.Document, error) {
	e.mu.Lock()
	d := e.parsed[a.Definition]
	e.mu.Unlock()
	if d != nil {
		return d, nil
	}
	d, diags := woml.Parse([]byte(a.Source))
	if d == nil {
		return nil, fmt.Errorf("read the document that the run was admitted with: %s", diags[0].Message)
	}
	d.Hash = a.Definition // the run's keys are made of it, whatever version reads its document now
	e.mu.Lock()
	e.parsed[a.Definition] = d
	e.mu.Unlock()
	return d, nil
}

// append writes facts of one run, now. The ticket's Wait is what makes them durable.
func (e *Engine) append(rt *running, facts ...Fact) (Ticket, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.record(rt, e.clk.Now(), e.o.History.Append, facts...)
}

// buffer is append for facts that the run follows up at once, with a wait for the
// disk at the latest: they are written together with what comes then.
func (e *Engine) buffer(rt *running, facts ...Fact) (Ticket, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.record(rt, e.clk.Now(), e.o.History.Buffer, facts...)
}

// record hands facts to the history, folds them in and shows them. e.mu is held.
func (e *Engine) record(rt *running, at time.Time, write func(...Event) Ticket, facts ...Fact) (Ticket, error) {
	if e.dead != nil {
		return nil, e.dead
	}
	events := make([]Event, len(facts))
	for i, f := range facts {
		events[i] = Event{Run: rt.id, At: at, Fact: f}
	}
	t := write(events...)
	e.overtake(events)
	first := t.Last() - int64(len(events)) + 1
	rt.mu.Lock()
	for i := range events {
		events[i].Seq = first + int64(i)
		rt.run.Apply(events[i])
	}
	rt.mu.Unlock()
	if e.o.Observe != nil {
		e.o.Observe(events)
	}
	return t, nil
}

// durable waits until everything up to the ticket is on disk.
func (e *Engine) durable(t Ticket, err error) error {
	if err != nil {
		return err
	}
	// Always held, also when it is done already: on a virtual clock the order of
	// actors must not depend on how quick the disk was.
	e.clk.Hold(func() { err = t.Wait() })
	if err != nil {
		e.lose(err)
		return &historyError{err}
	}
	return nil
}

// lose notes that the history has failed. An append that it refused is none of that: others go on.
func (e *Engine) lose(err error) {
	if wasRefused(err) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lost == nil && e.dead == nil {
		e.lost = err
	}
}

// wasRefused reports whether the history refused an append, and is as it was before.
func wasRefused(err error) bool { return errors.As(err, new(*RefusedError)) }

// Err is why the history takes nothing more, or nil. Then nothing is sent any more, and no run ends.
func (e *Engine) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lost
}

// Get folds a run from the history, by its id or by a beginning of it that only one run has.
func (e *Engine) Get(id string) (*Run, error) {
	id, err := FindRun(e.o.History, id)
	if err != nil {
		return nil, err
	}
	events, err := e.o.History.Events(id)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	return Fold(events), nil
}

// FindRun completes a run's id from its beginning, with or without "run_". Nothing is
// the beginning of none.
func FindRun(h History, id string) (string, error) {
	if id == "" {
		return "", fmt.Errorf("%w: %q", ErrNoRun, id)
	}
	for _, prefix := range []string{id, "run_" + id} {
		found, err := h.Prefix(prefix, 3)
		switch {
		case err != nil:
			return "", fmt.Errorf("find run %s: %w", id, err)
		case len(found) == 1 || len(found) > 0 && found[0] == prefix:
			return found[0], nil
		case len(found) > 1:
			return "", fmt.Errorf("%q could be %s or %s: write more of it", id, found[0], found[1])
		}
	}
	return "", fmt.Errorf("%w: %q", ErrNoRun, id)
}

// Ended is set once the run has ended; of a run that is not open it is set already.
func (e *Engine) Ended(run string) clock.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ev := e.ended[run]; ev != nil {
		return ev
	}
	ev := e.clk.NewEvent("the end of " + run)
	if e.open[run] == nil {
		ev.Set()
		return ev
	}
	e.ended[run] = ev
	return ev
}

// tell sets ev once the run has ended, or now if it is not open. forget withdraws that,
// and reports whether the run has ended.
func (e *Engine) tell(run string, ev clock.Event) (forget func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open[run] == nil {
		ev.Set()
	} else {
		e.told[run] = append(e.told[run], ev)
	}
	return func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.told[run] = slices.DeleteFunc(e.told[run], func(o clock.Event) bool { return o == ev }); len(e.told[run]) == 0 {
			delete(e.told, run)
		}
		return e.open[run] == nil
	}
}

// goActor starts an actor that Close waits for.
func (e *Engine) goActor(name string, f func()) {
	e.mu.Lock()
	if e.dead != nil {
		e.mu.Unlock()
		return
	}
	e.actors++
	e.mu.Unlock()
	e.clk.Go(name, func() {
		defer e.actorEnds()
		f()
	})
}

// actorEnds tells those who wait for it that nothing of the engine is at work any more.
func (e *Engine) actorEnds() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.actors--
	if e.actors == 0 {
		for _, idle := range e.idle {
			idle.Set()
		}
	}
}

// Kill stops as kill -9 does: nothing more is written, and what is in flight is torn down where it stands.
func (e *Engine) Kill() { e.end() }

// Close is Kill, and waits until everything of the engine has stopped. What was open goes on after Recover.
func (e *Engine) Close() {
	e.end()
	e.mu.Lock()
	if e.actors == 0 {
		e.mu.Unlock()
		return
	}
	idle := e.clk.NewEvent("the end of the worker")
	e.idle = append(e.idle, idle)
	e.mu.Unlock()
	idle.Wait()
}

func (e *Engine) end() {
	e.mu.Lock()
	if e.dead == nil {
		e.dead = ErrKilled
	}
	e.mu.Unlock()
	e.stop(ErrKilled)
	e.wire.close()
}
