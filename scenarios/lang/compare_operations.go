package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// operations are those that the options choose.
func (c chosen) operations() []OperationFact {
	var out []OperationFact
	run := c.number()
	for _, o := range c.Operations() {
		if run != 0 && !slices.Contains(o.Runs, run) || c.has("step") && o.Step != c.option("step") ||
			c.has("write") && !isWrite(c.option("write"), o.Write, o.Target) || c.has("subject") && o.Subject != c.option("subject") || c.has("key") && !slices.Contains(o.Keys, c.option("key")) {
			continue
		}
		out = append(out, o)
	}
	return out
}

func (c chosen) ofOperations(word func(OperationFact) string) sight {
	t := tally{what: "operation"}
	for _, o := range c.operations() {
		is := hyphened(word(o))
		if is == "" {
			is = "none yet"
		}
		t.add(is == c.arg(0), fmt.Sprintf("%s for %s of %s", is, o.name(), o.Subject))
	}
	return t.sight()
}

// delay compares the time between the end of one attempt and the start of another, in every step that has both.
func (c chosen) delay() sight {
	t := tally{what: "step with attempts " + c.arg(0) + " and " + c.arg(1)}
	want, _ := parseSpan(c.arg(2))
	if !c.Exact() && want.op == "" {
		want.op = ">="
	}
	all := c.attempts()
	for _, a := range all {
		for _, b := range all {
			if a.run == b.run && a.step == b.step && strconv.Itoa(a.N) == c.arg(0) && strconv.Itoa(b.N) == c.arg(1) {
				d := b.Started - a.Ended
				t.add(want.holds(d), fmt.Sprintf("%v before %s", d.Round(time.Microsecond), b))
			}
		}
	}
	return t.sight()
}

// keys compares the keys that the attempts of each step sent, over all runs that are chosen.
func (c chosen) keys() sight {
	t := tally{what: "two attempts that sent a key"}
	var steps []string
	sent := map[string][]string{} // the keys of each attempt that sent any, joined
	for _, a := range c.attempts() {
		if len(c.Args) > 1 && !slices.Contains(c.Args[1:], strconv.Itoa(a.N)) {
			continue
		}
		if keys := keysOf(c.written(a.Calls)); keys != "" {
			if sent[a.step] == nil {
				steps = append(steps, a.step)
			}
			sent[a.step] = append(sent[a.step], keys)
		}
	}
	for _, step := range steps {
		keys := sent[step]
		if len(keys) < 2 {
			continue
		}
		different := len(slices.Compact(slices.Sorted(slices.Values(keys))))
		fits := different == 1
		if c.arg(0) == "different" {
			fits = different == len(keys)
		}
		t.add(fits, fmt.Sprintf("%s in %s of %s", number(different, "key"), number(len(keys), "attempt"), step))
	}
	return t.sight()
}

// keysOf are the keys that the calls of an attempt sent, each once, in order, joined.
func keysOf(calls []CallFact) string {
	var keys []string
	for _, call := range calls {
		keys = append(keys, call.Key)
	}
	return strings.Join(unique(keys), " ")
}

func (c chosen) evidence() sight {
	t := tally{what: "evidence"}
	for _, o := range c.operations() {
		if len(o.Evidence) == 0 {
			continue
		}
		newest := o.Evidence[len(o.Evidence)-1]
		found, behind := hyphened(newest.Found), newest.proof()
		fits := found == c.arg(0) && (c.arg(1) == "" || behind == c.arg(1))
		t.add(fits, strings.TrimSpace(found+" "+behind)+" for "+o.name())
	}
	return t.sight()
}

// proof is the word behind what a look-up found: how the record compares, or whether no record is proven.
func (e EvidenceFact) proof() string {
	switch {
	case e.Match != "":
		return hyphened(e.Match)
	case e.Found != "no record":
		return ""
	case e.Unproven:
		return "unproven"
	}
	return "proven"
}
