package tui

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// colour is one hue in the three depths that terminals know. The first is exact
// and is what the contrast is computed from; the others are chosen to be near it.
type colour struct {
	rgb  string // #rrggbb
	c256 string
	c16  string
}

func (c colour) lip() lipgloss.TerminalColor {
	if c.rgb == "" {
		return lipgloss.NoColor{}
	}
	return lipgloss.CompleteColor{TrueColor: c.rgb, ANSI256: c.c256, ANSI: c.c16}
}

// look is how an ink appears.
type look struct {
	fg, bg                           colour
	bold, faint, reverse, underlined bool
}

// A scheme is one theme as a table: every ink has its row.
type scheme struct {
	name string
	back []string // the backgrounds that it is made for, from one extreme to the other
	page page
	ink  [inkCount]look
}

// page is what a picture is drawn on: its background, and its text where no ink says another colour.
type page struct{ back, text string }

var (
	dark = scheme{name: "dark", back: []string{"#000000", "#1e1e1e", "#282a36"}, page: page{"#161616", "#e6e6ea"}, ink: [inkCount]look{
		inkStrong:  {fg: colour{"#f2f2f5", "255", "15"}},
		inkQuiet:   {fg: colour{"#9a9ca6", "247", "7"}},
		inkGood:    {fg: colour{"#4cc38a", "78", "10"}},
		inkBad:     {fg: colour{"#ff7a5c", "209", "9"}},
		inkUnknown: {fg: colour{"#ffc53d", "221", "11"}, bold: true},
		inkWire:    {fg: colour{"#62b3f3", "75", "12"}},
		inkTruth:   {fg: colour{"#dd95dc", "176", "13"}},
		inkAccent:  {fg: colour{"#ab93fb", "141", "13"}},
		inkBadge:   {fg: colour{"#1b1430", "16", "0"}, bg: colour{"#ab93fb", "141", "13"}, bold: true},
		inkCap:     {fg: colour{"#1d1500", "16", "0"}, bg: colour{"#ffc53d", "221", "11"}, bold: true},
		inkPick:    {fg: colour{"#ffffff", "231", "15"}, bg: colour{"#44367a", "60", "4"}, bold: true},
		inkFrame:   {fg: colour{"#5d606b", "240", "8"}},
		inkCover:   {fg: colour{"#9a9ca6", "247", "7"}},
		inkAlarm:   {fg: colour{"#ffc53d", "221", "11"}},
	}}
	bright = scheme{name: "light", back: []string{"#ffffff", "#fdf6e3", "#f2f2f2"}, page: page{"#ffffff", "#2a2b30"}, ink: [inkCount]look{
		inkStrong:  {fg: colour{"#111113", "232", "0"}, bold: true},
		inkQuiet:   {fg: colour{"#5c5e66", "240", "8"}},
		inkGood:    {fg: colour{"#10693e", "22", "2"}},
		inkBad:     {fg: colour{"#b3261e", "124", "1"}},
		inkUnknown: {fg: colour{"#5c3800", "58", "0"}, bg: colour{"#ffe08a", "222", "11"}, bold: true},
		inkWire:    {fg: colour{"#0b5ea8", "25", "4"}},
		inkTruth:   {fg: colour{"#8a2b8a", "90", "5"}},
		inkAccent:  {fg: colour{"#5b3fc4", "56", "5"}},
		inkBadge:   {fg: colour{"#ffffff", "231", "15"}, bg: colour{"#5b3fc4", "56", "5"}, bold: true},
		inkCap:     {fg: colour{"#241700", "16", "0"}, bg: colour{"#ffc53d", "221", "11"}, bold: true},
		inkPick:    {fg: colour{"#1b1430", "16", "0"}, bg: colour{"#d9d0fb", "189", "7"}, bold: true},
		inkFrame:   {fg: colour{"#a5a7ae", "248", "7"}},
		inkCover:   {fg: colour{"#5c5e66", "240", "8"}},
		inkAlarm:   {fg: colour{"#9a6200", "130", "1"}, bold: true},
	}}
	contrast = scheme{name: "high-contrast", back: []string{"#000000", "#121212"}, page: page{"#000000", "#ffffff"}, ink: [inkCount]look{
		inkStrong:  {fg: colour{"#ffffff", "231", "15"}, bold: true},
		inkQuiet:   {fg: colour{"#d8d8d8", "253", "7"}},
		inkGood:    {fg: colour{"#7dffb0", "121", "10"}},
		inkBad:     {fg: colour{"#ff9d85", "216", "9"}, bold: true},
		inkUnknown: {fg: colour{"#ffe14d", "227", "11"}, bold: true, underlined: true},
		inkWire:    {fg: colour{"#8fd0ff", "117", "14"}},
		inkTruth:   {fg: colour{"#ffb3ff", "219", "13"}},
		inkAccent:  {fg: colour{"#d4c6ff", "189", "15"}, bold: true},
		inkBadge:   {fg: colour{"#000000", "16", "0"}, bg: colour{"#ffffff", "231", "15"}, bold: true},
		inkCap:     {fg: colour{"#000000", "16", "0"}, bg: colour{"#ffe14d", "227", "11"}, bold: true},
		inkPick:    {fg: colour{"#000000", "16", "0"}, bg: colour{"#d4c6ff", "189", "15"}, bold: true},
		inkFrame:   {fg: colour{"#a8a8a8", "248", "7"}},
		inkCover:   {fg: colour{"#d8d8d8", "253", "7"}},
		inkAlarm:   {fg: colour{"#ffe14d", "227", "11"}, bold: true},
	}}
	plain = scheme{name: "none", page: page{"#161616", "#e6e6ea"}, ink: [inkCount]look{
		inkStrong:  {bold: true},
		inkBad:     {bold: true},
		inkUnknown: {bold: true, reverse: true},
		inkAccent:  {bold: true},
		inkBadge:   {bold: true, reverse: true},
		inkCap:     {bold: true, reverse: true},
		inkPick:    {reverse: true},
		inkFrame:   {faint: true},
		inkAlarm:   {bold: true},
	}}
	schemes = []scheme{dark, bright, contrast, plain}
)

// ThemeNames are the values that Options.Theme takes beside "auto".
func ThemeNames() []string {
	var out []string
	for _, p := range schemes {
		out = append(out, p.name)
	}
	return out
}

// stroke is an ink's escape codes, before and after the text.
type stroke struct{ on, off string }

// theme is a scheme made ready for one terminal: nothing below it asks lipgloss again.
type theme struct {
	name   string
	page   page
	inks   [inkCount]stroke
	glyphs glyphs
}

// newTheme makes the theme of this name for a terminal of this colour depth. The
// renderer is the program's own: lipgloss' default one is a global that asks the terminal.
func newTheme(name string, depth termenv.Profile, g glyphs) (*theme, error) {
	for _, p := range schemes {
		if p.name == name {
			return p.ready(depth, g), nil
		}
	}
	return nil, fmt.Errorf("there is no theme %q; choose %s", name, strings.Join(ThemeNames(), ", "))
}

func (p scheme) ready(depth termenv.Profile, g glyphs) *theme {
	if p.name == plain.name || depth == termenv.Ascii {
		// The profile without colours would drop bold and reverse too.
		p, depth = plain, termenv.ANSI
	}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(depth)
	r.SetHasDarkBackground(p.name != bright.name)
	t := &theme{name: p.name, page: p.page, glyphs: g}
	for k, l := range p.ink {
		s := r.NewStyle().Foreground(l.fg.lip()).Background(l.bg.lip()).
			Bold(l.bold).Faint(l.faint).Reverse(l.reverse).Underline(l.underlined)
		// What lipgloss writes around one letter is what it would write around any
		// other text of one line; a frame has thousands of pieces.
		t.inks[k].on, t.inks[k].off, _ = strings.Cut(s.Render("x"), "x")
	}
	return t
}
