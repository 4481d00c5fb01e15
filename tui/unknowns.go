package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// unknownsScreen lists the unknown operations of all runs in one place: those of
// the open bench, then the runs of the store that need reconciling.
type unknownsScreen struct {
	pick, top int
	stored    []engine.Summary
	err       error
}

// showUnknowns opens the list and asks the store.
func (m *model) showUnknowns() tea.Cmd {
	m.push(&unknownsScreen{})
	return m.askStore(engine.Query{Reconcile: true, Limit: storeLimit})
}

func (u *unknownsScreen) on() lang.Screen { return lang.OnUnknowns }

func (u *unknownsScreen) title(*model) spans { return say(inkStrong, "Unknown operations") }

func (u *unknownsScreen) message(m *model, msg tea.Msg) tea.Cmd {
	if r, ok := msg.(runsMsg); ok {
		u.stored, u.err = r.runs, r.err
	}
	return nil
}

// open are the unknown operations of the bench.
func (u *unknownsScreen) open(m *model) (out []*scenarios.Operation) {
	if m.session == nil {
		return nil
	}
	ops := m.session.view.Operations
	for i := range ops {
		if ops[i].Belief == engine.BeliefUnknown {
			out = append(out, &ops[i])
		}
	}
	return out
}

func (u *unknownsScreen) draw(m *model, width, height int) []string {
	t, ops := m.t, u.open(m)
	n := len(ops) + len(u.stored)
	u.pick = clamp(u.pick, 0, max(0, n-1))
	b := box{title: say(inkStrong, "What nobody knows"), frame: inkAlarm, focus: true, side: say(inkQuiet, plural(n, "operation"))}
	if n == 0 {
		b.frame = inkGood
	}
	b.body = func(w, h int) []string {
		if n == 0 {
			return t.window(fixed(say(inkGood, t.glyphs.good+" nothing is unknown"), say(inkQuiet, u.note())), 0, w, h)
		}
		u.top = clamp(u.top, max(0, u.pick-h+1), u.pick)
		return t.window(rows{n, func(i int) spans { return u.line(m, ops, i) }}, u.top, w, h)
	}
	return t.draw(b, width, height)
}

func (u *unknownsScreen) note() string {
	if u.err != nil {
		return u.err.Error()
	}
	return ""
}

func (u *unknownsScreen) line(m *model, ops []*scenarios.Operation, i int) spans {
	t := m.t
	mark, k := "  ", inkText
	if i == u.pick {
		mark, k = t.glyphs.pick+" ", inkPick
	}
	if i >= len(ops) {
		r := u.stored[i-len(ops)]
		return say(inkAccent, mark, inkUnknown, t.glyphs.unknown+" ", k, r.Run, inkQuiet, "  "+r.Workflow+"  "+r.Admitted.Format("2006-01-02 15:04:05")+"  in the store")
	}
	op := ops[i]
	out := say(inkAccent, mark, inkUnknown, t.glyphs.unknown+" ", k, opName(op), inkQuiet, "  "+firstOf(op.DoubtRuns))
	for _, c := range op.Doubts {
		if e := lastEvidence(c); e != nil {
			s := foundSigns[e.Found]
			return append(out, span{s.ink, "  " + t.glyphs.of(s)})
		}
	}
	return append(out, span{inkQuiet, "  not looked up"})
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
	case u.pick < len(ops) && (c.verb.Name == "open" || c.key != "" && decides(c.verb.Name)):
		op := ops[u.pick]
		p := &settle{step: op.Step, undo: op.Undo, run: firstOf(op.DoubtRuns)}
		m.push(p)
		if c.verb.Name == "open" {
			return nil, true
		}
		return p.verb(m, c)
	case c.verb.Name == "open" || c.verb.Name == "lookup" && c.key != "":
		return m.openRun(u.stored[u.pick-len(ops)].Run), true
	case c.key != "" && decides(c.verb.Name):
		m.say(inkQuiet, "open the run first: enter")
	default:
		return nil, false
	}
	return nil, true
}

// decides reports whether a verb is about one unknown operation.
func decides(verb string) bool {
	switch verb {
	case "lookup", "record", "resubmit", "abandon", "escalate":
		return true
	}
	return false
}
