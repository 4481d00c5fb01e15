package faultprovider

import (
	"fmt"
	"sync"
	"time"

	"faultlab/engine/clock"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
)

// Options are the parts of a provider.
type Options struct {
	Clock    clock.Clock // required
	Ledger   Ledger      // nil keeps everything in memory
	Contract Contract    // the zero value is the preset "seed"
	Seed     int64       // of ids and of the faults' probabilities
	LogSize  int         // how many entries Log remembers; 0 is DefaultLogSize. Observe and the ledger get every one.
	Observe  func(Entry) // called for every entry, in order, under the provider's lock: it must neither block nor call the provider
	// Latency is how long each way of a request takes: to the provider, from there to its commit, and back to the caller.
	// It gives a virtual clock's instants an order that can be read; 0 is none, which is right where the ways are real.
	Latency time.Duration
	// Choose is asked for the fault of each request that no queued fault takes. It is called under the provider's lock.
	Choose func(Arrival) (f Fault, ok bool)
}

// Arrival is a request that has come and has not met its fault yet.
type Arrival struct {
	RequestID  string
	Class      fault.Which // fault.New, Replay or LookUp; "" is a request that is refused as it is
	Collection string
	Key        string
}

// DefaultLogSize is how many entries of its log a provider remembers.
const DefaultLogSize = 16_384

// Provider is one misbehaving provider: a ledger, a contract, a queue of faults, and two shells, Handler and Transport,
// that play the same exchanges. All methods may be called at the same time.
type Provider struct {
	clk     clock.Clock
	ledger  Ledger
	seed    int64
	observe func(Entry)
	latency time.Duration

	mu       sync.Mutex
	contract Contract
	records  *records
	flights  map[digest]*flying
	open     map[*session]bool // on their way; only where Choose is set
	queue    queue
	log      log
	requests int64  // how many came
	epoch    int    // counts Resets: a late commit of an earlier epoch is void
	last     Ticket // of the latest change that has effects or keys
	err      error  // why the ledger failed
}

// New makes a provider and reads its ledger.
func New(o Options) (*Provider, error) {
	if o.Clock == nil {
		return nil, fmt.Errorf("a provider needs a clock")
	}
	c := o.Contract
	if c.Name == "" {
		c, _ = contract.Preset("seed")
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("contract %s: %w", c.Name, err)
	}
	if o.LogSize <= 0 {
		o.LogSize = DefaultLogSize
	}
	p := &Provider{
		clk: o.Clock, ledger: o.Ledger, seed: o.Seed, observe: o.Observe, latency: o.Latency, contract: c,
		queue: newQueue(o.Seed, o.Choose), log: log{size: o.LogSize},
	}
	p.empty()
	if p.ledger != nil {
		if err := p.records.load(p.ledger); err != nil {
			return nil, fmt.Errorf("read the provider's ledger: %w", err)
		}
	}
	return p, nil
}

// empty forgets all effects and keys.
func (p *Provider) empty() {
	p.records = newRecords(p)
	p.flights = map[digest]*flying{}
	p.open = map[*session]bool{}
}

// now is the clock's time, as the ledger keeps it.
func (p *Provider) now() time.Time { return p.clk.Now().Round(0).UTC() }

// QueueFaults replaces the queue of faults.
func (p *Provider) QueueFaults(faults []Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.set(faults)
}

// AddFaults puts faults behind those that are queued; what these have let pass still counts.
func (p *Provider) AddFaults(faults []Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.add(faults)
}

// Faults returns the faults that are still to come.
func (p *Provider) Faults() []Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.left()
}

// SetContract changes the rules from the next request on. What is known under keys stays; a contract with another scope
// may not find it.
func (p *Provider) SetContract(c Contract) error {
	if err := c.Check(); err != nil {
		return fmt.Errorf("contract %s: %w", c.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.contract = c
	return nil
}

// Contract returns the rules that the provider keeps.
func (p *Provider) Contract() Contract {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.contract
}

// Effects returns everything that was committed, in the order of the commits.
func (p *Provider) Effects() []Effect {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.records.all()
}

// Records returns the effects of a collection whose record is still there, in the order of their commits.
func (p *Provider) Records(collection string) []Effect {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Effect
	p.records.inCollection(collection, func(place int) {
		if e := p.records.effect(place); !e.Gone {
			out = append(out, e)
		}
	})
	return out
}

// Log returns the remembered entries with a Seq above after.
func (p *Provider) Log(after int64) []Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.after(after)
}

// Err returns why the ledger failed, or nil. A provider whose ledger has failed answers 500 to everything.
func (p *Provider) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Reset forgets all effects, keys, entries and faults, in the ledger too, and draws from the seed anew. Late commits that
// are still to come are void. The contract stays.
func (p *Provider) Reset() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ledger != nil {
		if err := p.ledger.Reset(); err != nil {
			p.err = err
			return fmt.Errorf("empty the provider's ledger: %w", err)
		}
	}
	for _, f := range p.flights {
		f.over()
	}
	p.empty()
	p.queue = newQueue(p.seed, p.queue.choose)
	p.log.clear()
	p.requests, p.last, p.err = 0, nil, nil
	p.epoch++
	return nil
}
