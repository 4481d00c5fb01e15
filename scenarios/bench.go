package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"faultlab/engine"
	"faultlab/engine/assume"
	"faultlab/engine/clock"
	"faultlab/engine/woml"
	"faultlab/faultprovider"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
	"faultlab/store"
)

// Where a bench's requests go.
const (
	Simulated = "simulated" // through the provider's RoundTripper, no byte on a socket
	Sockets   = "sockets"   // over the loopback, to a listener of the bench's own
)

// documentHost is the provider's address in documents; a bench maps it to its own provider.
const documentHost = "127.0.0.1:4040"

// defaultSeed is taken where neither the scenario nor the options give one: a scenario is the same each time it runs.
const defaultSeed = 1

// start is where a bench's virtual time begins.
var start = time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)

// latency is how long each way of a request takes on a virtual clock: to the provider, to its commit, and back. Without it
// a whole exchange would be one instant, and times would not tell an order.
const latency = time.Millisecond

// Options say how a bench is set up. The zero value is a bench on the virtual clock, at once, in memory.
type Options struct {
	Mode       string         // Simulated or Sockets; empty: as the scenario says, simulated where both will do
	Wall       bool           // the machine's clock instead of a virtual one
	Speed      float64        // of the virtual clock: 1 is the machine's pace, 0 at once
	Seed       int64          // of all ids and randomness; 0: the scenario's, or a fixed one
	ListenAddr string         // of the provider with Sockets; empty: any free port of 127.0.0.1
	History    engine.History // nil: in memory. A bench does not close the one it is given
	Paused     bool           // begin held still
	Ask        bool           // a question of the script waits for Answer

	explorer *explorer // answers the bench's choices; nil: what was queued and armed happens
}

// Bench is one engine, one misbehaving provider and one clock, wired together, and the verbs that act on them.
// Everything that happens on it is on its Timeline. Its methods may be called from any goroutine.
type Bench struct {
	s      *lang.Scenario
	o      Options
	seed   int64
	opened time.Time
	root   context.Context // ends with the bench
	stop   context.CancelCauseFunc

	clk       clock.Clock
	virtual   *clock.Virtual // nil on the wall clock
	wall      *wallClock     // nil on the virtual one
	line      *Timeline
	prov      *faultprovider.Provider
	history   engine.History
	socket    *socket // nil where simulated
	databases *databases

	mu      sync.Mutex
	eng     *engine.Engine // the last worker, alive or not
	workers int            // how many there were
	assumed *assume.Set
	docs    []*woml.Document
	sources map[string]string // by workflow: the document as it was loaded, before policy and key changed it
	setting Setting
	policy  policy
	crashes crashes
	pending []pending   // deliveries that wait for their moment
	order   []int       // the numbers of runs, first the one whose request goes first
	waiting map[int]int // by the number of a run: its requests that are held back by the order
	script  script
	waits   []*waiting // who waits for the bench
	done    []lang.Step
	stopped bool

	extra     map[string][]byte // files taken from disk, by name
	folder    string            // of database files; made when the first one is asked for
	outside   int               // requests that the scenario itself sent
	stepping  bool              // every actor is held at the next gate
	committed map[string]bool   // by X-Request-Id: it has an effect in the ledger
	sent      map[string]sent   // by X-Request-Id
	last      map[callPlace]int // the number of a call's newest request in its attempt
	numbers   map[string]int    // of the runs, in the order of admission, from 1
	notify    func()
}

// Open sets a bench up for a scenario: its provider, its worker with the scenario's
// documents, its clock. Nothing happens until Play or Do.
func Open(s *lang.Scenario, o Options) (*Bench, error) {
	if o.Mode == "" {
		if o.Mode = Simulated; s.Runs == lang.RunsReal {
			o.Mode = Sockets
		}
	}
	if err := check(s, o); err != nil {
		return nil, err
	}
	b := &Bench{s: s, o: o, seed: cmp.Or(o.Seed, s.Seed, defaultSeed), sources: map[string]string{},
		committed: map[string]bool{}, sent: map[string]sent{}, last: map[callPlace]int{}, numbers: map[string]int{}, waiting: map[int]int{}, extra: map[string][]byte{}}
	b.line = timeline.New(timeline.Options{Subject: s.Subject, Situation: b.situation, Now: func() time.Time { return b.clk.Now() }, Askable: b.askable, Notify: b.changed, Bare: o.explorer != nil && o.explorer.x.bare})
	b.openClock()
	b.root, b.stop = b.clk.WithCancel(context.Background())
	b.databases = &databases{Databases: store.NewDatabases("", b.place), clk: b.clk}
	if b.history = o.History; b.history == nil {
		b.history = engine.NewMemoryWith(b.memo())
	}
	if err := b.openProvider(); err != nil {
		b.stop(errBenchClosed)
		if b.virtual != nil {
			b.virtual.Close()
		}
		return nil, err
	}
	if err := b.openWorker(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if o.Paused && b.virtual != nil {
		b.virtual.Pause()
	}
	return b, nil
}

func check(s *lang.Scenario, o Options) error {
	switch {
	case o.Mode != Simulated && o.Mode != Sockets:
		return fmt.Errorf("a bench runs %s or %s, not %q", Simulated, Sockets, o.Mode)
	case s.Runs == lang.RunsReal && o.Mode == Simulated:
		return fmt.Errorf("%s runs on real sockets only: ask for them", s.Name)
	case s.Runs == lang.RunsVirtual && o.Mode == Sockets:
		return fmt.Errorf("%s runs simulated only", s.Name)
	}
	return nil
}

func (b *Bench) openClock() {
	if b.o.Wall {
		b.wall = newWallClock(b.clockChanged)
		b.wall.SetGate(func(p clock.Point, subject string) { b.gate(p, subject) })
		b.clk, b.opened = b.wall, b.wall.Now()
		return
	}
	b.opened = start
	b.virtual = clock.NewVirtual(start)
	b.virtual.SetSpeed(b.o.Speed)
	b.virtual.SetGate(b.gate)
	b.virtual.Notify(b.clockChanged)
	b.clk = b.virtual
}

func (b *Bench) openProvider() error {
	o := faultprovider.Options{Clock: b.clk, Ledger: ledger{b.observeChange}, Seed: b.seed}
	if b.virtual != nil {
		o.Latency = latency
	}
	if b.o.explorer != nil {
		o.Choose = b.o.explorer.fault
	}
	p, err := faultprovider.New(o)
	if err != nil {
		return fmt.Errorf("set the provider up: %w", err)
	}
	b.prov = p
	b.setting.Contract = p.Contract().Name
	if b.o.Mode == Sockets {
		clk := b.clk
		if b.wall != nil {
			clk = b.wall.Wall // the listener is no work that a rest would wait for
		}
		b.socket, err = listen(clk, p.Server(0), b.o.ListenAddr)
	}
	return err
}

// Scenario is what the bench was opened for.
func (b *Bench) Scenario() *lang.Scenario { return b.s }

// Timeline is everything that has happened.
func (b *Bench) Timeline() *Timeline { return b.line }

// Notify sets what is called whenever the timeline, the clock's rest or who is
// parked has changed. f must be quick and must not call back; it may be called from any goroutine.
func (b *Bench) Notify(f func()) {
	b.mu.Lock()
	b.notify = f
	b.mu.Unlock()
}

// OnPanic sets who is told of a panic in an actor of the bench: its name, the value and
// the stack. While nobody is, one ends the program.
func (b *Bench) OnPanic(f func(name string, value any, stack []byte)) {
	if b.wall != nil {
		b.wall.OnPanic(f)
		return
	}
	b.virtual.OnPanic(f)
}

func (b *Bench) changed() {
	b.woken()
	b.mu.Lock()
	f := b.notify
	b.mu.Unlock()
	if f != nil {
		f()
	}
}

// Close stops everything and removes the database files. The timeline can still be read.
func (b *Bench) Close() error {
	b.mu.Lock()
	if b.stopped {
		b.mu.Unlock()
		return nil
	}
	b.stopped = true
	eng := b.eng
	b.mu.Unlock()
	b.stop(errBenchClosed)
	if eng != nil {
		eng.Kill()
	}
	var errs []error
	if b.socket != nil {
		errs = append(errs, b.socket.close())
	}
	if b.virtual != nil {
		b.virtual.Resume()
		b.virtual.Close()
		errs = append(errs, b.virtual.Idle(context.Background()))
	}
	if b.wall != nil {
		b.wall.shut()
	}
	errs = append(errs, b.databases.Close())
	if b.folder != "" {
		errs = append(errs, os.RemoveAll(b.folder))
	}
	if b.o.History == nil {
		errs = append(errs, b.history.Close())
	}
	return errors.Join(errs...)
}

// note puts what was done to the bench on the timeline.
func (b *Bench) note(n Note) { b.line.Append(Entry{At: b.clk.Now(), Note: &n}) }

// set changes the bench's setting and notes it, with the faults that are queued now: requests take them without a word to the bench.
func (b *Bench) set(verb, text string, change func(*Setting)) {
	queued := b.prov.Faults()
	b.mu.Lock()
	b.setting.Faults = queued
	change(&b.setting)
	s := b.setting
	b.mu.Unlock()
	b.note(Note{Verb: verb, Text: text, Bench: &s})
}

// Handler is the provider's own HTTP face, control surface included.
func (b *Bench) Handler() http.Handler { return b.prov.Handler() }

// Address is where the provider answers: its listener, or the address that documents use where it is simulated.
func (b *Bench) Address() string {
	if b.socket != nil {
		return b.socket.addr
	}
	return documentHost
}

// ours reports whether an address is the provider's in documents.
func ours(hostport string) bool {
	return hostport == documentHost || strings.EqualFold(hostport, "localhost:4040")
}
