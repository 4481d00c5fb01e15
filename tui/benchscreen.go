package tui

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// benchScreen is the bench: what the caller believes, the wire, the truth.
type benchScreen struct{}

func (benchScreen) on() lang.Screen { return lang.OnBench }

func (benchScreen) title(m *model) spans { return say(inkStrong, m.session.scenario.Title) }

func (b *benchScreen) draw(m *model, width, height int) []string { return m.bench(width, height, nil) }

// layout is where things stand now: a lesson asks on every bench of its own.
func (m *model) layout() layout {
	l := layoutFor(m.width, m.height)
	if m.course != nil {
		return l.asking()
	}
	return l
}

// bench draws the panes and the timeline. With centre something else stands in the wire's place.
func (m *model) bench(width, height int, centre func(w, h int) []string) []string {
	l := m.layout()
	body := height - 1 - l.air
	var out []string
	switch {
	case l.shape == columns:
		out = m.inColumns(l, body, centre)
	case centre != nil:
		out = centre(width, body)
	default:
		out = m.inStack(l, body)
	}
	if l.air > 0 {
		out = append(out, m.t.line(nil, width))
	}
	return append(out, m.timeline(width, 1))
}

func (m *model) inColumns(l layout, body int, centre func(w, h int) []string) []string {
	left := m.leftColumn(l, body)
	var mid []string
	if centre != nil {
		mid = centre(l.wire, body)
	} else {
		mid = m.pane(paneWire, l.wire, body)
	}
	right := append([]string{}, m.pane(paneLedger, l.right, l.ledger)...)
	right = append(right, m.pane(paneLog, l.right, l.log)...)
	rest := body - l.ledger - l.log
	if q := m.question(l.right - 4); q != nil {
		asked := clamp(len(q)+2, 5, rest)
		right = append(right, m.questionBox(q, l.right, asked)...)
		rest -= asked
	}
	if rest >= 3 {
		right = append(right, m.pane(paneVerdict, l.right, rest)...)
	} else {
		right = append(right, m.t.window(rows{}, 0, l.right, rest)...)
	}
	if l.margin == 0 {
		return beside(left, mid, right)
	}
	out := beside(left, mid, right)
	for i := range out {
		out[i] = " " + out[i]
	}
	return out
}

func (m *model) leftColumn(l layout, body int) []string {
	switch {
	case m.session.identity && l.identity == 0:
		return m.pane(paneIdentity, l.left, body)
	case l.identity > 0:
		return append(append([]string{}, m.pane(paneBelief, l.left, body-l.identity)...), m.pane(paneIdentity, l.left, l.identity)...)
	}
	return m.pane(paneBelief, l.left, body)
}

// inStack is the wire and, under it, the other panes as tabs of one box.
func (m *model) inStack(l layout, body int) []string {
	if m.session.identity { // its rows are seen together or mean little
		l.wireHeight = clamp(body-identityHeight, 3, l.wireHeight)
	}
	out := append([]string{}, m.pane(paneWire, l.width, l.wireHeight)...)
	if q := m.question(l.width - 4); q != nil {
		return append(out, m.questionBox(q, l.width, body-l.wireHeight)...)
	}
	return append(out, m.pane(m.tab(), l.width, body-l.wireHeight)...)
}

// questionBox is a prediction being asked, or how it did.
func (m *model) questionBox(q []spans, width, height int) []string {
	b := box{title: say(inkStrong, "What do you think?"), frame: inkAlarm, body: func(w, h int) []string { return m.t.window(fixed(q...), 0, w, h) }}
	if m.session.state.Asked == nil {
		b.title, b.frame = say(inkStrong, "Your prediction"), inkAccent
	}
	return m.t.draw(b, width, height)
}

// tab is the pane that the tabs show: the one in focus, or while that is the wire, the one in focus before.
func (m *model) tab() pane {
	s := m.session
	switch {
	case s.identity:
		return paneIdentity
	case s.focus != paneWire:
		return s.focus
	case !s.hides() && s.state.AtRest && !s.past() && !s.known.loud && len(s.view.Operations) > 0:
		return paneVerdict // nothing is unknown and nothing moves: the end of the story
	}
	return paneBelief
}

// paneKey is all that a pane depends on; while it is the same, so are the lines.
type paneKey struct {
	view            *scenarios.View
	t               *theme
	width, height   int
	focus, covered  bool
	scroll, run, op int
	due             int64 // tenths of a second left, where the pane counts down
	failed          int
	tookOver        bool
}

// memo keeps the lines of the panes.
type memo struct {
	keys  [paneCount]paneKey
	lines [paneCount][]string
	drawn int // panes drawn so far, for tests
}

// pane gives the lines of one pane, from the memo where nothing changed.
func (m *model) pane(p pane, width, height int) []string {
	s := m.session
	key := paneKey{view: s.view, t: m.t, width: width, height: height, focus: s.focus == p, covered: s.hides(),
		scroll: s.scroll[p], run: s.runPicked(), op: s.opPicked(), failed: len(s.state.Failed), tookOver: s.state.TookOver != ""}
	if p == paneBelief && s.moving() {
		key.due = int64(s.state.Due / tickTime)
	}
	if m.memo.keys[p] == key && m.memo.lines[p] != nil {
		return m.memo.lines[p]
	}
	m.memo.keys[p] = key
	m.memo.drawn++
	m.memo.lines[p] = m.t.draw(m.box(p, width, height), width, height)
	return m.memo.lines[p]
}

// box is a pane with its frame.
func (m *model) box(p pane, width, height int) box {
	s, t := m.session, m.t
	b := box{title: say(inkStrong, paneTitles[p]), frame: inkFrame, focus: s.focus == p}
	if b.focus {
		b.frame = inkAccent
	}
	tr := truth{theme: t, view: s.view, state: s.state, covered: s.hides(), uncover: keyOfVerb("cover", lang.OnBench), pick: s.opPicked(), skip: s.scroll[paneVerdict], count: s.known.effects, absent: s.storedRun() != ""}
	switch p {
	case paneWire:
		m.wireBox(&b, width)
	case paneBelief:
		m.beliefBox(&b)
	case paneLedger:
		b.body = func(w, h int) []string { return tr.ledger(w, h, s.scroll[p]) }
	case paneLog:
		b.body = func(w, h int) []string { return tr.logLines(w, h, s.scroll[p]) }
	case paneVerdict:
		if k := tr.verdictInk(); k != inkFrame {
			b.frame = k
			if k == inkUnknown {
				b.frame = inkAlarm
			}
		}
		b.body = tr.verdict
	case paneIdentity:
		d := identities{theme: t, view: s.view, covered: s.covered}
		if i := s.opPicked(); i >= 0 {
			d.op = &s.view.Operations[i]
		}
		r := d.rows(width - 2 - padding)
		hidden := max(0, r.n-(height-2))
		first := clamp(s.scroll[p], 0, hidden)
		s.scroll[p] = first // one key up is to be seen, however many went down
		if first < hidden {
			b.side = say(inkQuiet, t.glyphs.bottom+" "+strconv.Itoa(hidden-first)+" more")
		}
		b.body = func(w, h int) []string { return t.window(r, first, w, h) }
	}
	if p != paneWire && layoutFor(m.width, m.height).shape == stacked {
		b.title = m.tabs(p)
	}
	return b
}

var paneTitles = [paneCount]string{"Caller believes", "Wire", "Provider's ledger", "Provider log", "Verdict", "Identities"}

// tabs are the titles of all panes under the wire, the one that is shown marked.
func (m *model) tabs(shown pane) spans {
	var out spans
	names := map[pane]string{paneBelief: "Caller", paneLedger: "Ledger", paneLog: "Log", paneVerdict: "Verdict", paneIdentity: "Identities"}
	for _, p := range tabOrder[1:] {
		if len(out) > 0 {
			out = append(out, span{inkFrame, " " + m.t.glyphs.dot + " "})
		}
		if p == shown {
			out = append(out, span{inkStrong, "[" + names[p] + "]"})
		} else {
			out = append(out, span{inkQuiet, names[p]})
		}
		out = append(out, m.tabSign(p)...)
	}
	return out
}

// tabSign says what is in a tab that may not be shown: an unknown operation, the verdict.
func (m *model) tabSign(p pane) spans {
	s := m.session
	switch {
	case p == paneBelief && s.known.loud:
		return say(inkText, " ", inkUnknown, m.t.glyphs.unknown)
	case p == paneVerdict && !s.hides() && s.opPicked() >= 0:
		if op := &s.view.Operations[s.opPicked()]; op.Verdict != "" {
			v := verdictSigns[op.Verdict]
			return say(inkText, " ", v.ink, v.glyph(m.t.glyphs))
		}
	}
	return nil
}

func (m *model) beliefBox(b *box) {
	s := m.session
	if s.known.loud {
		b.frame = inkAlarm
	}
	b.body = func(w, h int) []string {
		pane := beliefPane{theme: m.t, view: s.view, run: s.runPicked(), now: s.now(), look: keyOfVerb("lookup", lang.OnBench), hidden: s.hidden, height: h, focus: s.focus == paneBelief}
		if s.covered {
			pane.hidden = nil
		}
		r := pane.rows(w)
		s.scroll[paneBelief] = clamp(s.scroll[paneBelief], 0, max(0, r.n-h))
		return m.t.window(r, s.scroll[paneBelief], w, h)
	}
}

func (m *model) wireBox(b *box, width int) {
	s := m.session
	w := wirePicture{theme: m.t, lanes: lanesFor(width-2-padding, s.view.At.Sub(s.view.Start)), view: s.view, covered: s.hides()}
	b.body = func(_, h int) []string {
		head := h >= 6
		if head {
			h--
		}
		lines := w.lines(h, s.scroll[paneWire])
		if len(s.view.Wire) == 0 {
			lines = append([]string{m.t.line(say(inkQuiet, "nothing sent yet"), w.cells)}, lines...)[:min(h, len(lines)+1)]
		}
		if head {
			lines = append([]string{w.labels()}, lines...)
		}
		return lines
	}
	if s.scroll[paneWire] > 0 {
		b.side = say(inkQuiet, m.t.glyphs.bottom+" "+strconv.Itoa(s.scroll[paneWire])+" more")
	}
}

func clamp(n, low, high int) int { return max(low, min(n, high)) }

// tabOrder is the way of the focus.
var tabOrder = []pane{paneWire, paneBelief, paneLedger, paneLog, paneVerdict, paneIdentity}

func (b *benchScreen) verb(m *model, c command) (tea.Cmd, bool) {
	if cmd, ok := m.storedVerb(c); ok {
		return cmd, true
	}
	f, ok := benchVerbs[c.verb.Name]
	if !ok {
		return nil, false
	}
	return f(m, c), true
}
