package store

import (
	"fmt"
	"runtime/debug"

	"faultlab/engine"
)

// group is what one commit makes durable: the appends that came while the commit before it ran.
type group struct {
	appends []*ticket
	events  int
	done    chan struct{}
}

// maxGroup bounds the events of one commit, and with them what a commit holds in memory.
const maxGroup = 2048

type ticket struct {
	entries []entry
	last    int64
	group   *group
	err     error // settled before the group is done
}

// entry is one event and its written form.
type entry struct {
	engine.Event
	data string
}

func (t *ticket) Last() int64 { return t.last }

func (t *ticket) Wait() error {
	<-t.group.done
	return t.err
}

func (t *ticket) Done() bool {
	select {
	case <-t.group.done:
		return true
	default:
		return false
	}
}

// over is the group of tickets that never wait.
var over = func() *group {
	g := &group{done: make(chan struct{})}
	close(g.done)
	return g
}()

// Append implements engine.History.
func (s *Store) Append(events ...engine.Event) engine.Ticket {
	t := &ticket{group: over}
	t.entries, t.err = encode(events)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last += int64(len(events))
	t.last = s.last
	switch {
	case s.closed:
		t.err = engine.ErrHistoryClosed
	case s.failed != nil:
		t.err = s.failed
	case t.err == nil && len(events) > 0:
		for i := range t.entries {
			t.entries[i].Seq = t.last - int64(len(events)-1-i)
		}
		s.enqueue(t)
	}
	return t
}

func encode(events []engine.Event) ([]entry, error) {
	entries := make([]entry, len(events))
	for i, e := range events {
		data, err := engine.EncodeFact(e.Fact)
		if err != nil {
			return nil, &engine.RefusedError{Run: e.Run, Why: err.Error()}
		}
		entries[i] = entry{e, string(data)}
	}
	return entries, nil
}

// enqueue puts an append into the last group that waits, or into a new one. s.mu is held.
func (s *Store) enqueue(t *ticket) {
	n := len(s.queue)
	if n == 0 || s.queue[n-1].events+len(t.entries) > maxGroup {
		s.queue = append(s.queue, &group{done: make(chan struct{})})
		n++
	}
	t.group = s.queue[n-1]
	t.group.appends = append(t.group.appends, t)
	t.group.events += len(t.entries)
	s.wake.Signal()
}

// job is work that the writer does between two commits.
type job struct {
	do   func(w *writer) error
	err  error
	done chan struct{}
}

// between has the writer do something between two commits, and waits for it. A panic there is its error.
func (s *Store) between(do func(w *writer) error) error {
	j := &job{do: do, done: make(chan struct{})}
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		return engine.ErrHistoryClosed
	case s.failed != nil:
		s.mu.Unlock()
		return s.failed
	}
	s.jobs = append(s.jobs, j)
	s.wake.Signal()
	s.mu.Unlock()
	<-j.done
	return j.err
}

// write is the writer: the one goroutine that changes the file.
func (s *Store) write() {
	for {
		g, j := s.next()
		switch {
		case j != nil:
			j.err = guarded(func() error { return j.do(s.writer) })
			close(j.done)
		case g != nil:
			s.settle(g, guarded(func() error { return s.writer.commit(g) }))
			s.keeper.wrote(s.writer.pagesWritten())
		default:
			return
		}
	}
}

// next waits for something to do. Neither a group nor a job means that the store is closed and nothing is left.
func (s *Store) next() (*group, *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case len(s.jobs) > 0:
			j := s.jobs[0]
			s.jobs = s.jobs[1:]
			return nil, j
		case len(s.queue) > 0:
			s.committing = s.queue[0]
			s.queue = s.queue[1:]
			return s.committing, nil
		case s.closed:
			return nil, nil
		}
		s.wake.Wait()
	}
}

// settle tells everybody in a group how its commit ended. A failed one poisons the
// store, and takes along what was queued behind it: its order would not be true.
func (s *Store) settle(g *group, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := []*group{g}
	if err != nil {
		s.failed = fmt.Errorf("the history takes nothing more: %w", err)
		ended, s.queue = append(ended, s.queue...), nil
	}
	for _, g := range ended {
		for _, t := range g.appends {
			t.entries = nil
			if err != nil {
				t.err = s.failed
			}
		}
		close(g.done)
	}
	s.committing = nil
}

func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the store's writer panicked, which is a defect: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// flush waits until what was appended so far is committed or has failed, so that a read sees it.
func (s *Store) flush() {
	s.mu.Lock()
	last := over
	switch n := len(s.queue); {
	case n > 0:
		last = s.queue[n-1]
	case s.committing != nil:
		last = s.committing
	}
	s.mu.Unlock()
	<-last.done
}
