package scenarios

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/faultprovider"
	"faultlab/scenarios/lang"
	"faultlab/scenarios/timeline"
)

// reportJSON is a report as machines read it. Times are seconds since the timeline began.
type reportJSON struct {
	Scenario   string                 `json:"scenario"`
	Title      string                 `json:"title"`
	File       string                 `json:"file,omitempty"`
	Passed     bool                   `json:"passed"`
	Mode       string                 `json:"mode"`
	Clock      string                 `json:"clock"`
	Seed       int64                  `json:"seed"`
	Stopped    string                 `json:"stopped,omitempty"`
	Failures   []*lang.Failure        `json:"failures"`
	Warnings   []string               `json:"warnings,omitempty"`
	Left       []Leftover             `json:"left,omitempty"`
	Seconds    float64                `json:"seconds"`
	Runs       []runJSON              `json:"runs"`
	Operations []operationJSON        `json:"operations"`
	Effects    []faultprovider.Effect `json:"effects"`
	Timeline   []entryJSON            `json:"timeline"`
}

type runJSON struct {
	Run       string            `json:"run"`
	Workflow  string            `json:"workflow"`
	Status    engine.Status     `json:"status"`
	Reconcile bool              `json:"reconcile"`
	Verdict   engine.RunVerdict `json:"verdict"` // empty while the run is open
	Why       string            `json:"why,omitempty"`
	Code      string            `json:"code,omitempty"`
	timeline.Counts
}

type operationJSON struct {
	Step    string         `json:"step"`
	Write   string         `json:"write"` // which of the step's writes
	Subject string         `json:"subject"`
	Runs    []string       `json:"runs"`
	Keys    []string       `json:"keys"`
	Belief  engine.Belief  `json:"belief"`
	Effects []string       `json:"effects"`
	Verdict engine.Verdict `json:"verdict"`
	Why     string         `json:"why"`
}

type entryJSON struct {
	N       int                    `json:"n"`
	At      float64                `json:"at"`
	Side    string                 `json:"side"` // caller, provider or bench
	Kind    string                 `json:"kind"`
	Run     string                 `json:"run,omitempty"`
	Fact    any                    `json:"fact"`
	Effects []faultprovider.Effect `json:"effects,omitempty"`
}

// WriteJSON writes the report as one object on one line.
func (r *Report) WriteJSON(w io.Writer) error {
	out := reportJSON{Scenario: r.Scenario.Name, Title: r.Scenario.Title, File: r.Scenario.File, Passed: r.Passed(), Mode: r.Mode, Clock: "virtual",
		Seed: r.Seed, Stopped: r.Stopped, Failures: slices.Concat([]*lang.Failure{}, r.Failures), Warnings: r.Warnings, Left: r.Left, Seconds: r.Took.Seconds(),
		Runs: []runJSON{}, Operations: []operationJSON{}, Effects: r.View.Effects, Timeline: []entryJSON{}}
	if r.Wall {
		out.Clock = "wall"
	}
	for i, run := range r.View.Runs {
		verdict := r.View.RunVerdicts[i]
		out.Runs = append(out.Runs, runJSON{Run: run.ID, Workflow: run.Admitted.Workflow, Status: run.Status, Reconcile: run.Reconcile,
			Verdict: verdict.RunVerdict, Why: verdict.Why(), Code: run.Code, Counts: r.View.Counts(run)})
	}
	for _, o := range r.View.Operations {
		effects := make([]string, len(o.Effects))
		for i, e := range o.Effects {
			effects[i] = e.Collection + "/" + e.ID
		}
		out.Operations = append(out.Operations, operationJSON{engine.StepName(o.Step, o.Undo), o.Write, o.Subject, o.Runs, o.Keys, o.Belief, effects, o.Verdict, o.Why})
	}
	for _, e := range r.Timeline {
		out.Timeline = append(out.Timeline, entryOf(e, r.View.Start))
	}
	return writeLine(w, out)
}

func entryOf(e Entry, start time.Time) entryJSON {
	out := entryJSON{N: e.N, At: e.At.Sub(start).Seconds(), Effects: e.Effects}
	switch {
	case e.Event != nil:
		out.Side, out.Kind, out.Run, out.Fact = "caller", string(e.Event.Fact.Kind()), e.Event.Run, e.Event.Fact
	case e.Log != nil:
		out.Side, out.Kind, out.Fact = "provider", string(e.Log.Kind), e.Log
	default:
		out.Side, out.Kind, out.Fact = "bench", e.Note.Verb, e.Note
	}
	return out
}

// WriteJSON writes that there is no report, as one object on one line.
func (u *Unread) WriteJSON(w io.Writer) error {
	return writeLine(w, struct {
		File   string   `json:"file"`
		Passed bool     `json:"passed"`
		Errors []string `json:"errors"`
	}{u.File, false, strings.Split(u.Error(), "\n")})
}

// writeLine writes a value as JSON on one line.
func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
