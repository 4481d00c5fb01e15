package tui

import (
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/x/ansi"
	"slices"
	"strconv"
	"strings"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// header is the first line: what is open, and what it is doing.
func (m *model) header(l layout) string {
	t := m.t
	left := draw.Say(draw.Badge, " faultlab ", draw.Text, "  ")
	left = append(left, m.top().title(&m.ui)...)
	right := m.doing()
	room := m.width - l.margin - 1
	title := t.Width(left)
	if m.top().on() == lang.OnBench {
		title = min(title, room/2) // a longer one is cut before the state goes
	}
	for len(right) > 1 && title+2+t.Width(join(right)) > room {
		right = right[:len(right)-1]
	}
	left = t.Cut(left, room-2-t.Width(join(right)))
	return strings.Repeat(" ", l.margin) + t.Split(left, join(right), max(0, room)) + " "
}

// doing is the right end of the header, part by part, the most important first.
func (m *model) doing() []draw.Spans {
	s := m.session
	if on, ok := m.top().(*mapScreen); ok {
		return on.setting(m.width)
	}
	if s == nil || m.top().on()&(lang.OnCatalogue|lang.OnLesson|lang.OnRuns) != 0 {
		return nil
	}
	if s.storedRun() != "" {
		return m.storedDoing()
	}
	st := s.state
	parts := []draw.Spans{m.mode()}
	elapsed := st.Elapsed
	if s.past() {
		elapsed = s.view.At.Sub(s.view.Start)
	}
	parts = append(parts, draw.Say(draw.Text, "t+"+moment(elapsed)+"s"))
	parts = append(parts, m.faultsPart())
	where := st.Address
	switch {
	case st.Mode != scenarios.Simulated:
	case m.width < 100:
		where = st.Mode // nobody else can call it there
	default:
		where += " " + st.Mode
	}
	parts = append(parts, draw.Say(draw.Quiet, where))
	if c := s.view.Contract; c != "" && c != "seed" && !s.covered {
		parts = append(parts, draw.Say(draw.Quiet, "contract "+c))
	}
	return parts
}

// mode says whether the bench moves, is held, is at rest, or is looked at in the past.
func (u *ui) mode() draw.Spans {
	s, g := u.session, u.t.Glyphs
	st := s.state
	var out draw.Spans
	switch {
	case s.past():
		out = draw.Say(draw.Accent, g.Past+" PAST "+strconv.Itoa(s.position())+"/"+strconv.Itoa(s.view.Total))
	case st.Asked != nil:
		out = draw.Say(draw.Unknown, g.Unknown+" YOUR GUESS")
	case len(st.Parked) > 0:
		at := st.Parked[0]
		if s.covered && (strings.HasPrefix(at, "commit ") || strings.HasPrefix(at, "reply ")) {
			at = "the provider" // and not whether it commits
		}
		out = draw.Say(draw.Accent, g.Paused+" HELD", draw.Quiet, " at "+at)
	case st.Paused:
		out = draw.Say(draw.Accent, g.Paused+" PAUSED")
	case st.Stepping:
		out = draw.Say(draw.Accent, g.Paused+" STEPPING")
	case st.AtRest && !st.Playing:
		out = draw.Say(draw.Quiet, g.Rest+" AT REST")
	default:
		out = draw.Say(draw.Good, g.Live+" LIVE "+u.speed())
	}
	if s.covered {
		out = append(draw.Say(draw.Cover, g.Cover+" COVERED", draw.Text, "  "), out...)
	}
	if s.view.WorkerDown {
		out = append(draw.Say(draw.Bad, g.Down+" WORKER DOWN "), out...)
	}
	return out
}

func (u *ui) speed() string {
	x := u.session.state.Speed
	if x == 0 {
		return "at once"
	}
	return strconv.FormatFloat(x, 'g', 3, 64) + u.t.Glyphs.Times
}

// longestFault is how much of a composed fault the header shows, in cells: with all of it none would have room.
const longestFault = 28

func (u *ui) faultsPart() draw.Spans {
	f := u.session.view.Faults
	first := func() string { return u.t.Head(f[0].Words(), longestFault) }
	switch {
	case u.session.covered:
		return draw.Say(draw.Quiet, "faults "+u.t.Glyphs.Cover)
	case len(f) == 0:
		return draw.Say(draw.Quiet, "faults "+u.t.Glyphs.None)
	case len(f) == 1:
		return draw.Say(draw.Quiet, "faults ", draw.Bad, first())
	}
	return draw.Say(draw.Quiet, "faults ", draw.Bad, first()+" +"+strconv.Itoa(len(f)-1))
}

func join(parts []draw.Spans) draw.Spans {
	var out draw.Spans
	for i, p := range parts {
		if i > 0 {
			out = out.And(draw.Text, "   ")
		}
		out = append(out, p...)
	}
	return out
}

// timeline is the bar under the panes: which of the entries is looked at.
func (u *ui) timeline(width, margin int) string {
	t, s := u.t, u.session
	g := t.Glyphs
	p := t.Pen(width)
	p.Skip(margin)
	p.Put(draw.Quiet, "0s ")
	at, total := s.position(), max(s.view.Total, 0)
	side := draw.Say(draw.Quiet, " "+strconv.Itoa(at)+"/"+strconv.Itoa(total)+" events")
	hint := draw.Say(draw.Quiet, "  "+g.ArrowLeft+" "+g.ArrowRight+" step through time ")
	if width < 100 {
		hint = draw.Say(draw.Quiet, "  "+g.ArrowLeft+" "+g.ArrowRight+" ")
	}
	bar := max(1, p.Room-t.Width(side)-t.Width(hint))
	knob := 0
	if total > 0 {
		knob = at * (bar - 1) / total
	}
	p.Fill(draw.Accent, g.Bar, knob)
	p.Put(draw.Accent, g.Knob)
	p.Fill(draw.Frame, g.Track, bar-knob-1)
	p.Spans(append(side, hint...))
	return p.Line()
}

// footerOrder is the order in which the footer of each screen names verbs; where
// there is no room those before the last two go (see drop).
var footerOrder = map[lang.Screen][]string{
	lang.OnCatalogue: {"open", "filter", "lessons", "map", "history", "unknowns", "edit", "command", "help", "quit"},
	lang.OnBench:     {"again", "pause", "fault", "crash", "restart", "lookup", "cover", "pane", "command", "help", "quit"},
	lang.OnRuns:      {"open", "pane", "filter", "lookup", "rerun", "copy", "close", "command", "help", "quit"},
	lang.OnUnknowns:  {"open", "lookup", "record", "resubmit", "abandon", "escalate", "copy", "close", "help"},
	lang.OnMap:       {"down", "open", "save", "contract", "operator", "deeper", "close", "command", "help", "quit"},
	lang.OnLesson:    {"open", "close", "command", "help", "quit"},
	lang.OnMenu:      {"open", "filter", "close", "help"},
}

// footerWords are shorter than the verbs' labels where the footer says more than the verb's name.
var footerWords = map[string]string{
	"again": "run again", "trigger": "trigger a run", "lookup": "look up", "crash": "crash worker", "cover": "cover truth", "close": "back", "history": "runs", "edit": "edit", "live": "back to live",
}

// footer names the keys that work here, from the verb table, and at its right end what
// takes long. A notice and the palette stand in its place.
func (m *model) footer() string {
	t := m.t
	switch {
	case m.palette != nil:
		return m.palette.line(m)
	case m.notice.text != "" && !m.jobShown():
		return t.Line(draw.Say(draw.Text, " ", m.notice.ink, m.notice.text), m.width)
	}
	var right draw.Spans
	if m.jobShown() {
		right = m.jobLine()
	}
	keys := t.Keys(m.bindings(), m.width-2-t.Width(right))
	blank := strings.Repeat(" ", max(0, m.width-1-ansi.StringWidth(keys)-t.Width(right)))
	return " " + keys + blank + t.Line(right, t.Width(right))
}

func (u *ui) jobShown() bool { return u.job != nil && u.job.shown }

// jobLine says what takes long, and how far it is where that is known.
func (u *ui) jobLine() draw.Spans {
	out := draw.Say(draw.Accent, u.spinner.View()+" ", draw.Text, u.job.name)
	if total := u.job.total.Load(); total > 0 {
		out = out.And(draw.Accent, "  "+u.t.Progress(float64(u.job.done.Load())/float64(total), 12))
	}
	return out.And(draw.Text, " ")
}

// reading is said where the store's answer is awaited.
func (u *ui) reading() draw.Spans {
	return draw.Say(draw.Accent, u.spinner.View(), draw.Quiet, " reading the store")
}

// bindings are the keys that the footer names.
func (m *model) bindings() (out []key.Binding) {
	if p, ok := m.top().(*reconcileScreen); ok && p.confirm != nil {
		return p.bindings() // the keys are text now
	}
	on := m.top().on()
	for _, name := range m.footerNames(on) {
		if k := keyOfVerb(name, on); k != "" && m.offers(name) {
			out = append(out, key.NewBinding(key.WithKeys(k), key.WithHelp(m.keyLabel(name, k), m.footerWord(name, on))))
		}
	}
	return out
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

func (u *ui) benchFooter(names []string) []string {
	s := u.session
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
	case u.course != nil && s.state.AtRest:
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
		return "1" + m.t.Glyphs.None + strconv.Itoa(len(s.state.Asked.Choices))
	}
	if g := m.t.Glyphs; name == "down" && g.ASCII { // it stands for all four
		return "arrows"
	} else if name == "down" {
		return g.ArrowLeft + g.ArrowRight + g.Up + g.Bottom
	}
	return keyLabel(m.t, key)
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
	case name == "down" && on == lang.OnMap:
		return "cell"
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

// offers tells verbs apart that take each other's place in the footer. A screen may know better.
func (m *model) offers(name string) bool {
	if s, ok := m.top().(interface{ offers(u *ui, verb string) bool }); ok && !s.offers(&m.ui, name) {
		return false
	}
	s, onBench := m.session, m.top().on() == lang.OnBench
	switch {
	case s == nil:
		return true
	case name == "crash":
		return !s.view.WorkerDown
	case name == "restart":
		return s.view.WorkerDown
	case name == "lookup":
		return !onBench || s.known.loud || s.storedRun() != "" && atWork(s.view.Runs)
	case name == "answer":
		return onBench && s.state.Asked != nil
	}
	return true
}
