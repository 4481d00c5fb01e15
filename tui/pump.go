package tui

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine/clock"
)

// pump is the one goroutine between the outside and the program. It tells the program
// that the bench changed, at most once a frame and so that no actor waits for the screen;
// that the store changed, while it is looked at; and it hands signals on. Update pulls
// what there is then: a hundred changes in one frame are one message.
type pump struct {
	dirty   chan struct{} // holds at most one: the bench changed
	store   *watch
	signals chan os.Signal
	crashes chan string // holds at most one: an actor of a bench panicked
	wall    *clock.Wall
	done    chan struct{}
	stop    context.CancelFunc
}

func newPump() *pump {
	return &pump{dirty: make(chan struct{}, 1), store: newWatch(), signals: make(chan os.Signal, 1), crashes: make(chan string, 1), wall: clock.NewWall(), done: make(chan struct{})}
}

// news is called by whoever changed the bench. It never blocks.
func (p *pump) news() {
	select {
	case p.dirty <- struct{}{}:
	default:
	}
}

// follow lets a bench tell of its news, and of a panic in one of its actors.
func (p *pump) follow(b Bench) {
	b.Notify(p.news)
	b.OnPanic(func(name string, value any, stack []byte) {
		select {
		case p.crashes <- fmt.Sprintf("%s: %v\n%s", name, value, stack):
		default: // the first one is the reason
		}
	})
}

// start begins to hand on, until outer ends, which ends the program too. A panic of
// it ends the program like any other.
func (p *pump) start(outer context.Context, send func(tea.Msg)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(outer))
	p.stop = cancel
	go func() {
		defer close(p.done)
		defer func() {
			if r := recover(); r != nil {
				send(panicMsg{text: trace(r)})
			}
		}()
		defer func() { p.store.cancel() }()
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-p.signals:
				send(signalMsg{s})
			case text := <-p.crashes:
				send(panicMsg{text, true})
			case <-outer.Done():
				p.over(outer, send)
				return
			case <-p.store.kick:
				p.store.arm(p.wall)
			case v := <-p.store.seen:
				if p.store.changed(v, p.wall) {
					send(shelfMsg{})
				}
			case <-p.dirty:
				send(newsMsg{})
				if p.wall.Sleep(ctx, frameTime) != nil {
					return
				}
			}
		}
	}()
}

// grace is how long a signal may come after the end that it brought about elsewhere.
const grace = 20 * time.Millisecond

// over tells that outer has ended. Where a signal did that, it is the reason.
func (p *pump) over(outer context.Context, send func(tea.Msg)) {
	_ = p.wall.Sleep(context.Background(), grace) // nothing ends it
	select {
	case s := <-p.signals:
		send(signalMsg{s})
	default:
		send(overMsg{context.Cause(outer)})
	}
}

// end stops the pump and waits for it.
func (p *pump) end() {
	if p.stop != nil {
		p.stop()
		<-p.done
	}
}

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
