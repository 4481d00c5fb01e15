package store

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
)

// pipeline takes what is to be written without waiting, in one order, and commits
// what came meanwhile together. T is what one append holds.
//
// Durable runs must reach 80 % of a bare loop over SQLite, and each commit waits for the disk. For that there are: groups,
// Buffer, the yield before a commit, one row for all that a commit brings a run (lines.go), many rows a statement and
// statements that stay prepared (conn.go), and the writer's caches (writer.go).
type pipeline[T any] struct {
	name   string // what it writes, for sentences
	commit func(*group[T]) error
	done   sync.WaitGroup // its goroutines

	writing sync.Mutex // held by who changes the file

	mu         sync.Mutex
	wake       *sync.Cond
	last       int64       // the last place given
	queue      []*group[T] // what waits to be committed
	committing *group[T]
	closed     error // not nil once nothing is taken any more because it was closed
	failed     error // not nil once a commit has failed
}

// group is what one commit makes durable.
type group[T any] struct {
	line      *pipeline[T]
	appends   []*ticket[T]
	weight    int
	requested bool // somebody wants it written: until then more may come
	done      chan struct{}
}

// maxGroup bounds the weight of one commit, and with it what a commit holds in memory. An event weighs 1.
const maxGroup = 2048

// ticket is one append. It implements engine.Ticket and faultprovider.Ticket.
type ticket[T any] struct {
	item  T
	last  int64
	group *group[T] // nil: the ticket was over when it was given
	err   error     // settled before the group is done
}

// Last is the place of the append's last part.
func (t *ticket[T]) Last() int64 { return t.last }

// Wait blocks until the append is durable, or tells why it never will be.
func (t *ticket[T]) Wait() error {
	if t.group != nil {
		t.group.wait()
	}
	return t.err
}

// Done reports whether Wait would return at once.
func (t *ticket[T]) Done() bool {
	if t.group == nil {
		return true
	}
	select {
	case <-t.group.done:
		return true
	default:
		return false
	}
}

func newPipeline[T any](name string, commit func(*group[T]) error) *pipeline[T] {
	p := &pipeline[T]{name: name, commit: commit}
	p.wake = sync.NewCond(&p.mu)
	return p
}

// start begins to write: places are given after last.
func (p *pipeline[T]) start(last int64) {
	p.last = last
	p.done.Go(p.write)
}

// stop commits what was taken, then ends. Later appends get the reason. It reports whether it was the first to stop it.
func (p *pipeline[T]) stop(reason error) (first bool) {
	p.mu.Lock()
	first = p.closed == nil
	if first {
		p.closed = reason
		p.wake.Signal()
	}
	p.mu.Unlock()
	p.done.Wait()
	p.writing.Lock() // what runs between commits ends first
	defer p.writing.Unlock()
	return first
}

// append gives as many places as the item weighs and begins to make it durable. A refused one keeps its places.
func (p *pipeline[T]) append(item T, weight int, refused error) *ticket[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.enter(item, weight, refused)
	if t.group != nil {
		t.group.request()
	}
	return t
}

// buffer is append, but nothing is written before somebody asks for it, or for what came later.
func (p *pipeline[T]) buffer(item T, weight int, refused error) *ticket[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.enter(item, weight, refused)
}

// enter gives an append its places, and has it wait in a group unless it is refused. p.mu is held.
func (p *pipeline[T]) enter(item T, weight int, refused error) *ticket[T] {
	t := &ticket[T]{item: item, err: refused}
	p.last += int64(weight)
	t.last = p.last
	switch {
	case p.closed != nil:
		t.err = p.closed
	case p.failed != nil:
		t.err = p.failed
	case refused == nil && weight > 0:
		p.enqueue(t, weight)
	}
	return t
}

// enqueue puts an append into the last group that waits, or into a new one. p.mu is held.
func (p *pipeline[T]) enqueue(t *ticket[T], weight int) {
	n := len(p.queue)
	if n == 0 || p.queue[n-1].weight+weight > maxGroup {
		p.queue = append(p.queue, &group[T]{line: p, done: make(chan struct{})})
		if n++; n > 1 {
			p.wake.Signal() // the one before it is full
		}
	}
	t.group = p.queue[n-1]
	t.group.appends = append(t.group.appends, t)
	t.group.weight += weight
}

// request has a group written, and those before it. p.mu is held.
func (g *group[T]) request() {
	if !g.requested {
		g.requested = true
		g.line.wake.Signal()
	}
}

// wait asks for a group and waits until its commit has ended.
func (g *group[T]) wait() {
	g.line.mu.Lock()
	g.request()
	g.line.mu.Unlock()
	<-g.done
}

// between runs something that changes the file, between two commits.
func (p *pipeline[T]) between(do func() error) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.mu.Lock()
	err := cmp.Or(p.closed, p.failed)
	p.mu.Unlock()
	if err != nil {
		return err
	}
	return guarded(do)
}

// write is the goroutine that commits.
func (p *pipeline[T]) write() {
	for g := p.next(); g != nil; g = p.next() {
		p.writing.Lock()
		err := guarded(func() error { return p.commit(g) })
		p.writing.Unlock()
		p.finish(g, err)
	}
}

// next waits for a group to commit, nil once the pipeline is closed and nothing is left.
func (p *pipeline[T]) next() *group[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	for yielded := false; ; {
		switch {
		case len(p.queue) > 1, len(p.queue) == 1 && (p.queue[0].requested || p.closed != nil):
			if yielded {
				p.committing = p.queue[0]
				p.queue = p.queue[1:]
				return p.committing
			}
			p.yield()
			yielded = true
		case p.closed != nil:
			return nil
		default:
			p.wake.Wait()
			yielded = false
		}
	}
}

// yield lets those go first who are ready to run, and those whom they wake: what they
// append comes into the same commit. Where nobody is, it costs nothing. p.mu is held.
func (p *pipeline[T]) yield() {
	p.mu.Unlock()
	runtime.Gosched()
	runtime.Gosched()
	p.mu.Lock()
}

// finish tells everybody in a group how its commit ended. A failed one poisons the
// pipeline, and takes along what was queued behind it: its order would not be true.
func (p *pipeline[T]) finish(g *group[T], err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ended := []*group[T]{g}
	if err != nil {
		p.failed = fmt.Errorf("%s takes nothing more: %w", p.name, err)
		ended, p.queue = append(ended, p.queue...), nil
	}
	var none T
	for _, g := range ended {
		for _, t := range g.appends {
			t.item = none
			if err != nil {
				t.err = p.failed
			}
		}
		g.appends = nil // a ticket that somebody keeps must not keep the others
		close(g.done)
	}
	p.committing = nil
}

// flush waits until what was appended so far is committed or has failed, so that a read sees it.
func (p *pipeline[T]) flush() {
	p.mu.Lock()
	last := p.committing
	if n := len(p.queue); n > 0 {
		last = p.queue[n-1]
	}
	p.mu.Unlock()
	if last != nil {
		last.wait()
	}
}

// guarded makes an error of a panic: one that ended the writer would leave everybody waiting.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a defect of the store: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
