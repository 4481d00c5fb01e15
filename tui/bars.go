package tui

import (
	"slices"
	"strconv"
	"strings"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

// header is the first line: what is open, and what it is doing.
func (m *model) header(l layout) string {
	t := m.t
	left := say(inkBadge, " faultlab ", inkText, "  ")
	left = append(left, m.top().title(m)...)
	right := m.doing()
	p := t.pen(m.width)
	p.skip(l.margin)
	room := m.width - l.margin - 1
	title := t.width(left)
	if m.top().on() == lang.OnBench {
		title = min(title, room/2) // a longer one is cut before the state goes
	}
	for len(right) > 1 && title+2+t.width(join(right)) > room {
		right = right[:len(right)-1]
	}
	left = t.cutTo(left, room-2-t.width(join(right)))
	p.b.WriteString(t.split(left, join(right), max(0, room)))
	p.room = 1
	return p.line()
}

// doing is the right end of the header, part by part, the most important first.
func (m *model) doing() []spans {
	s := m.session
	if s == nil || m.top().on()&(lang.OnCatalogue|lang.OnLesson|lang.OnRuns) != 0 {
		return nil
	}
	if s.storedRun() != "" {
		return m.storedDoing()
	}
	st := s.state
	parts := []spans{m.mode()}
	elapsed := st.Elapsed
	if s.past() {
		elapsed = s.view.At.Sub(s.view.Start)
	}
	parts = append(parts, say(inkText, "t+"+moment(elapsed)+"s"))
	parts = append(parts, m.faultsPart())
	where := st.Address
	switch {
	case st.Mode != scenarios.Simulated:
	case m.width < 100:
		where = st.Mode // nobody else can call it there
	default:
		where += " " + st.Mode
	}
	parts = append(parts, say(inkQuiet, where))
	if c := s.view.Contract; c != "" && c != "seed" && !s.covered {
		parts = append(parts, say(inkQuiet, "contract "+c))
	}
	return parts
}

// mode says whether the bench moves, is held, is at rest, or is looked at in the past.
func (m *model) mode() spans {
	s, g := m.session, m.t.glyphs
	st := s.state
	var out spans
	switch {
	case s.past():
		out = say(inkAccent, g.past+" PAST "+strconv.Itoa(s.position())+"/"+strconv.Itoa(s.view.Total))
	case st.Asked != nil:
		out = say(inkUnknown, g.unknown+" YOUR GUESS")
	case len(st.Parked) > 0:
		at := st.Parked[0]
		if s.covered && (strings.HasPrefix(at, "commit ") || strings.HasPrefix(at, "reply ")) {
			at = "the provider" // and not whether it commits
		}
		out = say(inkAccent, g.paused+" HELD", inkQuiet, " at "+at)
	case st.Paused:
		out = say(inkAccent, g.paused+" PAUSED")
	case st.Stepping:
		out = say(inkAccent, g.paused+" STEPPING")
	case st.AtRest && !st.Playing:
		out = say(inkQuiet, g.rest+" AT REST")
	default:
		out = say(inkGood, g.live+" LIVE "+m.speed())
	}
	if s.covered {
		out = append(say(inkCover, g.cover+" COVERED", inkText, "  "), out...)
	}
	if s.view.WorkerDown {
		out = append(say(inkBad, g.down+" WORKER DOWN "), out...)
	}
	return out
}

func (m *model) speed() string {
	x := m.session.state.Speed
	if x == 0 {
		return "at once"
	}
	return strconv.FormatFloat(x, 'g', 3, 64) + m.t.glyphs.times
}

// longestFault is how much of a composed fault the header shows, in cells: with all of it none would have room.
const longestFault = 28

func (m *model) faultsPart() spans {
	f := m.session.view.Faults
	first := func() string { return m.t.head(f[0].Words(), longestFault) }
	switch {
	case m.session.covered:
		return say(inkQuiet, "faults "+m.t.glyphs.cover)
	case len(f) == 0:
		return say(inkQuiet, "faults "+m.t.glyphs.none)
	case len(f) == 1:
		return say(inkQuiet, "faults ", inkBad, first())
	}
	return say(inkQuiet, "faults ", inkBad, first()+" +"+strconv.Itoa(len(f)-1))
}

func join(parts []spans) spans {
	var out spans
	for i, p := range parts {
		if i > 0 {
			out = append(out, span{inkText, "   "})
		}
		out = append(out, p...)
	}
	return out
}

// timeline is the bar under the panes: which of the entries is looked at.
func (m *model) timeline(width, margin int) string {
	t, s := m.t, m.session
	g := t.glyphs
	p := t.pen(width)
	p.skip(margin)
	p.put(inkQuiet, "0s ")
	at, total := s.position(), max(s.view.Total, 0)
	side := say(inkQuiet, " "+strconv.Itoa(at)+"/"+strconv.Itoa(total)+" events")
	hint := say(inkQuiet, "  "+g.arrowLeft+" "+g.arrowRight+" step through time ")
	if width < 100 {
		hint = say(inkQuiet, "  "+g.arrowLeft+" "+g.arrowRight+" ")
	}
	bar := max(1, p.room-t.width(side)-t.width(hint))
	knob := 0
	if total > 0 {
		knob = at * (bar - 1) / total
	}
	p.fill(inkAccent, g.bar, knob)
	p.put(inkAccent, g.knob)
	p.fill(inkFrame, g.track, bar-knob-1)
	for _, x := range append(side, hint...) {
		p.put(x.ink, x.text)
	}
	return p.line()
}

// footerOrder is the order in which the footer of each screen names verbs; where
// there is no room those before the last two go (see drop).
var footerOrder = map[lang.Screen][]string{
	lang.OnCatalogue: {"open", "filter", "lessons", "history", "unknowns", "edit", "command", "help", "quit"},
	lang.OnBench:     {"again", "pause", "fault", "crash", "restart", "lookup", "cover", "pane", "command", "help", "quit"},
	lang.OnRuns:      {"open", "pane", "filter", "lookup", "rerun", "copy", "close", "command", "help", "quit"},
	lang.OnUnknowns:  {"open", "lookup", "record", "resubmit", "abandon", "escalate", "copy", "close", "help"},
	lang.OnLesson:    {"open", "close", "command", "help", "quit"},
	lang.OnMenu:      {"open", "filter", "close", "help"},
}

// footerWords are shorter than the verbs' labels where the footer says more than the verb's name.
var footerWords = map[string]string{
	"again": "run again", "trigger": "trigger a run", "lookup": "look up", "crash": "crash worker", "cover": "cover truth", "close": "back", "history": "runs", "edit": "edit", "live": "back to live",
}

func (m *model) footer() string {
	t := m.t
	p := t.pen(m.width)
	p.skip(1)
	switch {
	case m.palette != nil:
		return m.palette.line(m)
	case m.notice.text != "":
		p.put(m.notice.ink, m.notice.text)
		return p.line()
	}
	on := m.top().on()
	var items []spans
	if p, ok := m.top().(*settle); ok && p.confirm != nil {
		items = p.footer() // the keys are text now
		on = 0
	}
	for _, name := range m.footerNames(on) {
		if k := keyOfVerb(name, on); k != "" && m.offers(name) {
			items = append(items, say(inkAccent, m.keyLabel(name, k), inkQuiet, " "+m.footerWord(name, on)))
		}
	}
	gap := 3
	if m.t.tooWide(items, m.width-2) {
		for i := range items {
			items[i][1].text = " " + lastWord(items[i][1].text)
		}
	}
	for total := 0; ; items = drop(items) {
		total = 0
		for _, it := range items {
			total += t.width(it)
		}
		if gap = 3; total+(len(items)-1)*gap > m.width-2 {
			gap = 2
		}
		if total+(len(items)-1)*gap <= m.width-2 || len(items) < 3 {
			break
		}
	}
	for i, it := range items {
		if i > 0 {
			p.skip(gap)
		}
		for _, x := range it {
			p.put(x.ink, x.text)
		}
	}
	return p.line()
}

// footerNames are the verbs that the footer names, those first that end the state that the bench is in.
func (m *model) footerNames(on lang.Screen) []string {
	s, names := m.session, footerOrder[on]
	switch {
	case on != lang.OnBench || s == nil:
		return names
	case s.storedRun() != "":
		names = storedFooter
	default:
		names = m.benchFooter(names)
	}
	if s.past() {
		names = append([]string{"live"}, names...)
	}
	return names
}

func (m *model) benchFooter(names []string) []string {
	s := m.session
	if s.view.WorkerDown {
		names = append([]string{"restart"}, without(names, "restart")...)
	}
	switch {
	case s.state.Asked != nil:
		return append([]string{"answer"}, names...)
	case s.state.Stepping:
		return append([]string{"step", "pause"}, without(names, "pause")...)
	case s.state.Paused:
		return append([]string{"pause", "step"}, without(names, "pause")...)
	case m.course != nil && s.state.AtRest:
		return append([]string{"next"}, names...)
	case s.prepared():
		return append([]string{"trigger"}, names...)
	}
	return names
}

// prepared reports whether the last thing done was to set something for the runs that
// follow. Running the scenario again begins on a fresh bench, without it.
func (s *session) prepared() bool {
	n := len(s.view.Wire)
	if s.past() || !s.state.AtRest || s.view.WorkerDown || n == 0 || s.view.Wire[n-1].Kind != scenarios.RowNote {
		return false
	}
	v := lang.VerbNamed(s.view.Wire[n-1].Verb)
	return v != nil && v.Group == "Setting"
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// keyLabel is the key as the footer writes it; a question's keys are as many as its choices.
func (m *model) keyLabel(name, key string) string {
	if s := m.session; name == "answer" && s != nil && s.state.Asked != nil {
		return "1" + m.t.glyphs.none + strconv.Itoa(len(s.state.Asked.Choices))
	}
	return m.t.keyName(key)
}

// tooWide reports whether the items do not fit with two blanks between them.
func (t *theme) tooWide(items []spans, room int) bool {
	total := (len(items) - 1) * 2
	for _, it := range items {
		total += t.width(it)
	}
	return total > room
}

// lastWord and not the first: "run again" is "again", but "crash worker" is "crash".
func lastWord(label string) string {
	switch label = strings.TrimSpace(label); label {
	case "crash worker", "cover truth", "uncover truth":
		label, _, _ = strings.Cut(label, " ")
	case "run again":
		return "again"
	}
	return label
}

// drop takes one item from the middle: the first ones matter most, and the last two say how to go on.
func drop(items []spans) []spans {
	i := len(items) - 3
	if i < 1 {
		i = 1
	}
	return append(items[:i:i], items[i+1:]...)
}

func (m *model) footerWord(name string, on lang.Screen) string {
	switch {
	case name == "pause" && m.session != nil && (m.session.state.Paused || m.session.state.Stepping):
		return "go on"
	case name == "cover" && m.session != nil && m.session.covered:
		return "uncover truth"
	case name == "open" && on == lang.OnMenu:
		if v, ok := m.top().(*sourceScreen); ok {
			return v.enters()
		}
		return "choose"
	case name == "open" && on == lang.OnLesson:
		return "run it"
	case name == "pane" && on == lang.OnRuns:
		return "status"
	}
	if w, ok := footerWords[name]; ok {
		return w
	}
	if v := lang.VerbNamed(name); v != nil && v.Label != "" {
		return v.Label
	}
	return name
}

// offers tells verbs apart that take each other's place in the footer.
func (m *model) offers(name string) bool {
	s := m.session
	switch top := m.top().(type) {
	case *settle:
		if name == "open" {
			return false // what it takes stands in the pane
		}
		if decides(name) {
			op := top.op(m)
			return unsure(op)
		}
	case *runsScreen:
		return len(top.listed()) > 0 || name != "open" && name != "lookup" && name != "rerun" && name != "copy"
	case *unknownsScreen:
		return len(top.open(m))+len(top.stored) > 0 || name != "open" && name != "copy" && !decides(name)
	case *lessonScreen:
		return name != "open" || !top.over
	case *helpScreen:
		return name != "open"
	case *compareScreen:
		return name != "filter" && name != "open"
	case *sourceScreen:
		return name != "filter"
	}
	if s == nil {
		return true
	}
	switch name {
	case "crash":
		return !s.view.WorkerDown
	case "restart":
		return s.view.WorkerDown
	case "lookup":
		return m.top().on() != lang.OnBench || s.known.loud || s.storedRun() != "" && atWork(s.view.Runs)
	case "answer":
		return m.top().on() == lang.OnBench && s.state.Asked != nil
	}
	return true
}
