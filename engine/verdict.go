package engine

// VerdictOf compares a belief with the number of effects in the ledger, and with
// the number of inverses that the ledger pairs with them.
func VerdictOf(b Belief, effects, inverses int) Verdict {
	switch {
	case b == BeliefOpen || b == "":
		return ""
	case b == BeliefCompensated:
		switch left := effects - inverses; {
		case left == 0 && effects > 0:
			return Compensated
		case left > 1:
			return Duplicate
		}
		return Uncompensated
	case effects-inverses >= 2:
		return Duplicate
	case b == BeliefUnknown:
		return Unresolved
	case b == BeliefDone && effects == 0:
		return PhantomSuccess
	case b == BeliefDone:
		return OneEffect
	case effects == 0:
		return CleanFailure
	}
	return FalseFailure
}
