package tui

import (
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// benchScreen is the bench: what the caller believes, the wire, the truth.
type benchScreen struct{}

func (benchScreen) on() lang.Screen { return lang.OnBench }

func (benchScreen) title(u *ui) draw.Spans { return draw.Say(draw.Strong, u.session.scenario.Title) }

func (b *benchScreen) draw(u *ui, width, height int) []string { return u.bench(width, height, nil) }

// layout is where things stand now: a lesson asks on every bench of its own.
func (u *ui) layout() layout {
	l := layoutFor(u.width, u.height)
	if u.course != nil {
		return l.asking()
	}
	return l
}

// bench draws the panes and the timeline. With centre something else stands in the wire's place.
func (u *ui) bench(width, height int, centre func(w, h int) []string) []string {
	l := u.layout()
	body := height - 1 - l.air
	var out []string
	switch {
	case l.shape == columns:
		out = u.inColumns(l, body, centre)
	case centre != nil:
		out = centre(width, body)
	default:
		out = u.inStack(l, body)
	}
	if l.air > 0 {
		out = append(out, u.t.Line(nil, width))
	}
	return append(out, u.timeline(width, 1))
}

func (u *ui) inColumns(l layout, body int, centre func(w, h int) []string) []string {
	left := u.leftColumn(l, body)
	var mid []string
	if centre != nil {
		mid = centre(l.wire, body)
	} else {
		mid = u.pane(paneWire, l.wire, body)
	}
	right := append([]string{}, u.pane(paneLedger, l.right, l.ledger)...)
	right = append(right, u.pane(paneLog, l.right, l.log)...)
	rest := body - l.ledger - l.log
	if q := u.question(l.right - 4); q != nil {
		asked := clamp(len(q)+2, 5, rest)
		right = append(right, u.questionBox(q, l.right, asked)...)
		rest -= asked
	}
	if rest >= 3 {
		right = append(right, u.pane(paneVerdict, l.right, rest)...)
	} else {
		right = append(right, u.t.Window(draw.Rows{}, 0, l.right, rest)...)
	}
	if l.margin == 0 {
		return draw.Beside(left, mid, right)
	}
	out := draw.Beside(left, mid, right)
	for i := range out {
		out[i] = " " + out[i]
	}
	return out
}

func (u *ui) leftColumn(l layout, body int) []string {
	switch {
	case u.session.identity && l.identity == 0:
		return u.pane(paneIdentity, l.left, body)
	case l.identity > 0:
		return append(append([]string{}, u.pane(paneBelief, l.left, body-l.identity)...), u.pane(paneIdentity, l.left, l.identity)...)
	}
	return u.pane(paneBelief, l.left, body)
}

// inStack is the wire and, under it, the other panes as tabs of one box.
func (u *ui) inStack(l layout, body int) []string {
	if u.session.identity { // its rows are seen together or mean little
		l.wireHeight = clamp(body-identityHeight, 3, l.wireHeight)
	}
	out := append([]string{}, u.pane(paneWire, l.width, l.wireHeight)...)
	if q := u.question(l.width - 4); q != nil {
		return append(out, u.questionBox(q, l.width, body-l.wireHeight)...)
	}
	return append(out, u.pane(u.tab(), l.width, body-l.wireHeight)...)
}

// questionBox is a prediction being asked, or how it did.
func (u *ui) questionBox(q []draw.Spans, width, height int) []string {
	b := draw.Box{Title: draw.Say(draw.Strong, "What do you think?"), Frame: draw.Alarm, Body: func(w, h int) []string { return u.t.Window(draw.Fixed(q...), 0, w, h) }}
	if u.session.state.Asked == nil {
		b.Title, b.Frame = draw.Say(draw.Strong, "Your prediction"), draw.Accent
	}
	return u.t.Box(b, width, height)
}

// tab is the pane that the tabs show: the one in focus, or while that is the wire, the one in focus before.
func (u *ui) tab() pane {
	s := u.session
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
	t               *draw.Theme
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
func (u *ui) pane(p pane, width, height int) []string {
	s := u.session
	key := paneKey{view: s.view, t: u.t, width: width, height: height, focus: s.focus == p, covered: s.hides(),
		scroll: s.scroll[p], run: s.runPicked(), op: s.opPicked(), failed: len(s.state.Failed), tookOver: s.state.TookOver != ""}
	if p == paneBelief && s.moving() {
		key.due = int64(s.state.Due / tickTime)
	}
	if u.session.memo.keys[p] == key && u.session.memo.lines[p] != nil {
		return u.session.memo.lines[p]
	}
	u.session.memo.keys[p] = key
	u.session.memo.drawn++
	u.session.memo.lines[p] = u.t.Box(u.box(p, width, height), width, height)
	return u.session.memo.lines[p]
}

// box is a pane with its frame.
func (u *ui) box(p pane, width, height int) draw.Box {
	s, t := u.session, u.t
	b := draw.Box{Title: draw.Say(draw.Strong, paneTitles[p]), Frame: draw.Frame, Focus: s.focus == p}
	if b.Focus {
		b.Frame = draw.Accent
	}
	tr := truth{Theme: t, view: s.view, state: s.state, covered: s.hides(), uncover: keyOfVerb("cover", lang.OnBench), pick: s.opPicked(), skip: s.scroll[paneVerdict], count: s.known.effects, absent: s.storedRun() != ""}
	switch p {
	case paneWire:
		u.wireBox(&b, width)
	case paneBelief:
		u.beliefBox(&b)
	case paneLedger:
		b.Body = func(w, h int) []string { return tr.ledger(w, h, s.scroll[p]) }
	case paneLog:
		b.Body = func(w, h int) []string { return tr.logLines(w, h, s.scroll[p]) }
	case paneVerdict:
		if k := tr.verdictInk(); k != draw.Frame {
			b.Frame = k
			if k == draw.Unknown {
				b.Frame = draw.Alarm
			}
		}
		b.Body = tr.verdict
	case paneIdentity:
		d := identities{Theme: t, view: s.view, covered: s.covered}
		if i := s.opPicked(); i >= 0 {
			d.op = &s.view.Operations[i]
		}
		r := d.rows(width - 2 - draw.Padding)
		hidden := max(0, r.N-(height-2))
		first := clamp(s.scroll[p], 0, hidden)
		s.scroll[p] = first // one key up is to be seen, however many went down
		if first < hidden {
			b.Side = draw.Say(draw.Quiet, t.Glyphs.Bottom+" "+strconv.Itoa(hidden-first)+" more")
		}
		b.Body = func(w, h int) []string { return t.Window(r, first, w, h) }
	}
	if p != paneWire && layoutFor(u.width, u.height).shape == stacked {
		b.Title = u.tabs(p)
	}
	return b
}

var paneTitles = [paneCount]string{"Caller believes", "Wire", "Provider's ledger", "Provider log", "Verdict", "Identities"}

// tabs are the titles of all panes under the wire, the one that is shown marked.
func (u *ui) tabs(shown pane) draw.Spans {
	var out draw.Spans
	names := map[pane]string{paneBelief: "Caller", paneLedger: "Ledger", paneLog: "Log", paneVerdict: "Verdict", paneIdentity: "Identities"}
	for _, p := range tabOrder[1:] {
		if len(out) > 0 {
			out = out.And(draw.Frame, " "+u.t.Glyphs.Dot+" ")
		}
		if p == shown {
			out = out.And(draw.Strong, "["+names[p]+"]")
		} else {
			out = out.And(draw.Quiet, names[p])
		}
		out = append(out, u.tabSign(p)...)
	}
	return out
}

// tabSign says what is in a tab that may not be shown: an unknown operation, the verdict.
func (u *ui) tabSign(p pane) draw.Spans {
	s := u.session
	switch {
	case p == paneBelief && s.known.loud:
		return draw.Say(draw.Text, " ", draw.Unknown, u.t.Glyphs.Unknown)
	case p == paneVerdict && !s.hides() && s.opPicked() >= 0:
		if op := &s.view.Operations[s.opPicked()]; op.Verdict != "" {
			v := verdictSigns[op.Verdict]
			return draw.Say(draw.Text, " ", v.Ink, v.Glyph(u.t.Glyphs))
		}
	}
	return nil
}

func (u *ui) beliefBox(b *draw.Box) {
	s := u.session
	if s.known.loud {
		b.Frame = draw.Alarm
	}
	b.Body = func(w, h int) []string {
		pane := beliefPane{Theme: u.t, view: s.view, run: s.runPicked(), now: s.now(), look: keyOfVerb("lookup", lang.OnBench), hidden: s.hidden, height: h, focus: s.focus == paneBelief}
		if s.covered {
			pane.hidden = nil
		}
		r := pane.rows(w)
		s.scroll[paneBelief] = clamp(s.scroll[paneBelief], 0, max(0, r.N-h))
		return u.t.Window(r, s.scroll[paneBelief], w, h)
	}
}

func (u *ui) wireBox(b *draw.Box, width int) {
	s := u.session
	w := wirePicture{Theme: u.t, lanes: lanesFor(width-2-draw.Padding, s.view.At.Sub(s.view.Start)), view: s.view, covered: s.hides()}
	b.Body = func(_, h int) []string {
		head := h >= 6
		if head {
			h--
		}
		lines := w.lines(h, s.scroll[paneWire])
		if len(s.view.Wire) == 0 {
			lines = append([]string{u.t.Line(draw.Say(draw.Quiet, "nothing sent yet"), w.cells)}, lines...)[:min(h, len(lines)+1)]
		}
		if head {
			lines = append([]string{w.labels()}, lines...)
		}
		return lines
	}
	if s.scroll[paneWire] > 0 {
		b.Side = draw.Say(draw.Quiet, u.t.Glyphs.Bottom+" "+strconv.Itoa(s.scroll[paneWire])+" more")
	}
}

func clamp(n, low, high int) int { return max(low, min(n, high)) }

// tabOrder is the way of the focus.
var tabOrder = []pane{paneWire, paneBelief, paneLedger, paneLog, paneVerdict, paneIdentity}

func (b *benchScreen) verb(u *ui, c command) (tea.Cmd, bool) {
	if cmd, ok := u.storedVerb(c); ok {
		return cmd, true
	}
	f, ok := benchVerbs[c.verb.Name]
	if !ok {
		return nil, false
	}
	return f(u, c), true
}

// The smallest screen that the workbench is drawn on, in cells.
const (
	minWidth  = 60
	minHeight = 16
)

// widestWire is how long arrows may be, in cells: on longer ones the eye loses the row.
const widestWire = 110

// shape is how the bench is laid out.
type shape int

const (
	tooSmall shape = iota
	stacked        // the wire, and the other panes as tabs under it
	columns        // belief left, wire in the centre, truth right
)

// layout is where things stand for one size of the terminal. Header, timeline
// and footer take a line each; air is how many blank lines stand between them.
type layout struct {
	shape             shape
	width, height     int
	air               int // 0 or 1, of each of the three gaps
	margin            int // blank columns at the left
	left, wire, right int // widths; in the stacked shape all are the same
	body              int // the height between header and timeline
	wireHeight        int // stacked: the wire's; else the body's
	ledger, log       int // columns: heights of the right panes, the verdict takes the rest
	identity          int // columns: the height of the identities under the belief, 0 where they are shown on demand
}

// layoutFor decides. It is pure: the same size gives the same layout, so nothing jumps while a run goes on.
func layoutFor(width, height int) layout {
	l := layout{width: width, height: height}
	switch {
	case width < minWidth || height < minHeight:
		return l
	case width < 110 || height < 22:
		return l.stack()
	}
	return l.split()
}

func (l layout) stack() layout {
	l.shape = stacked
	if l.height >= 32 {
		l.air = 1
	}
	l.body = l.height - 3 - 3*l.air
	l.left, l.wire, l.right = l.width, l.width, l.width
	l.wireHeight = (l.body*11 + 10) / 20
	return l
}

func (l layout) split() layout {
	l.shape, l.margin = columns, 1
	if l.height >= 30 {
		l.air = 1
	}
	l.body = l.height - 3 - 3*l.air
	room := l.width - l.margin - 2
	l.left, l.right = 32, 30
	if l.width < 120 {
		l.left, l.right = 31, 28
	}
	spare := max(0, l.width-120)
	l.left += min(24, spare*3/10)
	l.right += min(20, spare/5)
	if l.wire = room - l.left - l.right; l.wire > widestWire {
		rest := l.wire - widestWire
		l.left, l.right, l.wire = l.left+rest/2, l.right+rest-rest/2, widestWire
	}
	l.wireHeight = l.body
	l.ledger = max(5, l.body*5/20)
	l.log = max(5, l.body*7/20)
	if l.body >= 42 {
		l.identity = 14
	}
	return l
}

// asking makes room for a question over the verdict.
func (l layout) asking() layout {
	if l.shape == columns {
		l.ledger = max(5, l.body/5)
		l.log = l.ledger
	}
	return l
}

// need is the one line for a terminal that is too small.
func need(width, height int) string {
	return fmt.Sprintf("faultlab needs %dx%d cells, this terminal has %dx%d", minWidth, minHeight, width, height)
}

// benchVerbs are the verbs that the bench's screen carries out itself, or adds to
// what the bench does.
var benchVerbs map[string]func(*ui, command) tea.Cmd

func init() {
	benchVerbs = map[string]func(*ui, command) tea.Cmd{
		"up": scrollBy(1, 0), "down": scrollBy(-1, 0), "pageup": scrollBy(0, 1), "pagedown": scrollBy(0, -1),
		"top":     func(u *ui, _ command) tea.Cmd { u.session.move(1); return nil },
		"bottom":  goLive,
		"live":    goLive,
		"back":    func(u *ui, _ command) tea.Cmd { u.session.move(u.session.position() - 1); return nil },
		"forward": func(u *ui, _ command) tea.Cmd { u.session.move(u.session.position() + 1); return u.tick() },
		"goto":    goTo,
		"pane":    func(u *ui, _ command) tea.Cmd { u.focusBy(1); return nil },
		"unpane":  func(u *ui, _ command) tea.Cmd { u.focusBy(-1); return nil },
		"cover":   func(u *ui, _ command) tea.Cmd { return u.cover(!u.session.covered) },
		"uncover": func(u *ui, _ command) tea.Cmd { return u.cover(false) },
		"identities": func(u *ui, _ command) tea.Cmd {
			u.session.identity = !u.session.identity
			return nil
		},
		"again":  runAgain,
		"lookup": lookUp,
		"fault":  menuFor(faultMenu), "contract": menuFor(contractMenu), "policy": menuFor(policyMenu), "key": menuFor(keyMenu),
		"deliver": needsArgs, "trigger": trigger,
		"compare": compareRuns,
		"edit":    editWorkflow,
		"copy":    copyFromBench,
		"answer":  answerOnBench,
		"close": func(u *ui, _ command) tea.Cmd {
			if u.session.past() {
				return goLive(u, command{})
			}
			u.pop()
			return nil
		},
	}
}

func goLive(u *ui, _ command) tea.Cmd {
	u.session.move(u.session.bench.Len())
	return u.tick()
}

func goTo(u *ui, c command) tea.Cmd {
	n, err := strconv.Atoi(strings.TrimSpace(c.args))
	if err != nil {
		u.say(draw.Bad, "goto: type the number of an entry, 1 to "+strconv.Itoa(u.session.bench.Len()))
		return nil
	}
	u.session.move(n)
	return u.tick()
}

func (u *ui) cover(on bool) tea.Cmd {
	if u.session.storedRun() != "" {
		u.say(draw.Quiet, "a stored run has no provider side: the store keeps the caller's history only")
	}
	u.session.covered = on
	if u.course != nil {
		return nil // a lesson covers and uncovers by itself
	}
	u.settings.Covered = on
	return u.keep()
}

func (u *ui) focusBy(step int) {
	s := u.session
	i := 0
	for j, p := range tabOrder {
		if p == s.focus {
			i = j
		}
	}
	s.focus = tabOrder[(i+step+len(tabOrder))%len(tabOrder)]
	s.identity = s.focus == paneIdentity
}

// scrollBy scrolls the pane in focus. In the belief, up and down choose a run where there
// are several; in the verdict an operation, and pages scroll.
func scrollBy(lines, pages int) func(*ui, command) tea.Cmd {
	return func(u *ui, _ command) tea.Cmd {
		s := u.session
		p := s.focus
		n := lines + pages*max(1, u.height/2)
		if p == paneBelief && len(s.view.Runs) > 1 {
			s.run = clamp(s.runPicked()-n, 0, len(s.view.Runs)-1)
			s.op = -1
			return nil
		}
		if p == paneBelief || p == paneIdentity || p == paneVerdict {
			n = -n // these rest at their beginning, the others at their end
		}
		if p == paneVerdict && pages == 0 && len(s.view.Operations) > 1 {
			s.scroll[p] = 0
			s.op = clamp(s.opPicked()+sign1(n), 0, max(0, len(s.view.Operations)-1))
			return nil
		}
		limit := map[pane]int{paneWire: len(s.view.Wire) - 1, paneLedger: len(s.view.Effects) - 1, paneLog: len(s.view.Log) - 1}
		most, ok := limit[p]
		if !ok {
			most = 1000
		}
		s.scroll[p] = clamp(s.scroll[p]+n, 0, max(0, most))
		return nil
	}
}

func sign1(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// lookUp asks the provider by key, which changes nothing there, and shows what can be decided.
func lookUp(u *ui, c command) tea.Cmd {
	s := u.session
	if !s.known.loud {
		u.say(draw.Quiet, "look up: no operation is unknown")
		return nil
	}
	p := newReconcile(u)
	u.push(p)
	if c.key != "" && p.hasEvidence(u) {
		return nil // the first press asked; now it is a decision
	}
	return u.send(c)
}

// needsArgs opens the palette where a key alone does not say enough.
func needsArgs(u *ui, c command) tea.Cmd {
	if c.args != "" {
		return u.send(c)
	}
	u.command(newPalette(c.verb.Name + " "))
	return nil
}

// trigger runs the workflow once more on the same bench, as the scenario does first.
func trigger(u *ui, c command) tea.Cmd {
	if c.args != "" {
		return u.send(c)
	}
	for _, l := range u.session.scenario.Lines {
		if l.Verb == "trigger" {
			return u.send(command{verb: c.verb, args: l.Text})
		}
	}
	return needsArgs(u, c)
}

// menuFor opens a menu where a key alone does not say which.
func menuFor(make func(*ui) *menu) func(*ui, command) tea.Cmd {
	return func(u *ui, c command) tea.Cmd {
		if c.args != "" {
			return u.send(c)
		}
		if u.session.past() {
			u.session.move(u.session.bench.Len()) // what is queued now, as what is sent from it is done now
		}
		u.push(make(u))
		return nil
	}
}

// runAgain runs the same scenario on a fresh bench, or reads the same run again.
func runAgain(u *ui, _ command) tea.Cmd {
	s := u.session
	switch {
	case s.storedRun() != "":
		return u.openRun(s.storedRun(), nil)
	case u.course != nil:
		return u.openFor(s.scenario)
	}
	return u.open(s.scenario)
}
