// Package explore searches the schedules of a world up to a bound.
//
// A world is anything that can be carried out again and again, gives the same result for
// the same answers, and reports its choices on the way: which fault a request meets,
// whether the worker dies here, whether a delivery comes again. A schedule is a list of
// deviations from "nothing goes wrong". The search re-executes the world with one more
// deviation each time, breadth first, so that the first schedule with a verdict is a
// shortest one. A schedule deviates only after its last deviation: each occurs once.
//
// A choice carries a digest of all that the future depends on. A schedule that comes to
// a state from which the search went on before, with no less of the bound left, is cut
// there: it stands for the same ends. Counts are those of all schedules, also of those
// that were cut. The report does not depend on the number of jobs.
package explore

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
)

// Kind says what a deviation is. Each kind has a bound of its own.
type Kind uint8

// The kinds of deviations.
const (
	Fault      Kind = iota // the provider does something wrong with one request
	Crash                  // the worker dies
	Redelivery             // an event is delivered once more
	Decision               // the operator takes another decision that is allowed as well
	Order                  // of two waiting actors the other one goes first
	kinds
)

var kindNames = [kinds]string{"fault", "crash", "redelivery", "decision", "order"}

func (k Kind) String() string { return kindNames[k] }

// Bound is how many deviations of each kind a schedule may have.
type Bound [kinds]uint8

// Total returns the largest number of deviations of any kind.
func (b Bound) Total() (n int) {
	for _, v := range b {
		n += int(v)
	}
	return n
}

// covers reports whether b leaves no less than o of every kind.
func (b Bound) covers(o Bound) bool {
	for k := range b {
		if b[k] < o[k] {
			return false
		}
	}
	return true
}

// State is a digest of everything that can influence what follows a choice, the choice's site included.
type State [16]byte

// StateOf returns the digest of a description.
func StateOf(description []byte) (s State) {
	sum := sha256.Sum256(description)
	copy(s[:], sum[:])
	return s
}

// Choice is a place in an execution where something else could happen.
type Choice struct {
	Site  string // unique in one execution, and the same in all that come by
	Kind  Kind
	Alts  []string // what can happen instead of the ideal
	State func() State
}

// Answers of a Chooser.
const (
	Ideal = 0  // nothing goes wrong; n > 0 is Alts[n-1]
	Stop  = -1 // what follows is known: the world may end at once, its result is not used
)

// A Chooser answers the choices of one execution. It is called by one goroutine at a time.
type Chooser interface {
	Choose(Choice) int
}

// Result is how one execution ended.
type Result struct {
	Verdict  string   // the worst one
	Cause    string   // tells counterexamples of one verdict apart
	Trace    State    // of everything that happened: two executions of one schedule agree
	Problems []string // invariants that did not hold
}

// World is what is searched. Run carries one schedule out, from the beginning. It may be called by several goroutines at once.
type World interface {
	Run(ctx context.Context, c Chooser) (Result, error)
}

// Deviation is one thing that goes otherwise than in the ideal execution.
type Deviation struct {
	Kind Kind   `json:"-"`
	Site string `json:"site"`
	Alt  string `json:"does"`
}

func (d Deviation) String() string { return d.Alt + " at " + d.Site }

// Schedule is a list of deviations in the order in which they happen.
type Schedule []Deviation

func (s Schedule) String() string {
	if len(s) == 0 {
		return "nothing goes wrong"
	}
	parts := make([]string, len(s))
	for i, d := range s {
		parts[i] = d.String()
	}
	return strings.Join(parts, ", ")
}

// Hit is the first schedule that was found with a verdict and a cause.
type Hit struct {
	Verdict  string
	Cause    string
	Schedule Schedule
}

// Problem is an invariant that did not hold, or a schedule that did not repeat.
type Problem struct {
	Text     string
	Schedule Schedule
	Count    int // of the executions that showed it
}

// Cell is what came of the schedules that begin with the same two deviations.
type Cell struct {
	First, Second Deviation // both are zero for the ideal schedule, Second for a schedule of one deviation
	Verdicts      map[string]uint64
	Shortest      map[string]Schedule // by verdict, a shortest one with it
}

// Report is what a search found. Everything in it holds for schedules of at most Depth deviations within the bound.
type Report struct {
	Bound      Bound
	Depth      int  // the number of deviations up to which every schedule is decided; -1 where not even the ideal one is
	Complete   bool // the whole bound is decided
	Schedules  uint64
	CarriedOut int // to the end
	Cut        int // at a known state
	Verdicts   map[string]uint64
	Hits       []Hit // shortest first
	Problems   []Problem
	Cells      []Cell
	Sites      int // where something could have gone otherwise
}

// Progress is how far a search is.
type Progress struct {
	Depth   int // the one at work
	Done    int // of its schedules
	Queued  int // its schedules
	Decided int // in all
	Hits    []Hit
	Ends    []End // of the schedules that were decided since the progress before
}

// End is how one schedule ends: as it was carried out, or as the known state where it was cut.
type End struct {
	Schedule Schedule
	Verdict  string
}

// Options of a search.
type Options struct {
	Bound    Bound
	Jobs     int  // executions at once; 0 is 1
	NoCache  bool // carry every schedule out
	Shard    int  // 1 to Shards: the part of the schedules that begin with its first deviations
	Shards   int  // 0: all of them
	Most     int  // schedules kept; beyond that the depth is given up. 0 is DefaultMost
	Twice    int  // every n-th schedule is carried out twice and compared; 0 is DefaultTwice, negative never
	Progress func(Progress)
}

// Defaults of Options.
const (
	DefaultMost  = 1_000_000
	DefaultTwice = 100
)

func (o *Options) check() error {
	switch {
	case o.Shards < 0 || o.Shards > 0 && (o.Shard < 1 || o.Shard > o.Shards):
		return fmt.Errorf("not a shard: %d/%d; the first is 1/%d", o.Shard, o.Shards, max(o.Shards, 1))
	case o.Jobs < 0:
		return fmt.Errorf("not a number of jobs: %d", o.Jobs)
	}
	o.Jobs, o.Shards = max(o.Jobs, 1), max(o.Shards, 1)
	if o.Shard == 0 {
		o.Shard = 1
	}
	if o.Most == 0 {
		o.Most = DefaultMost
	}
	if o.Twice == 0 {
		o.Twice = DefaultTwice
	}
	return nil
}
