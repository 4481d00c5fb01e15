package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/scenarios"
)

// beliefPane is what the caller believes: one run in full, the others a line each.
type beliefPane struct {
	*theme
	view   *scenarios.View
	run    int            // index of the run in full
	now    time.Time      // the bench's time, for what is due
	look   string         // the key that looks an unknown operation up
	hidden map[string]int // by run, requests that the transport sent by itself
	height int            // how many lines there are
	focus  bool           // the arrows choose a run
}

// dense is a pane of few lines: the most important comes first, and no blank ones.
func (b beliefPane) dense() bool { return b.height < 14 }

func (b beliefPane) rows(width int) rows {
	if len(b.view.Runs) == 0 {
		return fixed(say(inkQuiet, "no run yet"))
	}
	r := b.view.Runs[min(b.run, len(b.view.Runs)-1)]
	var out []spans
	switch {
	case b.dense():
		out = b.compact(r, width)
	default:
		if out = b.full(r, width, true); len(out) > b.height || len(b.view.Runs) > 1 {
			out = b.full(r, width, false)
		}
	}
	if len(b.view.Runs) == 1 {
		return fixed(out...)
	}
	if b.dense() {
		out = out[:min(len(out), max(2, b.height-4))]
	} else {
		out = append(out, nil)
	}
	return fixed(out...).then(b.list(width, max(2, b.height-len(out))))
}

// list is the runs, a line each, as many of them as there is room for around the one in full.
func (b beliefPane) list(width, room int) rows {
	n, seen := len(b.view.Runs), room-1
	head := say(inkStrong, "runs", inkQuiet, "  "+strconv.Itoa(n))
	if b.focus {
		head = append(head, span{inkAccent, "  " + b.glyphs.up + " " + b.glyphs.bottom}, span{inkQuiet, " chooses"})
	}
	if n <= seen {
		return fixed(head).then(b.others(width))
	}
	head = append(head, span{inkQuiet, "  +" + strconv.Itoa(n-seen) + " more"})
	first := clamp(b.run-seen/2, 0, n-seen)
	all := b.others(width)
	return fixed(head).then(rows{seen, func(i int) spans { return all.at(first + i) }})
}

// others is one line for each run, in order of admission.
func (b beliefPane) others(width int) rows {
	return rows{len(b.view.Runs), func(i int) spans {
		r := b.view.Runs[i]
		s := statusSigns[r.Status]
		mark := "  "
		if i == b.run {
			mark = b.glyphs.pick + " "
		}
		line := say(inkAccent, mark, inkText, "#"+strconv.Itoa(i+1)+" ", s.ink, b.glyphs.of(s))
		if r.Reconcile {
			line = append(line, span{inkUnknown, " " + b.glyphs.unknown + " unknown"})
		}
		return append(line, span{inkQuiet, "  " + b.shorten(r.ID, max(8, width-b.width(line)-2))})
	}}
}

// full tells all of a run; with unfold, every step in full and not the newest alone.
func (b beliefPane) full(r *engine.Run, width int, unfold bool) []spans {
	out := []spans{say(inkStrong, b.shorten(r.ID, max(12, width-10)), inkQuiet, " "+r.Admitted.Workflow), b.status(r)}
	if r.Message != "" && !r.Reconcile {
		for _, l := range b.wrap(r.Message, width, 6) {
			out = append(out, say(inkQuiet, l))
		}
	}
	focus := focusStep(r)
	for _, s := range r.Steps {
		out = append(out, nil)
		if s != focus && (!unfold || s.Last() == nil) {
			out = append(out, b.stepLine(r, s))
			continue
		}
		out = append(out, b.step(r, s, width)...)
	}
	return append(append(out, nil), b.counts(r)...)
}

// compact says the same in the order of what matters, for a pane of few lines.
func (b beliefPane) compact(r *engine.Run, width int) []spans {
	s := focusStep(r)
	if s == nil {
		return []spans{b.status(r), say(inkStrong, r.ID, inkQuiet, " "+r.Admitted.Workflow)}
	}
	var out []spans
	if last := s.Last(); len(r.Doubts(s)) > 0 {
		out = append(out, b.callOut(r, s, width, true)...)
		out = append(out, b.keyLine(s, width), b.operation(r, s))
		return append(append(out, b.attempt(r, last, width)[0]), b.counts(r)...)
	}
	out = append(out, append(b.status(r), append(say(inkText, "  "), b.operation(r, s)...)...))
	for i := max(0, len(s.Attempts)-3); i < len(s.Attempts); i++ {
		out = append(out, b.attempt(r, s.Attempts[i], width)[0])
	}
	out = append(append(out, b.keyLine(s, width)), b.counts(r)...)
	return append(out, say(inkStrong, s.ID, inkQuiet, "  "+r.ID))
}

func (b beliefPane) status(r *engine.Run) spans {
	s := statusSigns[r.Status]
	out := say(s.ink, b.glyphs.of(s))
	if r.Reconcile {
		return append(out, span{inkQuiet, " " + b.glyphs.dot + " "}, span{inkUnknown, "needs reconciling"})
	}
	if r.CancelAsked && !r.Status.Ended() {
		return append(out, span{inkQuiet, "  cancel asked"})
	}
	return out
}

// focusStep is the step that is told in full: the newest unknown one, else the newest.
func focusStep(r *engine.Run) *engine.Step {
	for i := len(r.Steps) - 1; i >= 0; i-- {
		if len(r.Doubts(r.Steps[i])) > 0 {
			return r.Steps[i]
		}
	}
	if n := len(r.Steps); n > 0 {
		return r.Steps[n-1]
	}
	return nil
}

func stepName(s *engine.Step) string {
	if s.Undo {
		return "undo " + s.ID
	}
	return s.ID
}

func (b beliefPane) stepLine(r *engine.Run, s *engine.Step) spans {
	sign := beliefSigns[r.StepBelief(s)]
	return say(inkStrong, stepName(s)+"  ", sign.ink, b.glyphs.of(sign))
}

func (b beliefPane) step(r *engine.Run, s *engine.Step, width int) []spans {
	last := s.Last()
	out := []spans{say(inkStrong, stepName(s), inkQuiet, fmt.Sprintf("  %d of %d", last.N, max(last.Max, last.N)))}
	for _, a := range s.Attempts {
		out = append(out, b.attempt(r, a, width)...)
	}
	if k := b.keyLine(s, width); k != nil {
		out = append(out, k)
	}
	if s.ByRecord {
		out = append(out, say(inkGood, "  "+b.glyphs.good+" recorded from evidence"))
	}
	if due := b.due(r, s); due != nil {
		out = append(out, due)
	}
	if len(r.Doubts(s)) > 0 {
		out = append(append(out, nil), b.callOut(r, s, width, false)...)
	}
	return append(append(out, nil), b.operations(r, s)...)
}

// operations is a line for each operation of a step, by its write where there are several.
func (b beliefPane) operations(r *engine.Run, s *engine.Step) []spans {
	all := r.Operations(s)
	if len(all) == 1 {
		return []spans{b.operation(r, s)}
	}
	out := []spans{say(inkQuiet, stepName(s))}
	for _, o := range all {
		sign := beliefSigns[r.BeliefOf(o)]
		out = append(out, say(inkQuiet, "  "+o.Write+"  ", sign.ink, b.glyphs.of(sign)))
	}
	return out
}

func (b beliefPane) operation(r *engine.Run, s *engine.Step) spans {
	sign, name := beliefSigns[r.StepBelief(s)], "operation"
	if len(r.Steps) > 1 {
		name = stepName(s)
	}
	return say(inkQuiet, name+"  ", sign.ink, b.glyphs.of(sign))
}

// attempt is one line for the attempt and up to two for why it ended so.
func (b beliefPane) attempt(r *engine.Run, a *engine.Attempt, width int) []spans {
	sign := outcomeSigns[a.Outcome]
	head := say(inkText, "  ", sign.ink, sign.glyph(b.glyphs)+" attempt "+strconv.Itoa(a.N)+" "+sign.word)
	if a.By == "resubmit" {
		head = append(head, span{inkQuiet, " resent"})
	}
	end := ending(telling(a))
	gap := width - b.width(head) - b.widthOf(end)
	if a.Outcome == engine.Unknown && gap < 1 {
		end = "" // the line under it says so
	}
	if end != "" && a.Outcome != "" {
		head = append(head, span{inkQuiet, strings.Repeat(" ", max(1, min(gap, 27-b.width(head)))) + end})
	}
	out := []spans{head}
	for _, l := range b.wrap(b.reason(r, a), width-4, 2) {
		if l != "" {
			out = append(out, say(inkQuiet, "    "+l))
		}
	}
	return out
}

// reason is one clause about an attempt's end; of an unknown one it says since when nobody knows.
func (b beliefPane) reason(r *engine.Run, a *engine.Attempt) string {
	c := telling(a)
	if a.Outcome != engine.Unknown || c == nil || len(c.Requests) == 0 || c.Status != 0 {
		return a.Reason
	}
	q := c.Requests[len(c.Requests)-1]
	return "sent " + moment(q.SentAt.Sub(b.view.Start)) + "s, no reply"
}

func (b beliefPane) keyLine(s *engine.Step, width int) spans {
	first, any, same := "", false, true
	for _, a := range s.Attempts {
		switch k, wrote := keyOf(a); {
		case !wrote:
		case !any:
			first, any = k, true
		case k != first:
			same = false
		}
	}
	switch {
	case !any:
		return nil
	case first == "" && same:
		return say(inkQuiet, "  key ", inkBad, "none sent")
	case !same:
		return say(inkQuiet, "  key ", inkBad, "a new one each attempt")
	}
	room := width - 11
	if room < b.widthOf(first) { // all of it, or only its ends
		room = min(16, room)
	}
	line := say(inkQuiet, "  key ", inkStrong, b.shorten(first, room))
	if len(s.Attempts) > 1 {
		line = append(line, span{inkGood, " same"})
	}
	return line
}

// due counts a retry down.
func (b beliefPane) due(r *engine.Run, s *engine.Step) spans {
	a := s.Last()
	if a.Next != engine.NextRetry || r.Status.Ended() {
		return nil
	}
	left := max(0, a.Due.Sub(b.now))
	return say(inkAccent, "  "+b.glyphs.wait+" retry in "+strconv.FormatFloat(left.Seconds(), 'f', 1, 64)+"s")
}

// counts keeps attempts, calls and requests apart. What the transport sent again by
// itself is a request too, and is told apart from the caller's own.
func (b beliefPane) counts(r *engine.Run) []spans {
	attempts, calls, requests := r.Counts()
	itself := b.hidden[r.ID]
	number := func(name string, n int) spans { return say(inkQuiet, name+" ", inkText, strconv.Itoa(n)) }
	first, second := number("attempts", attempts), number("requests", requests+itself)
	if calls == attempts && itself == 0 {
		return []spans{append(append(first, span{inkText, "   "}), second...)}
	}
	out := []spans{append(append(first, span{inkText, "   "}), number("calls", calls)...), second}
	if itself > 0 {
		out = append(out, say(inkBad, b.glyphs.bad+" "+strconv.Itoa(itself)+" of them by the transport"))
	}
	return out
}
