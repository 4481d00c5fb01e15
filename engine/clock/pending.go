package clock

import (
	"encoding/binary"
	"slices"
)

// AppendState appends a description of what is due and of who waits for what, to compare moments of two virtual clocks:
// times are relative to now, and what is due at one instant stands in its order.
func (v *Virtual) AppendState(b []byte) []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now.Load()
	for _, t := range slices.Backward(v.timers) {
		name := "func"
		switch {
		case t.sleeper != nil:
			name = t.sleeper.name
		case t.deadline != nil:
			name = t.deadline.Error()
		}
		b = append(append(binary.AppendVarint(b, t.at-now), name...), 0)
	}
	waits := make([]string, 0, len(v.live))
	for _, a := range v.live {
		waits = append(waits, a.name+"\x00"+a.waits)
	}
	slices.Sort(waits)
	for _, w := range waits {
		b = append(append(b, w...), 0)
	}
	return b
}
