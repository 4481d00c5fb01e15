package lang

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// requests are those on the wire that the options choose: look-ups, or all others.
func (c chosen) requests(lookups bool) []RequestFact {
	var out []RequestFact
	run := c.number()
	for _, r := range c.Requests() {
		if r.Lookup != lookups || run != 0 && r.Run != run ||
			c.has("step") && stepName(r.Step, r.Undo) != c.option("step") ||
			c.has("attempt") && c.option("attempt") != strconv.Itoa(r.Attempt) ||
			c.has("method") && !strings.EqualFold(r.Method, c.option("method")) ||
			c.has("path") && !r.isAt(c.option("path")) || c.has("key") && r.Key != c.option("key") {
			continue
		}
		out = append(out, r)
	}
	return out
}

// isAt reports whether the request went to a path; a query counts where the path names one.
func (r RequestFact) isAt(path string) bool {
	if strings.Contains(path, "?") {
		return r.Path+"?"+r.Query == path
	}
	return r.Path == path
}

func (c chosen) effects() sight {
	n := 0
	for _, e := range c.Effects() {
		if (!c.has("collection") || e.Collection == c.option("collection")) && (!c.has("key") || e.Key == c.option("key")) &&
			(!c.has("step") || e.Step == c.option("step")) && (!c.has("write") || isWrite(c.option("write"), e.Write, e.Target)) {
			n++
		}
	}
	s := c.count(n, "effect")
	if c.has("collection") {
		s.text += " in " + c.option("collection")
	}
	return s
}

// record compares the records of a name, each by itself.
func (c chosen) record() sight {
	t := tally{what: "record " + c.arg(0)}
	collection, id, _ := cutRecord(c.arg(0))
	pointer, value := "", c.arg(1)
	if strings.HasPrefix(value, "/") {
		pointer, value = value, c.arg(2)
	}
	for _, e := range c.Effects() {
		if e.Collection != collection || id != "*" && e.ID != id {
			continue
		}
		part, ok := at(e.Body, pointer)
		seen := "nothing at " + pointer
		if ok {
			seen = short(string(part))
		}
		t.add(ok && (value == "" || same(part, []byte(value))), seen+" in "+e.Collection+"/"+e.ID)
	}
	return t.sight()
}

// crashed is the sight of the worker's crashes. One that is still armed is none.
func (c chosen) crashed() sight {
	f := c.Crashes()
	want := bound[int]{">=", 1}
	if c.arg(0) != "" {
		want, _ = parseCount(c.arg(0))
	}
	text := "no crash"
	if f.Happened > 0 {
		text = number(f.Happened, "crash")
		if f.Happened > 1 {
			text = strconv.Itoa(f.Happened) + " crashes"
		}
	}
	for _, armed := range f.Armed {
		text += ", still armed: " + armed
	}
	holds := want.holds(f.Happened)
	return sight{any: true, fits: holds && len(f.Armed) == 0, none: !holds, text: text}
}

// faults is the sight of the faults that no request took.
func (c chosen) faults() sight {
	left := c.Untaken()
	if len(left) == 0 {
		return sight{any: true, fits: true, text: "all were taken"}
	}
	return sight{any: true, none: true, text: "not taken: " + strings.Join(left, ", ")}
}

// peak is the largest number of requests that arrived within any span of the given length, both its ends included.
func (c chosen) peak() sight {
	span, _ := ParseDuration(c.option("within"))
	var at []time.Duration
	for _, r := range c.requests(false) {
		at = append(at, r.At)
	}
	sort.Slice(at, func(i, j int) bool { return at[i] < at[j] })
	best, first := 0, 0
	for last := range at {
		for at[last]-at[first] > span {
			first++
		}
		best = max(best, last-first+1)
	}
	return c.count(best, "request")
}

func (c chosen) log() sight {
	var n int
	for _, line := range c.Log() {
		if strings.Contains(line, c.arg(0)) {
			n++
		}
	}
	seen := "no such line"
	if n > 0 {
		seen = number(n, "such line")
	}
	want := bound[int]{">=", 1}
	if c.has("times") {
		want, _ = parseCount(c.option("times"))
	}
	lines := c.Log()
	switch {
	case len(lines) == 0:
		seen += ", the log is empty"
	case n == 0:
		seen += fmt.Sprintf(" among %d, the last is %q", len(lines), lines[len(lines)-1])
	}
	return sight{any: true, fits: want.holds(n), none: !want.holds(n), text: seen}
}

// statusWord is an HTTP status as expectations write it.
func statusWord(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

func (c chosen) refused() sight {
	var reasons []string
	found := false
	for _, r := range c.Refusals() {
		reasons = append(reasons, fmt.Sprintf("%s refused: %s", r.Verb, r.Reason))
		found = found || r.Verb == c.arg(0) && strings.Contains(r.Reason, c.arg(1))
	}
	text := "nothing was refused"
	if len(reasons) > 0 {
		text = strings.Join(reasons, "; ")
	}
	return sight{any: true, fits: found, none: !found, text: text}
}

// nth is the index of the thing that the option n chooses, or of the last; -1 if there is no such one.
func (c chosen) nth(total int) int {
	if n, err := strconv.Atoi(c.option("n")); err == nil {
		if n > total {
			return -1
		}
		return n - 1
	}
	return total - 1
}

func (c chosen) delivery() sight {
	t := tally{what: "such delivery"}
	all := c.Deliveries()
	if i := c.nth(len(all)); i >= 0 {
		d := all[i]
		seen := statusWord(d.Status)
		if d.Duplicate {
			seen += " duplicate"
		}
		if d.Code != "" {
			seen += " (" + d.Code + ")"
		}
		t.add(statusWord(d.Status) == c.arg(0) && (d.Duplicate || !c.has("duplicate")), seen)
	}
	return t.sight()
}

func (c chosen) reply() sight {
	t := tally{what: "such reply"}
	all := c.Replies()
	if i := c.nth(len(all)); i >= 0 {
		r := all[i]
		t.add(statusWord(r.Status) == c.arg(0) && strings.Contains(r.Body, c.option("contains")), strings.TrimSpace(statusWord(r.Status)+" "+short(r.Body)))
	}
	return t.sight()
}

func (c chosen) rows() sight {
	n, err := c.Rows(c.arg(0), c.arg(1))
	if err != nil {
		return sight{text: "no answer: " + err.Error()}
	}
	return c.count(n, "row")
}
