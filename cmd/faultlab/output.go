package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// wholeOutput keeps what a command prints and writes it in one piece when the command
// ends, so that a reader who stops early (`faultlab get RUN | grep -q`) never breaks it.
// A command that prints while it works asks for the stream with live.
type wholeOutput struct {
	mu   sync.Mutex
	w    io.Writer
	text bytes.Buffer
	live bool
	err  error // the first write that failed
}

// maxWhole is how much is kept; a longer output is written as it comes.
const maxWhole = 16 << 20

// Write implements io.Writer. Where the reader is gone it says so, once live.
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

// goLive writes what was kept, and from then on everything at once.
func (o *wholeOutput) goLive() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.live = true
	_ = o.writeOut() // flush reports it
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

// surviveReaders has a write to a pipe that nobody reads fail with an error, where Go
// ends the program by SIGPIPE. Programs that are started from here are not affected.
func surviveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// raw is where the output goes to in the end.
func (a *app) raw() io.Writer {
	if o, ok := a.Out.(*wholeOutput); ok {
		return o.w
	}
	return a.Out
}

// live has the output written as it comes, for a command that prints while it works.
func (a *app) live() {
	if o, ok := a.Out.(*wholeOutput); ok {
		o.goLive()
	}
}
