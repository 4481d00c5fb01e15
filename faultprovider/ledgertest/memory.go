package ledgertest

import (
	"slices"
	"sync"

	"faultlab/faultprovider"
)

// Memory is a ledger that keeps its changes in memory: what is durable there outlives the provider, not the process. It
// can be told to fail.
type Memory struct {
	mu      sync.Mutex
	changes []faultprovider.Change
	fails   error
}

var _ faultprovider.Ledger = (*Memory)(nil)

// Fail makes every later change one that never becomes durable.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = err
}

// Load implements faultprovider.Ledger.
func (m *Memory) Load(yield func(faultprovider.Change) error) error {
	m.mu.Lock()
	changes := slices.Clone(m.changes)
	m.mu.Unlock()
	for _, c := range changes {
		if err := yield(c); err != nil {
			return err
		}
	}
	return nil
}

// Append implements faultprovider.Ledger.
func (m *Memory) Append(c faultprovider.Change) faultprovider.Ticket {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails == nil {
		m.changes = append(m.changes, c)
	}
	return ticket{m.fails}
}

// Reset implements faultprovider.Ledger.
func (m *Memory) Reset() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes = nil
	return m.fails
}

type ticket struct{ err error }

func (t ticket) Wait() error { return t.err }
