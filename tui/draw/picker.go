package draw

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"
)

// Picker is a list from which one thing is chosen, narrowed by a filter: the
// catalogue, runs, unknown operations, menus. The cursor stays on its item when the
// list changes.
type Picker[T any] struct {
	Filter
	items []Item[T]
	pick  int    // index of the item under the cursor
	id    string // its ID
	top   int    // the first item that is seen
}

// Item is a line of a Picker.
type Item[T any] struct {
	ID    string // the same for the same thing in another list; empty for a heading
	Words string // what the filter looks in
	Value T
}

// List shows what the filter lets through. A heading stays while something under it does.
func (p *Picker[T]) List(items []Item[T]) {
	p.items = make([]Item[T], 0, len(items))
	heading := -1
	for i, it := range items {
		switch {
		case it.ID == "":
			heading = i
		case p.Lets(it.Words):
			if heading >= 0 {
				p.items = append(p.items, items[heading])
				heading = -1
			}
			p.items = append(p.items, it)
		}
	}
	if p.pick >= len(p.items) || p.items[p.pick].ID != p.id {
		p.Choose(p.id)
	}
	p.settle(0)
}

// Choose puts the cursor on an item, if it is there.
func (p *Picker[T]) Choose(id string) {
	p.id = id
	for i, it := range p.items {
		if it.ID == id && id != "" {
			p.pick = i
		}
	}
}

// Type takes a key while the filter is typed; the cursor goes to the first match.
func (p *Picker[T]) Type(k tea.KeyMsg) bool {
	before := p.String()
	taken := p.Filter.Type(k)
	if p.Typing && p.String() != before {
		p.pick, p.id = 0, ""
	}
	return taken
}

// Picked is what the cursor is on; ok is false where nothing is listed.
func (p *Picker[T]) Picked() (value T, ok bool) {
	if p.pick < len(p.items) && p.items[p.pick].ID != "" {
		return p.items[p.pick].Value, true
	}
	return value, false
}

// Count is how many items are listed, without headings.
func (p *Picker[T]) Count() (n int) {
	for _, it := range p.items {
		if it.ID != "" {
			n++
		}
	}
	return n
}

// Move moves the cursor by the verb of this name, and reports whether it is one that moves.
func (p *Picker[T]) Move(verb string) bool {
	n := len(p.items)
	step, ok := map[string]int{"up": -1, "down": 1, "pageup": -10, "pagedown": 10, "top": -n, "bottom": n}[verb]
	if ok {
		p.id = ""
		p.settle(step)
	}
	return ok
}

// settle moves the cursor by step, and on to the next item that can be chosen.
func (p *Picker[T]) settle(step int) {
	p.pick = max(0, min(p.pick+step, len(p.items)-1))
	dir := 1
	if step < 0 {
		dir = -1
	}
	for _, d := range []int{dir, -dir} {
		for i := p.pick; i >= 0 && i < len(p.items); i += d {
			if p.items[i].ID != "" {
				p.pick, p.id = i, p.items[i].ID
				return
			}
		}
	}
}

// Window gives the lines that are seen, height of them; line draws one.
func (p *Picker[T]) Window(t *Theme, width, height int, line func(v T, heading, picked bool) Spans) []string {
	p.top = max(p.pick-height+1, min(p.top, p.pick), 0)
	if p.pick <= 1 {
		p.top = 0 // with the heading above the first one
	}
	return t.Window(Rows{N: len(p.items), At: func(i int) Spans {
		return line(p.items[i].Value, p.items[i].ID == "", i == p.pick)
	}}, p.top, width, height)
}

// Side is what a box's border says of the list: the filter, or how much is below.
func (p *Picker[T]) Side(t *Theme, height int) Spans {
	if f := p.Filter.Side(t); f != nil {
		return f
	}
	top := max(p.pick-height+1, min(p.top, p.pick), 0)
	if below := len(p.items) - top - height; below > 0 {
		return Say(Quiet, t.Glyphs.Bottom+" "+strconv.Itoa(below)+" more")
	}
	return nil
}

// Mark is the beginning of a line that can be chosen, and the ink of its name.
func (t *Theme) Mark(picked bool) (Spans, Ink) {
	if picked {
		return Say(Accent, t.Glyphs.Pick+" "), Pick
	}
	return Say(Accent, "  "), Text
}
