package draw

import (
	"strings"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
)

// Input is a line that is typed: the palette, a filter, a confirmation, a reason.
// The zero Input is an empty line.
type Input struct {
	line  textinput.Model
	ready bool
}

// maxTyped bounds what is typed or pasted into one line, in characters.
const maxTyped = 4000

func (i *Input) edit() *textinput.Model {
	if !i.ready {
		i.ready, i.line = true, textinput.New()
		i.line.CharLimit = maxTyped
		i.line.KeyMap.Paste = key.NewBinding() // the terminal pastes; reading the clipboard may block
		i.line.Cursor.SetMode(cursor.CursorStatic)
		i.line.Focus()
	}
	return &i.line
}

// Set makes the line a text, with the cursor at its end.
func (i *Input) Set(s string) {
	i.edit().SetValue(s)
	i.edit().CursorEnd()
}

func (i *Input) String() string { return i.line.Value() }

// Key edits the line.
func (i *Input) Key(k tea.KeyMsg) {
	if k.Alt && k.Type == tea.KeyRunes && !strings.ContainsAny(string(k.Runes), "bdf") {
		return // no character: Escape and a key, or a key of nobody
	}
	line := i.edit()
	*line, _ = line.Update(k)
}

// Spans are the line with its cursor, scrolled so that the cursor is seen in room cells.
// What was typed or pasted is cleaned as any other text.
func (i *Input) Spans(t *Theme, room int) Spans {
	text, cursor, start := []rune(i.String()), i.line.Position(), 0
	for start < cursor && t.WidthOf(string(text[start:cursor])) >= room {
		start++
	}
	at, rest := " ", ""
	if cursor < len(text) {
		at, rest = string(text[cursor]), string(text[cursor+1:])
	}
	return Say(Text, string(text[start:cursor]), Pick, at, Text, rest)
}

// Filter is the line that narrows a list: begun by a key, kept by Enter, dropped by Escape.
type Filter struct {
	Input
	Typing bool // keys are text now
}

// Begin lets the person type; with words, they are the filter at once.
func (f *Filter) Begin(words string) {
	f.Typing = words == ""
	f.Set(words)
}

// Type takes a key while the filter is typed, and reports whether the key was for it.
func (f *Filter) Type(k tea.KeyMsg) bool {
	switch {
	case !f.Typing || k.Type == tea.KeyUp || k.Type == tea.KeyDown:
		return false
	case k.Type == tea.KeyEsc:
		f.Typing = false
		f.Set("")
	case k.Type == tea.KeyEnter:
		f.Typing = false
	default:
		f.Key(k)
	}
	return true
}

// Lets reports whether a text contains every word of the filter.
func (f *Filter) Lets(text string) bool {
	text = strings.ToLower(text)
	for _, w := range strings.Fields(strings.ToLower(f.String())) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// Side is the filter as a box's border shows it; nil where there is none.
func (f *Filter) Side(t *Theme) Spans {
	if !f.Typing && f.String() == "" {
		return nil
	}
	return append(Say(Accent, "/"), f.Spans(t, 14)...)
}
