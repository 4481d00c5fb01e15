package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-isatty"

	"faultlab/engine/clock"
	"faultlab/engine/plain"
	"faultlab/scenarios"
	"faultlab/scenarios/explore"
)

// progressLine tells how far a search is: one line that is rewritten on a terminal, a line a second in a log.
type progressLine struct {
	w        io.Writer
	clk      clock.Clock
	terminal bool

	mu    sync.Mutex
	what  string // scenario and contract
	began time.Time
	told  time.Time
	width int // of the line that stands on the terminal
}

// progress returns the line on stderr; nil where a machine reads the errors.
func (a *app) progress(asJSON bool) *progressLine {
	p := &progressLine{w: a.Err, clk: a.clk, told: a.clk.Now()}
	if f, ok := a.Err.(*os.File); ok {
		p.terminal = isatty.IsTerminal(f.Fd())
	}
	if asJSON && !p.terminal {
		return nil
	}
	return p
}

// How often the line is written.
const (
	progressInLog      = time.Second
	progressOnTerminal = 100 * time.Millisecond
)

// show tells how far a search is, if it is time to.
func (p *progressLine) show(scenario, contract string, at explore.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clk.Now()
	if what := scenario + ", contract " + contract; what != p.what {
		p.what, p.began = what, now
	}
	every := progressInLog
	if p.terminal {
		every = progressOnTerminal
	}
	if now.Sub(p.told) < every {
		return
	}
	p.told = now
	text := fmt.Sprintf(": depth %d, %d of %d", at.Depth, at.Done, at.Queued)
	if spent := now.Sub(p.began).Seconds(); spent > 0 {
		text += fmt.Sprintf(", %.0f/s", float64(at.Decided)/spent)
	}
	if worst := scenarios.WorstOf(at.Hits); worst != "" {
		text += ", worst " + worst
	}
	what := plain.Escape(p.what)
	if p.terminal { // a line that wraps could not be rewritten
		what = plain.Shorten(what, max(lineWidth-utf8.RuneCountInString(text), 10))
	}
	p.write(what + text)
}

func (p *progressLine) write(text string) {
	if !p.terminal {
		fmt.Fprintln(p.w, text)
		return
	}
	width := utf8.RuneCountInString(text)
	fmt.Fprint(p.w, "\r"+text+strings.Repeat(" ", max(p.width-width, 0)))
	p.width = width
}

// clear takes the line off a terminal.
func (p *progressLine) clear() {
	if p == nil || p.width == 0 {
		return
	}
	fmt.Fprint(p.w, "\r"+strings.Repeat(" ", p.width)+"\r")
	p.width = 0
}
