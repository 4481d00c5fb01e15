package main

import (
	"fmt"
	"io"
	"sync"

	"faultlab/engine/clock"
)

// maxLines is how many lines may wait for a reader that does not read.
const maxLines = 100_000

// lines writes lines in their order, by an actor of its own, for those who must not
// wait for a terminal or a pipe. What nobody reads is counted and left out.
type lines struct {
	w      io.Writer
	settle func() bool // waits until what the lines say is so; false leaves them out; nil where it always is

	mu      sync.Mutex
	queue   []string
	dropped int
	closed  bool
	news    clock.Event // set when there is something to write, or nothing more to come
	ended   clock.Event
	clk     clock.Clock
}

func newLines(clk clock.Clock, w io.Writer, settle func() bool) *lines {
	l := &lines{w: w, settle: settle, clk: clk, news: clk.NewEvent("a line"), ended: clk.NewEvent("the last line")}
	clk.Go("log", l.write)
	return l
}

// put adds a line. It never waits.
func (l *lines) put(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return
	case len(l.queue) >= maxLines:
		l.dropped++
		return
	}
	l.queue = append(l.queue, line)
	l.news.Set()
}

func (l *lines) write() {
	defer l.ended.Set()
	for {
		l.news.Wait()
		l.mu.Lock()
		batch, dropped, closed := l.queue, l.dropped, l.closed
		l.queue, l.dropped = nil, 0
		if !closed {
			l.news = l.clk.NewEvent("a line")
		}
		l.mu.Unlock()
		if len(batch) > 0 && l.settle != nil && !l.settle() {
			batch = nil
		}
		for _, line := range batch {
			if _, err := fmt.Fprintln(l.w, line); err != nil {
				l.stop() // whoever read it is gone
				return
			}
		}
		if dropped > 0 {
			fmt.Fprintf(l.w, "%d lines left out: nobody read them\n", dropped)
		}
		if closed {
			return
		}
	}
}

func (l *lines) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.news.Set()
}

// close writes what is left, and nothing after it.
func (l *lines) close() {
	l.stop()
	l.ended.Wait()
}
