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

// untaken are the faults of a view that no request took, as the fault verb reads them. A fault that stays for ever is taken
// once one request has met it.
func untaken(v *View) []string {
	var out []string
	for _, text := range v.Faults {
		q, err := fault.Parse(text)
		met := func(e faultprovider.Entry) bool { return e.Fault == q.String() }
		if err == nil && q.On.Times == fault.Always && slices.ContainsFunc(v.Log, met) {
			continue
		}
		out = append(out, text)
	}
	return out
}

// sinceStart is how long the bench's clock had gone at a moment.
func (b *Bench) sinceStart(at time.Time) time.Duration { return at.Sub(b.opened) }
