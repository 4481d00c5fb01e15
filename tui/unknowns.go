package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// unsettledMsg is what the store said of the runs that need reconciling.
type unsettledMsg struct {
	runs []*engine.Run
	err  error
}

// unknownsScreen lists the unknown operations of all runs in one place: those of
// the open bench, then those of the runs in the store.
type unknownsScreen struct {
	pick, top int
	stored    []unsettled
	err       error
	waits     bool
}

// unsettled is an operation of a run in the store of which nobody knows.
type unsettled struct {
	run    *engine.Run
	step   string
	undo   bool
	doubts []*engine.Call
}

// showUnknowns opens the list. It asks the store when it comes to the top.
func (m *model) showUnknowns() tea.Cmd {
	m.push(&unknownsScreen{waits: m.opt.Store != nil})
	return nil
}

// askStore asks for the runs that need reconciling, in a command.
func (u *unknownsScreen) askStore(m *model) tea.Cmd {
	store := m.opt.Store
	return work(func() tea.Msg {
		if store == nil {
			return unsettledMsg{err: errNoStore}
		}
		runs, err := store.Unsettled(storeLimit)
		return unsettledMsg{runs, err}
	})
}

func (u *unknownsScreen) on() lang.Screen { return lang.OnUnknowns }

func (u *unknownsScreen) title(*model) spans { return say(inkStrong, "Unknowns") }

// message takes the store's answer in. The choice stays on its operation.
func (u *unknownsScreen) message(m *model, msg tea.Msg) tea.Cmd {
	r, ok := msg.(unsettledMsg)
	if !ok {
		return nil
	}
	first := len(u.open(m))
	var picked unsettled
	if i := u.pick - first; i >= 0 && i < len(u.stored) {
		picked = u.stored[i]
	}
	u.stored, u.err, u.waits = unsettledOf(r.runs), r.err, false
	for i, x := range u.stored {
		if picked.run != nil && x.run.ID == picked.run.ID && x.step == picked.step && x.undo == picked.undo {
			u.pick = first + i
		}
	}
	return nil
}

// unsettledOf are the operations of runs that need reconciling.
func unsettledOf(runs []*engine.Run) (out []unsettled) {
	for _, r := range runs {
		for _, s := range r.Steps {
			if doubts := r.Doubts(s); len(doubts) > 0 {
				out = append(out, unsettled{r, s.ID, s.Undo, doubts})
			}
		}
	}
	return out
}

// open are the unknown operations of the bench; those of a run in the store stand there.
func (u *unknownsScreen) open(m *model) (out []*scenarios.Operation) {
	if m.session == nil || m.session.storedRun() != "" {
		return nil
	}
	ops := m.session.view.Operations
	for i := range ops {
		if unsure(&ops[i]) {
			out = append(out, &ops[i])
		}
	}
	return out
}

func (u *unknownsScreen) draw(m *model, width, height int) []string {
	t, ops := m.t, u.open(m)
	n := len(ops) + len(u.stored)
	u.pick = clamp(u.pick, 0, max(0, n-1))
	b := box{title: say(inkStrong, "Unknown operations"), frame: inkAlarm, focus: true, side: say(inkQuiet, plural(n, "operation"))}
	if n == 0 {
		b.frame = inkGood
	}
	b.body = func(w, h int) []string {
		var foot []spans
		switch {
		case u.waits:
			foot = []spans{say(inkQuiet, "reading the store "+t.glyphs.more)}
		case u.err != nil:
			foot = sentence(t, u.err.Error(), w)
		}
		if n == 0 {
			if !u.waits {
				foot = append([]spans{say(inkGood, t.glyphs.good+" nothing is unknown")}, foot...)
			}
			return t.window(fixed(foot...), 0, w, h)
		}
		room := max(1, h-len(foot))
		u.top = clamp(u.top, max(0, u.pick-room+1), u.pick)
		out := t.window(rows{n, func(i int) spans { return u.line(m, ops, i) }}, u.top, w, room)
		return append(out, t.window(fixed(foot...), 0, w, h-room)...)
	}
	return t.draw(b, width, height)
}

// line is one operation: its step, its run, what was looked up, and where it is.
func (u *unknownsScreen) line(m *model, ops []*scenarios.Operation, i int) spans {
	t := m.t
	mark, k := "  ", inkText
	if i == u.pick {
		mark, k = t.glyphs.pick+" ", inkPick
	}
	head := say(inkAccent, mark, inkUnknown, t.glyphs.unknown+" ")
	if i < len(ops) {
		op := ops[i]
		head = append(head, span{k, opName(op)}, span{inkQuiet, "  " + firstOf(op.DoubtRuns)})
		return append(append(head, lookedUp(t, op.Doubts)...), span{inkQuiet, "  on the bench"})
	}
	x := u.stored[i-len(ops)]
	name := x.step
	if x.undo {
		name = "undo " + x.step
	}
	head = append(head, span{k, name}, span{inkQuiet, "  " + x.run.ID})
	return append(append(head, lookedUp(t, x.doubts)...), span{inkQuiet, "  " + dayTime(x.run.AdmittedAt) + "  " + x.run.Admitted.Workflow})
}

const notLookedUp = "not looked up"

// lookedUp is the newest evidence about an operation, or that it was escalated since.
func lookedUp(t *theme, doubts []*engine.Call) spans {
	for _, c := range doubts {
		if escalated(c) {
			return say(inkUnknown, "  "+padTo(t, t.glyphs.note+" escalated", len(notLookedUp)))
		}
		if e := lastEvidence(c); e != nil {
			s := foundSigns[e.Found]
			return say(s.ink, "  "+padTo(t, t.glyphs.of(s), len(notLookedUp)))
		}
	}
	return say(inkQuiet, "  "+notLookedUp)
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

func (u *unknownsScreen) verb(m *model, c command) (tea.Cmd, bool) {
	ops := u.open(m)
	n := len(ops) + len(u.stored)
	step, moves := map[string]int{"up": -1, "down": 1, "pageup": -10, "pagedown": 10, "top": -n, "bottom": n}[c.verb.Name]
	switch {
	case moves:
		u.pick = clamp(u.pick+step, 0, max(0, n-1))
	case n == 0 && c.verb.Name == "open":
		m.pop()
	case n == 0 && c.key != "" && (c.verb.Name == "copy" || decides(c.verb.Name)):
		m.say(inkQuiet, c.verb.Name+": nothing is unknown")
	case n == 0:
		return nil, false
	case c.verb.Name == "copy" && c.key != "":
		return m.copy("key", u.key(ops)), true
	case c.verb.Name != "open" && (c.key == "" || !decides(c.verb.Name)):
		return nil, false
	case u.pick < len(ops):
		op := ops[u.pick]
		return m.settleFrom(&settle{step: op.Step, write: op.Write, undo: op.Undo, run: firstOf(op.DoubtRuns)}, c), true
	default:
		x := u.stored[u.pick-len(ops)]
		return m.openRun(x.run.ID, func(m *model) tea.Cmd {
			return m.settleFrom(&settle{step: x.step, undo: x.undo, run: x.run.ID}, c)
		}), true
	}
	return nil, true
}

// key is the key of what is chosen, or its run's id where it was sent without one.
func (u *unknownsScreen) key(ops []*scenarios.Operation) string {
	var doubts []*engine.Call
	run := ""
	if u.pick < len(ops) {
		doubts, run = ops[u.pick].Doubts, firstOf(ops[u.pick].DoubtRuns)
	} else {
		x := u.stored[u.pick-len(ops)]
		doubts, run = x.doubts, x.run.ID
	}
	if len(doubts) > 0 && doubts[0].Key != "" {
		return doubts[0].Key
	}
	return run
}

// settleFrom opens an operation to be settled, and goes on there with the verb that was pressed.
func (m *model) settleFrom(p *settle, c command) tea.Cmd {
	m.push(p)
	if c.verb.Name == "open" {
		return nil
	}
	cmd, _ := p.verb(m, c)
	return cmd
}

// decides reports whether a verb is about one unknown operation.
func decides(verb string) bool {
	switch verb {
	case "lookup", "record", "resubmit", "abandon", "escalate":
		return true
	}
	return false
}
