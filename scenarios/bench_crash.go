package scenarios

import (
	"cmp"
	"fmt"
	"strconv"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/faultprovider"
	"faultlab/scenarios/expect"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
)

// crashes are those that happened and those that are armed. Guarded by Bench.mu.
type crashes struct {
	happened int
	armed    []armedCrash // each counts once the one before it has happened
}

// place is a point of one request, or of one call or attempt. Of an armed crash what is empty or 0 fits anything.
type place struct {
	point   string // one of lang.CrashPoints
	run     string // its id; of an armed crash its number in the order of admission, or its id
	number  int    // of the run
	step    string // ~ID is a compensation
	attempt int
	call    int // of the attempt
	request int // of the attempt; 0 where there was none
}

// armedCrash is where the worker is to be killed: at the next place that fits.
type armedCrash struct {
	at   place
	line int // of the scenario, for the report
	text string
}

// armedBy reads an armed crash off its line.
func armedBy(l lang.Line) armedCrash {
	return armedCrash{place{point: l.Arg(0), run: l.Opt("run"), step: l.Opt("step"), attempt: l.Number("attempt"), call: l.Number("call"),
		request: l.Number("request")}, l.Line, l.Text}
}

// String is the place as a crash's note names it.
func (p place) String() string {
	return fmt.Sprintf("%s, in attempt %d of %s", p.point, p.attempt, p.step)
}

// fits reports whether a worker that stands at p stands where a crash is armed.
func (p place) fits(armed place) bool {
	return armed.point == p.point && (armed.run == p.run || armed.run == strconv.Itoa(p.number) || armed.run == "") &&
		cmp.Or(armed.step, p.step) == p.step && cmp.Or(armed.attempt, p.attempt) == p.attempt &&
		cmp.Or(armed.call, p.call) == p.call && cmp.Or(armed.request, p.request) == p.request
}

// takeCrash reports whether the worker is to be killed at a place, and disarms that crash.
func (b *Bench) takeCrash(p place) bool {
	if b.o.explorer.crash(p) {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &b.crashes
	if len(c.armed) == 0 || b.setting.WorkerDown || !p.fits(c.armed[0].at) {
		return false
	}
	c.armed = c.armed[1:]
	return true
}

// sent is a request that a worker wrote down.
type sent struct {
	what   string // "POST /jobs"
	worker int    // which of the bench's workers
	call   int    // of the attempt
}

// placeOf is a point of a request. It is none of a request that no worker of the bench sent.
func (b *Bench) placeOf(point, requestID string) (place, bool) {
	id, ok := engine.ParseRequestID(requestID)
	if !ok {
		return place{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return place{point, id.Run, b.numbers[id.Run], engine.StepName(id.Step, id.Undo), id.Attempt, b.sent[requestID].call, id.Number}, true
}

// placeAt is where a worker stands that comes to a gate.
func (b *Bench) placeAt(p clock.Point, requestID string) (place, bool) {
	at, ok := b.placeOf(gates[p], requestID)
	id, _ := engine.ParseRequestID(requestID)
	switch {
	case !ok || at.point == "":
		return place{}, false
	case id.Lookup && p == clock.AtRecord:
		at.point = lang.CrashAtLookup
	case id.Lookup:
		return place{}, false
	case p == clock.AtReply:
		b.mu.Lock()
		defer b.mu.Unlock()
		return at, b.committed[requestID]
	}
	return at, true
}

// observeCrashes kills the worker at the points that facts tell of. The engine
// must not be called back from here: an actor does it, before the script goes on.
func (b *Bench) observeCrashes(events []engine.Event) {
	for _, e := range events {
		at := place{run: e.Run}
		pos, _ := timeline.PosOf(e.Fact)
		switch f := e.Fact.(type) {
		case engine.CallEnded:
			at.point, at.step, at.attempt, at.call = lang.CrashAfterRecord, engine.StepName(f.Step, f.Undo), f.Attempt, f.Call
		case engine.AttemptEnded:
			if f.Next != engine.NextRetry {
				continue
			}
			at.point, at.step, at.attempt = lang.CrashInBackoff, engine.StepName(f.Step, f.Undo), f.Attempt
		default:
			continue
		}
		b.mu.Lock()
		at.number, at.request = b.numbers[e.Run], b.last[callOf(e.Run, pos)]
		b.mu.Unlock()
		b.crashSoon(at)
	}
}

// crashSoon kills the worker at a place by an actor of its own, if a crash is armed for it.
func (b *Bench) crashSoon(at place) {
	if b.takeCrash(at) {
		b.clk.Go("crash", func() { b.kill(at.String() + ": the worker is gone") })
	}
}

// observeArrival kills the worker while its request is in flight, and makes the deliveries that wait for that.
func (b *Bench) observeArrival(e faultprovider.Entry) {
	at, ok := b.placeOf(lang.CrashInFlight, e.RequestID)
	if id, _ := engine.ParseRequestID(e.RequestID); !ok || id.Lookup || e.Kind != faultprovider.Received {
		return
	}
	b.due(lang.WhenInFlight)
	b.crashSoon(at)
}

// crashesSeen is what expectations read about crashes.
func (b *Bench) crashesSeen() expect.Crashes {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := expect.Crashes{Happened: b.crashes.happened}
	for _, c := range b.crashes.armed {
		f.Armed = append(f.Armed, c.text)
	}
	return f
}
