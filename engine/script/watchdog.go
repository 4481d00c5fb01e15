package script

import "time"

// watchdog measures, by the wall clock, how long a script keeps its processor. It is the one place of the package
// that knows that clock.
type watchdog struct {
	left    time.Duration
	since   time.Time
	running bool
	timer   *time.Timer // fires while running, when nothing is left
}

func newWatchdog(limit time.Duration) *watchdog {
	t := time.NewTimer(limit)
	t.Stop()
	return &watchdog{left: limit, timer: t}
}

func (w *watchdog) start() {
	w.running = true
	w.since = time.Now()
	w.timer.Reset(w.left)
}

func (w *watchdog) stop() {
	if w.running {
		w.running = false
		w.timer.Stop()
		w.left -= time.Since(w.since)
	}
}

// waitForWorker gives the worker its grace and tells whether it is over.
func (r *runner) waitForWorker() bool {
	grace := time.NewTimer(r.limits.Grace)
	defer grace.Stop()
	select {
	case <-r.exited:
		return true
	case <-grace.C:
		return false
	}
}
