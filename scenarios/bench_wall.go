package scenarios

import (
	"sync"
	"time"

	"faultlab/engine/clock"
)

// wallClock is the machine's clock, and knows when a bench on it has come to rest:
// when no actor is left and no timer is set that would start one.
type wallClock struct {
	*clock.Wall
	rested func()

	mu   sync.Mutex
	work int
	idle *sync.Cond
}

func newWallClock(rested func()) *wallClock {
	w := &wallClock{Wall: clock.NewWall(), rested: rested}
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

// wait blocks until the clock is at rest.
func (w *wallClock) wait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.work > 0 {
		w.idle.Wait()
	}
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
	stopped := w.Wall.AfterFunc(d, func() {
		defer w.end()
		f()
	})
	return func() bool {
		was := stopped()
		if was {
			w.end()
		}
		return was
	}
}

// Enter implements clock.Clock.
func (w *wallClock) Enter(name string) (leave func()) {
	w.begin()
	leave = w.Wall.Enter(name)
	return func() {
		leave()
		w.end()
	}
}
