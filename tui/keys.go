package tui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// command is one verb as it was asked for: by a key, or typed in full.
type command struct {
	verb  *lang.Verb
	args  string    // all after the verb; with a key that stands for a value, the value
	key   string    // the key, empty where it was typed
	typed lang.Line // where it was typed
}

// line is the command as a scenario file would write it.
func (c command) line() string { return strings.TrimSpace(c.verb.Name + " " + c.args) }

// binding is a verb with its keys, as bubbles has them.
type binding struct {
	key.Binding
	verb *lang.Verb
}

// bindings are the verbs that have keys on a screen.
var bindings = func() map[lang.Screen][]binding {
	out := map[lang.Screen][]binding{}
	for s := lang.OnCatalogue; s <= lang.OnMenu; s <<= 1 {
		for i := range lang.Verbs {
			if v := &lang.Verbs[i]; v.On&s != 0 && v.Interactive() && len(v.Keys) > 0 {
				out[s] = append(out[s], binding{key.NewBinding(key.WithKeys(v.Keys...), key.WithHelp(v.Keys[0], v.Label)), v})
			}
		}
	}
	return out
}()

// key is a key press: text where something is typed, else a verb. Keys that came
// together are taken one by one; what is pasted is text, and never a verb.
func (m *model) key(k tea.KeyMsg) tea.Cmd {
	if k.Type == tea.KeyRunes && len(k.Runes) > 1 && !k.Paste {
		var cmds []tea.Cmd
		for _, r := range k.Runes {
			cmds = append(cmds, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt}))
		}
		return tea.Sequence(cmds...)
	}
	m.notice = notice{}
	if m.palette != nil {
		return m.palette.key(m, k)
	}
	if t, ok := m.top().(typing); ok {
		if cmd, taken := t.typed(&m.ui, k); taken {
			return cmd
		}
	}
	if k.Paste {
		return nil
	}
	for _, b := range bindings[m.top().on()] {
		if !key.Matches(k, b.Binding) {
			continue
		}
		c := command{verb: b.verb, key: k.String()}
		if c.verb.Name == "answer" {
			c.args = c.key
		}
		return m.run(c)
	}
	return nil
}

// paceVerbs are the verbs of the workbench alone that the bench itself carries out.
var paceVerbs = map[string]bool{"pause": true, "resume": true, "step": true, "speed": true, "faster": true, "slower": true}

// run does a verb: first as the screen means it, then as the program does, and
// what is left goes to the bench.
func (m *model) run(c command) tea.Cmd {
	if cmd, ok := m.top().verb(&m.ui, c); ok {
		return cmd
	}
	if f, ok := programVerbs[c.verb.Name]; ok {
		return f(m, c)
	}
	return m.send(c)
}

// send has the bench carry a verb out.
func (u *ui) send(c command) tea.Cmd {
	s := u.session
	switch {
	case s == nil:
		u.say(draw.Quiet, c.verb.Name+": open a scenario first")
		return nil
	case c.verb.Use == lang.OnBoard && !paceVerbs[c.verb.Name]:
		u.say(draw.Quiet, c.verb.Name+": not on this screen")
		return nil
	}
	if why := s.bench.Unavailable(c.verb.Name); why != "" {
		u.say(draw.Unknown, c.verb.Name+": "+why)
		return nil
	}
	if s.past() {
		s.move(s.bench.Len())
	}
	s.busy, s.sent = c.verb.Name, c.verb.Name
	bench, line := s.bench, c.line()
	return work(func() tea.Msg { return doneMsg{bench, line, bench.Do(line)} })
}

// done is the end of a verb. A refusal is said where the footer is.
func (u *ui) done(d doneMsg) tea.Cmd {
	s := u.session
	if s == nil || s.bench != d.bench {
		return nil
	}
	s.busy = ""
	if d.err != nil {
		u.say(draw.Bad, d.err.Error())
	}
	s.pull()
	return u.tick()
}

// keyLabel is a key as the footer and the help write it.
func keyLabel(t *draw.Theme, k string) string {
	label, ok := map[string]string{" ": "space", "left": "←", "right": "→", "up": "↑", "down": "↓"}[k]
	if !ok || t.Glyphs.ASCII && k != " " {
		return k
	}
	return label
}

// keyNames are the first two keys of a verb as the help writes them.
func keyNames(t *draw.Theme, v *lang.Verb) string {
	var names []string
	for _, k := range v.Keys[:min(2, len(v.Keys))] {
		names = append(names, keyLabel(t, k))
	}
	return strings.Join(names, " ")
}

// keyOfVerb is the first key of a verb on a screen, empty where it has none.
func keyOfVerb(name string, on lang.Screen) string {
	if v := lang.VerbNamed(name); v != nil && v.On&on != 0 && len(v.Keys) > 0 {
		return v.Keys[0]
	}
	return ""
}

// verbNamed does a verb as its key would.
func (m *model) verbNamed(name string) tea.Cmd {
	v := lang.VerbNamed(name)
	return m.run(command{verb: v, key: firstOf(v.Keys)})
}

// mouse is optional and off until asked for: the wheel scrolls, a click on the
// bench puts the focus on a pane.
func (m *model) mouse(e tea.MouseMsg) tea.Cmd {
	if m.palette != nil || e.Action != tea.MouseActionPress {
		return nil
	}
	switch e.Button {
	case tea.MouseButtonWheelUp:
		return m.verbNamed("up")
	case tea.MouseButtonWheelDown:
		return m.verbNamed("down")
	case tea.MouseButtonLeft:
		if m.session != nil && m.top().on() == lang.OnBench {
			if p, ok := m.paneAt(e.X, e.Y); ok {
				m.session.focus = p
				m.session.identity = p == paneIdentity
			}
		}
	}
	return nil
}

// paneAt is the bench's pane at a place of the screen.
func (m *model) paneAt(x, y int) (pane, bool) {
	l := m.layout()
	y -= 1 + l.air
	switch {
	case l.shape == tooSmall || y < 0 || y >= l.body:
		return 0, false
	case l.shape == stacked && y < l.wireHeight:
		return paneWire, true
	case l.shape == stacked:
		return m.tab(), true
	}
	switch x -= l.margin; {
	case x < l.left && (y >= l.body-l.identity || m.session.identity):
		return paneIdentity, true
	case x < l.left:
		return paneBelief, true
	case x <= l.left+l.wire:
		return paneWire, true
	case y < l.ledger:
		return paneLedger, true
	case y < l.ledger+l.log:
		return paneLog, true
	}
	return paneVerdict, true
}

// setMouse turns the mouse on or off: while it is on, the terminal cannot select text.
func setMouse(u *ui, c command) tea.Cmd {
	if strings.TrimSpace(c.args) == "on" {
		u.say(draw.Quiet, "the wheel scrolls and a click chooses a pane; hold shift to select text")
		return tea.EnableMouseCellMotion
	}
	return tea.DisableMouse
}
