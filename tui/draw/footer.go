package draw

import (
	"strings"

	"github.com/charmbracelet/bubbles/help"
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/progress"
	"github.com/charmbracelet/bubbles/spinner"
	"github.com/mattn/go-runewidth"
	"github.com/muesli/termenv"
)

// Keys is one line of bindings that fits into room cells: with shorter words where the
// full ones do not fit, and then without some from the middle, since the first matter
// most and the last two say how to go on.
func (t *Theme) Keys(bindings []key.Binding, room int) string {
	h := help.Model{Styles: help.Styles{ShortKey: t.styles[Accent], ShortDesc: t.styles[Quiet]}}
	fits := func(gap int) bool {
		total := gap * (len(bindings) - 1)
		for _, b := range bindings {
			total += runewidth.StringWidth(b.Help().Key) + 1 + len(b.Help().Desc)
		}
		h.ShortSeparator = strings.Repeat(" ", gap)
		return total <= room
	}
	if !fits(2) {
		for i, b := range bindings {
			bindings[i] = key.NewBinding(key.WithKeys(b.Keys()...), key.WithHelp(b.Help().Key, shortWord(b.Help().Desc)))
		}
	}
	for !fits(3) && !fits(2) && len(bindings) > 1 {
		i := max(1, len(bindings)-3)
		bindings = append(bindings[:i:i], bindings[i+1:]...)
	}
	return h.ShortHelpView(bindings)
}

// shortWord is the word of a label that says most: "again" of "run again", "crash" of "crash worker".
func shortWord(label string) string {
	switch label {
	case "crash worker", "cover truth", "uncover truth":
		label, _, _ = strings.Cut(label, " ")
	case "run again":
		return "again"
	}
	return label
}

// Progress is a bar of a number of cells, part of which (0 to 1) is done.
func (t *Theme) Progress(part float64, cells int) string {
	full, empty := []rune(t.Glyphs.Bar)[0], []rune(t.Glyphs.Track)[0]
	return progress.New(progress.WithWidth(cells), progress.WithFillCharacters(full, empty), progress.WithoutPercentage(),
		progress.WithColorProfile(termenv.Ascii)).ViewAs(part)
}

// Spinner turns while something takes long; its frames are put on the screen in an ink.
func (t *Theme) Spinner() spinner.Model {
	frames := spinner.MiniDot
	if t.Glyphs.ASCII {
		frames = spinner.Line
	}
	return spinner.New(spinner.WithSpinner(frames))
}
