package engine

// ending is how an attempt's script ended, apart from its calls.
type ending int

const (
	returned    ending = iota // the script returned JSON
	threw                     // the script threw, or let a call's error through
	overLimit                 // its time, result, context or stack limit; not JSON; cancelled; run timeout
	interrupted               // recovery found the attempt open
)

// attemptEnd is everything that table b looks at.
type attemptEnd struct {
	how        ending
	calls      []*Call // all of them ended
	unknown    bool    // an operation of the step is unknown, by this attempt or an earlier one
	stopped    bool    // the error that came through was one of a call that says stop
	budgetLeft bool    // attempts are left, and this one was not a resubmit
}

// attemptRule is one row of table b. The first row whose condition holds is met; the last one always holds.
type attemptRule struct {
	name    string
	when    func(attemptEnd) bool
	outcome Outcome
	next    Next
	reason  string
	below   bool // what is unknown is a child's
}

// Table b: how an attempt ended.
var attemptRules = []attemptRule{
	{"an ambiguous write that nothing settled", func(e attemptEnd) bool { return anyCall(e, ambiguous) },
		Unknown, NextReconcile, "sent, and nobody knows whether it happened", false},
	{"returned over a write of which no reply says what became", func(e attemptEnd) bool { return e.how == returned && (e.unknown || anyCall(e, unproven)) },
		Unknown, NextReconcile, "answered, and the answer does not say whether it happened", false},
	{"a child that ended, and something of it is unknown", func(e attemptEnd) bool { return anyCall(e, unknownChild) },
		Unknown, NextReconcile, "it called a run, and something of that run is unknown", true},
	{"returned, and a child that it waited for is at work", func(e attemptEnd) bool { return e.how == returned && anyCall(e, (*Call).unanswered) },
		Unknown, NextReconcile, "it called a run that is still at work", true},
	{"the script returned JSON", func(e attemptEnd) bool { return e.how == returned },
		Succeeded, NextStep, "", false},
	{"over a limit or cancelled", func(e attemptEnd) bool { return e.how == overLimit },
		Failed, NextStop, "stopped by a limit, which repeating does not mend", false},
	{"recovery found it open", func(e attemptEnd) bool { return e.how == interrupted },
		Failed, NextStop, "the worker stopped in the middle of it", false},
	{"threw after an unkeyed effect", func(e attemptEnd) bool { return anyCall(e, unkeyedDone) },
		Failed, NextStop, "an effect without a key is already done: repeating would do it twice", false},
	{"threw because of a call that says stop", func(e attemptEnd) bool { return e.stopped },
		Failed, NextStop, "repeating would meet the same answer", false},
	{"threw, and the budget is used up", func(e attemptEnd) bool { return !e.budgetLeft },
		Failed, NextStop, "no attempts are left", false},
	{"threw, and every write is keyed or not done", func(attemptEnd) bool { return true },
		Failed, NextRetry, "", false},
}

// attemptRuleFor is the row of table b that an attempt meets.
func attemptRuleFor(e attemptEnd) attemptRule {
	for _, r := range attemptRules {
		if r.when(e) {
			return r
		}
	}
	panic("engine: table b has no last row")
}

func anyCall(e attemptEnd, is func(*Call) bool) bool {
	for _, c := range e.calls {
		if is(c) {
			return true
		}
	}
	return false
}

func ambiguous(c *Call) bool {
	return c.Finding == FoundAmbiguous && c.SettledBy == (Pos{}) && !c.recorded()
}

func unproven(c *Call) bool {
	return c.Finding == FoundUnproven && c.SettledBy == (Pos{}) && !c.recorded()
}

func unknownChild(c *Call) bool { return c.Child != "" && c.How == HowConflict }

func unkeyedDone(c *Call) bool { return c.Effect == UnkeyedWrite && c.Finding == FoundDone }

// recorded reports whether evidence stands in for the call's reply.
func (c *Call) recorded() bool { d := c.Decision(); return d != nil && d.Decision == Record }
