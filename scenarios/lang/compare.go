package lang

import (
	"fmt"
	"strconv"
	"strings"
)

// Compare says how the facts differ from what is expected; nil if they do not. It
// changes nothing, and the same facts give the same answer.
//
// An expectation speaks of all runs, steps and operations that its options choose,
// and of all there are without options. It is met if there is any and each is as
// claimed; with `not`, if there is any and none is. So nothing is ever met by
// speaking of nothing, but for counts, which may be 0.
func (e *Expectation) Compare(f Facts) *Failure {
	seen := comparers[e.What](chosen{e, f})
	if seen.any && (seen.fits && !e.Not || seen.none && e.Not) {
		return nil
	}
	return &Failure{Line: e.Line, What: "expect " + e.Text, Expected: e.Text, Seen: seen.text}
}

// sight is what was seen of the things that an expectation speaks of.
type sight struct {
	any  bool // there is at least one
	fits bool // each is as claimed
	none bool // none is as claimed
	text string
}

// chosen are the facts that an expectation speaks of.
type chosen struct {
	*Expectation
	Facts
}

// comparers says for each expectation what is seen.
var comparers = map[string]func(chosen) sight{
	"run":         chosen.run,
	"runs":        func(c chosen) sight { return c.count(len(c.Runs()), "run") },
	"step":        chosen.step,
	"attempts":    func(c chosen) sight { return c.count(len(c.attempts()), "attempt") },
	"calls":       func(c chosen) sight { return c.count(len(c.calls()), "call") },
	"requests":    func(c chosen) sight { return c.count(len(c.requests(false)), "request") },
	"lookups":     func(c chosen) sight { return c.count(len(c.requests(true)), "look-up") },
	"effects":     chosen.effects,
	"log":         chosen.log,
	"outcome":     chosen.outcome,
	"belief":      func(c chosen) sight { return c.ofOperations(func(o OperationFact) string { return o.Belief }) },
	"verdict":     func(c chosen) sight { return c.ofOperations(func(o OperationFact) string { return o.Verdict }) },
	"run-verdict": chosen.runVerdict,
	"delay":       chosen.delay,
	"key":         chosen.keys,
	"status":      chosen.status,
	"code":        chosen.code,
	"evidence":    chosen.evidence,
	"refused":     chosen.refused,
	"result":      chosen.result,
	"delivery":    chosen.delivery,
	"reply":       chosen.reply,
	"rows":        chosen.rows,
	"peak":        chosen.peak,
	"record":      chosen.record,
	"crashed":     chosen.crashed,
	"faults":      chosen.faults,
}

// option is the value of an option; empty if it was not given.
func (e *Expectation) option(name string) string {
	if v := e.Opts[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (e *Expectation) has(name string) bool { return len(e.Opts[name]) > 0 }

func (e *Expectation) arg(n int) string {
	if n < len(e.Args) {
		return e.Args[n]
	}
	return ""
}

// hyphened is a fact's word as expectations write it.
func hyphened(word string) string { return strings.ReplaceAll(word, " ", "-") }

// count is the sight of a number: 0 is something that can be seen.
func (c chosen) count(n int, what string) sight {
	want, _ := parseCount(c.Args[len(c.Args)-1])
	fits := want.holds(n)
	return sight{any: true, fits: fits, none: !fits, text: number(n, what)}
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// tally gathers the sight of several things, one by one.
type tally struct {
	what  string // of one thing, for when there is none
	total int
	fit   int
	seen  []string
}

func (t *tally) add(fits bool, seen string) {
	t.total++
	if fits {
		t.fit++
	}
	t.seen = append(t.seen, seen)
}

// mostSeen is how many things a sight names one by one.
const mostSeen = 8

func (t *tally) sight() sight {
	s := sight{any: t.total > 0, fits: t.fit == t.total, none: t.fit == 0}
	switch {
	case t.total == 0:
		s.text = "no " + t.what
	case t.total > mostSeen:
		s.text = strings.Join(t.seen[:mostSeen], ", ") + fmt.Sprintf(" and %d more", t.total-mostSeen)
	default:
		s.text = strings.Join(t.seen, ", ")
	}
	return s
}
