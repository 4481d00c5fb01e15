package clock

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A cancellation of one of our contexts is a walk over what hangs on it, in the order in which it was hung there:
// callbacks are called, children are cancelled likewise, and only then Done closes. The standard library would close
// Done first and start a goroutine for each callback, in no order.

// contexts makes the contexts of a clock.
type contexts struct {
	// spawn starts the actor that carries a foreign cancellation into our tree.
	spawn func(name string, f func())
	// after runs f as an actor after d, when a deadline with this cause is over.
	after func(d time.Duration, cause error, f func()) (stop func() bool)
}

// WithCancel makes a context whose OnCancel callbacks run in order, in the actor that cancels it.
func (cs *contexts) WithCancel(parent context.Context) (context.Context, context.CancelCauseFunc) {
	c := cs.below(parent)
	return c, c.node.cancel
}

// WithTimeout cancels with cause after d; at once if d is not above zero.
func (cs *contexts) WithTimeout(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelCauseFunc) {
	if cause == nil {
		cause = context.DeadlineExceeded
	}
	c := cs.below(parent)
	switch {
	case d <= 0:
		c.node.cancel(cause)
	case c.Err() == nil:
		stop := cs.after(d, cause, func() { c.node.cancel(cause) })
		c.node.onRelease(func() { stop() })
	}
	return c, c.node.cancel
}

// below makes a context below parent.
func (cs *contexts) below(parent context.Context) *clockContext {
	n := &node{}
	n.std, n.closeStd = context.WithCancelCause(context.WithoutCancel(parent))
	n.onRelease(cs.OnCancel(parent, n.cancel))
	return &clockContext{n.std, n}
}

// node is the cancellable part of one of our contexts.
type node struct {
	std      context.Context // has the Done channel; knows nothing of our parent's cancellation
	closeStd context.CancelCauseFunc

	mu       sync.Mutex
	cause    error     // nil: not cancelled
	hung     list.List // of func(cause error), in order of registration
	releases []func()  // lets go of the parent and the timer
}

// clockContext is the context handed out: the standard one, from which its node can be found.
type clockContext struct {
	context.Context
	node *node
}

type nodeKey struct{}

func (c *clockContext) Value(key any) any {
	if key == (nodeKey{}) {
		return c.node
	}
	return c.Context.Value(key)
}

// nearest is the node of the closest context of ours at or above ctx, or nil.
func nearest(ctx context.Context) *node {
	n, _ := ctx.Value(nodeKey{}).(*node)
	return n
}

// cancel runs what hangs on n and closes Done. The first call counts.
func (n *node) cancel(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	n.mu.Lock()
	if n.cause != nil {
		n.mu.Unlock()
		return
	}
	n.cause = cause
	releases := n.releases
	n.releases = nil
	n.mu.Unlock()
	defer n.closeStd(cause)
	for _, release := range releases {
		release()
	}
	for f := n.pop(); f != nil; f = n.pop() {
		f(cause)
	}
}

func (n *node) pop() func(error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.hung.Front()
	if e == nil {
		return nil
	}
	return n.hung.Remove(e).(func(error))
}

// hang adds f, or, where n is cancelled already, calls it.
func (n *node) hang(f func(cause error)) (unhang func()) {
	n.mu.Lock()
	if cause := n.cause; cause != nil {
		n.mu.Unlock()
		f(cause)
		return func() {}
	}
	e := n.hung.PushBack(f)
	n.mu.Unlock()
	return func() {
		n.mu.Lock()
		n.hung.Remove(e)
		n.mu.Unlock()
	}
}

// onRelease calls f when n is cancelled, before anything that hangs on it.
func (n *node) onRelease(f func()) {
	n.mu.Lock()
	if n.cause == nil {
		n.releases = append(n.releases, f)
		n.mu.Unlock()
		return
	}
	n.mu.Unlock()
	f()
}

// cancelled is the cause of ctx, also while its callbacks still run, or nil.
func cancelled(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	n := nearest(ctx)
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cause
}

// OnCancel runs f once when ctx is cancelled: see Clock.
func (cs *contexts) OnCancel(ctx context.Context, f func(cause error)) (stop func()) {
	if c, ok := ctx.(*clockContext); ok { // most are, and then nobody need make a channel
		return c.node.hang(f)
	}
	if ctx.Done() == nil {
		return func() {}
	}
	n := nearest(ctx)
	if n != nil && n.std.Done() == ctx.Done() { // only with n
		return n.hang(f)
	}
	if ctx.Err() != nil {
		f(context.Cause(ctx))
		return func() {}
	}
	// Somebody else can cancel ctx, below ours or with none of ours above it: whoever is first calls f.
	var over atomic.Bool
	once := func(cause error) {
		if over.CompareAndSwap(false, true) {
			f(cause)
		}
	}
	forget := context.AfterFunc(ctx, func() {
		cs.spawn("cancel", func() { once(context.Cause(ctx)) })
	})
	unhang := func() {}
	if n != nil {
		unhang = n.hang(once)
	}
	return func() { over.Store(true); forget(); unhang() }
}
