// Package timeline is what happened on a bench, and what it means: the entries of the caller's history, the provider's log
// and what was done to the bench, in one order; the rows of the wire diagram; and the View, the fold of the first entries,
// with every operation's belief, truth and verdict, and the sentences that explain them.
//
// Views never change once made and may be read from any goroutine. The package carries nothing out.
package timeline

import (
	"sync"
	"time"

	"faultlab/engine"
	"faultlab/faultprovider"
)

// Timeline is everything that happened on a bench, in one order: run events, the provider's log and what was done
// to the bench. It only grows. Its methods may be called from any goroutine; a view of the newest entries costs
// what is new, any other one at most markEvery entries.
type Timeline struct {
	o Options

	mu      sync.Mutex
	entries []Entry

	fold    sync.Mutex // guards what follows; never taken while mu is held
	wire    *rowMaker
	rows    prefix[Row]
	log     prefix[faultprovider.Entry]
	inbound prefix[Delivery]
	replies prefix[Reply]
	refused prefix[Note]
	repeats prefix[Row]
	setting prefix[Setting]
	index   index
	head    *fold  // the one that has come furthest
	cursor  *fold  // where the last look back stood
	marks   []mark // every markEvery entries
	latest  *View
	shown   *View
}

// markEvery is how many entries lie between two marks, from which a look back starts.
const markEvery = 1024

// index numbers runs, operations and effects alike in all folds of one timeline.
type index struct {
	runs    map[string]int
	ops     map[opKey]int
	effects map[string]int
	made    map[string]int    // the operation that made an effect, by the effect's id
	subject map[string]string // by run
	called  map[string][]int  // the runs that a run called
	seen    seenThere
	bare    bool // see Options.Bare
}

// seenThere is what the caller's history does not say: what the provider saw of requests, by X-Request-Id, and whom
// it can be asked. It may be ahead of a fold; the fold then has no reply to that request either.
type seenThere struct {
	requests map[string]*seenRequest
	askable  func(*engine.Call) bool // it can be looked up, as the contract is assumed now; nil where nothing is known of that
}

// seenRequest is what the provider saw of one request.
type seenRequest struct {
	reached  int                  // how often it came
	replayed bool                 // it was answered as a repeat
	decided  *faultprovider.Entry // how its key was read, where it was a new operation under one
	end      *faultprovider.Entry // how it last ended there
}

func (s *seenThere) of(requestID string) seenRequest {
	if r := s.requests[requestID]; r != nil {
		return *r
	}
	return seenRequest{}
}

// add notes what an entry of the provider's log says of its request.
func (s *seenThere) add(e *faultprovider.Entry) {
	r := s.requests[e.RequestID]
	if r == nil {
		r = &seenRequest{}
		s.requests[e.RequestID] = r
	}
	switch e.Kind {
	case faultprovider.Received:
		r.reached++
	case faultprovider.Replay:
		r.replayed = true
	case faultprovider.NewOperation:
		if e.Key != "" {
			r.decided = e
		}
	case faultprovider.Replied, faultprovider.Cut, faultprovider.Reset, faultprovider.GaveUp, faultprovider.Failed:
		r.end = e
	}
}

func (s *seenThere) cannotAsk(c *engine.Call) bool { return s.askable != nil && !s.askable(c) }

// prefix is a list that only grows, and how long it was after each entry.
type prefix[T any] struct {
	items []T
	upto  []int32
}

func (p *prefix[T]) add(items ...T) {
	p.items = append(p.items, items...)
	p.upto = append(p.upto, int32(len(p.items)))
}

// at is the list as it was after n entries.
func (p *prefix[T]) at(n int) []T {
	if n == 0 || len(p.upto) == 0 {
		return nil
	}
	k := p.upto[n-1]
	if k == 0 {
		return nil
	}
	return p.items[:k:k]
}

// Options say what a timeline needs to know beside its entries. All may be left out.
type Options struct {
	Subject   string                  // the field of a run's payload that its operations are about; empty: the run itself
	Situation Situation               // for what can be decided
	Now       func() time.Time        // for how long a decision has been allowed; nil where nobody asks
	Askable   func(*engine.Call) bool // a call can be looked up, as the contract is assumed now; nil where nothing is known of that
	Notify    func()                  // called after entries were added
	Bare      bool                    // leave out the rows of the wire, repeats among them, and explanations
}

// New makes an empty timeline.
func New(o Options) *Timeline {
	t := &Timeline{o: o}
	t.index = index{runs: map[string]int{}, ops: map[opKey]int{}, effects: map[string]int{}, made: map[string]int{}, subject: map[string]string{},
		called: map[string][]int{}, bare: o.Bare, seen: seenThere{askable: o.Askable, requests: map[string]*seenRequest{}}}
	t.head = t.thaw(mark{})
	t.wire = &rowMaker{fold: t.head, keys: map[string]string{}, over: map[int64]bool{}, lookups: map[string]time.Time{}}
	return t
}

// Append adds entries at the end and gives them their places.
func (t *Timeline) Append(entries ...Entry) {
	t.mu.Lock()
	for _, e := range entries {
		e.N = len(t.entries) + 1
		t.entries = append(t.entries, e)
	}
	t.mu.Unlock()
	if t.o.Notify != nil {
		t.o.Notify()
	}
}

// Len is the number of entries.
func (t *Timeline) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.entries)
}

// At is the n-th entry, from 1. It panics outside 1..Len.
func (t *Timeline) At(n int) Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entries[n-1]
}

// Slice is the entries from the n-th up to and with the m-th, from 1. The caller must not change it.
func (t *Timeline) Slice(n, m int) []Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entries[n-1 : m : m]
}

// View folds the first n entries; fewer than none or more than all are taken for those. The same n gives the same view.
func (t *Timeline) View(n int) *View {
	total := t.Len()
	n = max(0, min(n, total))
	t.fold.Lock()
	defer t.fold.Unlock()
	if v := t.latest; v != nil && v.N == n && v.Total == total && !t.outlived() {
		return v
	}
	if v := t.shown; v != nil && v.N == n && v.Total == total {
		return v
	}
	v := t.view(t.foldAt(n), total)
	if n == total {
		t.latest = v
	} else {
		t.shown = v
	}
	return v
}

// Latest is the view of all entries.
func (t *Timeline) Latest() *View { return t.View(t.Len()) }

// view makes the view of a fold's entries. t.fold is held.
func (t *Timeline) view(f *fold, total int) *View {
	v := &View{N: f.n, Total: total, Wire: t.rows.at(f.n), Log: t.log.at(f.n), Deliveries: t.inbound.at(f.n),
		Replies: t.replies.at(f.n), Refusals: t.refused.at(f.n), Repeats: t.repeats.at(f.n)}
	if f.n > 0 {
		v.Start, v.At = t.At(1).At, t.At(f.n).At
	}
	if all := t.setting.at(f.n); len(all) > 0 {
		v.Setting = all[len(all)-1]
	}
	v.Runs = f.freeze().runs
	v.Effects = f.values()
	at := v.At
	if t.o.Now != nil {
		at = t.o.Now()
	}
	v.Operations = f.operationsAt(at, t.o.Situation)
	v.RunVerdicts = f.runVerdicts()
	return v
}

// outlived reports whether time alone may have changed what can be decided about the latest view's operations.
func (t *Timeline) outlived() bool {
	return t.o.Now != nil && t.head.outlived(t.o.Now())
}

// Since is how long after the first entry a moment is.
func (v *View) Since(at time.Time) time.Duration { return at.Sub(v.Start) }

// FromHistory is the timeline of runs as a store keeps them: the caller's side alone. The ledger of whoever they called
// is elsewhere, so its views hold no effects, and their verdicts mean nothing.
func FromHistory(events []engine.Event, situation func(*engine.Run, *engine.Call) engine.Situation) *Timeline {
	t := New(Options{Situation: func(_ []*engine.Run, r *engine.Run, c *engine.Call) (engine.Situation, error) {
		return situation(r, c), nil
	}})
	t.Append(EventEntries(events)...)
	return t
}

// EventEntries are the entries of a caller's events.
func EventEntries(events []engine.Event) []Entry {
	entries := make([]Entry, len(events))
	for i := range events {
		entries[i] = Entry{At: events[i].At, Event: &events[i]}
	}
	return entries
}
