package scenarios

import (
	"context"
	"fmt"
	"time"

	"faultlab/engine/plain"
	"faultlab/scenarios/lang"
)

// Result is what came of one scenario file: a report, or why there is none.
type Result struct {
	Report *Report // nil with Unread
	Unread *Unread
}

// Report is what one replay of a scenario showed.
type Report struct {
	Scenario *lang.Scenario
	Mode     string // Simulated or Sockets
	Wall     bool
	Seed     int64
	Stopped  string          // why the script ended before its last line, or the bench did not come to rest; else empty
	Failures []*lang.Failure // expectations that were not met
	Warnings []string        // what makes the result depend on chance elsewhere
	Left     []Leftover      // what was prepared and never happened
	Timeline []Entry
	View     *View
	Took     time.Duration // on the bench's clock
	Real     time.Duration // on the machine's clock, where the caller measured it
}

// Passed reports whether the whole script was carried out and every expectation met.
func (r *Report) Passed() bool { return r.Stopped == "" && len(r.Failures) == 0 }

// Replay carries a scenario out from its beginning to its end and compares what
// happened with what it expects. The error says why it could not even begin; what
// goes wrong in it is in the report, which tells the moment of the last line. ctx is a limit in real time.
func Replay(ctx context.Context, s *lang.Scenario, o Options) (*Report, error) {
	o.Ask = false
	b, err := Open(s, o)
	if err != nil {
		return nil, err
	}
	b.Play()
	stopped := b.Wait(ctx)
	b.mu.Lock()
	m := b.script.last
	b.mu.Unlock()
	if m == nil { // it stopped before its last line
		m = &moment{n: b.line.Len(), at: b.clk.Now()}
	}
	r := b.report(m)
	if stopped != nil && r.Stopped == "" {
		r.Stopped = stopped.Error()
	}
	if err := b.Close(); err != nil {
		return r, fmt.Errorf("close the bench of %s: %w", s.Name, err)
	}
	return r, nil
}

// report is how things stood at a moment.
func (b *Bench) report(m *moment) *Report {
	v := b.line.View(m.n)
	r := &Report{Scenario: b.s, Mode: b.o.Mode, Wall: b.o.Wall, Seed: b.seed, View: v, Left: m.left, Took: b.sinceStart(m.at)}
	if v.N > 0 {
		r.Timeline = b.line.Slice(1, v.N)
	}
	b.mu.Lock()
	r.Stopped, r.Failures = b.script.err, b.script.failed
	b.mu.Unlock()
	if b.virtual == nil {
		return r
	}
	for _, c := range b.virtual.Coincidences() {
		if c.At.After(m.at) {
			break
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("at %s a deadline and something else fall on the same instant: %s", plain.Seconds(b.sinceStart(c.At)), c.Deadline))
	}
	return r
}

// Report is how the bench stands now, as a replay would report it.
func (b *Bench) Report() *Report { return b.report(b.now()) }
