package scenarios

import (
	"faultlab/faultprovider"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios/expect"
	"slices"
	"time"
)

// world is what expectations are compared with: the bench as it is now.
func (b *Bench) world() expect.World {
	v := b.line.Latest()
	return expect.World{View: v, Exact: b.virtual != nil, Crashes: b.crashesSeen(), Untaken: untaken(v), Rows: b.countRows}
}

// untaken are the faults of a view that no request took. One that stays for ever is taken once a request has met it.
func untaken(v *View) (left []fault.Fault) {
	for _, f := range v.Faults {
		met := func(e faultprovider.Entry) bool { return e.Took != nil && e.Took.Fault == f }
		if f.On.Times != fault.Always || !slices.ContainsFunc(v.Log, met) {
			left = append(left, f)
		}
	}
	return left
}

// sinceStart is how long the bench's clock had gone at a moment.
func (b *Bench) sinceStart(at time.Time) time.Duration { return at.Sub(b.opened) }
