package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios/lang"
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

// bindings are the verbs by key, for each screen.
var bindings = func() map[lang.Screen]map[string]*lang.Verb {
	out := map[lang.Screen]map[string]*lang.Verb{}
	for s := lang.OnCatalogue; s <= lang.OnMenu; s <<= 1 {
		out[s] = map[string]*lang.Verb{}
		for i := range lang.Verbs {
			if v := &lang.Verbs[i]; v.On&s != 0 && v.Interactive() {
				for _, k := range v.Keys {
					out[s][k] = v
				}
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
		if cmd, taken := t.typed(m, k); taken {
			return cmd
		}
	}
	name := k.String()
	if k.Paste {
		return nil
	}
	v := bindings[m.top().on()][name]
	if v == nil {
		return nil
	}
	c := command{verb: v, key: name}
	if v.Name == "answer" {
		c.args = name
	}
	return m.run(c)
}

// paceVerbs are the verbs of the workbench alone that the bench itself carries out.
var paceVerbs = map[string]bool{"pause": true, "resume": true, "step": true, "speed": true, "faster": true, "slower": true}

// run does a verb: first as the screen means it, then as the program does, and
// what is left goes to the bench.
func (m *model) run(c command) tea.Cmd {
	if cmd, ok := m.top().verb(m, c); ok {
		return cmd
	}
	if f, ok := programVerbs[c.verb.Name]; ok {
		return f(m, c)
	}
	return m.send(c)
}

// send has the bench carry a verb out.
func (m *model) send(c command) tea.Cmd {
	s := m.session
	switch {
	case s == nil:
		m.say(inkQuiet, c.verb.Name+": open a scenario first")
		return nil
	case c.verb.Use == lang.OnBoard && !paceVerbs[c.verb.Name]:
		m.say(inkQuiet, c.verb.Name+": not on this screen")
		return nil
	}
	if why := s.bench.Unavailable(c.verb.Name); why != "" {
		m.say(inkUnknown, c.verb.Name+": "+why)
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
func (m *model) done(d doneMsg) tea.Cmd {
	s := m.session
	if s == nil || s.bench != d.bench {
		return nil
	}
	s.busy = ""
	if d.err != nil {
		m.say(inkBad, d.err.Error())
	}
	s.pull()
	return m.tick()
}

// keyName is a key as the footer writes it.
func keyName(k string) string {
	switch k {
	case " ":
		return "space"
	case "left":
		return "←"
	case "right":
		return "→"
	case "up":
		return "↑"
	case "down":
		return "↓"
	}
	return k
}

func (t *theme) keyName(k string) string {
	name := keyName(k)
	if t.glyphs.ascii && name != k && name != "space" {
		return k
	}
	return name
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
