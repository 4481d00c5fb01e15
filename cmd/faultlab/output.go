package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"faultlab/engine/clock"
)

// wholeOutput keeps what a command prints and writes it when the command ends, so that a
// reader who stops early (`faultlab get RUN | grep -q`) never breaks the command. A
// command that prints while it works calls live.
type wholeOutput struct {
	mu   sync.Mutex
	w    io.Writer
	text bytes.Buffer
	live bool
	err  error // the first write that failed
}

// maxWhole is how much is kept; a longer output is written as it comes.
const maxWhole = 16 << 20

// Write implements io.Writer. Once live, it fails where the reader is gone.
func (o *wholeOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if o.live || o.text.Len() > maxWhole {
		if err := o.writeOut(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// flush writes what was kept. A reader that is gone is no error.
func (o *wholeOutput) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.writeOut(); !readerGone(err) {
		return err
	}
	return nil
}

func (o *wholeOutput) writeOut() error {
	if o.text.Len() > 0 && o.err == nil {
		_, o.err = o.w.Write(o.text.Bytes())
	}
	o.text.Reset()
	return o.err
}

// readerGone reports whether an output failed because nobody reads it any more.
func readerGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed)
}

// raw returns the program's own output.
func (a *app) raw() io.Writer {
	if o, ok := a.Out.(*wholeOutput); ok {
		return o.w
	}
	return a.Out
}

// live writes what was kept, and from then on everything as it comes.
func (a *app) live() {
	if o, ok := a.Out.(*wholeOutput); ok {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.live = true
		_ = o.writeOut() // flush reports it
	}
}

// maxLines is how many lines may wait for a reader that does not read.
const maxLines = 100_000

// lines writes lines in their order from an actor of its own, so that put never waits
// for a terminal or a pipe. Lines beyond maxLines are counted and left out.
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
