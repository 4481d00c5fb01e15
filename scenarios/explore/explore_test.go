package explore_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"faultlab/scenarios/explore"
)

// machine is a small world: so many steps, each of which changes a number in a way that depends on what goes wrong.
type machine struct {
	steps []step
	ends  []string // by the number at the end
}

type step struct {
	kind explore.Kind
	to   [][]int // by what happens, 0 is the ideal: the next number, by the number before
	skip int     // no choice where the number is this one
}

func (m machine) Run(_ context.Context, c explore.Chooser) (explore.Result, error) {
	x, trace := 0, ""
	for i, s := range m.steps {
		did := 0
		if x != s.skip {
			choice := explore.Choice{Site: fmt.Sprint("step ", i), Kind: s.kind, State: func() explore.State { return explore.StateOf(fmt.Append(nil, i, " ", x)) }}
			for alt := range s.to[1:] {
				choice.Alts = append(choice.Alts, fmt.Sprint("alternative ", alt+1))
			}
			if did = c.Choose(choice); did == explore.Stop {
				return explore.Result{}, nil
			}
		}
		x = s.to[did][x]
		trace += fmt.Sprint(did, x, " ")
	}
	return explore.Result{Verdict: m.ends[x], Trace: explore.StateOf([]byte(trace))}, nil
}

func drawMachine(rt *rapid.T) machine {
	numbers := rapid.IntRange(1, 4).Draw(rt, "numbers")
	next := rapid.SliceOfN(rapid.IntRange(0, numbers-1), numbers, numbers)
	var m machine
	for range rapid.IntRange(1, 6).Draw(rt, "steps") {
		m.steps = append(m.steps, step{
			kind: rapid.SampledFrom([]explore.Kind{explore.Fault, explore.Crash}).Draw(rt, "kind"),
			to:   rapid.SliceOfN(next, 2, 4).Draw(rt, "to"),
			skip: rapid.IntRange(-1, numbers-1).Draw(rt, "skip"),
		})
	}
	m.ends = rapid.SliceOfN(rapid.SampledFrom([]string{"good", "bad", "worse"}), numbers, numbers).Draw(rt, "ends")
	return m
}

func search(rt interface{ Fatal(...any) }, w explore.World, o explore.Options) *explore.Report {
	r, err := explore.Search(context.Background(), w, o)
	if err != nil {
		rt.Fatal(err)
	}
	return r
}

// every counts the verdicts of all schedules within a bound by carrying each out.
func (m machine) every(x, i int, left explore.Bound, count map[string]uint64) {
	if i == len(m.steps) {
		count[m.ends[x]]++
		return
	}
	s := m.steps[i]
	m.every(s.to[0][x], i+1, left, count)
	if x == s.skip || left[s.kind] == 0 {
		return
	}
	left[s.kind]--
	for _, to := range s.to[1:] {
		m.every(to[x], i+1, left, count)
	}
}

func TestSearchCountsEverySchedule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := drawMachine(rt)
		bound := explore.Bound{explore.Fault: uint8(rapid.IntRange(0, 3).Draw(rt, "faults")), explore.Crash: uint8(rapid.IntRange(0, 2).Draw(rt, "crashes"))}
		want := map[string]uint64{}
		m.every(0, 0, bound, want)
		whole := search(rt, m, explore.Options{Bound: bound, NoCache: true, Twice: 1})
		cached := search(rt, m, explore.Options{Bound: bound, Twice: 1})
		jobs := search(rt, m, explore.Options{Bound: bound, Jobs: 3})
		for name, r := range map[string]*explore.Report{"without the cache": whole, "with it": cached, "with three jobs": jobs} {
			if !maps.Equal(r.Verdicts, want) {
				rt.Errorf("%s: %v, want %v", name, r.Verdicts, want)
			}
			if len(r.Problems) > 0 || !r.Complete {
				rt.Errorf("%s: complete %v, problems %v", name, r.Complete, r.Problems)
			}
		}
		if uint64(whole.CarriedOut) != whole.Schedules || cached.CarriedOut > whole.CarriedOut {
			rt.Errorf("%d and %d of %d carried out", whole.CarriedOut, cached.CarriedOut, whole.Schedules)
		}
		if a, b := fmt.Sprint(*cached), fmt.Sprint(*jobs); a != b {
			rt.Errorf("three jobs report\n%s\none job\n%s", b, a)
		}
		if a, b := fmt.Sprint(whole.Cells), fmt.Sprint(cached.Cells); len(whole.Cells) != len(cached.Cells) {
			rt.Errorf("cells differ:\n%s\n%s", a, b)
		}
		lengths := func(r *explore.Report) map[string]int {
			out := map[string]int{}
			for _, h := range r.Hits {
				out[h.Verdict] = len(h.Schedule)
			}
			return out
		}
		if a, b := lengths(whole), lengths(cached); !maps.Equal(a, b) {
			rt.Errorf("the shortest schedules have %v deviations without the cache, %v with it", a, b)
		}
	})
}

// follow answers choices as a schedule says.
type follow struct{ left explore.Schedule }

func (f *follow) Choose(c explore.Choice) int {
	if len(f.left) == 0 || f.left[0].Site != c.Site {
		return explore.Ideal
	}
	alt := slices.Index(c.Alts, f.left[0].Alt) + 1
	f.left = f.left[1:]
	return alt
}

// Each cell names a schedule of its own for each verdict, also where the search was cut, and none is shorter.
func TestCellsNameShortestSchedules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := drawMachine(rt)
		bound := explore.Bound{explore.Fault: 2, explore.Crash: 1}
		type key struct {
			first, second explore.Deviation
			verdict       string
		}
		lengths := func(o explore.Options) map[key]int {
			out := map[key]int{}
			for _, c := range search(rt, m, o).Cells {
				for v := range c.Verdicts {
					schedule := c.Shortest[v]
					out[key{c.First, c.Second, v}] = len(schedule)
					for i, d := range []explore.Deviation{c.First, c.Second} {
						if d.Alt != "" && (len(schedule) <= i || schedule[i] != d) {
							rt.Errorf("the schedule %s is not of the cell %s, %s", schedule, c.First, c.Second)
						}
					}
					if r, err := m.Run(context.Background(), &follow{schedule}); err != nil || r.Verdict != v {
						rt.Errorf("%s ends %s, its cell says %s (%v)", schedule, r.Verdict, v, err)
					}
				}
			}
			return out
		}
		o := explore.Options{Bound: bound}
		cached := lengths(o)
		o.NoCache = true
		if whole := lengths(o); !maps.Equal(cached, whole) {
			rt.Errorf("with the cache the schedules are so long: %v, without: %v", cached, whole)
		}
	})
}

// What progress tells adds up to the report where nothing is cut.
func TestProgressTellsEveryEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := drawMachine(rt)
		var live explore.Cells
		r := search(rt, m, explore.Options{Bound: explore.Bound{explore.Fault: 2, explore.Crash: 1}, NoCache: true, Progress: func(p explore.Progress) {
			for _, e := range p.Ends {
				live.Add(e)
			}
		}})
		worse := func(verdict string) int { return map[string]int{"bad": 1, "worse": 2}[verdict] }
		whole := explore.MapOf(r.Cells, worse)
		for row, cells := range explore.MapOf(live.List(), worse).Cells {
			for column, c := range cells {
				if w := whole.Cells[row][column]; c.Worst != w.Worst || !maps.Equal(c.Verdicts, w.Verdicts) {
					rt.Errorf("cell %d, %d was told %v, the report says %v", row, column, c.Verdicts, w.Verdicts)
				}
			}
		}
	})
}

func TestShardsAddUpToTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := drawMachine(rt)
		bound := explore.Bound{explore.Fault: 2, explore.Crash: 1}
		whole := search(rt, m, explore.Options{Bound: bound})
		shards := rapid.IntRange(2, 4).Draw(rt, "shards")
		sum := map[string]uint64{}
		for i := range shards {
			for v, n := range search(rt, m, explore.Options{Bound: bound, Shard: i + 1, Shards: shards}).Verdicts {
				sum[v] += n
			}
		}
		if !maps.Equal(sum, whole.Verdicts) {
			rt.Errorf("the shards add up to %v, the whole is %v", sum, whole.Verdicts)
		}
	})
}

// forgetful is a world whose states leave something out.
type forgetful struct{ machine }

func (f forgetful) Run(ctx context.Context, c explore.Chooser) (explore.Result, error) {
	return f.machine.Run(ctx, careless{c})
}

type careless struct{ explore.Chooser }

func (c careless) Choose(choice explore.Choice) int {
	site := choice.Site
	choice.State = func() explore.State { return explore.StateOf([]byte(site)) }
	return c.Chooser.Choose(choice)
}

// A state that leaves out what the future depends on makes the search miss ends: the comparison of the two tells.
func TestAForgetfulStateIsFound(t *testing.T) {
	t.Parallel()
	two := [][]int{{0, 1}, {1, 1}}
	m := machine{steps: []step{{to: two, skip: -1}, {to: two, skip: -1}}, ends: []string{"good", "bad"}}
	bound := explore.Bound{explore.Fault: 1}
	whole := search(t, forgetful{m}, explore.Options{Bound: bound, NoCache: true})
	cached := search(t, forgetful{m}, explore.Options{Bound: bound})
	if maps.Equal(whole.Verdicts, cached.Verdicts) {
		t.Errorf("both say %v", whole.Verdicts)
	}
}

// moody is a world that does not repeat.
type moody struct {
	machine
	runs *int
}

func (m moody) Run(ctx context.Context, c explore.Chooser) (explore.Result, error) {
	*m.runs++
	r, err := m.machine.Run(ctx, c)
	r.Trace[0] = byte(*m.runs)
	return r, err
}

func TestAWorldThatDoesNotRepeatIsFound(t *testing.T) {
	t.Parallel()
	m := machine{steps: []step{{to: [][]int{{0}, {0}}, skip: -1}}, ends: []string{"good"}}
	r := search(t, moody{m, new(int)}, explore.Options{Bound: explore.Bound{explore.Fault: 1}})
	if len(r.Problems) == 0 {
		t.Error("nobody noticed")
	}
}

func TestBeyondWhatMayBeKeptTheDepthIsGivenUp(t *testing.T) {
	t.Parallel()
	two := [][]int{{0, 1}, {1, 0}, {1, 1}}
	m := machine{ends: []string{"good", "bad"}}
	for range 6 {
		m.steps = append(m.steps, step{to: two, skip: -1})
	}
	r := search(t, m, explore.Options{Bound: explore.Bound{explore.Fault: 4}, NoCache: true, Most: 20})
	if r.Complete || r.Depth != 0 {
		t.Errorf("complete %v, depth %d", r.Complete, r.Depth)
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []explore.Options{{Shard: 9, Shards: 8}, {Shard: 0, Shards: 2}, {Jobs: -1}, {Shards: -1}} {
		if _, err := explore.Search(context.Background(), machine{}, o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
