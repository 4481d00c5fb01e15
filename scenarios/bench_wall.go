package scenarios

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"faultlab/engine/clock"
)

// wallClock is the machine's clock, and knows when a bench on it has come to rest:
// when no actor is left and no timer is set that would start one.
type wallClock struct {
	*clock.Wall
	rested func()

	mu     sync.Mutex
	work   int
	idle   *sync.Cond
	timers map[int]func() bool // those that have not fired, with what stops them
	count  int                 // of timers there ever were
}

func newWallClock(rested func()) *wallClock {
	w := &wallClock{Wall: clock.NewWall(), rested: rested, timers: map[int]func() bool{}}
	w.idle = sync.NewCond(&w.mu)
	return w
}

func (w *wallClock) begin() {
	w.mu.Lock()
	w.work++
	w.mu.Unlock()
}

func (w *wallClock) end() {
	w.mu.Lock()
	w.work--
	rest := w.work == 0
	if rest {
		w.idle.Broadcast()
	}
	w.mu.Unlock()
	if rest {
		w.rested()
	}
}

// atRest reports whether nothing is at work or due.
func (w *wallClock) atRest() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.work == 0
}

// wait blocks until the clock is at rest, or ctx is over.
func (w *wallClock) wait(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		w.mu.Lock() // or it might come between the look at ctx and the wait
		defer w.mu.Unlock()
		w.idle.Broadcast()
	})()
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.work > 0 && ctx.Err() == nil {
		w.idle.Wait()
	}
	return context.Cause(ctx)
}

// shut stops all timers and waits for the actors that are at work.
func (w *wallClock) shut() {
	w.mu.Lock()
	timers := slices.Collect(maps.Values(w.timers))
	w.mu.Unlock()
	for _, stop := range timers {
		stop()
	}
	_ = w.wait(context.Background())
}

// Go implements clock.Clock.
func (w *wallClock) Go(name string, f func()) {
	w.begin()
	w.Wall.Go(name, func() {
		defer w.end()
		f()
	})
}

// AfterFunc implements clock.Clock.
func (w *wallClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	w.begin()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	id := w.count
	inner := w.Wall.AfterFunc(d, func() {
		defer w.end()
		w.forget(id)
		f()
	})
	stop = func() bool {
		was := inner()
		if was {
			w.forget(id)
			w.end()
		}
		return was
	}
	w.timers[id] = stop
	return stop
}

func (w *wallClock) forget(timer int) {
	w.mu.Lock()
	delete(w.timers, timer)
	w.mu.Unlock()
}

// Enter implements clock.Clock.
func (w *wallClock) Enter(name string) (leave func()) {
	w.begin()
	inner := w.Wall.Enter(name)
	return func() {
		inner()
		w.end()
	}
}
