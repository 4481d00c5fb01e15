package tui

import (
	"encoding/json"
	"strconv"
	"strings"

	"faultlab/engine"
	"faultlab/scenarios"
)

// A sign is a state as the screen says it: a glyph, a word and an ink, never one of them alone.
type sign struct {
	glyph func(glyphs) string
	word  string
	ink   ink
}

func (g glyphs) of(s sign) string { return s.glyph(g) + " " + s.word }

func glyphGood(g glyphs) string    { return g.good }
func glyphBad(g glyphs) string     { return g.bad }
func glyphUnknown(g glyphs) string { return g.unknown }
func glyphOpen(g glyphs) string    { return g.open }
func glyphNote(g glyphs) string    { return g.note }

var outcomeSigns = map[engine.Outcome]sign{
	"":               {glyphOpen, "open", inkText},
	engine.Succeeded: {glyphGood, "succeeded", inkGood},
	engine.Failed:    {glyphBad, "failed", inkBad},
	engine.Unknown:   {glyphUnknown, "unknown", inkUnknown},
}

var beliefSigns = map[engine.Belief]sign{
	"":                       {glyphNote, "nothing was written", inkQuiet},
	engine.BeliefOpen:        {glyphOpen, "open", inkText},
	engine.BeliefDone:        {glyphGood, "done", inkGood},
	engine.BeliefNotDone:     {glyphBad, "not done", inkText},
	engine.BeliefUnknown:     {glyphUnknown, "unknown", inkUnknown},
	engine.BeliefCompensated: {glyphGood, "compensated", inkGood},
}

var statusSigns = map[engine.Status]sign{
	engine.StatusQueued:     {glyphOpen, "queued", inkQuiet},
	engine.StatusRunning:    {glyphOpen, "running", inkText},
	engine.StatusWaiting:    {glyphOpen, "waiting", inkText},
	engine.StatusCancelling: {glyphOpen, "cancelling", inkText},
	engine.StatusSucceeded:  {glyphGood, "succeeded", inkGood},
	engine.StatusFailed:     {glyphBad, "failed", inkBad},
	engine.StatusCancelled:  {glyphBad, "cancelled", inkText},
}

var verdictSigns = map[engine.Verdict]sign{
	"":                    {glyphOpen, "open", inkText},
	engine.OneEffect:      {glyphGood, "one effect", inkGood},
	engine.CleanFailure:   {glyphGood, "clean failure", inkGood},
	engine.PhantomSuccess: {glyphBad, "phantom success", inkBad},
	engine.FalseFailure:   {glyphBad, "false failure", inkBad},
	engine.Unresolved:     {glyphUnknown, "unresolved", inkUnknown},
	engine.Duplicate:      {glyphBad, "duplicate", inkBad},
	engine.Compensated:    {glyphGood, "compensated", inkGood},
	engine.Uncompensated:  {glyphBad, "uncompensated", inkBad},
}

var runVerdictSigns = map[engine.RunVerdict]sign{
	engine.RunWhole:            {glyphGood, "whole", inkGood},
	engine.RunNothing:          {glyphGood, "nothing", inkGood},
	engine.RunHalfDone:         {glyphBad, "half done", inkBad},
	engine.RunPhantomSuccess:   {glyphBad, "phantom success", inkBad},
	engine.RunFailedThoughDone: {glyphBad, "failed though done", inkBad},
	engine.RunUnresolved:       {glyphUnknown, "unresolved", inkUnknown},
	engine.RunDuplicate:        {glyphBad, "duplicate", inkBad},
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

// shorten keeps both ends of a key or an id, which is where people compare them.
func (t *theme) shorten(s string, room int) string {
	if room < 5 || t.widthOf(s) <= room {
		return s
	}
	head, digest := "", s
	if rest, ok := strings.CutPrefix(s, "sha256:"); ok && room >= 16 {
		head, digest = "sha256:", rest
	}
	r := []rune(digest)
	keep := max(2, min(8, (room-len(head)-1)/2))
	if len(r) <= 2*keep {
		return s
	}
	return head + string(r[:keep]) + t.glyphs.more + string(r[len(r)-keep:])
}

// tail is the end of a key, as rows and logs have room for it.
func (t *theme) tail(key string) string {
	if r := []rune(key); len(r) > 16 {
		return t.glyphs.more + string(r[len(r)-4:])
	}
	return key
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
