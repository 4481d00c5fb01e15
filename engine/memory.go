package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Memory is a History that lasts as long as the process: for the workbench, for
// replays and for tests. It keeps facts as a History on disk gives them back, so
// that nothing works here and fails there. Its tickets are done at once.
type Memory struct {
	memo       *Memo
	mu         sync.Mutex
	last       int64
	closed     bool
	runs       map[string]*memoryRun
	admitted   []*memoryRun // in the order of their admission
	documents  map[string]string
	deliveries map[deliveryID]*memoryRun
	children   map[childID]*memoryRun
	keys       map[string][]*memoryRun // runs by the keys that they share
	addresses  map[string]bool         // of look-ups that found a record
}

type memoryRun struct {
	n       int // its place in admitted
	events  []Event
	summary Summary
}

type deliveryID struct{ workflow, trigger, key string }
type childID struct{ run, step, name string }

// NewMemory makes an empty history.
func NewMemory() *Memory { return NewMemoryWith(nil) }

// NewMemoryWith makes an empty history that shares facts with others; m may be nil.
func NewMemoryWith(m *Memo) *Memory {
	return &Memory{memo: m, runs: map[string]*memoryRun{}, documents: map[string]string{},
		deliveries: map[deliveryID]*memoryRun{}, children: map[childID]*memoryRun{}, keys: map[string][]*memoryRun{}, addresses: map[string]bool{}}
}

type memoryTicket struct {
	last int64
	err  error
}

func (t memoryTicket) Wait() error { return t.err }
func (t memoryTicket) Last() int64 { return t.last }
func (t memoryTicket) Done() bool  { return true }

// Append implements History.
func (m *Memory) Append(events ...Event) Ticket {
	kept, err := m.memo.keep(events)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last += int64(len(events))
	if m.closed {
		err = ErrHistoryClosed
	}
	if err == nil {
		err = m.refuses(kept)
	}
	if err != nil {
		return memoryTicket{m.last, err}
	}
	for i, e := range kept {
		e.Seq = m.last - int64(len(events)-1-i)
		m.apply(e)
	}
	return memoryTicket{last: m.last}
}

// Buffer implements History.
func (m *Memory) Buffer(events ...Event) Ticket { return m.Append(events...) }

// keep gives the events as a history on disk would give them back.
func (m *Memo) keep(events []Event) ([]Event, error) {
	kept := slices.Clone(events)
	for i, e := range kept {
		data, err := EncodeFact(e.Fact)
		if err != nil {
			return nil, &RefusedError{e.Run, err.Error()}
		}
		f, err := m.decode(e.Fact.Kind(), data)
		if err != nil {
			return nil, &RefusedError{e.Run, err.Error()}
		}
		if a, ok := f.(Admitted); ok {
			a.Source, a.Assumed = e.Fact.(Admitted).Source, e.Fact.(Admitted).Assumed
			f = a
		}
		kept[i].Fact = WithBody(f, slices.Clone(Body(e.Fact)))
		kept[i].At = e.At.Round(0).UTC()
	}
	return kept, nil
}

func (m *Memory) refuses(events []Event) error {
	runs, deliveries, children := map[string]bool{}, map[deliveryID]bool{}, map[childID]bool{}
	for _, e := range events {
		known := m.runs[e.Run] != nil || runs[e.Run]
		a, admits := e.Fact.(Admitted)
		d, c := identities(a)
		child := a.Parent != nil
		switch {
		case admits && known:
			return &RefusedError{e.Run, RefusedKnownRun}
		case !admits && !known:
			return &RefusedError{e.Run, RefusedUnknownRun}
		case !admits:
			continue
		case d.key != "" && (m.deliveries[d] != nil || deliveries[d]):
			return &RefusedError{e.Run, RefusedDelivery}
		case child && (m.children[c] != nil || children[c]):
			return &RefusedError{e.Run, RefusedChild}
		}
		runs[e.Run], deliveries[d] = true, true
		children[c] = children[c] || child
	}
	return nil
}

func identities(a Admitted) (d deliveryID, c childID) {
	if a.Parent != nil {
		c = childID{a.Parent.Run, a.Parent.Step, a.Parent.Name}
	}
	return deliveryID{a.Workflow, a.Trigger, a.Delivery}, c
}

func (m *Memory) apply(e Event) {
	r := m.runs[e.Run]
	if a, ok := e.Fact.(Admitted); ok {
		r = &memoryRun{n: len(m.admitted)}
		m.runs[e.Run], m.admitted = r, append(m.admitted, r)
		d, c := identities(a)
		if d.key != "" {
			m.deliveries[d] = r
		}
		if a.Parent != nil {
			m.children[c] = r
		}
		if _, ok := m.documents[a.Definition]; !ok && a.Source != "" {
			m.documents[a.Definition] = a.Source
		}
		if a.Assumed != "" {
			m.documents[a.Assume] = a.Assumed
		}
		a.Source, a.Assumed = "", "" // see Events
		e.Fact = a
	}
	r.events = append(r.events, e)
	if key := SharedKey(e.Fact); key != "" && !slices.Contains(m.keys[key], r) {
		m.keys[key] = append(m.keys[key], r)
	}
	if address := ProvenAddress(e.Fact); address != "" {
		m.addresses[address] = true
	}
	r.summary, _ = Summarize(r.summary, e)
	if step, ok := Settles(e); ok {
		for i := range r.events {
			r.events[i].Fact = dropBody(r.events[i].Fact, step)
		}
	}
}

func dropBody(f Fact, step string) Fact {
	if Body(f) == nil || step != "" && step != StepOf(f) {
		return f
	}
	return WithBody(f, nil)
}

// Events implements History.
func (m *Memory) Events(run string) ([]Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[run]
	if r == nil {
		return nil, ErrNoRun
	}
	events := slices.Clone(r.events)
	for i, e := range events {
		if a, ok := e.Fact.(Admitted); ok {
			a.Source = m.documents[a.Definition]
			if a.Assume != "" {
				a.Assumed = m.documents[a.Assume]
			}
			events[i].Fact = a
		}
	}
	return events, nil
}

// Runs implements History.
func (m *Memory) Runs(q Query) ([]Summary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	older := m.admitted
	if q.Before != "" {
		r := m.runs[q.Before]
		if r == nil {
			return nil, fmt.Errorf("list the runs before %s: %w", q.Before, ErrNoRun)
		}
		older = older[:r.n]
	}
	var found []Summary
	for _, r := range slices.Backward(older) {
		if q.Limit > 0 && len(found) == q.Limit {
			break
		}
		if q.selects(r.summary) {
			found = append(found, r.summary)
		}
	}
	return found, nil
}

func (q Query) selects(s Summary) bool {
	return (q.Status == "" || q.Status == s.Status) && (!q.Reconcile || s.Reconcile) && (q.Workflow == "" || q.Workflow == s.Workflow)
}

// Open implements History.
func (m *Memory) Open() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var open []string
	for _, r := range m.admitted {
		if !r.summary.Status.Ended() {
			open = append(open, r.summary.Run)
		}
	}
	return open, nil
}

// Delivery implements History.
func (m *Memory) Delivery(workflow, trigger, key string) (run, digest string, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.deliveries[deliveryID{workflow, trigger, key}]
	if r == nil {
		return "", "", false, nil
	}
	return r.summary.Run, r.events[0].Fact.(Admitted).Digest, true, nil
}

// Child implements History.
func (m *Memory) Child(p Parent) (run string, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.children[childID{p.Run, p.Step, p.Name}]
	if r == nil {
		return "", false, nil
	}
	return r.summary.Run, true, nil
}

// Prefix implements History.
func (m *Memory) Prefix(prefix string, limit int) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []string
	for id := range m.runs {
		if strings.HasPrefix(id, prefix) {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	return found[:min(max(limit, 0), len(found))], nil
}

// KeyRuns implements History.
func (m *Memory) KeyRuns(key string) (runs []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sharing := slices.SortedFunc(slices.Values(m.keys[key]), func(a, b *memoryRun) int { return a.n - b.n })
	for _, r := range sharing {
		runs = append(runs, r.summary.Run)
	}
	return runs, nil
}

// FoundAt implements History.
func (m *Memory) FoundAt(address string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.addresses[address], nil
}

// Place implements History.
func (m *Memory) Place() (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last, nil
}

// Close implements History. What it holds can still be read.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
