package tui

import (
	"encoding/json"
	"strconv"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/tui/draw"
)

var outcomeSigns = map[engine.Outcome]draw.Sign{
	"":               {Glyph: draw.GlyphOpen, Word: "open", Ink: draw.Text},
	engine.Succeeded: {Glyph: draw.GlyphGood, Word: "succeeded", Ink: draw.Good},
	engine.Failed:    {Glyph: draw.GlyphBad, Word: "failed", Ink: draw.Bad},
	engine.Unknown:   {Glyph: draw.GlyphUnknown, Word: "unknown", Ink: draw.Unknown},
}

var beliefSigns = map[engine.Belief]draw.Sign{
	"":                       {Glyph: draw.GlyphNote, Word: "nothing was written", Ink: draw.Quiet},
	engine.BeliefOpen:        {Glyph: draw.GlyphOpen, Word: "open", Ink: draw.Text},
	engine.BeliefDone:        {Glyph: draw.GlyphGood, Word: "done", Ink: draw.Good},
	engine.BeliefNotDone:     {Glyph: draw.GlyphBad, Word: "not done", Ink: draw.Text},
	engine.BeliefUnknown:     {Glyph: draw.GlyphUnknown, Word: "unknown", Ink: draw.Unknown},
	engine.BeliefCompensated: {Glyph: draw.GlyphGood, Word: "compensated", Ink: draw.Good},
}

var statusSigns = map[engine.Status]draw.Sign{
	engine.StatusQueued:     {Glyph: draw.GlyphOpen, Word: "queued", Ink: draw.Quiet},
	engine.StatusRunning:    {Glyph: draw.GlyphOpen, Word: "running", Ink: draw.Text},
	engine.StatusWaiting:    {Glyph: draw.GlyphOpen, Word: "waiting", Ink: draw.Text},
	engine.StatusCancelling: {Glyph: draw.GlyphOpen, Word: "cancelling", Ink: draw.Text},
	engine.StatusSucceeded:  {Glyph: draw.GlyphGood, Word: "succeeded", Ink: draw.Good},
	engine.StatusFailed:     {Glyph: draw.GlyphBad, Word: "failed", Ink: draw.Bad},
	engine.StatusCancelled:  {Glyph: draw.GlyphBad, Word: "cancelled", Ink: draw.Text},
}

var verdictSigns = map[engine.Verdict]draw.Sign{
	"":                    {Glyph: draw.GlyphOpen, Word: "open", Ink: draw.Text},
	engine.OneEffect:      {Glyph: draw.GlyphGood, Word: "one effect", Ink: draw.Good},
	engine.CleanFailure:   {Glyph: draw.GlyphGood, Word: "clean failure", Ink: draw.Good},
	engine.PhantomSuccess: {Glyph: draw.GlyphBad, Word: "phantom success", Ink: draw.Bad},
	engine.FalseFailure:   {Glyph: draw.GlyphBad, Word: "false failure", Ink: draw.Bad},
	engine.Unresolved:     {Glyph: draw.GlyphUnknown, Word: "unresolved", Ink: draw.Unknown},
	engine.Duplicate:      {Glyph: draw.GlyphBad, Word: "duplicate", Ink: draw.Bad},
	engine.Compensated:    {Glyph: draw.GlyphGood, Word: "compensated", Ink: draw.Good},
	engine.Uncompensated:  {Glyph: draw.GlyphBad, Word: "uncompensated", Ink: draw.Bad},
}

var runVerdictSigns = map[engine.RunVerdict]draw.Sign{
	engine.RunWhole:            {Glyph: draw.GlyphGood, Word: "whole", Ink: draw.Good},
	engine.RunNothing:          {Glyph: draw.GlyphGood, Word: "nothing", Ink: draw.Good},
	engine.RunHalfDone:         {Glyph: draw.GlyphBad, Word: "half done", Ink: draw.Bad},
	engine.RunPhantomSuccess:   {Glyph: draw.GlyphBad, Word: "phantom success", Ink: draw.Bad},
	engine.RunFailedThoughDone: {Glyph: draw.GlyphBad, Word: "failed though done", Ink: draw.Bad},
	engine.RunUnresolved:       {Glyph: draw.GlyphUnknown, Word: "unresolved", Ink: draw.Unknown},
	engine.RunDuplicate:        {Glyph: draw.GlyphBad, Word: "duplicate", Ink: draw.Bad},
}

// gravity orders verdicts by how much they want to be seen: the unknown first.
var gravity = map[engine.Verdict]int{
	engine.Unresolved: 5, engine.Duplicate: 4, engine.PhantomSuccess: 4, engine.FalseFailure: 4, engine.Uncompensated: 4,
	"": 3, engine.Compensated: 2, engine.OneEffect: 1, engine.CleanFailure: 1,
}

// gravest is the index of the operation that wants to be seen first, the newest
// of the gravest; -1 where there is none.
func gravest(ops []scenarios.Operation) int {
	best := -1
	for i := range ops {
		if best < 0 || gravity[ops[i].Verdict] >= gravity[ops[best].Verdict] {
			best = i
		}
	}
	return best
}

// lastWrite is the attempt's newest call that is not a read, or its newest call; nil before the first.
func lastWrite(a *engine.Attempt) *engine.Call {
	const far = 200 // calls looked at: a script may make any number of them
	for i := len(a.Calls) - 1; i >= 0 && i > len(a.Calls)-1-far; i-- {
		if a.Calls[i].Effect != engine.Read {
			return a.Calls[i]
		}
	}
	if n := len(a.Calls); n > 0 {
		return a.Calls[n-1]
	}
	return nil
}

// ending says in a word or a number how a call ended.
func ending(c *engine.Call) string {
	if c == nil || !c.Ended && len(c.Requests) == 0 {
		return ""
	}
	var q *engine.Request
	if n := len(c.Requests); n > 0 {
		q = c.Requests[n-1]
	}
	switch {
	case c.Status != 0:
		return strconv.Itoa(c.Status)
	case c.How == engine.HowNeverSent || q != nil && q.NotSent:
		return "not sent"
	case q == nil || !q.Ended:
		return ""
	case q.Status != 0:
		return strconv.Itoa(q.Status)
	case q.Broke == engine.BrokeReset:
		return "dropped"
	case q.GaveUp == engine.GaveUpTimeout || q.GaveUp == engine.GaveUpRunTimeout:
		return "timed out"
	case q.GaveUp == engine.GaveUpCancel:
		return "cancelled"
	case q.GaveUp == engine.GaveUpScript:
		return "aborted"
	}
	return "no reply"
}

// keyOf is the key that an attempt sent, and whether it wrote at all.
func keyOf(a *engine.Attempt) (key string, wrote bool) {
	c := lastWrite(a)
	if c == nil || c.Effect == engine.Read {
		return "", false
	}
	return c.Key, true
}

// subjectOf is what an effect is about: the first telling field of its record.
func subjectOf(body json.RawMessage) string {
	var record map[string]any
	if len(body) > 1<<16 || json.Unmarshal(body, &record) != nil {
		return ""
	}
	for _, name := range []string{"orderId", "order", "subject", "reference", "paymentId", "customer"} {
		switch v := record[name].(type) {
		case string:
			return v
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return ""
}

// opOf finds the operation of a step of a run.
func opOf(v *scenarios.View, run, step, write string, undo bool) *scenarios.Operation {
	for i := len(v.Operations) - 1; i >= 0; i-- {
		o := &v.Operations[i]
		if o.Step != step || o.Undo != undo || write != "" && o.Write != write {
			continue
		}
		for _, r := range o.Runs {
			if r == run {
				return o
			}
		}
	}
	return nil
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
