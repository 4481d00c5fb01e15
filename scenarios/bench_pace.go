package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"faultlab/engine"
)

// speeds are those that faster and slower go through, in order; 0, at once, comes after the last.
var speeds = []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100}

func (b *Bench) setSpeed(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("speed %q is no number", text)
	}
	b.mu.Lock()
	b.o.Speed = x
	b.mu.Unlock()
	b.virtual.SetSpeed(x)
	b.changed()
	return nil
}

// shift goes to the next speed up or down.
func (b *Bench) shift(by int) {
	b.mu.Lock()
	now := b.o.Speed
	b.mu.Unlock()
	i := slices.IndexFunc(speeds, func(s float64) bool { return s >= now })
	switch {
	case now == 0 && by > 0:
		return
	case now == 0 || i < 0:
		i = len(speeds)
	case by > 0 && speeds[i] > now: // between two of them
		i--
	}
	next := 0.0
	if i += by; i < len(speeds) {
		next = speeds[max(0, i)]
	}
	_ = b.setSpeed(strconv.FormatFloat(next, 'f', -1, 64)) // a number that was just written
}

func (b *Bench) togglePause() {
	b.mu.Lock()
	stepping := b.stepping
	b.mu.Unlock()
	if b.virtual.Paused() || stepping {
		b.resume()
		return
	}
	b.virtual.Pause()
	b.changed()
}

// State is what the bench is doing now.
func (b *Bench) State() State {
	s := State{Address: b.Address(), Mode: b.o.Mode, Parked: b.parked()}
	b.mu.Lock()
	s.Stepping, s.Speed, s.Playing, s.Line, s.Err, s.Asked = b.stepping, b.o.Speed, b.script.playing, b.script.line, b.script.err, b.script.asked
	for _, f := range b.script.failed {
		s.Failed = append(s.Failed, fmt.Sprintf("line %d: %s", f.Line, f.Error()))
	}
	if b.script.tookOver {
		s.TookOver = TookOver
	}
	b.mu.Unlock()
	v := b.line.Latest()
	shown := b.shown()
	if v.N > 0 {
		s.Elapsed = shown.Sub(v.Start)
	}
	if b.virtual == nil {
		s.AtRest, s.Speed = b.wall.atRest() && !s.Playing, 1
		return s
	}
	s.Paused = b.virtual.Paused()
	s.AtRest = b.virtual.AtRest() && !s.Playing
	if at, ok := b.virtual.NextDeadline(); ok {
		s.Due, s.DueWhat = max(0, at.Sub(shown)), dueWhat(v, at)
	}
	return s
}

// shown is the time to display.
func (b *Bench) shown() time.Time {
	if b.virtual != nil {
		return b.virtual.Shown()
	}
	return b.clk.Now()
}

// dueWhat is what happens at a deadline, as far as the runs tell.
func dueWhat(v *View, at time.Time) string {
	for _, r := range v.Runs {
		if r.Status.Ended() {
			continue
		}
		for _, s := range r.Steps {
			a := s.Last()
			switch {
			case a == nil:
			case a.Next == engine.NextRetry && a.Due.Equal(at):
				return "retry of " + s.ID
			case a.Outcome == "":
				for _, c := range a.Calls {
					if !c.Ended {
						return "timeout of " + c.Operation + " in " + s.ID
					}
				}
			}
		}
	}
	return ""
}
