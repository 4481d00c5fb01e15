package clock

import (
	"math"
	"time"
)

// pace makes jumps of time last. Guarded by Virtual.mu, but for the channels.
type pace struct {
	speed  float64   // virtual seconds in a real one; 0: at once
	passed float64   // nanoseconds of the next jump that have been slept already, up to since
	since  time.Time // real time from which on the pacer sleeps; zero: it does not
	target int64     // where its jump goes

	poke       chan struct{} // look again; nil until there is a pacer
	quit, gone chan struct{}
}

// longestNap bounds one sleep of the pacer, far below what a Duration can hold.
const longestNap = time.Hour

// SetSpeed sets how fast time passes: 1 as fast as the wall, 100 a hundred times, 0 (or what is no positive number)
// at once. It holds from now on, also for a jump that is under way.
func (v *Virtual) SetSpeed(x float64) {
	if !(x > 0) || math.IsInf(x, 1) {
		x = 0
	}
	v.change(func() {
		v.settle()
		v.speed = x
		if x > 0 && v.poke == nil && !v.closed {
			v.poke, v.quit, v.gone = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
			go v.runPacer(v.poke, v.quit, v.gone)
		}
	})
}

// Pause keeps every actor from starting or going on, and time from jumping. The one that runs now goes on until it waits.
func (v *Virtual) Pause() {
	v.mu.Lock()
	v.settle()
	v.paused = !v.closed
	v.unlock()
}

// Resume ends a Pause.
func (v *Virtual) Resume() { v.change(func() { v.paused = false }) }

// Paused reports whether the clock is paused.
func (v *Virtual) Paused() bool {
	v.mu.Lock()
	defer v.unlock()
	return v.paused
}

// Shown is the time to display: Now, and while a jump is paced the part of it that has passed. It never goes back.
func (v *Virtual) Shown() time.Time {
	v.mu.Lock()
	defer v.unlock()
	return v.Now().Add(time.Duration(v.slept()))
}

// slept is how much of the next jump has passed, in virtual nanoseconds. mu is held.
func (v *Virtual) slept() float64 {
	if v.since.IsZero() {
		return v.passed
	}
	return min(v.passed+float64(time.Since(v.since))*v.speed, float64(v.target-v.now.Load()))
}

// settle ends the pacer's sleep, if it sleeps, and keeps what has passed. mu is held.
func (v *Virtual) settle() {
	if !v.since.IsZero() {
		v.passed, v.since = v.slept(), time.Time{}
	}
}

// reached reports whether time may jump to at, which then begins; otherwise the pacer sleeps on it. mu is held.
func (v *Virtual) reached(at int64) bool {
	gap := float64(at - v.now.Load())
	if v.speed == 0 || v.closed {
		v.settle()
		v.passed = 0
		return true
	}
	if !v.since.IsZero() && v.target == at && v.slept() < gap {
		return false // the pacer is on it
	}
	v.settle()
	if v.passed >= gap {
		v.passed -= gap // is above 0 where a timer was set behind what is shown already
		return true
	}
	v.since, v.target = time.Now(), at
	select {
	case v.poke <- struct{}{}:
	default:
	}
	return false
}

// nap is how long the pacer has yet to sleep. mu is held.
func (v *Virtual) nap() (d time.Duration, asleep bool) {
	if v.since.IsZero() {
		return 0, false
	}
	left := math.Ceil((float64(v.target-v.now.Load()) - v.slept()) / v.speed)
	return time.Duration(min(max(left, 1), float64(longestNap))), true
}

// runPacer is the one goroutine that sleeps in real time, until quit.
func (v *Virtual) runPacer(poke, quit <-chan struct{}, gone chan<- struct{}) {
	defer close(gone)
	alarm := time.NewTimer(longestNap)
	defer alarm.Stop()
	for {
		v.mu.Lock()
		v.schedule()
		d, asleep := v.nap()
		v.unlock()
		if asleep {
			alarm.Reset(d)
		} else {
			alarm.Stop()
		}
		select {
		case <-alarm.C:
		case <-poke:
		case <-quit:
			return
		}
	}
}

// stopPacer ends the pacer, if there is one, and waits until it is gone.
func (v *Virtual) stopPacer() {
	v.mu.Lock()
	quit, gone := v.quit, v.gone
	v.quit = nil
	v.unlock()
	if quit != nil {
		close(quit)
	}
	if gone != nil {
		<-gone
	}
}
