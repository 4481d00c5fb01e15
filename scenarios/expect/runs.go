package expect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/engine/plain"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
)

// numbered is a run with its number, from 1.
type numbered struct {
	*engine.Run
	n int
}

// runs are the runs that the option chooses, by number or id, or all.
func (s selection) runs() (out []numbered) {
	for i, r := range s.Runs {
		if s.matches("run", strconv.Itoa(i+1)) || s.matches("run", r.ID) {
			out = append(out, numbered{r, i + 1})
		}
	}
	return out
}

// number is that of the run that the option chooses; 0 for all, -1 for one that is not there.
func (s selection) number() int {
	if !s.Has("run") {
		return 0
	}
	for _, r := range s.runs() {
		return r.n
	}
	return -1
}

func (s selection) run() observed {
	m := matches{what: "run"}
	want, need := s.Arg(0), s.Option("reconcile")
	for _, r := range s.runs() {
		status := word(r.Status, "")
		seen := fmt.Sprintf("run %d %s", r.n, status)
		if need != "" || r.Reconcile {
			seen += map[bool]string{true: " reconcile needed", false: " reconcile not-needed"}[r.Reconcile]
		}
		if r.Code != "" {
			seen += " (" + r.Code + ")"
		}
		m.add(status == want && (need == "" || r.Reconcile == (need == "needed")), seen)
	}
	return m.observed()
}

func (s selection) runVerdict() observed {
	m := matches{what: "run"}
	for _, r := range s.runs() {
		is := word(s.RunVerdicts[r.n-1].RunVerdict, "none yet")
		m.add(is == s.Arg(0), fmt.Sprintf("%s for run %d", is, r.n))
	}
	return m.observed()
}

func nameOf(s *engine.Step) string { return engine.StepName(s.ID, s.Undo) }

func (s selection) step() observed {
	m := matches{what: "run"}
	for _, r := range s.runs() {
		status := "not-started"
		for _, step := range r.Steps {
			if nameOf(step) == s.Arg(0) {
				status = stepStatus(r.Run, step)
			}
		}
		m.add(status == s.Arg(1), fmt.Sprintf("%s %s in run %d", s.Arg(0), status, r.n))
	}
	return m.observed()
}

// stepStatus is where a step stands: running, waiting, succeeded, failed, unknown or cancelled.
func stepStatus(r *engine.Run, s *engine.Step) string {
	a := s.Last()
	switch {
	case s.Done:
		return "succeeded"
	case a != nil && a.Outcome == engine.Unknown:
		return "unknown"
	case r.Status == engine.StatusCancelled:
		return "cancelled"
	case a == nil || a.Outcome == "":
		return "running"
	case a.Next == engine.NextRetry && !r.Status.Ended():
		return "waiting"
	}
	return "failed"
}

// attempt is an attempt with its place.
type attempt struct {
	*engine.Attempt
	run  int
	step string
}

func (a attempt) String() string {
	return fmt.Sprintf("attempt %d of %s in run %d", a.N, a.step, a.run)
}

// attempts are those that the options choose.
func (s selection) attempts() (out []attempt) {
	for _, r := range s.runs() {
		for _, step := range r.Steps {
			if !s.matches("step", nameOf(step)) {
				continue
			}
			for _, a := range step.Attempts {
				if s.matches("attempt", strconv.Itoa(a.N)) {
					out = append(out, attempt{a, r.n, nameOf(step)})
				}
			}
		}
	}
	return out
}

// calls are those of the attempts, and of the write, that the options choose.
func (s selection) calls() (out []*engine.Call) {
	for _, a := range s.attempts() {
		out = append(out, s.callsOf(a)...)
	}
	return out
}

func (s selection) callsOf(a attempt) (out []*engine.Call) {
	for _, c := range a.Calls {
		if s.ofWrite(c.Write, c.Route()) {
			out = append(out, c)
		}
	}
	return out
}

func (s selection) outcome() observed {
	m := matches{what: "attempt " + s.Arg(0)}
	for _, a := range s.attempts() {
		if strconv.Itoa(a.N) == s.Arg(0) {
			is := word(a.Outcome, "open")
			m.add(is == s.Arg(1), fmt.Sprintf("%s %s", a, is))
		}
	}
	return m.observed()
}

// delay compares the time between the end of one attempt and the start of another, in every step that has both.
func (s selection) delay() observed {
	m := matches{what: "step with attempts " + s.Arg(0) + " and " + s.Arg(1)}
	want, _ := lang.ParseSpan(s.Arg(2))
	if !s.Exact && want.Op == "" {
		want.Op = ">="
	}
	all := s.attempts()
	for _, a := range all {
		for _, b := range all {
			if a.run == b.run && a.step == b.step && strconv.Itoa(a.N) == s.Arg(0) && strconv.Itoa(b.N) == s.Arg(1) {
				d := b.StartedAt.Sub(a.EndedAt)
				m.add(want.Holds(d), fmt.Sprintf("%v before %s", d.Round(time.Microsecond), b))
			}
		}
	}
	return m.observed()
}

// keys compares the keys that the attempts of each step sent, over all runs that are chosen.
func (s selection) keys() observed {
	m := matches{what: "two attempts that sent a key"}
	var steps []string
	sent := map[string][]string{} // the keys of each attempt that sent any, joined
	for _, a := range s.attempts() {
		if len(s.Args) > 1 && !slices.Contains(s.Args[1:], strconv.Itoa(a.N)) {
			continue
		}
		var keys []string
		for _, c := range s.callsOf(a) {
			keys = append(keys, c.Key)
		}
		if keys = unique(keys); len(keys) > 0 {
			steps = append(steps, a.step)
			sent[a.step] = append(sent[a.step], strings.Join(keys, " "))
		}
	}
	for _, step := range unique(steps) {
		keys := sent[step]
		if len(keys) < 2 {
			continue
		}
		different, wanted := len(unique(keys)), 1
		if s.Arg(0) == "different" {
			wanted = len(keys)
		}
		m.add(different == wanted, fmt.Sprintf("%s in %s of %s", plain.Count(different, "key"), plain.Count(len(keys), "attempt"), step))
	}
	return m.observed()
}

// statusWord is an HTTP status as expectations write it.
func statusWord(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

func (s selection) status() observed {
	m := matches{what: "call"}
	if calls := s.calls(); len(calls) > 0 {
		is := statusWord(calls[len(calls)-1].Status)
		m.add(is == s.Arg(0), is)
	}
	return m.observed()
}

// code looks for a code among all that ended with one.
func (s selection) code() observed {
	var codes []string
	narrow := s.Has("step") || s.Has("attempt")
	if !narrow {
		for _, r := range s.runs() {
			codes = append(codes, r.Code)
		}
	}
	for _, a := range s.attempts() {
		codes = append(codes, a.Code)
		for _, c := range a.Calls {
			codes = append(codes, c.Code)
		}
	}
	if !narrow && !s.Has("run") {
		for _, d := range s.Deliveries {
			codes = append(codes, d.Code)
		}
	}
	codes = unique(codes)
	text := "no code"
	if len(codes) > 0 {
		text = strings.Join(codes, ", ")
	}
	return claim(slices.Contains(codes, s.Arg(0)), text)
}

// operations are those that the options choose.
func (s selection) operations() (out []timeline.Operation) {
	run := s.number()
	for _, o := range s.Operations {
		of := func(id string) bool { return s.RunNumber(id) == run }
		if (run == 0 || slices.ContainsFunc(o.Runs, of)) && s.matches("step", engine.StepName(o.Step, o.Undo)) && s.ofWrite(o.Write, o.Route) &&
			s.matches("subject", o.Subject) && (!s.Has("key") || slices.Contains(o.Keys, s.Option("key"))) {
			out = append(out, o)
		}
	}
	return out
}

// operationName is the operation's step, and which of the step's writes it is where that is known.
func operationName(o timeline.Operation) string {
	if o.Write == "" {
		return engine.StepName(o.Step, o.Undo)
	}
	return engine.StepName(o.Step, o.Undo) + " (" + o.Write + ")"
}

func (s selection) ofOperations(claimed func(timeline.Operation) string) observed {
	m := matches{what: "operation"}
	for _, o := range s.operations() {
		is := word(claimed(o), "none yet")
		m.add(is == s.Arg(0), fmt.Sprintf("%s for %s of %s", is, operationName(o), o.Subject))
	}
	return m.observed()
}

// evidence compares what the newest look-up of each operation said.
func (s selection) evidence() observed {
	m := matches{what: "evidence"}
	for _, o := range s.operations() {
		newest := s.newestEvidence(o)
		if newest == nil {
			continue
		}
		found, behind := word(newest.Found, ""), word(newest.Match, "")
		switch {
		case behind != "" || newest.Found != engine.FoundNoRecord:
		case newest.Unproven:
			behind = "unproven"
		default:
			behind = "proven"
		}
		m.add(found == s.Arg(0) && (s.Arg(1) == "" || behind == s.Arg(1)), strings.TrimSpace(found+" "+behind)+" for "+operationName(o))
	}
	return m.observed()
}

// newestEvidence is what the newest look-up of an operation said, over all of its runs; nil if there was none.
func (s selection) newestEvidence(o timeline.Operation) (newest *engine.EvidenceAt) {
	for _, r := range s.Runs {
		step := r.StepAt(o.Step, o.Undo)
		if step == nil || !slices.Contains(o.Runs, r.ID) {
			continue
		}
		for _, a := range step.Attempts {
			for _, c := range a.Calls {
				for i := range c.Evidence {
					if e := &c.Evidence[i]; c.Write == o.Write && (newest == nil || e.Seq >= newest.Seq) {
						newest = e
					}
				}
			}
		}
	}
	return newest
}
