package engine

// Pair is an operation and its inverse as a verdict looks at them: what is believed of
// each, and what the provider's ledger holds.
type Pair struct {
	Belief   Belief // of the operation
	Inverse  Belief // of its compensation; empty where none was begun
	Standing int    // records that it made and whose inverse is not in the ledger
}

// pairRule is a row of the verdict table. The first row whose condition holds is met.
type pairRule struct {
	when    func(Pair) bool
	verdict Verdict
}

// The verdict table: belief against truth, once belief is not open. An effect whose
// inverse is in the ledger does not stand, whatever the caller believes of it; and once
// an inverse was begun, the pair decides.
var pairRules = []pairRule{
	{func(p Pair) bool {
		return p.Belief == "" || p.Belief == BeliefOpen || p.undoing() && p.Inverse == BeliefOpen
	}, ""},
	{func(p Pair) bool { return p.Standing >= 2 }, Duplicate},
	{func(p Pair) bool { return p.Belief == BeliefUnknown || p.undoing() && p.Inverse == BeliefUnknown }, Unresolved},
	{func(p Pair) bool { return p.undoing() && p.Standing > 0 }, Uncompensated},
	{func(p Pair) bool { return p.undoing() && p.Inverse == BeliefNotDone }, PhantomSuccess},
	{func(p Pair) bool { return p.undoing() }, Compensated},
	{func(p Pair) bool { return p.Belief == BeliefNotDone && p.Standing > 0 }, FalseFailure},
	{func(p Pair) bool { return p.Belief == BeliefNotDone }, CleanFailure},
	{func(p Pair) bool { return p.Standing == 0 }, PhantomSuccess},
	{func(Pair) bool { return true }, OneEffect},
}

// undoing reports whether the inverse decides: it was begun for something that is believed to have happened.
func (p Pair) undoing() bool {
	return p.Inverse != "" && (p.Belief == BeliefDone || p.Belief == BeliefCompensated)
}

// VerdictOf compares belief with truth; it is empty while belief is open.
func VerdictOf(p Pair) Verdict {
	if p.Belief == BeliefCompensated && p.Inverse == "" {
		p.Inverse = BeliefDone
	}
	for _, r := range pairRules {
		if r.when(p) {
			return r.verdict
		}
	}
	return ""
}

// InverseOf is the belief about a step's compensation; empty where none was begun. One
// that wrote nothing undid nothing, however it ended, unless a child did it.
func (r *Run) InverseOf(s *Step) Belief {
	u := r.StepAt(s.ID, true)
	switch {
	case u == nil || s.Undo:
		return ""
	case r.undone(s):
		return BeliefDone
	}
	if b := r.StepBelief(u); b != "" {
		return b
	}
	if u.someCall((*Call).unanswered) {
		return BeliefUnknown
	}
	return BeliefNotDone
}

// RunVerdict compares how a run ended with what stands of the operations that it
// began: each of them can be right and the run wrong.
type RunVerdict string

// The verdicts about runs; the empty one means that the run is still open.
const (
	RunWhole            RunVerdict = "whole"              // it succeeded, and everything stands
	RunNothing          RunVerdict = "nothing"            // it failed, and nothing stands
	RunHalfDone         RunVerdict = "half done"          // some of it stands, and some does not
	RunPhantomSuccess   RunVerdict = "phantom success"    // it succeeded, and nothing stands
	RunFailedThoughDone RunVerdict = "failed though done" // it failed, and everything stands
	RunUnresolved       RunVerdict = "unresolved"         // something of it is unknown
	RunDuplicate        RunVerdict = "duplicate"          // something of it stands twice, or was undone twice
)

// Stand is what one operation that a run began counts for: compensations are none,
// they only take effects of others away.
type Stand struct {
	Standing int  // effects; of what no ledger counts, 1 if it is believed done
	Unknown  bool // nobody knows
	Half     bool // a child that is half done
	Twice    bool // its inverse was made more than once
}

// Stands is a run as its verdict looks at it.
type Stands struct {
	Status    Status
	Reconcile bool
	Begun     []Stand
	Whole     bool // every step of the document was attempted, and every write that was called was sent
}

// RunVerdictOf is the table of run verdicts.
func RunVerdictOf(s Stands) RunVerdict {
	if !s.Status.Ended() {
		return ""
	}
	standing, unknown, twice, half := 0, s.Reconcile, false, false
	for _, b := range s.Begun {
		unknown, twice, half = unknown || b.Unknown, twice || b.Twice || b.Standing > 1, half || b.Half
		if b.Standing > 0 {
			standing++
		}
	}
	succeeded, all, none := s.Status == StatusSucceeded, standing == len(s.Begun), standing == 0
	switch {
	case twice:
		return RunDuplicate
	case unknown:
		return RunUnresolved
	case half:
		return RunHalfDone
	case succeeded && all:
		return RunWhole
	case !succeeded && none:
		return RunNothing
	case succeeded && none:
		return RunPhantomSuccess
	case !succeeded && all && s.Whole:
		return RunFailedThoughDone
	}
	return RunHalfDone
}

// Stand is what a child run counts for in its parent's verdict.
func (v RunVerdict) Stand() Stand {
	switch v {
	case RunWhole, RunFailedThoughDone:
		return Stand{Standing: 1}
	case RunDuplicate:
		return Stand{Standing: 2}
	case RunHalfDone:
		return Stand{Half: true}
	case RunUnresolved, "":
		return Stand{Unknown: true}
	}
	return Stand{}
}

// Gravity orders verdicts by how much they want to be seen: 0 for one that is as it should be, or still open.
func (v Verdict) Gravity() int { return gravityOf[string(v)] }

// Gravity orders run verdicts, and runs and operations together.
func (v RunVerdict) Gravity() int { return gravityOf[string(v)] }

var gravityOf = map[string]int{
	string(Duplicate):           7,
	string(RunHalfDone):         6,
	string(PhantomSuccess):      5,
	string(RunFailedThoughDone): 4,
	string(FalseFailure):        4,
	string(Uncompensated):       3,
	string(Unresolved):          2,
}

// Of reports whether the child was called by this step, or with undo by its compensation.
func (p *Parent) Of(step string, undo bool) bool { return p.Step == node(step, undo) }
