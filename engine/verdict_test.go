package engine

import (
	"testing"

	"pgregory.net/rapid"
)

// The table of the design: what is believed, then the verdict with none, one and two
// effects that stand.
func TestVerdictTable(t *testing.T) {
	t.Parallel()
	const none = Belief("")
	for _, r := range []struct {
		belief, inverse Belief
		want            [3]Verdict
	}{
		{BeliefDone, none, [3]Verdict{PhantomSuccess, OneEffect, Duplicate}},
		{BeliefNotDone, none, [3]Verdict{CleanFailure, FalseFailure, Duplicate}},
		{BeliefUnknown, none, [3]Verdict{Unresolved, Unresolved, Duplicate}},
		{BeliefOpen, none, [3]Verdict{"", "", ""}},
		{"", none, [3]Verdict{"", "", ""}},

		// Once an inverse was begun, the pair decides.
		{BeliefCompensated, BeliefDone, [3]Verdict{Compensated, Uncompensated, Duplicate}},
		{BeliefCompensated, none, [3]Verdict{Compensated, Uncompensated, Duplicate}},
		{BeliefDone, BeliefDone, [3]Verdict{Compensated, Uncompensated, Duplicate}},
		{BeliefDone, BeliefUnknown, [3]Verdict{Unresolved, Unresolved, Duplicate}},
		{BeliefDone, BeliefNotDone, [3]Verdict{PhantomSuccess, Uncompensated, Duplicate}},
		{BeliefDone, BeliefOpen, [3]Verdict{"", "", ""}},

		// What never happened has no inverse.
		{BeliefNotDone, BeliefDone, [3]Verdict{CleanFailure, FalseFailure, Duplicate}},
		{BeliefUnknown, BeliefDone, [3]Verdict{Unresolved, Unresolved, Duplicate}},
	} {
		for standing, want := range r.want {
			if got := VerdictOf(Pair{r.belief, r.inverse, standing}); got != want {
				t.Errorf("believes %q, its inverse %q, %d stand: %q, want %q", r.belief, r.inverse, standing, got, want)
			}
		}
	}
}

func TestEveryClosedBeliefHasAVerdict(t *testing.T) {
	t.Parallel()
	closed := []Belief{BeliefDone, BeliefNotDone, BeliefUnknown, BeliefCompensated}
	rapid.Check(t, func(t *rapid.T) {
		p := Pair{rapid.SampledFrom(closed).Draw(t, "belief"), rapid.SampledFrom(append(closed, "")).Draw(t, "inverse"), rapid.IntRange(0, 4).Draw(t, "standing")}
		if v := VerdictOf(p); v == "" || (v == Duplicate) != (p.Standing > 1) {
			t.Fatalf("%+v is %q", p, v)
		}
	})
}

func TestRunVerdictTable(t *testing.T) {
	t.Parallel()
	one, none := Stand{Standing: 1}, Stand{}
	begun := func(s ...Stand) []Stand { return s }
	for _, r := range []struct {
		name                               string
		begun                              []Stand
		succeeded, failed, partly, unknown RunVerdict // partly: failed before every step was attempted, or with a write that never went out
	}{
		{"every operation stands once", begun(one, one), RunWhole, RunFailedThoughDone, RunHalfDone, RunUnresolved},
		{"none stands", begun(none, none), RunPhantomSuccess, RunNothing, RunNothing, RunUnresolved},
		{"some stand", begun(one, none), RunHalfDone, RunHalfDone, RunHalfDone, RunUnresolved},
		{"nothing was begun", nil, RunWhole, RunNothing, RunNothing, RunUnresolved},
		{"one stands twice", begun(Stand{Standing: 2}, one), RunDuplicate, RunDuplicate, RunDuplicate, RunDuplicate},
		{"one was undone twice", begun(Stand{Twice: true}), RunDuplicate, RunDuplicate, RunDuplicate, RunDuplicate},
		{"one is unknown", begun(one, Stand{Unknown: true}), RunUnresolved, RunUnresolved, RunUnresolved, RunUnresolved},
		{"a child is half done", begun(one, Stand{Half: true}), RunHalfDone, RunHalfDone, RunHalfDone, RunUnresolved},
	} {
		for _, c := range []struct {
			s    Stands
			want RunVerdict
		}{
			{Stands{StatusSucceeded, false, r.begun, true}, r.succeeded},
			{Stands{StatusFailed, false, r.begun, true}, r.failed},
			{Stands{StatusCancelled, false, r.begun, true}, r.failed},
			{Stands{StatusFailed, false, r.begun, false}, r.partly},
			{Stands{StatusFailed, true, r.begun, true}, r.unknown},
			{Stands{StatusCancelled, true, r.begun, false}, r.unknown},
			{Stands{StatusRunning, false, r.begun, false}, ""},
		} {
			if got := RunVerdictOf(c.s); got != c.want {
				t.Errorf("%s, the run %s, reconcile %v, whole %v: %q, want %q", r.name, c.s.Status, c.s.Reconcile, c.s.Whole, got, c.want)
			}
		}
	}
}

func TestAChildsVerdictCountsAsItsCalls(t *testing.T) {
	t.Parallel()
	for child, parent := range map[RunVerdict]RunVerdict{
		RunWhole: RunWhole, RunFailedThoughDone: RunWhole, RunNothing: RunPhantomSuccess, RunPhantomSuccess: RunPhantomSuccess,
		RunHalfDone: RunHalfDone, RunUnresolved: RunUnresolved, RunDuplicate: RunDuplicate,
	} {
		if got := RunVerdictOf(Stands{Status: StatusSucceeded, Begun: []Stand{child.Stand()}, Whole: true}); got != parent {
			t.Errorf("the child is %s, its parent %q, want %q", child, got, parent)
		}
	}
}

// The worst of run and operations is what a screen and a report name first.
func TestGravity(t *testing.T) {
	t.Parallel()
	worst := []int{RunDuplicate.Gravity(), RunHalfDone.Gravity(), RunPhantomSuccess.Gravity(), RunFailedThoughDone.Gravity(), Uncompensated.Gravity(), RunUnresolved.Gravity(), RunWhole.Gravity()}
	for i := range worst[1:] {
		if worst[i] <= worst[i+1] {
			t.Errorf("%v is not in order at %d", worst, i)
		}
	}
	if FalseFailure.Gravity() != RunFailedThoughDone.Gravity() || Duplicate.Gravity() != RunDuplicate.Gravity() || OneEffect.Gravity() != 0 || RunNothing.Gravity() != 0 {
		t.Error("a verdict about an operation has another place than the same about a run")
	}
}
