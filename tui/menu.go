package tui

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"faultlab/scenarios/lang"
)

// menu is a list to choose from, with what the chosen thing does beside it.
type menu struct {
	name   string
	items  func(m *model) []item
	pick   int
	chosen string // the item that pick is on, where one was chosen
	top    int
	filter input
	asking bool
}

// item is one line of a menu. One without a do is a heading.
type item struct {
	name string
	mark string // beside the name, quietly
	text []string
	do   func(m *model) tea.Cmd
}

func (n *menu) on() lang.Screen { return lang.OnMenu }

func (n *menu) title(m *model) spans {
	if m.session != nil {
		return say(inkStrong, m.session.scenario.Title, inkQuiet, "  "+n.name)
	}
	return say(inkStrong, n.name)
}

// listed are the items that contain the filter; headings stay.
func (n *menu) listed(m *model) []item {
	f := strings.ToLower(n.filter.String())
	var out []item
	for _, it := range n.items(m) {
		if it.do == nil || strings.Contains(strings.ToLower(it.name+" "+strings.Join(it.text, " ")), f) {
			out = append(out, it)
		}
	}
	return out
}

func (n *menu) draw(m *model, width, height int) []string {
	t, items := m.t, n.listed(m)
	n.keep(items)
	n.settle(items, 0)
	left := clamp(width*2/5, 26, 50)
	for _, it := range n.items(m) { // also those that the filter hides: the list stays as wide as it is
		left = clamp(t.width(n.line(t, it, false, width))+4, left, max(left, width/2))
	}
	left = clamp(t.widthOf(n.name)+8, left, max(left, width*3/5)) // the question is read in full
	b := box{title: say(inkStrong, n.name), frame: inkAccent, focus: true}
	shown := height - 2
	n.top = clamp(n.top, max(0, n.pick-shown+1), max(0, n.pick))
	if n.pick <= 1 {
		n.top = 0
	}
	if below := len(items) - n.top - shown; below > 0 {
		b.side = say(inkQuiet, t.glyphs.bottom+" "+strconv.Itoa(below)+" more")
	}
	if n.asking || len(n.filter.text) > 0 {
		b.side = append(say(inkAccent, "/"), n.filter.spans(t, 14)...)
	}
	b.body = func(w, h int) []string {
		return t.window(rows{len(items), func(i int) spans { return n.line(t, items[i], i == n.pick, w) }}, n.top, w, h)
	}
	side := box{title: say(inkStrong, "What it does"), frame: inkFrame}
	side.body = func(w, h int) []string {
		var out []spans
		if n.pick < len(items) {
			for _, text := range items[n.pick].text {
				for _, l := range t.wrap(text, w-1, 12) {
					out = append(out, say(inkText, l))
				}
			}
		}
		return t.window(fixed(out...), 0, w, h)
	}
	return beside(t.draw(b, left, height), t.draw(side, width-left-1, height))
}

// line is an item; what is said beside its name is seen however long that is.
func (n *menu) line(t *theme, it item, picked bool, width int) spans {
	if it.do == nil {
		return say(inkAccent, it.name)
	}
	mark, k := "  ", inkText
	if picked {
		mark, k = t.glyphs.pick+" ", inkPick
	}
	out := say(inkAccent, mark, k, it.name)
	if it.mark == "" {
		return out
	}
	beside := say(inkQuiet, "  "+it.mark)
	return append(t.cutTo(out, max(width/2, width-t.width(beside))), beside...)
}

// settle moves the cursor by step, and on to the next line that can be chosen.
func (n *menu) settle(items []item, step int) {
	n.pick = clamp(n.pick+step, 0, max(0, len(items)-1))
	dir := 1
	if step < 0 {
		dir = -1
	}
	for _, d := range []int{dir, -dir} {
		for i := n.pick; i >= 0 && i < len(items); i += d {
			if items[i].do != nil {
				n.pick = i
				return
			}
		}
	}
}

func (n *menu) typed(m *model, k tea.KeyMsg) (tea.Cmd, bool) {
	if !n.asking {
		return nil, false
	}
	switch k.Type {
	case tea.KeyEsc:
		n.asking = false
		n.filter.set("")
	case tea.KeyEnter:
		n.asking = false
		return nil, true
	case tea.KeyUp, tea.KeyDown:
		return nil, false
	default:
		n.filter.key(k)
	}
	n.pick, n.chosen = 0, ""
	return nil, true
}

// held notes which item the cursor is on, and keep puts it there again where the
// list has become another one: the same name with the same mark, else the same line.
func (n *menu) held(items []item) {
	if n.chosen = ""; n.pick < len(items) {
		n.chosen = items[n.pick].id()
	}
}

func (n *menu) keep(items []item) {
	if n.chosen == "" || n.pick < len(items) && items[n.pick].id() == n.chosen {
		return
	}
	for i, it := range items {
		if it.id() == n.chosen {
			n.pick = i
			return
		}
	}
}

func (it item) id() string { return it.name + "\x00" + it.mark }

func (n *menu) verb(m *model, c command) (tea.Cmd, bool) {
	items := n.listed(m)
	n.keep(items)
	n.settle(items, 0)
	step, ok := map[string]int{"up": -1, "down": 1, "pageup": -10, "pagedown": 10, "top": -len(items), "bottom": len(items)}[c.verb.Name]
	switch {
	case ok:
		n.settle(items, step)
		n.held(items)
	case c.verb.Name == "filter":
		n.asking = c.args == ""
		n.filter.set(c.args)
	case c.verb.Name == "open" && c.args == "":
		n.settle(items, 0)
		if n.pick < len(items) && items[n.pick].do != nil {
			n.held(items)
			return items[n.pick].do(m), true
		}
	default:
		return nil, false
	}
	return nil, true
}

// sends is an item's do that has the bench carry a verb out and leaves the menu open or not.
func sends(verb, args string, stay bool) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		said := strings.TrimSpace(verb + " " + args)
		if !stay {
			m.pop()
			said += howToUse()
		}
		m.say(inkQuiet, said)
		return m.send(command{verb: lang.VerbNamed(verb), args: args})
	}
}

// howToUse says how to see what a setting does.
func howToUse() string {
	return ", for the runs that follow: " + keyOfVerb("trigger", lang.OnBench) + " triggers one"
}
