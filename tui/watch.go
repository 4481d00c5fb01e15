package tui

import (
	"sync/atomic"
	"time"

	"faultlab/engine/clock"
)

// watchTime is how often the store is asked whether it has changed, while something of
// it is on the screen.
const watchTime = 500 * time.Millisecond

// watch is the pump's eye on the store. Only shown and watch.show are for others than
// the pump.
type watch struct {
	version func() string // nil where there is no store
	shown   atomic.Bool
	kick    chan struct{} // holds at most one: something of the store came on the screen
	seen    chan string   // holds at most one: the version at the look that was due
	last    string
	due     bool
	cancel  func() bool
}

func newWatch() *watch {
	return &watch{kick: make(chan struct{}, 1), seen: make(chan string, 1), cancel: func() bool { return true }}
}

// show says whether something of the store is on the screen. It never blocks.
func (w *watch) show(on bool) {
	if was := w.shown.Swap(on); on && !was {
		select {
		case w.kick <- struct{}{}:
		default:
		}
	}
}

// arm makes the next look due, in an actor of its own: a disk may take its time.
func (w *watch) arm(wall *clock.Wall) {
	if w.due || w.version == nil || !w.shown.Load() {
		return
	}
	w.due = true
	w.cancel = wall.AfterFunc(watchTime, func() { w.seen <- w.version() })
}

// changed takes a look's version in and reports whether it is a new one.
func (w *watch) changed(version string, wall *clock.Wall) bool {
	was := w.last
	w.last, w.due = version, false
	w.arm(wall)
	return version != was
}
