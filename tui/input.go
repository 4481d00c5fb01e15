package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// input is a line that is typed: the palette, a filter, a confirmation, a reason.
type input struct {
	text   []rune
	cursor int // before which rune
}

// maxTyped bounds what is typed or pasted into one line.
const maxTyped = 4000

func (i *input) set(s string) {
	i.text = []rune(s)
	i.cursor = len(i.text)
}

func (i *input) String() string { return string(i.text) }

// key edits the line and reports whether the key belonged to it.
func (i *input) key(k tea.KeyMsg) bool {
	switch k.Type {
	case tea.KeyRunes, tea.KeySpace:
		if k.Alt && !k.Paste {
			return false
		}
		i.insert(k.Runes)
	case tea.KeyBackspace, tea.KeyCtrlH:
		if i.cursor > 0 {
			i.cut(i.cursor-1, i.cursor)
		}
	case tea.KeyDelete, tea.KeyCtrlD:
		if i.cursor < len(i.text) {
			i.cut(i.cursor, i.cursor+1)
		}
	case tea.KeyLeft, tea.KeyCtrlB:
		i.cursor = max(0, i.cursor-1)
	case tea.KeyRight, tea.KeyCtrlF:
		i.cursor = min(len(i.text), i.cursor+1)
	case tea.KeyHome, tea.KeyCtrlA:
		i.cursor = 0
	case tea.KeyEnd, tea.KeyCtrlE:
		i.cursor = len(i.text)
	case tea.KeyCtrlU:
		i.cut(0, i.cursor)
	case tea.KeyCtrlK:
		i.cut(i.cursor, len(i.text))
	case tea.KeyCtrlW:
		head := strings.TrimRight(string(i.text[:i.cursor]), " ")
		i.cut(len([]rune(head[:strings.LastIndexByte(head, ' ')+1])), i.cursor)
	default:
		return false
	}
	return true
}

func (i *input) insert(r []rune) {
	for _, c := range r {
		if c == '\n' || c == '\r' || c == '\t' {
			c = ' '
		}
		if len(i.text) >= maxTyped {
			return
		}
		i.text = append(i.text, 0)
		copy(i.text[i.cursor+1:], i.text[i.cursor:])
		i.text[i.cursor] = c
		i.cursor++
	}
}

func (i *input) cut(from, to int) {
	i.text = append(i.text[:from], i.text[to:]...)
	i.cursor = from
}

// spans are the line with its cursor, scrolled so that the cursor is seen in room cells.
func (i *input) spans(t *theme, room int) spans {
	start := 0
	for start < i.cursor && t.widthOf(string(i.text[start:i.cursor])) >= room {
		start++
	}
	at, rest := " ", ""
	if i.cursor < len(i.text) {
		at, rest = string(i.text[i.cursor]), string(i.text[i.cursor+1:])
	}
	return say(inkText, string(i.text[start:i.cursor]), inkPick, at, inkText, rest)
}
