package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// numbered is a run with its number, from 1.
type numbered struct {
	RunFact
	n int
}

// runs are the runs that the option chooses, by number or id, or all.
func (c chosen) runs() []numbered {
	var out []numbered
	want := c.option("run")
	for i, r := range c.Runs() {
		if want == "" || want == strconv.Itoa(i+1) || want == r.ID {
			out = append(out, numbered{r, i + 1})
		}
	}
	return out
}

// number is that of the run that the option chooses; 0 for all, -1 for one that is not there.
func (c chosen) number() int {
	if !c.has("run") {
		return 0
	}
	for _, r := range c.runs() {
		return r.n
	}
	return -1
}

func (c chosen) run() sight {
	t := tally{what: "run"}
	want, need := c.arg(0), c.option("reconcile")
	for _, r := range c.runs() {
		fits := hyphened(r.Status) == want && (need == "" || r.Reconcile == (need == "needed"))
		seen := fmt.Sprintf("run %d %s", r.n, hyphened(r.Status))
		if need != "" || r.Reconcile {
			seen += map[bool]string{true: " reconcile needed", false: " reconcile not-needed"}[r.Reconcile]
		}
		if r.Code != "" {
			seen += " (" + r.Code + ")"
		}
		t.add(fits, seen)
	}
	return t.sight()
}

func (c chosen) runVerdict() sight {
	t := tally{what: "run"}
	for _, r := range c.runs() {
		is := hyphened(r.Verdict)
		if is == "" {
			is = "none yet"
		}
		t.add(is == c.arg(0), fmt.Sprintf("%s for run %d", is, r.n))
	}
	return t.sight()
}

func (c chosen) step() sight {
	t := tally{what: "run"}
	for _, r := range c.runs() {
		status := "not-started"
		for _, s := range r.Steps {
			if s.name() == c.arg(0) {
				status = hyphened(s.Status)
			}
		}
		t.add(status == c.arg(1), fmt.Sprintf("%s %s in run %d", c.arg(0), status, r.n))
	}
	return t.sight()
}

// attempt is an attempt with its place.
type attempt struct {
	AttemptFact
	run  int
	step string
}

func (a attempt) String() string {
	return fmt.Sprintf("attempt %d of %s in run %d", a.N, a.step, a.run)
}

// attempts are those that the options choose.
func (c chosen) attempts() []attempt {
	var out []attempt
	for _, r := range c.runs() {
		for _, s := range r.Steps {
			if c.has("step") && s.name() != c.option("step") {
				continue
			}
			for _, a := range s.Attempts {
				if !c.has("attempt") || c.option("attempt") == strconv.Itoa(a.N) {
					out = append(out, attempt{a, r.n, s.name()})
				}
			}
		}
	}
	return out
}

func (c chosen) calls() []CallFact {
	var out []CallFact
	for _, a := range c.attempts() {
		out = append(out, c.written(a.Calls)...)
	}
	return out
}

// written are the calls of the write that the option chooses, or all of them.
func (c chosen) written(calls []CallFact) []CallFact {
	if !c.has("write") {
		return calls
	}
	var out []CallFact
	for _, call := range calls {
		if isWrite(c.option("write"), call.Write, call.Target) {
			out = append(out, call)
		}
	}
	return out
}

func (c chosen) outcome() sight {
	t := tally{what: "attempt " + c.arg(0)}
	for _, a := range c.attempts() {
		if strconv.Itoa(a.N) != c.arg(0) {
			continue
		}
		is := a.Outcome
		if is == "" {
			is = "open"
		}
		t.add(is == c.arg(1), fmt.Sprintf("%s %s", a, is))
	}
	return t.sight()
}

func (c chosen) status() sight {
	t := tally{what: "call"}
	if calls := c.calls(); len(calls) > 0 {
		is := statusWord(calls[len(calls)-1].Status)
		t.add(is == c.arg(0), is)
	}
	return t.sight()
}

// code looks for a code among all that ended with one.
func (c chosen) code() sight {
	var codes []string
	narrow := c.has("step") || c.has("attempt")
	if !narrow {
		for _, r := range c.runs() {
			codes = append(codes, r.Code)
		}
	}
	for _, a := range c.attempts() {
		codes = append(codes, a.Code)
		for _, call := range a.Calls {
			codes = append(codes, call.Code)
		}
	}
	if !narrow && !c.has("run") {
		for _, d := range c.Deliveries() {
			codes = append(codes, d.Code)
		}
	}
	codes = unique(codes)
	found := slices.Contains(codes, c.arg(0))
	text := "no code"
	if len(codes) > 0 {
		text = strings.Join(codes, ", ")
	}
	return sight{any: true, fits: found, none: !found, text: text}
}

// unique are the words that are not empty, each once, in order.
func unique(words []string) []string {
	var out []string
	for _, w := range words {
		if w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
