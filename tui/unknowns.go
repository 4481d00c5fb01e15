package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// unsettledMsg is the runs of the store that need reconciling.
type unsettledMsg struct {
	runs []*engine.Run
	err  error
}

// unknownsScreen lists the unknown operations of all runs in one place: those of
// the open bench, then those of the runs in the store.
type unknownsScreen struct {
	list   draw.Picker[unknownOp]
	stored []unknownOp
	err    error
	waits  bool
}

// unknownOp is an unknown operation of a run on the bench or in the store.
type unknownOp struct {
	run    string
	step   string
	write  string // which of the step's; empty: its newest
	undo   bool
	name   string
	where  string
	calls  []*engine.Call // the unknown ones
	stored bool
}

// showUnknowns opens the list. It asks the store when it comes to the top.
func (u *ui) showUnknowns() tea.Cmd {
	u.push(&unknownsScreen{waits: u.opt.Store != nil})
	return nil
}

// askStore asks for the runs that need reconciling, in a command.
func (x *unknownsScreen) askStore(u *ui) tea.Cmd {
	store := u.opt.Store
	return work(func() tea.Msg {
		if store == nil {
			return unsettledMsg{err: errNoStore}
		}
		runs, err := store.Unsettled(storeLimit)
		return unsettledMsg{runs, err}
	})
}

func (x *unknownsScreen) on() lang.Screen { return lang.OnUnknowns }

func (x *unknownsScreen) title(*ui) draw.Spans { return draw.Say(draw.Strong, "Unknowns") }

// message takes the store's answer in.
func (x *unknownsScreen) message(_ *ui, msg tea.Msg) tea.Cmd {
	r, ok := msg.(unsettledMsg)
	if !ok {
		return nil
	}
	x.stored, x.err, x.waits = nil, r.err, false
	for _, run := range r.runs {
		for _, s := range run.Steps {
			if calls := run.Doubts(s); len(calls) > 0 {
				x.stored = append(x.stored, unknownOp{run: run.ID, step: s.ID, undo: s.Undo, name: stepName(s), calls: calls, stored: true,
					where: dayTime(run.AdmittedAt) + "  " + run.Admitted.Workflow})
			}
		}
	}
	return nil
}

// show lists the unknown operations of the bench, unless that shows a run of the store, and those of the store.
func (x *unknownsScreen) show(u *ui) (picked unknownOp, any bool) {
	var items []draw.Item[unknownOp]
	add := func(o unknownOp) {
		items = append(items, draw.Item[unknownOp]{ID: o.run + " " + stepArg(o.step, o.undo) + " " + o.name, Value: o})
	}
	if s := u.session; s != nil && s.storedRun() == "" {
		for i := range s.view.Operations {
			if op := &s.view.Operations[i]; unsure(op) {
				add(unknownOp{run: firstOf(op.DoubtRuns), step: op.Step, write: op.Write, undo: op.Undo, name: opName(op), calls: op.Doubts, where: "on the bench"})
			}
		}
	}
	for _, o := range x.stored {
		add(o)
	}
	x.list.List(items)
	return x.list.Picked()
}

func (x *unknownsScreen) draw(u *ui, width, height int) []string {
	t := u.t
	_, any := x.show(u)
	b := draw.Box{Title: draw.Say(draw.Strong, "Unknown operations"), Frame: draw.Alarm, Focus: true, Side: draw.Say(draw.Quiet, plural(x.list.Count(), "operation"))}
	if !any {
		b.Frame = draw.Good
	}
	b.Body = func(w, h int) []string {
		var foot []draw.Spans
		switch {
		case x.waits:
			foot = []draw.Spans{u.reading()}
		case x.err != nil:
			foot = t.Paragraph(draw.Quiet, "", x.err.Error(), w, 8)
		}
		if !any && !x.waits {
			foot = append([]draw.Spans{draw.Say(draw.Good, t.Glyphs.Good+" nothing is unknown")}, foot...)
		}
		if !any {
			return t.Window(draw.Fixed(foot...), 0, w, h)
		}
		room := max(1, h-len(foot))
		out := x.list.Window(t, w, room, func(o unknownOp, _, picked bool) draw.Spans { return o.spans(t, picked) })
		return append(out, t.Window(draw.Fixed(foot...), 0, w, h-room)...)
	}
	return t.Box(b, width, height)
}

// spans is one operation: its step, its run, what was looked up, and where it is.
func (o unknownOp) spans(t *draw.Theme, picked bool) draw.Spans {
	mark, ink := t.Mark(picked)
	line := mark.And(draw.Unknown, t.Glyphs.Unknown+" ", ink, o.name, draw.Quiet, "  "+o.run)
	return append(line, lookedUp(t, o.calls)...).And(draw.Quiet, "  "+o.where)
}

const notLookedUp = "not looked up"

// lookedUp is the newest evidence about an operation, or that it was escalated since.
func lookedUp(t *draw.Theme, calls []*engine.Call) draw.Spans {
	for _, c := range calls {
		if escalated(c) {
			return draw.Say(draw.Unknown, "  "+draw.PadTo(t, t.Glyphs.Note+" escalated", len(notLookedUp)))
		}
		if e := lastEvidence(c); e != nil {
			s := foundSigns[e.Found]
			return draw.Say(s.Ink, "  "+draw.PadTo(t, t.Glyphs.Of(s), len(notLookedUp)))
		}
	}
	return draw.Say(draw.Quiet, "  "+notLookedUp)
}

// escalated reports whether the newest thing done about a call was to hand it to a person.
func escalated(c *engine.Call) bool {
	n := len(c.Decisions)
	if n == 0 || c.Decisions[n-1].Decision != engine.Escalate {
		return false
	}
	e := lastEvidence(c)
	return e == nil || e.Seq < c.Decisions[n-1].Seq
}

func (x *unknownsScreen) offers(_ *ui, verb string) bool {
	return x.list.Count() > 0 || verb != "open" && verb != "copy" && !decides(verb)
}

func (x *unknownsScreen) verb(u *ui, c command) (tea.Cmd, bool) {
	o, any := x.show(u)
	switch name := c.verb.Name; {
	case x.list.Move(name):
	case !any && name == "open":
		u.pop()
	case !any && c.key != "" && (name == "copy" || decides(name)):
		u.say(draw.Quiet, name+": nothing is unknown")
	case !any:
		return nil, false
	case name == "copy" && c.key != "":
		return u.copy("key", o.key()), true
	case name != "open" && (c.key == "" || !decides(name)):
		return nil, false
	case o.stored:
		return u.openRun(o.run, func(u *ui) tea.Cmd { return u.reconcile(o, c) }), true
	default:
		return u.reconcile(o, c), true
	}
	return nil, true
}

// key is the operation's key, or its run's id where it was sent without one.
func (o unknownOp) key() string {
	if len(o.calls) > 0 && o.calls[0].Key != "" {
		return o.calls[0].Key
	}
	return o.run
}

// reconcile opens an unknown operation, and goes on there with the verb that was pressed.
func (u *ui) reconcile(o unknownOp, c command) tea.Cmd {
	p := &reconcileScreen{step: o.step, write: o.write, undo: o.undo, run: o.run}
	u.push(p)
	if c.verb.Name == "open" {
		return nil
	}
	cmd, _ := p.verb(u, c)
	return cmd
}

// decides reports whether a verb is about one unknown operation.
func decides(verb string) bool {
	return verb == "lookup" || verb == "record" || verb == "resubmit" || verb == "abandon" || verb == "escalate"
}
