package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/engine/plain"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
)

// ExploreOptions say what is searched and what counts as bad.
type ExploreOptions struct {
	Bound     explore.Bound
	Operator  string        // "" is OperatorPatient
	Contracts []string      // that the provider keeps, one search for each; none: the scenario's own
	For       time.Duration // of the machine's time, for all; 0: without a limit
	Jobs      int
	NoCache   bool
	Shard     int
	Shards    int
	Only      []string // bad verdicts; none: every one that is graver than unresolved
	Allow     []string // that are not bad
	Strict    bool     // unresolved is bad too
	MapOnly   bool     // no counterexamples: Cells name the schedules
	Progress  func(contract string, p explore.Progress)
}

// Explored is what a search of one scenario under one contract found. It holds for the bound, the alphabet, the contract and the
// operator that it names.
type Explored struct {
	Scenario        string            `json:"scenario"`
	Contract        string            `json:"contract"`
	Operator        string            `json:"operator"`
	Faults          int               `json:"faults"`
	Crashes         int               `json:"crashes"`
	Redeliveries    int               `json:"redeliveries"`
	Decisions       int               `json:"decisions"`       // allowed ones that are not the advised ones
	Complete        bool              `json:"complete"`        // the whole bound was searched
	Depth           int               `json:"depth"`           // deviations up to which every schedule was; -1: none
	Shard           string            `json:"shard,omitempty"` // "2/8": the part that was searched
	Schedules       uint64            `json:"schedules"`       // all that there are within the bound
	CarriedOut      int               `json:"carriedOut"`      // of them; the others are known to end alike
	Decided         int               `json:"decided"`         // carried out or equal to a known state
	Sites           int               `json:"sites"`           // where something could go otherwise
	Seconds         float64           `json:"seconds"`
	Verdicts        map[string]uint64 `json:"verdicts"`
	Counterexamples []*Counterexample `json:"counterexamples"`
	Problems        []ExploreProblem  `json:"problems,omitempty"`
	Assumed         []string          `json:"assumed"` // what the claim rests on

	Cells []explore.Cell `json:"-"`
	bad   map[string]bool
}

// ExploreProblem is a fault of faultlab itself that a search met: an invariant that did not hold, or a schedule that did not repeat.
type ExploreProblem struct {
	Text     string              `json:"text"`
	Schedule []explore.Deviation `json:"schedule"`
	Count    int                 `json:"count"`
}

// Explore searches the schedules of a scenario, once for each contract. An error says why it cannot be explored. When the time is up,
// or ctx is over, the results say how far they go.
func Explore(ctx context.Context, s *lang.Scenario, o ExploreOptions) ([]*Explored, error) {
	if err := Explorable(s, o); err != nil {
		return nil, err
	}
	contracts := o.contracts()
	wall := clock.NewWall()
	began := wall.Now()
	var out []*Explored
	for i, name := range contracts {
		x, err := NewExploration(s, o.Operator, name)
		if err != nil {
			return nil, err
		}
		limited, stop := ctx, context.CancelFunc(func() {})
		if o.For > 0 { // what is left is shared out, so that no contract goes without
			limited, stop = context.WithTimeout(ctx, (o.For-wall.Now().Sub(began))/time.Duration(len(contracts)-i))
		}
		r, err := x.search(limited, s, o)
		stop()
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Explorable says why a scenario cannot be searched with these options; nil where it can.
func Explorable(s *lang.Scenario, o ExploreOptions) error {
	for _, name := range o.contracts() {
		if _, err := NewExploration(s, o.Operator, name); err != nil {
			return err
		}
	}
	return nil
}

// contracts are the names that are searched for; "" is the scenario's own.
func (o *ExploreOptions) contracts() []string {
	if len(o.Contracts) == 0 {
		return []string{""}
	}
	return o.Contracts
}

func (x *Exploration) search(ctx context.Context, s *lang.Scenario, o ExploreOptions) (*Explored, error) {
	wall := clock.NewWall()
	began := wall.Now()
	so := explore.Options{Bound: o.Bound, Jobs: o.Jobs, NoCache: o.NoCache, Shard: o.Shard, Shards: o.Shards}
	kept, err := x.kept(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	if o.Progress != nil {
		so.Progress = func(p explore.Progress) { o.Progress(kept, p) }
	}
	found, err := explore.Search(ctx, x, so)
	if err != nil {
		return nil, err
	}
	r := &Explored{Scenario: s.Name, Contract: kept, Operator: x.operator, Faults: int(o.Bound[explore.Fault]), Crashes: int(o.Bound[explore.Crash]),
		Redeliveries: int(o.Bound[explore.Redelivery]), Decisions: int(o.Bound[explore.Decision]),
		Complete: found.Complete, Depth: found.Depth, Schedules: found.Schedules, CarriedOut: found.CarriedOut, Decided: found.CarriedOut + found.Cut,
		Sites: found.Sites, Verdicts: found.Verdicts, Cells: found.Cells, Assumed: x.assumptions(o.Bound), bad: map[string]bool{}}
	if o.Shards > 1 {
		r.Shard = fmt.Sprintf("%d/%d", o.Shard, o.Shards)
	}
	for _, p := range found.Problems {
		r.Problems = append(r.Problems, ExploreProblem{p.Text, p.Schedule, p.Count})
	}
	for _, hit := range found.Hits {
		r.bad[hit.Verdict] = o.counts(hit.Verdict)
		if o.MapOnly || gravity(hit.Verdict) == 0 || slices.Contains(o.Allow, hit.Verdict) {
			continue
		}
		c, err := x.counterexample(context.WithoutCancel(ctx), hit)
		if err != nil {
			r.Problems = append(r.Problems, ExploreProblem{err.Error(), hit.Schedule, 1})
			continue
		}
		if c.replay, err = c.check(ctx); err != nil {
			r.Problems = append(r.Problems, ExploreProblem{err.Error(), c.Schedule, 1})
		}
		r.Counterexamples = append(r.Counterexamples, c)
	}
	slices.SortStableFunc(r.Counterexamples, func(a, b *Counterexample) int { return byGravity(a.Verdict, b.Verdict) })
	r.Seconds = wall.Now().Sub(began).Seconds()
	return r, nil
}

// gravity orders verdicts of runs and operations; 0 is as it should be.
func gravity(verdict string) int { return engine.Verdict(verdict).Gravity() }

// ExploreVerdicts are those that a search can fail for, the gravest first.
func ExploreVerdicts() []string {
	out := []string{string(engine.Duplicate), string(engine.RunHalfDone), string(engine.PhantomSuccess), string(engine.RunFailedThoughDone),
		string(engine.FalseFailure), string(engine.Uncompensated), string(engine.Unresolved)}
	return out
}

// byGravity orders verdicts, the gravest first.
func byGravity(a, b string) int { return cmp.Or(gravity(b)-gravity(a), strings.Compare(a, b)) }

// counts reports whether a verdict makes the search fail.
func (o *ExploreOptions) counts(verdict string) bool {
	switch {
	case slices.Contains(o.Allow, verdict):
		return false
	case len(o.Only) > 0:
		return slices.Contains(o.Only, verdict)
	case o.Strict:
		return gravity(verdict) > 0
	}
	return gravity(verdict) > gravity(string(engine.Unresolved))
}

// Bad reports whether a schedule ended with a verdict that counts as bad, or broke an invariant.
func (r *Explored) Bad() bool {
	for _, bad := range r.bad {
		if bad {
			return true
		}
	}
	return len(r.Problems) > 0
}

// kept is the name of the contract that the provider keeps in the search; an error is the ideal schedule's.
func (x *Exploration) kept(ctx context.Context) (string, error) {
	_, e, err := x.carryOut(ctx, &followed{})
	if err != nil {
		return "", err
	}
	return e.b.prov.Contract().Name, nil
}

// assumptions are what every claim of the search rests on.
func (x *Exploration) assumptions(bound explore.Bound) []string {
	names := map[string]bool{}
	for _, list := range x.faults {
		for _, name := range list {
			names[name] = true
		}
	}
	out := []string{plain.Count(len(names), "kind") + " of fault", plain.Count(len(crashPoints), "crash point"), plain.Count(x.starts(), "delivery"), "replies that do not lie"}
	if x.starts() > 1 && bound[explore.Order] > 0 {
		out = append(out, "two runs in both orders")
	}
	if x.herd > 0 {
		out = append(out, fmt.Sprintf("%d callers instead of %d", mostAtOnce, x.herd))
	}
	return out
}

// Explain tells the faults that the exploration tries, by what a request is, and the crash points.
func (x *Exploration) Explain() string {
	var b strings.Builder
	for _, class := range []fault.Which{fault.New, fault.Replay, fault.LookUp} {
		what := map[fault.Which]string{fault.New: "a new operation", fault.Replay: "a repeat", fault.LookUp: "a read or look-up"}[class]
		fmt.Fprintf(&b, "  %s meets: %s\n", what, strings.Join(x.faults[class], ", "))
	}
	fmt.Fprintf(&b, "  the worker dies: %s\n", strings.Join(crashPoints, ", "))
	b.WriteString("  not tried: replies that lie; a crash in flight, which leaves the disk and the ledger as one after the effect or the reply;\n" +
		"  faults that cannot change what a request does (a repeat commits nothing)\n")
	return b.String()
}

// MergeExplored puts the results of all shards of one search together.
func MergeExplored(parts []*Explored, o ExploreOptions) (*Explored, error) {
	if len(parts) == 0 {
		return nil, errors.New("nothing to merge")
	}
	first := parts[0]
	whole := *first
	whole.Shard, whole.Verdicts, whole.Counterexamples, whole.Problems, whole.bad = "", map[string]uint64{}, nil, nil, map[string]bool{}
	whole.Schedules, whole.CarriedOut, whole.Decided, whole.Seconds = 0, 0, 0, 0
	seen := map[string]bool{}
	best := map[[2]string]*Counterexample{}
	for _, p := range parts {
		if p.Scenario != first.Scenario || p.Contract != first.Contract || p.bound() != first.bound() {
			return nil, fmt.Errorf("not parts of one search: %s under %s and %s under %s, with their bounds", first.Scenario, first.Contract, p.Scenario, p.Contract)
		}
		if p.Shard == "" || seen[p.Shard] {
			return nil, fmt.Errorf("not a shard, or given twice: %q", p.Shard)
		}
		seen[p.Shard] = true
		whole.Schedules, whole.CarriedOut, whole.Decided, whole.Seconds = whole.Schedules+p.Schedules, whole.CarriedOut+p.CarriedOut, whole.Decided+p.Decided, whole.Seconds+p.Seconds
		whole.Complete, whole.Depth, whole.Sites = whole.Complete && p.Complete, min(whole.Depth, p.Depth), max(whole.Sites, p.Sites)
		for v, n := range p.Verdicts {
			whole.Verdicts[v] += n
		}
		whole.Problems = append(whole.Problems, p.Problems...)
		for _, c := range p.Counterexamples {
			key := [2]string{c.Verdict, c.Cause}
			if old := best[key]; old == nil || len(c.Schedule) < len(old.Schedule) || len(c.Schedule) == len(old.Schedule) && fmt.Sprint(c.Schedule) < fmt.Sprint(old.Schedule) {
				best[key] = c
			}
		}
	}
	_, of, _ := strings.Cut(first.Shard, "/")
	if fmt.Sprint(len(seen)) != of {
		return nil, fmt.Errorf("%d of %s shards are here", len(seen), of)
	}
	for v := range whole.Verdicts {
		whole.bad[v] = o.counts(v)
	}
	for _, c := range best {
		whole.bad[c.Verdict] = o.counts(c.Verdict) // also one beyond the depth that is complete
		whole.Counterexamples = append(whole.Counterexamples, c)
	}
	slices.SortFunc(whole.Counterexamples, func(a, b *Counterexample) int {
		return cmp.Or(gravity(b.Verdict)-gravity(a.Verdict), len(a.Schedule)-len(b.Schedule), strings.Compare(a.Cause, b.Cause))
	})
	return &whole, nil
}
