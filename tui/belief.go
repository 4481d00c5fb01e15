package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/tui/draw"
)

// beliefPane is what the caller believes: one run in full, the others a line each.
type beliefPane struct {
	*draw.Theme
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

func (b beliefPane) rows(width int) draw.Rows {
	if len(b.view.Runs) == 0 {
		return draw.Fixed(draw.Say(draw.Quiet, "no run yet"))
	}
	r := b.view.Runs[min(b.run, len(b.view.Runs)-1)]
	var out []draw.Spans
	switch {
	case b.dense():
		out = b.compact(r, width)
	default:
		if out = b.full(r, width, true); len(out) > b.height || len(b.view.Runs) > 1 {
			out = b.full(r, width, false)
		}
	}
	if len(b.view.Runs) == 1 {
		return draw.Fixed(out...)
	}
	if b.dense() {
		out = out[:min(len(out), max(2, b.height-4))]
	} else {
		out = append(out, nil)
	}
	return draw.Fixed(out...).Then(b.list(width, max(2, b.height-len(out))))
}

// list is the runs, a line each, as many of them as there is room for around the one in full.
func (b beliefPane) list(width, room int) draw.Rows {
	n, seen := len(b.view.Runs), room-1
	head := draw.Say(draw.Strong, "runs", draw.Quiet, "  "+strconv.Itoa(n))
	if b.focus {
		head = head.And(draw.Accent, "  "+b.Glyphs.Up+" "+b.Glyphs.Bottom, draw.Quiet, " chooses")
	}
	if n <= seen {
		return draw.Fixed(head).Then(b.others(width))
	}
	head = head.And(draw.Quiet, "  +"+strconv.Itoa(n-seen)+" more")
	first := clamp(b.run-seen/2, 0, n-seen)
	all := b.others(width)
	return draw.Fixed(head).Then(draw.Rows{N: seen, At: func(i int) draw.Spans { return all.At(first + i) }})
}

// others is one line for each run, in order of admission.
func (b beliefPane) others(width int) draw.Rows {
	return draw.Rows{N: len(b.view.Runs), At: func(i int) draw.Spans {
		r := b.view.Runs[i]
		s := statusSigns[r.Status]
		mark := "  "
		if i == b.run {
			mark = b.Glyphs.Pick + " "
		}
		line := draw.Say(draw.Accent, mark, draw.Text, "#"+strconv.Itoa(i+1)+" ", s.Ink, b.Glyphs.Of(s))
		if r.Reconcile {
			line = line.And(draw.Unknown, " "+b.Glyphs.Unknown+" unknown")
		}
		return line.And(draw.Quiet, "  "+b.Shorten(r.ID, max(8, width-b.Width(line)-2)))
	}}
}

// full tells all of a run; with unfold, every step in full and not the newest alone.
func (b beliefPane) full(r *engine.Run, width int, unfold bool) []draw.Spans {
	out := []draw.Spans{draw.Say(draw.Strong, b.Shorten(r.ID, max(12, width-10)), draw.Quiet, " "+r.Admitted.Workflow), b.status(r)}
	if r.Message != "" && !r.Reconcile {
		out = append(out, b.Paragraph(draw.Quiet, "", r.Message, width, 6)...)
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
func (b beliefPane) compact(r *engine.Run, width int) []draw.Spans {
	s := focusStep(r)
	if s == nil {
		return []draw.Spans{b.status(r), draw.Say(draw.Strong, r.ID, draw.Quiet, " "+r.Admitted.Workflow)}
	}
	var out []draw.Spans
	if last := s.Last(); len(r.Doubts(s)) > 0 {
		out = append(out, b.callOut(r, s, width, true)...)
		out = append(out, b.keyLine(s, width), b.operation(r, s))
		return append(append(out, b.attempt(r, last, width)[0]), b.counts(r)...)
	}
	out = append(out, append(b.status(r), append(draw.Say(draw.Text, "  "), b.operation(r, s)...)...))
	for i := max(0, len(s.Attempts)-3); i < len(s.Attempts); i++ {
		out = append(out, b.attempt(r, s.Attempts[i], width)[0])
	}
	out = append(append(out, b.keyLine(s, width)), b.counts(r)...)
	return append(out, draw.Say(draw.Strong, s.ID, draw.Quiet, "  "+r.ID))
}

func (b beliefPane) status(r *engine.Run) draw.Spans {
	s := statusSigns[r.Status]
	out := draw.Say(s.Ink, b.Glyphs.Of(s))
	if r.Reconcile {
		return out.And(draw.Quiet, " "+b.Glyphs.Dot+" ", draw.Unknown, "needs reconciling")
	}
	if r.CancelAsked && !r.Status.Ended() {
		return out.And(draw.Quiet, "  cancel asked")
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

func (b beliefPane) stepLine(r *engine.Run, s *engine.Step) draw.Spans {
	sign := beliefSigns[r.StepBelief(s)]
	return draw.Say(draw.Strong, stepName(s)+"  ", sign.Ink, b.Glyphs.Of(sign))
}

func (b beliefPane) step(r *engine.Run, s *engine.Step, width int) []draw.Spans {
	last := s.Last()
	out := []draw.Spans{draw.Say(draw.Strong, stepName(s), draw.Quiet, fmt.Sprintf("  %d of %d", last.N, max(last.Max, last.N)))}
	for _, a := range s.Attempts {
		out = append(out, b.attempt(r, a, width)...)
	}
	if k := b.keyLine(s, width); k != nil {
		out = append(out, k)
	}
	if s.ByRecord {
		out = append(out, draw.Say(draw.Good, "  "+b.Glyphs.Good+" recorded from evidence"))
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
func (b beliefPane) operations(r *engine.Run, s *engine.Step) []draw.Spans {
	all := r.Operations(s)
	if len(all) == 1 {
		return []draw.Spans{b.operation(r, s)}
	}
	out := []draw.Spans{draw.Say(draw.Quiet, stepName(s))}
	for _, o := range all {
		sign := beliefSigns[r.BeliefOf(o)]
		out = append(out, draw.Say(draw.Quiet, "  "+o.Write+"  ", sign.Ink, b.Glyphs.Of(sign)))
	}
	return out
}

func (b beliefPane) operation(r *engine.Run, s *engine.Step) draw.Spans {
	sign, name := beliefSigns[r.StepBelief(s)], "operation"
	if len(r.Steps) > 1 {
		name = stepName(s)
	}
	return draw.Say(draw.Quiet, name+"  ", sign.Ink, b.Glyphs.Of(sign))
}

// attempt is one line for the attempt and up to two for why it ended so.
func (b beliefPane) attempt(r *engine.Run, a *engine.Attempt, width int) []draw.Spans {
	sign := outcomeSigns[a.Outcome]
	head := draw.Say(draw.Text, "  ", sign.Ink, sign.Glyph(b.Glyphs)+" attempt "+strconv.Itoa(a.N)+" "+sign.Word)
	if a.By == "resubmit" {
		head = head.And(draw.Quiet, " resent")
	}
	end := ending(telling(a))
	gap := width - b.Width(head) - b.WidthOf(end)
	if a.Outcome == engine.Unknown && gap < 1 {
		end = "" // the line under it says so
	}
	if end != "" && a.Outcome != "" {
		head = head.And(draw.Quiet, strings.Repeat(" ", max(1, min(gap, 27-b.Width(head))))+end)
	}
	out := []draw.Spans{head}
	for _, l := range b.Wrap(b.reason(r, a), width-4, 2) {
		if l != "" {
			out = append(out, draw.Say(draw.Quiet, "    "+l))
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

func (b beliefPane) keyLine(s *engine.Step, width int) draw.Spans {
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
		return draw.Say(draw.Quiet, "  key ", draw.Bad, "none sent")
	case !same:
		return draw.Say(draw.Quiet, "  key ", draw.Bad, "a new one each attempt")
	}
	room := width - 11
	if room < b.WidthOf(first) { // all of it, or only its ends
		room = min(16, room)
	}
	line := draw.Say(draw.Quiet, "  key ", draw.Strong, b.Shorten(first, room))
	if len(s.Attempts) > 1 {
		line = line.And(draw.Good, " same")
	}
	return line
}

// due counts a retry down.
func (b beliefPane) due(r *engine.Run, s *engine.Step) draw.Spans {
	a := s.Last()
	if a.Next != engine.NextRetry || r.Status.Ended() {
		return nil
	}
	left := max(0, a.Due.Sub(b.now))
	return draw.Say(draw.Accent, "  "+b.Glyphs.Wait+" retry in "+strconv.FormatFloat(left.Seconds(), 'f', 1, 64)+"s")
}

// counts keeps attempts, calls and requests apart. What the transport sent again by
// itself is a request too, and is told apart from the caller's own.
func (b beliefPane) counts(r *engine.Run) []draw.Spans {
	attempts, calls, requests := r.Counts()
	itself := b.hidden[r.ID]
	number := func(name string, n int) draw.Spans { return draw.Say(draw.Quiet, name+" ", draw.Text, strconv.Itoa(n)) }
	first, second := number("attempts", attempts), number("requests", requests+itself)
	if calls == attempts && itself == 0 {
		return []draw.Spans{append(first.And(draw.Text, "   "), second...)}
	}
	out := []draw.Spans{append(first.And(draw.Text, "   "), number("calls", calls)...), second}
	if itself > 0 {
		out = append(out, draw.Say(draw.Bad, b.Glyphs.Bad+" "+strconv.Itoa(itself)+" of them by the transport"))
	}
	return out
}

// callOut is the loudest thing on the screen: what nobody knows, and the key that asks.
func (b beliefPane) callOut(r *engine.Run, s *engine.Step, width int, dense bool) []draw.Spans {
	bar := func(text draw.Spans) draw.Spans { return append(draw.Say(draw.Alarm, b.Glyphs.Callout+" "), text...) }
	what, may := b.doubt(r, s)
	key := draw.Say(draw.Cap, " "+b.look+" ").And(draw.Text, " "+b.offer(r, s))
	if dense {
		return []draw.Spans{bar(draw.Say(draw.Unknown, what)), bar(key)}
	}
	var out []draw.Spans
	for _, l := range b.Wrap(what, width-3, 3) {
		out = append(out, bar(draw.Say(draw.Unknown, l)))
	}
	for _, l := range b.Wrap(may, width-3, 5) {
		out = append(out, bar(draw.Say(draw.Text, l)))
	}
	return append(out, bar(nil), bar(key))
}

// doubt says what is not known and what that means.
func (b beliefPane) doubt(r *engine.Run, s *engine.Step) (what, may string) {
	c := doubtful(r, s)
	if c == nil {
		return "The outcome is unknown.", ""
	}
	noun := nounOf(c)
	if e := lastEvidence(c); e != nil {
		return b.evidenceSentence(e, noun)
	}
	status := strconv.Itoa(c.Status)
	switch {
	case !c.Ended, c.Code == "WOML_CAPABILITY_INTERRUPTED":
		what = "Started, then the worker died."
	case c.How == engine.HowUnreadable:
		what = "Answered " + status + ", but the answer cannot be read."
	case c.How == engine.HowUnexpected:
		what = "Answered " + status + ", which proves nothing either way."
	case c.How == engine.HowServer:
		what = "Answered " + status + " every time, which proves nothing."
	case c.How == engine.HowConflict || c.How == engine.HowInFlight:
		what = "Answered 409: it may exist already."
	case lastEnd(c) == engine.GaveUpCancel:
		what = "Sent, then cancelled before the answer."
	case lastEnd(c) == engine.GaveUpScript:
		what = "Sent, then aborted by the script before the answer."
	default:
		what = "Sent, but no reply came."
	}
	return what, "The " + noun + " may exist. Sending again is a decision, not a retry."
}

func (b beliefPane) evidenceSentence(e *engine.EvidenceAt, noun string) (what, may string) {
	at := moment(e.At.Sub(b.view.Start)) + "s"
	switch e.Found {
	case engine.FoundRecord:
		if e.Match == engine.Contradicts {
			return "Looked up at " + at + ": found, and it contradicts what was sent.", "It may belong to somebody else."
		}
		return "Looked up at " + at + ": the " + noun + " is there.", "Record it: then nothing is sent again."
	case engine.FoundSeveral:
		return "Looked up at " + at + ": several records.", "It is not known which one is meant."
	case engine.FoundNoRecord:
		if e.Unproven {
			return "Looked up at " + at + ": no record, unproven.", "The look-up address is an assumption: it has never found a record."
		}
		return "Looked up at " + at + ": no record.", "That does not prove that nothing happened: a late request can still arrive."
	}
	return "Looked up at " + at + ": no answer.", "The outcome is still unknown."
}

// offer is what the key in the call-out does next.
func (b beliefPane) offer(r *engine.Run, s *engine.Step) string {
	if c := doubtful(r, s); c != nil && (lastEvidence(c) != nil || b.unaskable(c)) {
		return "decide"
	}
	return "look the key up"
}

// unaskable reports whether a doubt is of an operation that cannot be looked up by a key.
func (b beliefPane) unaskable(c *engine.Call) bool {
	return slices.ContainsFunc(b.view.Operations, func(o scenarios.Operation) bool { return o.Unaskable && slices.Contains(o.Doubts, c) })
}

// doubtful is the newest call of the step that nobody can answer for.
func doubtful(r *engine.Run, s *engine.Step) *engine.Call {
	if d := r.Doubts(s); len(d) > 0 {
		return d[0]
	}
	return nil
}

// lastEnd is why the caller stopped waiting for the newest request of a call; empty where it did not.
func lastEnd(c *engine.Call) engine.GaveUp {
	if n := len(c.Requests); n > 0 {
		return c.Requests[n-1].GaveUp
	}
	return ""
}

func lastEvidence(c *engine.Call) *engine.EvidenceAt {
	if n := len(c.Evidence); n > 0 {
		return &c.Evidence[n-1]
	}
	return nil
}

// nounOf is what a call makes, by the last word of its path: "job" of /jobs.
func nounOf(c *engine.Call) string {
	if len(c.Requests) == 0 {
		return "effect"
	}
	path, _, _ := strings.Cut(c.Requests[0].URL, "?")
	if _, rest, ok := strings.Cut(path, "://"); ok {
		_, path, _ = strings.Cut(rest, "/")
	}
	path, _, _ = strings.Cut(strings.Trim(path, "/"), "/")
	path = strings.TrimSuffix(path, "s")
	if path == "" || len(path) > 20 {
		return "effect"
	}
	return path
}

// telling is the call that an attempt's end is about: of an unknown one the write that nobody can answer for.
func telling(a *engine.Attempt) *engine.Call {
	if a.Outcome == engine.Unknown {
		for i := len(a.Calls) - 1; i >= 0; i-- {
			if c := a.Calls[i]; c.Effect != engine.Read && c.Unsettled() {
				return c
			}
		}
	}
	return lastWrite(a)
}

// unsure reports whether something of an operation has to be looked up: nobody knows
// whether it happened, or one write of it is settled and another one is not.
func unsure(op *scenarios.Operation) bool {
	return op != nil && (op.Belief == engine.BeliefUnknown || len(op.Doubts) > 0)
}

// unknownIn is the newest run of the view with an unknown operation; -1 if there is none.
func unknownIn(v *scenarios.View) int {
	for i := len(v.Runs) - 1; i >= 0; i-- {
		if v.Runs[i].Reconcile {
			return i
		}
	}
	return -1
}
