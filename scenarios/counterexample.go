package scenarios

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"faultlab/engine"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
)

// Counterexample is a shortest schedule with a verdict, as a scenario that replays it.
type Counterexample struct {
	Verdict  string              `json:"verdict"`
	Cause    string              `json:"cause,omitempty"` // what stands and what is missing, or which operation it is
	Contract string              `json:"contract"`
	Schedule []explore.Deviation `json:"schedule"`
	File     string              `json:"file,omitempty"` // that it was written to
	Text     ScenarioText        `json:"text,omitempty"` // the scenario file
	replay   *Report
}

// ScenarioText is a scenario file, in JSON a string.
type ScenarioText []byte

// MarshalText implements encoding.TextMarshaler.
func (t ScenarioText) MarshalText() ([]byte, error) { return t, nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *ScenarioText) UnmarshalText(src []byte) error {
	*t = slices.Clone(src)
	return nil
}

// followed answers choices with the deviations of a schedule, and with the ideal behind them.
type followed struct {
	schedule explore.Schedule
	next     int
}

func (f *followed) Choose(c explore.Choice) int {
	for i := f.next; i < len(f.schedule); i++ {
		if d := f.schedule[i]; d.Site == c.Site && d.Kind == c.Kind {
			f.next = i + 1
			return slices.Index(c.Alts, d.Alt) + 1
		}
	}
	return explore.Ideal
}

// counterexample carries a schedule out, takes away what its verdict does not need, and writes it as a scenario.
func (x *Exploration) counterexample(ctx context.Context, hit explore.Hit) (*Counterexample, error) {
	keeps := func(x *Exploration, s explore.Schedule) bool {
		r, err := x.Run(ctx, &followed{schedule: s})
		return err == nil && r.Verdict == hit.Verdict && r.Cause == hit.Cause && len(r.Problems) == 0
	}
	schedule := hit.Schedule
	for i := 0; i < len(schedule); {
		if fewer := slices.Delete(slices.Clone(schedule), i, i+1); keeps(x, fewer) {
			schedule = fewer
		} else {
			i++
		}
	}
	for i := 0; i < len(x.lines); {
		fewer := *x
		fewer.lines = slices.Delete(slices.Clone(x.lines), i, i+1)
		if needless(x.lines[i]) && keeps(&fewer, schedule) {
			x = &fewer
		} else {
			i++
		}
	}
	r, e, err := x.carryOut(ctx, &followed{schedule: schedule})
	if err != nil {
		return nil, err
	}
	if r.Verdict != hit.Verdict {
		return nil, fmt.Errorf("the schedule does not repeat: it ended %s and now %s: %s", hit.Verdict, r.Verdict, schedule)
	}
	text, err := e.write(hit.Verdict, schedule)
	if err != nil {
		return nil, err
	}
	return &Counterexample{Verdict: hit.Verdict, Cause: hit.Cause, Contract: e.b.prov.Contract().Name, Schedule: schedule, Text: text}, nil
}

// check replays the scenario that was written.
func (c *Counterexample) check(ctx context.Context) (*Report, error) {
	s, err := lang.Parse("found.txtar", c.Text)
	if err != nil {
		return nil, fmt.Errorf("the schedule was written as a scenario that cannot be read: %w", err)
	}
	r, err := Replay(context.WithoutCancel(ctx), s, Options{})
	if err != nil {
		return nil, fmt.Errorf("the schedule was written as a scenario that cannot be replayed: %w", err)
	}
	if !r.Passed() {
		return r, fmt.Errorf("the schedule was written as a scenario that ends otherwise: %s", strings.Join(r.Complaints(), "; "))
	}
	return r, nil
}

// needless reports whether a scenario may do without a line: it lets time pass, or is one of several deliveries.
func needless(l lang.Line) bool {
	return slices.Contains([]string{"advance", "wait", "expire", "cancel", "rerun", "trigger", "deliver", "send"}, l.Verb)
}

// write is the schedule that was carried out as a scenario file: its faults and crashes as lines before the first
// delivery, what the operator did behind it, and the verdict as an expectation.
func (e *explorer) write(verdict string, schedule explore.Schedule) ([]byte, error) {
	s := *e.x.scenario
	s.Title, s.Seed = titleOf(verdict, schedule), e.b.seed
	if len(s.Title) > 200 {
		s.Title = s.Title[:200]
	}
	armed, err := e.armed()
	if err != nil {
		return nil, err
	}
	var steps []lang.Step
	for _, step := range e.b.done {
		if v := lang.VerbNamed(step.Line.Verb); armed != nil && v.Group != "Setting" {
			for _, l := range armed {
				steps = append(steps, lang.Step{At: step.At, Until: step.At, Line: l})
			}
			armed = nil
		}
		steps = append(steps, step)
	}
	expected, err := e.expected(verdict)
	if err != nil {
		return nil, err
	}
	for _, l := range expected {
		steps = append(steps, lang.Step{At: steps[len(steps)-1].Until, Until: steps[len(steps)-1].Until, Line: l})
	}
	return lang.Record(&s, steps)
}

// foundTitle begins the title of every counterexample.
const foundTitle = "Found: "

func titleOf(verdict string, s explore.Schedule) string {
	var parts []string
	for _, d := range s {
		parts = append(parts, d.Alt)
	}
	return strings.TrimSuffix(foundTitle+verdict+": "+strings.Join(parts, ", "), ": ")
}

// armed are the lines that queue the schedule's faults and arm its crashes.
func (e *explorer) armed() ([]lang.Line, error) {
	var texts []string
	for i, m := range e.met {
		texts = append(texts, e.faultLine(m, e.met[:i]))
	}
	for _, p := range e.crashed {
		text := fmt.Sprintf("crash %s run=%d step=%s attempt=%d", p.point, p.number, p.step, p.attempt)
		if p.call > 0 {
			text += fmt.Sprintf(" call=%d", p.call)
		}
		if p.request > 0 {
			text += fmt.Sprintf(" request=%d", p.request)
		}
		texts = append(texts, text)
	}
	return parseLines(texts)
}

func parseLines(texts []string) ([]lang.Line, error) {
	var out []lang.Line
	for _, text := range texts {
		l, err := lang.ParseLine(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// faultLine queues one fault for the very request that met it; before are the faults that are queued before it.
func (e *explorer) faultLine(m metFault, before []metFault) string {
	f, _ := fault.Parse(m.name)
	on := map[string]any{}
	narrowed := ""
	switch {
	case m.managed && len(e.order) == 1 && !m.id.Lookup:
		if cmp.Or(f.On.Requests, fault.New) != m.class {
			on["requests"] = m.class
		}
		narrowed = fmt.Sprintf(" step=%s attempt=%d request=%d", engine.StepName(m.id.Step, m.id.Undo), m.id.Attempt, m.id.Number)
	default: // the n-th request of those that the faults before it leave
		on["requests"], on["nth"] = fault.Any, m.ordinal-len(before)
	}
	if len(on) == 0 && !strings.HasPrefix(m.name, "{") {
		return "fault " + m.name + narrowed
	}
	value := map[string]any{"name": m.name, "on": on}
	if strings.HasPrefix(m.name, "{") {
		value = map[string]any{}
		_ = json.Unmarshal([]byte(m.name), &value)
		value["on"] = on
	}
	text, _ := json.Marshal(value)
	return "fault " + string(text) + narrowed
}

// expected are the lines that say what came of the schedule.
func (e *explorer) expected(verdict string) ([]lang.Line, error) {
	texts := []string{}
	v := e.b.line.Latest()
	word := strings.ReplaceAll(verdict, " ", "-")
	for i, is := range v.RunVerdicts {
		if string(is.RunVerdict) == verdict {
			texts = append(texts, fmt.Sprintf("expect run-verdict %s run=%d", word, i+1))
			break
		}
	}
	if len(texts) == 0 {
		for i := range v.Operations {
			if o := &v.Operations[i]; string(o.Verdict) == verdict {
				text := fmt.Sprintf("expect verdict %s step=%s", word, engine.StepName(o.Step, o.Undo))
				if o.Several {
					text += " write=" + lang.Quote(o.Write)
				}
				texts = append(texts, text)
				break
			}
		}
	}
	if len(e.met) > 0 {
		texts = append(texts, "expect faults taken")
	}
	if len(e.crashed) > 0 {
		texts = append(texts, "expect crashed")
	}
	return parseLines(texts)
}

// IsCounterexample reports whether a scenario file was written by a search.
func IsCounterexample(src []byte) bool {
	s, err := lang.Parse("found.txtar", src)
	return err == nil && strings.HasPrefix(s.Title, foundTitle)
}
