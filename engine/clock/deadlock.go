package clock

import (
	"fmt"
	"strings"
	"time"
)

// Deadlock says that nothing will happen any more and yet actors wait: with no deadline, or they would not wait still.
type Deadlock struct {
	At      time.Time
	Waiting []Waiting // the oldest actor first
}

// Waiting is an actor and what it waits for.
type Waiting struct{ Actor, For string }

// maxNamed bounds how many actors the error's text names.
const maxNamed = 10

func (d *Deadlock) Error() string {
	var names []string
	for i, w := range d.Waiting {
		if i == maxNamed {
			names = append(names, fmt.Sprintf("and %d more", len(d.Waiting)-maxNamed))
			break
		}
		names = append(names, fmt.Sprintf("%q waits for %q", w.Actor, w.For))
	}
	return fmt.Sprintf("deadlock at %s: nothing is left that could happen, and %s",
		d.At.Format(time.RFC3339Nano), strings.Join(names, ", "))
}

// deadlock is the *Deadlock of a clock at rest, or nil. mu is held.
func (v *Virtual) deadlock() error {
	d := &Deadlock{At: v.Now()}
	for _, a := range v.waiting() {
		d.Waiting = append(d.Waiting, Waiting{a.name, a.waits})
	}
	if len(d.Waiting) == 0 {
		return nil
	}
	return d
}
