package scenarios

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"faultlab/engine"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
)

func exploration(t *testing.T, name, operator, contract string) *Exploration {
	t.Helper()
	s, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	x, err := NewExploration(s, operator, contract)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func searched(t *testing.T, x explore.World, o explore.Options) *explore.Report {
	t.Helper()
	r, err := explore.Search(t.Context(), x, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Errorf("%s: %s", p.Schedule, p.Text)
	}
	if !r.Complete {
		t.Error("it did not come to its bound")
	}
	return r
}

// A schedule that is cut at a known state ends as the one that went on from there: the search finds the same with and
// without its cache, and with several jobs.
func TestTheCacheForgetsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, operator, contract string }{
		{"b-commit-then-error", OperatorPatient, ""},
		{"b-commit-then-error", OperatorPrompt, "ignores-key"},
		{"b-commit-then-error", OperatorNone, ""},
		{"d-new-key-per-attempt", OperatorPatient, ""},
		{"two-writes-in-one-step", OperatorPatient, ""},
		{"two-runs-at-once-under-one-key", OperatorPatient, ""},
		{"slow-is-not-lost", OperatorPatient, ""},
	} {
		t.Run(c.name+" "+c.operator+" "+c.contract, func(t *testing.T) {
			t.Parallel()
			x := exploration(t, c.name, c.operator, c.contract)
			bound := explore.Bound{explore.Fault: 1, explore.Crash: 1}
			whole := searched(t, x, explore.Options{Bound: bound, NoCache: true})
			cached := searched(t, x, explore.Options{Bound: bound, Twice: 10})
			jobs := searched(t, x, explore.Options{Bound: bound, Jobs: 4})
			if !maps.Equal(whole.Verdicts, cached.Verdicts) || !maps.Equal(whole.Verdicts, jobs.Verdicts) {
				t.Errorf("without the cache %v, with it %v, with four jobs %v", whole.Verdicts, cached.Verdicts, jobs.Verdicts)
			}
			if cached.CarriedOut >= whole.CarriedOut {
				t.Errorf("%d of %d were carried out with the cache", cached.CarriedOut, whole.CarriedOut)
			}
		})
	}
}

// What a search writes replays, in virtual time and over sockets.
func TestCounterexamplesReplay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, contract string
		faults         uint8
		want           map[string]int // by verdict: deviations of the shortest schedule
	}{
		{"b-commit-then-error", "", 2, map[string]int{string(engine.Unresolved): 3}},
		{"b-commit-then-error", "ignores-key", 1, map[string]int{string(engine.Duplicate): 1}},
		{"d-new-key-per-attempt", "", 1, map[string]int{string(engine.Duplicate): 1, string(engine.Unresolved): 1}},
		{"two-writes-in-one-step", "", 1, map[string]int{string(engine.RunHalfDone): 1}},
	} {
		t.Run(c.name+" "+c.contract, func(t *testing.T) {
			t.Parallel()
			s, err := Find(c.name)
			if err != nil {
				t.Fatal(err)
			}
			o := ExploreOptions{Bound: explore.Bound{explore.Fault: c.faults, explore.Crash: 1}, Jobs: 2}
			if c.contract != "" {
				o.Contracts = []string{c.contract}
			}
			found, err := Explore(t.Context(), s, o)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for _, e := range found[0].Counterexamples {
				if n, ok := got[e.Verdict]; !ok || len(e.Schedule) < n {
					got[e.Verdict] = len(e.Schedule)
				}
				replays(t, e)
			}
			for v, n := range c.want {
				if got[v] != n {
					t.Errorf("the shortest schedule that ends %s has %d deviations, want %d", v, got[v], n)
				}
			}
			for _, p := range found[0].Problems {
				t.Errorf("%s: %s", explore.Schedule(p.Schedule), p.Text)
			}
		})
	}
}

func replays(t *testing.T, c *Counterexample) {
	t.Helper()
	s, err := lang.Parse("found.txtar", c.Text)
	if err != nil {
		t.Fatalf("%v\n%s", err, c.Text)
	}
	for _, mode := range []string{Simulated, Sockets} {
		r, err := Replay(t.Context(), s, Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Passed() {
			head, _, _ := strings.Cut(string(c.Text), "\n-- ")
			t.Errorf("%s, %s: %s\n%s", c.Verdict, mode, strings.Join(r.Complaints(), "\n"), head)
		}
	}
}

// Every scenario of the catalogue that can be explored is searched at one fault and one crash: no schedule breaks an
// invariant, and none makes two effects under one key that the provider enforces. FAULTLAB_EXPLORE searches all of
// them; without it a few are.
func TestNoScheduleBreaksAnInvariant(t *testing.T) {
	t.Parallel()
	every := 12
	if os.Getenv("FAULTLAB_EXPLORE") != "" {
		every = 1
	}
	for i, s := range Catalogue() {
		x, err := NewExploration(s, "", "")
		if err != nil || i%every != 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			searched(t, x, explore.Options{Bound: explore.Bound{explore.Fault: 1, explore.Crash: 1}})
		})
	}
}

func TestWhatCannotBeExplored(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"title Real\nruns real\ntrigger go\n":   "it runs on real sockets only",
		"title Nothing\ncontract ignores-key\n": "no line of it starts a run",
	} {
		s, err := lang.Parse("x.txtar", []byte(text+"-- w.woml --\n"+`<woml><workflow id="w" name="W"><triggers><manual id="go" /></triggers><steps><step id="a"><script>return 1;</script></step></steps></workflow></woml>`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewExploration(s, "", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	s := Catalogue()[0]
	if _, err := NewExploration(s, "hasty", ""); err == nil {
		t.Error("an operator that does not exist was taken")
	}
	if _, err := NewExploration(s, "", "no-such-contract"); err == nil {
		t.Error("a contract that does not exist was taken")
	}
}

// A search that is stopped says how far it came and claims nothing beyond.
func TestASearchThatIsStopped(t *testing.T) {
	t.Parallel()
	s := Catalogue()[0]
	ctx, stop := context.WithCancel(t.Context())
	found, err := Explore(ctx, s, ExploreOptions{Bound: explore.Bound{explore.Fault: 2, explore.Crash: 1}, Progress: func(_ string, p explore.Progress) {
		if p.Depth == 2 {
			stop()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r := found[0]; r.Complete || r.Depth != 1 {
		t.Errorf("complete %v at depth %d", r.Complete, r.Depth)
	}
}

// The parts of a search that was cut into shards add up to the whole.
func TestShardsOfAScenario(t *testing.T) {
	t.Parallel()
	s, err := Find("d-new-key-per-attempt")
	if err != nil {
		t.Fatal(err)
	}
	o := ExploreOptions{Bound: explore.Bound{explore.Fault: 1, explore.Crash: 1}}
	whole, err := Explore(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	var parts []*Explored
	for i := range 3 {
		o.Shard, o.Shards = i+1, 3
		part, err := Explore(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part...)
	}
	merged, err := MergeExplored(parts, o)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(merged.Verdicts, whole[0].Verdicts) || merged.Schedules != whole[0].Schedules {
		t.Errorf("merged %v of %d, whole %v of %d", merged.Verdicts, merged.Schedules, whole[0].Verdicts, whole[0].Schedules)
	}
	verdicts := func(r *Explored) (out []string) {
		for _, c := range r.Counterexamples {
			out = append(out, c.Verdict+": "+explore.Schedule(c.Schedule).String())
		}
		slices.Sort(out)
		return out
	}
	if a, b := verdicts(merged), verdicts(whole[0]); len(a) != len(b) {
		t.Errorf("merged counterexamples\n%s\nwhole\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
	if _, err := MergeExplored(parts[:2], o); err == nil {
		t.Error("two of three shards were taken for the whole")
	}
}

// Beside faults and crashes a search lets deliveries come again, another run go first, and the operator decide otherwise.
func TestTheOtherKindsOfDeviations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		bound explore.Bound
		alts  []string // of the deviations that occur
	}{
		{"inbound-once-outbound-twice", explore.Bound{explore.Redelivery: 1}, []string{againAtOnce, againInOut, againCrashed, againAtEnd}},
		{"two-runs-at-once-under-one-key", explore.Bound{explore.Order: 1}, []string{secondFirst}},
		{"budget-used-up-nothing-there", explore.Bound{explore.Crash: 1, explore.Decision: 1}, []string{string(engine.Abandon)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := searched(t, exploration(t, c.name, "", ""), explore.Options{Bound: c.bound, Twice: 1})
			whole := searched(t, exploration(t, c.name, "", ""), explore.Options{Bound: c.bound, NoCache: true})
			if !maps.Equal(r.Verdicts, whole.Verdicts) {
				t.Errorf("with the cache %v, without it %v", r.Verdicts, whole.Verdicts)
			}
			seen := map[string]bool{}
			for _, cell := range r.Cells {
				seen[cell.First.Alt], seen[cell.Second.Alt] = true, true
			}
			for _, alt := range c.alts {
				if !seen[alt] {
					t.Errorf("no schedule has %q; there are %v", alt, slices.Collect(maps.Keys(seen)))
				}
			}
		})
	}
}

// A schedule with a delivery that comes again is written as a scenario that replays it.
func TestADeliveryThatComesAgainReplays(t *testing.T) {
	t.Parallel()
	x := exploration(t, "inbound-once-outbound-twice", "", "")
	for _, alt := range []string{againAtOnce, againInOut, againAtEnd} {
		hit := explore.Hit{Verdict: string(engine.RunWhole), Schedule: explore.Schedule{{Kind: explore.Redelivery, Site: "delivery 1", Alt: alt}}}
		r, e, err := x.carryOut(t.Context(), &followed{schedule: hit.Schedule})
		if err != nil {
			t.Fatal(err)
		}
		text, err := e.write(r.Verdict, hit.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		replays(t, &Counterexample{Verdict: r.Verdict, Text: text})
	}
}
