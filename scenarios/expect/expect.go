// Package expect compares what a scenario expects with a bench's view. It changes nothing, and the same world gives the
// same answer.
package expect

import (
	"fmt"
	"slices"
	"strings"

	"faultlab/engine/plain"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
)

// World is what an expectation is compared with: a view, and what only the bench knows beside it.
type World struct {
	*timeline.View
	Exact   bool // time is virtual: delays compare exactly, else a delay may be longer
	Crashes Crashes
	Untaken []fault.Fault // those that were queued and that no request took
	Rows    func(database, table string) (int, error)
}

// Crashes says how often the worker crashed, and which crashes are still armed, as the crash verb reads them.
type Crashes struct {
	Happened int
	Armed    []string
}

// Compare says how the world differs from what is expected; nil if it does not.
//
// An expectation speaks of all runs, steps and operations that its options choose, and of all there are without options. It
// is met if there is any and each is as claimed; with `not`, if there is any and none is. So nothing is ever met by
// speaking of nothing, but for counts, which may be 0.
func Compare(e *lang.Expectation, w World) *lang.Failure {
	o := observers[e.What](selection{e, w})
	if o.any && (o.all && !e.Not || o.none && e.Not) {
		return nil
	}
	return &lang.Failure{Line: e.Line, What: "expect " + e.Text, Expected: e.Text, Seen: o.text}
}

// observed is what was seen of the things that an expectation speaks of.
type observed struct {
	any  bool // there is at least one
	all  bool // each is as claimed
	none bool // none is as claimed
	text string
}

// selection is the part of the world that an expectation speaks of.
type selection struct {
	*lang.Expectation
	World
}

// observers has a function for each expectation.
var observers = map[string]func(selection) observed{
	"run":      selection.run,
	"runs":     func(s selection) observed { return s.count(len(s.Runs), "run") },
	"step":     selection.step,
	"attempts": func(s selection) observed { return s.count(len(s.attempts()), "attempt") },
	"calls":    func(s selection) observed { return s.count(len(s.calls()), "call") },
	"requests": func(s selection) observed { return s.count(len(s.requests(false)), "request") },
	"lookups":  func(s selection) observed { return s.count(len(s.requests(true)), "look-up") },
	"effects":  selection.effects,
	"log":      selection.log,
	"outcome":  selection.outcome,
	"belief": func(s selection) observed {
		return s.ofOperations(func(o timeline.Operation) string { return string(o.Belief) })
	},
	"verdict": func(s selection) observed {
		return s.ofOperations(func(o timeline.Operation) string { return string(o.Verdict) })
	},
	"run-verdict": selection.runVerdict,
	"delay":       selection.delay,
	"key":         selection.keys,
	"status":      selection.status,
	"code":        selection.code,
	"evidence":    selection.evidence,
	"refused":     selection.refused,
	"result":      selection.result,
	"delivery":    selection.delivery,
	"reply":       selection.reply,
	"rows":        selection.rows,
	"peak":        selection.peak,
	"record":      selection.record,
	"crashed":     selection.crashed,
	"faults":      selection.faults,
}

// matches reports whether a value is the one that an option names, or the option was not given.
func (s selection) matches(option, value string) bool {
	return !s.Has(option) || s.Option(option) == value
}

// ofWrite reports whether the write option names this write, by its name or its method and path, or was not given.
func (s selection) ofWrite(name, route string) bool {
	return !s.Has("write") || s.Option("write") != "" && (s.Option("write") == name || s.Option("write") == route)
}

// word is a word of the view as expectations write it, with hyphens; none is what stands for an empty one.
func word[T ~string](w T, none string) string {
	if w == "" {
		return none
	}
	return strings.ReplaceAll(string(w), " ", "-")
}

// count compares a number: 0 can be seen too.
func (s selection) count(n int, what string) observed {
	want, _ := lang.ParseCount(s.Args[len(s.Args)-1])
	return claim(want.Holds(n), plain.Count(n, what))
}

// claim is what was seen of one thing that is always there.
func claim(holds bool, text string) observed {
	return observed{any: true, all: holds, none: !holds, text: text}
}

// matches gathers what was seen of several things, one by one.
type matches struct {
	what string // of one thing, for when there is none
	met  int
	seen []string
}

func (m *matches) add(met bool, seen string) {
	if met {
		m.met++
	}
	m.seen = append(m.seen, seen)
}

// mostSeen is how many things are named one by one.
const mostSeen = 8

func (m *matches) observed() observed {
	total := len(m.seen)
	o := observed{any: total > 0, all: m.met == total, none: m.met == 0, text: strings.Join(m.seen[:min(total, mostSeen)], ", ")}
	switch {
	case total == 0:
		o.text = "no " + m.what
	case total > mostSeen:
		o.text += fmt.Sprintf(" and %d more", total-mostSeen)
	}
	return o
}

// unique are the words that are not empty, each once, in order.
func unique(words []string) (out []string) {
	for _, w := range words {
		if w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
