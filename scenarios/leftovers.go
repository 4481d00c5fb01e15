package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"faultlab/faultprovider/fault"
	"faultlab/scenarios/lang"
)

// moment is the bench when the script's last line had been carried out: what its
// expectations saw, and what a report of a replay tells. What happens later belongs to nobody's claim.
type moment struct {
	n    int // entries of the timeline
	at   time.Time
	left []Leftover
}

// Leftover is something that the scenario prepared and that never happened.
type Leftover struct {
	Line int    `json:"line,omitempty"` // of the scenario's file; 0 where no line of it says so
	What string `json:"what"`           // "crash after-effect step=pay"
	Why  string `json:"why"`            // "it never happened: nothing reached this point"
}

// String is one sentence.
func (l Leftover) String() string { return l.What + ": " + l.Why }

// now is the moment at which the bench stands.
func (b *Bench) now() *moment { return &moment{n: b.line.Len(), at: b.clk.Now(), left: b.leftovers()} }

// leftovers are the crashes, faults and deliveries that were prepared and have not come.
func (b *Bench) leftovers() []Leftover {
	var out []Leftover
	b.mu.Lock()
	for _, c := range b.crashes.armed {
		out = append(out, Leftover{c.line, "crash " + c.text, "it never happened: the worker did not come to this point"})
	}
	for _, p := range b.pending {
		out = append(out, Leftover{p.line.Line, "deliver " + p.line.Text, "it was never made: its moment did not come"})
	}
	b.mu.Unlock()
	for _, f := range untaken(b.line.Latest()) {
		line, taken := b.queuedBy(f)
		why := "no request took it"
		if taken > 0 {
			why = fmt.Sprintf("only %d of its requests came", taken)
		}
		out = append(out, Leftover{line, "fault " + f.Line(), why})
	}
	slices.SortStableFunc(out, func(a, b Leftover) int { return a.Line - b.Line })
	return out
}

// queuedBy is the last line of the scenario that queues a fault, 0 if none does, and how many requests have taken it.
func (b *Bench) queuedBy(left fault.Fault) (line, taken int) {
	same := func(f fault.Fault) bool { f.On.Times = left.On.Times; return f == left }
	for _, l := range slices.Backward(b.s.Lines) {
		if l.Verb != "fault" {
			continue
		}
		queued, err := FaultsOf(l)
		if i := slices.IndexFunc(queued, same); err == nil && i >= 0 {
			return l.Line, max(1, queued[i].On.Times) - max(1, left.On.Times)
		}
	}
	return 0, 0
}

// FaultsOf are the faults that a line of the verb fault queues, narrowed by its options.
func FaultsOf(l lang.Line) ([]fault.Fault, error) {
	out := make([]fault.Fault, len(l.Args))
	for i, arg := range l.Args {
		f, err := fault.Parse(arg)
		if err != nil {
			return nil, err
		}
		f.On.Step = cmp.Or(l.Opt("step"), f.On.Step)
		f.On.Attempt = cmp.Or(l.Number("attempt"), f.On.Attempt)
		f.On.Request = cmp.Or(l.Number("request"), f.On.Request)
		out[i] = f
	}
	return out, nil
}
