package expect

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/faultprovider/expect"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
)

// requests are those on the wire that the options choose: look-ups, or all others.
func (s selection) requests(lookups bool) (out []timeline.Request) {
	run := s.number()
	where := expect.Where{Method: s.Option("method"), Path: s.Option("path"), Key: s.Option("key")}
	for _, r := range s.Requests() {
		if r.ID.Lookup == lookups && (run == 0 || r.Run == run) && s.matches("step", engine.StepName(r.ID.Step, r.ID.Undo)) &&
			s.matches("attempt", strconv.Itoa(r.ID.Attempt)) && where.Request(r.Entry) {
			out = append(out, r)
		}
	}
	return out
}

func (s selection) peak() observed {
	span, _ := lang.ParseDuration(s.Option("within"))
	var at []time.Time
	for _, r := range s.requests(false) {
		at = append(at, r.At)
	}
	return s.count(expect.Peak(at, span), "request")
}

func (s selection) effects() observed {
	n := 0
	where := expect.Where{Collection: s.Option("collection"), Key: s.Option("key")}
	for _, e := range s.Effects {
		step, write, route := "", "", ""
		if c := s.CallOf(e.RequestID); c != nil {
			step, write, route = engine.StepName(c.Step, c.Undo), c.Write, c.Route()
		}
		if where.Effect(e) && s.matches("step", step) && s.ofWrite(write, route) {
			n++
		}
	}
	o := s.count(n, "effect")
	if s.Has("collection") {
		o.text += " in " + s.Option("collection")
	}
	return o
}

// record compares the records of a name, each by itself.
func (s selection) record() observed {
	m := matches{what: "record " + s.Arg(0)}
	collection, id, _ := lang.CutRecord(s.Arg(0))
	part := s.part(1)
	for _, e := range s.Effects {
		if e.Collection == collection && (id == "*" || e.ID == id) {
			met, seen := part.of(e.Body)
			m.add(met, seen+" in "+e.Collection+"/"+e.ID)
		}
	}
	return m.observed()
}

// crashed compares the worker's crashes. One that is still armed is none.
func (s selection) crashed() observed {
	happened := s.Crashes.Happened
	want := lang.Bound[int]{Op: ">=", Value: 1}
	if s.Arg(0) != "" {
		want, _ = lang.ParseCount(s.Arg(0))
	}
	o := claim(want.Holds(happened), plain.Count(happened, "crash"))
	if happened == 0 {
		o.text = "no crash"
	}
	for _, armed := range s.Crashes.Armed {
		o.all = false
		o.text += ", still armed: " + armed
	}
	return o
}

// faults says which faults no request took.
func (s selection) faults() observed {
	if len(s.Untaken) == 0 {
		return claim(true, "all were taken")
	}
	var left []string
	for _, f := range s.Untaken {
		left = append(left, f.Line())
	}
	return claim(false, "not taken: "+strings.Join(left, ", "))
}

func (s selection) log() observed {
	n, lines := 0, s.LogLines()
	for _, line := range lines {
		if strings.Contains(line, s.Arg(0)) {
			n++
		}
	}
	want := lang.Bound[int]{Op: ">=", Value: 1}
	if s.Has("times") {
		want, _ = lang.ParseCount(s.Option("times"))
	}
	seen := plain.Count(n, "such line")
	switch {
	case len(lines) == 0:
		seen = "no such line, the log is empty"
	case n == 0:
		seen = fmt.Sprintf("no such line among %d, the last is %q", len(lines), lines[len(lines)-1])
	}
	return claim(want.Holds(n), seen)
}

func (s selection) refused() observed {
	var reasons []string
	found := false
	for _, r := range s.Refusals {
		reasons = append(reasons, fmt.Sprintf("%s refused: %s", r.Verb, r.Text))
		found = found || r.Verb == s.Arg(0) && strings.Contains(r.Text, s.Arg(1))
	}
	text := "nothing was refused"
	if len(reasons) > 0 {
		text = strings.Join(reasons, "; ")
	}
	return claim(found, text)
}

// nth is the thing that the option n chooses, or the last; nil if there is no such one.
func nth[T any](s selection, all []T) *T {
	n := len(all)
	if s.Has("n") {
		n, _ = strconv.Atoi(s.Option("n"))
	}
	if n < 1 || n > len(all) {
		return nil
	}
	return &all[n-1]
}

func (s selection) delivery() observed {
	m := matches{what: "such delivery"}
	if d := nth(s, s.Deliveries); d != nil {
		seen := statusWord(d.Status)
		if d.Duplicate {
			seen += " duplicate"
		}
		if d.Code != "" {
			seen += " (" + d.Code + ")"
		}
		m.add(statusWord(d.Status) == s.Arg(0) && (d.Duplicate || !s.Has("duplicate")), seen)
	}
	return m.observed()
}

func (s selection) reply() observed {
	m := matches{what: "such reply"}
	if r := nth(s, s.Replies); r != nil {
		seen := strings.TrimSpace(statusWord(r.Status) + " " + lang.Short(r.Body))
		m.add(statusWord(r.Status) == s.Arg(0) && strings.Contains(r.Body, s.Option("contains")), seen)
	}
	return m.observed()
}

func (s selection) rows() observed {
	n, err := s.Rows(s.Arg(0), s.Arg(1))
	if err != nil {
		return observed{text: "no answer: " + err.Error()}
	}
	return s.count(n, "row")
}
