package engine

import (
	"context"
	"sync"

	"faultlab/engine/script"
)

// Memo is shared by engines, and histories in memory, that do nearly the same again and again: what scripts did, and facts.
// Its zero value is empty, a nil one remembers nothing.
type Memo struct {
	scripts script.Memo

	mu    sync.Mutex
	facts map[string]Fact // by their kind and JSON
	size  int             // of that, in bytes
}

// mostFacts bounds the JSON of the facts that a Memo shares, in bytes.
const mostFacts = 8 << 20

func (m *Memo) run(ctx context.Context, p *script.Program, in script.Input, h script.Host) script.Result {
	if m == nil {
		return script.Run(ctx, p, in, h)
	}
	return m.scripts.Run(ctx, p, in, h)
}

// decode is DecodeFact. Nobody changes what a fact points to.
func (m *Memo) decode(k Kind, data []byte) (Fact, error) {
	if m == nil {
		return DecodeFact(k, data)
	}
	key := string(k) + string(data)
	m.mu.Lock()
	f := m.facts[key]
	m.mu.Unlock()
	if f != nil {
		return f, nil
	}
	f, err := DecodeFact(k, data)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.facts == nil || m.size > mostFacts {
		m.facts, m.size = map[string]Fact{}, 0
	}
	m.facts[key] = f
	m.size += len(key)
	return f, nil
}
