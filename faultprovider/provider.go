package faultprovider

import (
	"net/http"

	"faultlab/engine/clock"
)

// Options are the parts of a provider.
type Options struct {
	Clock    clock.Clock // required
	Ledger   Ledger      // nil keeps everything in memory
	Contract Contract    // the zero value is the preset "seed"
	Seed     int64       // of ids and of the faults' probabilities
	LogSize  int         // how many entries Log remembers; 0 is 65,536. Observe sees every one.
	Observe  func(Entry) // called for every entry, in order, under the provider's lock: it must neither block nor call the provider
}

// Provider is one misbehaving provider: a ledger, a contract, a queue of faults, and two shells (Handler, Transport)
// that play the same exchanges. All methods may be called at the same time.
//
//	New(Options) (*Provider, error)
//	Handler() http.Handler              the socket shell, control surface included
//	Transport() http.RoundTripper       the simulated shell, control surface included
//	QueueFaults([]Fault)                replaces the queue
//	Faults() []Fault                    what is left of it
//	SetContract(Contract) error         keys already known stay known
//	Contract() Contract
//	Effects() []Effect                  all effects, in the order of their commits
//	Records(collection) []Effect        those whose record is still there, as /_test/jobs lists them
//	Log(after int64) []Entry            the remembered entries with Seq > after
//	Reset() error                       an empty ledger, queue and log
//	Err() error                         why the ledger failed, if it did
type Provider struct{ o Options }

var _ = http.StatusOK
