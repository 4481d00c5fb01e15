package draw

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Ink is what a piece of text means, not how it looks: a theme says that. No ink
// stands alone for a state; a glyph and a word always say it too.
type Ink int

// The inks.
const (
	Text        Ink = iota // the terminal's own colour
	Strong                 // names, numbers that matter
	Quiet                  // what can be read later
	Good                   // done, succeeded, one effect
	Bad                    // failed, duplicate
	Unknown                // nobody knows: the loudest
	Wire                   // requests and replays
	Truth                  // effects in the provider's ledger
	Accent                 // keys, the pane in focus, the timeline
	Badge                  // the product's name
	Cap                    // a key inside the call-out
	Pick                   // the selected line
	Frame                  // borders at rest, lifelines
	Cover                  // what stands where the truth is covered
	Alarm                  // the frame around what nobody knows, and its bar
	BandBad                // a bad verdict on a background of its own
	BandUnknown            // what nobody knows, likewise
	inkCount               // how many there are
)

var Names = [inkCount]string{"text", "strong", "quiet", "good", "bad", "unknown", "wire", "truth", "accent", "badge", "cap", "pick", "frame", "cover", "alarm", "band-bad", "band-unknown"}

func (k Ink) String() string { return Names[k] }

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

// The themes that are chosen by what the terminal says of itself.
const (
	Dark  = "dark"
	Light = "light"
	Plain = "none" // without hues
)

// A scheme is one theme as a table: every ink has its row.
type scheme struct {
	name string
	back []string // the backgrounds that it is made for, from one extreme to the other
	page Page
	ink  [inkCount]look
}

// Page is what a picture is drawn on: its background, and its text where no ink says another colour.
type Page struct{ Back, Text string }

var (
	dark = scheme{name: Dark, back: []string{"#000000", "#1e1e1e", "#282a36"}, page: Page{"#161616", "#e6e6ea"}, ink: [inkCount]look{
		Strong:      {fg: colour{"#f2f2f5", "255", "15"}},
		Quiet:       {fg: colour{"#9a9ca6", "247", "7"}},
		Good:        {fg: colour{"#4cc38a", "78", "10"}},
		Bad:         {fg: colour{"#ff7a5c", "209", "9"}},
		Unknown:     {fg: colour{"#ffc53d", "221", "11"}, bold: true},
		Wire:        {fg: colour{"#62b3f3", "75", "12"}},
		Truth:       {fg: colour{"#dd95dc", "176", "13"}},
		Accent:      {fg: colour{"#ab93fb", "141", "13"}},
		Badge:       {fg: colour{"#1b1430", "16", "0"}, bg: colour{"#ab93fb", "141", "13"}, bold: true},
		Cap:         {fg: colour{"#1d1500", "16", "0"}, bg: colour{"#ffc53d", "221", "11"}, bold: true},
		Pick:        {fg: colour{"#ffffff", "231", "15"}, bg: colour{"#44367a", "60", "4"}, bold: true},
		Frame:       {fg: colour{"#5d606b", "240", "8"}},
		Cover:       {fg: colour{"#9a9ca6", "247", "7"}},
		Alarm:       {fg: colour{"#ffc53d", "221", "11"}},
		BandBad:     {fg: colour{"#1d0a05", "16", "0"}, bg: colour{"#ff7a5c", "209", "9"}, bold: true},
		BandUnknown: {fg: colour{"#1d1500", "16", "0"}, bg: colour{"#ffc53d", "221", "11"}, bold: true},
	}}
	bright = scheme{name: Light, back: []string{"#ffffff", "#fdf6e3", "#f2f2f2"}, page: Page{"#ffffff", "#2a2b30"}, ink: [inkCount]look{
		Strong:      {fg: colour{"#111113", "232", "0"}, bold: true},
		Quiet:       {fg: colour{"#5c5e66", "240", "8"}},
		Good:        {fg: colour{"#10693e", "22", "2"}},
		Bad:         {fg: colour{"#b3261e", "124", "1"}},
		Unknown:     {fg: colour{"#5c3800", "58", "0"}, bg: colour{"#ffe08a", "222", "11"}, bold: true},
		Wire:        {fg: colour{"#0b5ea8", "25", "4"}},
		Truth:       {fg: colour{"#8a2b8a", "90", "5"}},
		Accent:      {fg: colour{"#5b3fc4", "56", "5"}},
		Badge:       {fg: colour{"#ffffff", "231", "15"}, bg: colour{"#5b3fc4", "56", "5"}, bold: true},
		Cap:         {fg: colour{"#241700", "16", "0"}, bg: colour{"#ffc53d", "221", "11"}, bold: true},
		Pick:        {fg: colour{"#1b1430", "16", "0"}, bg: colour{"#d9d0fb", "189", "7"}, bold: true},
		Frame:       {fg: colour{"#a5a7ae", "248", "7"}},
		Cover:       {fg: colour{"#5c5e66", "240", "8"}},
		Alarm:       {fg: colour{"#9a6200", "130", "1"}, bold: true},
		BandBad:     {fg: colour{"#ffffff", "231", "15"}, bg: colour{"#b3261e", "124", "1"}, bold: true},
		BandUnknown: {fg: colour{"#241700", "16", "0"}, bg: colour{"#ffc53d", "221", "11"}, bold: true},
	}}
	contrast = scheme{name: "high-contrast", back: []string{"#000000", "#121212"}, page: Page{"#000000", "#ffffff"}, ink: [inkCount]look{
		Strong:      {fg: colour{"#ffffff", "231", "15"}, bold: true},
		Quiet:       {fg: colour{"#d8d8d8", "253", "7"}},
		Good:        {fg: colour{"#7dffb0", "121", "10"}},
		Bad:         {fg: colour{"#ff9d85", "216", "9"}, bold: true},
		Unknown:     {fg: colour{"#ffe14d", "227", "11"}, bold: true, underlined: true},
		Wire:        {fg: colour{"#8fd0ff", "117", "14"}},
		Truth:       {fg: colour{"#ffb3ff", "219", "13"}},
		Accent:      {fg: colour{"#d4c6ff", "189", "15"}, bold: true},
		Badge:       {fg: colour{"#000000", "16", "0"}, bg: colour{"#ffffff", "231", "15"}, bold: true},
		Cap:         {fg: colour{"#000000", "16", "0"}, bg: colour{"#ffe14d", "227", "11"}, bold: true},
		Pick:        {fg: colour{"#000000", "16", "0"}, bg: colour{"#d4c6ff", "189", "15"}, bold: true},
		Frame:       {fg: colour{"#a8a8a8", "248", "7"}},
		Cover:       {fg: colour{"#d8d8d8", "253", "7"}},
		Alarm:       {fg: colour{"#ffe14d", "227", "11"}, bold: true},
		BandBad:     {fg: colour{"#000000", "16", "0"}, bg: colour{"#ff9d85", "216", "9"}, bold: true},
		BandUnknown: {fg: colour{"#000000", "16", "0"}, bg: colour{"#ffe14d", "227", "11"}, bold: true},
	}}
	plain = scheme{name: Plain, page: Page{"#161616", "#e6e6ea"}, ink: [inkCount]look{
		Strong:      {bold: true},
		Bad:         {bold: true},
		Unknown:     {bold: true, reverse: true},
		Accent:      {bold: true},
		Badge:       {bold: true, reverse: true},
		Cap:         {bold: true, reverse: true},
		Pick:        {reverse: true},
		Frame:       {faint: true},
		Alarm:       {bold: true},
		BandBad:     {bold: true, reverse: true},
		BandUnknown: {bold: true, reverse: true},
	}}
	schemes = []scheme{dark, bright, contrast, plain}
)

// ThemeNames are the names that NewTheme takes.
func ThemeNames() []string {
	var out []string
	for _, p := range schemes {
		out = append(out, p.name)
	}
	return out
}

// stroke is an ink's escape codes, before and after the text.
type stroke struct{ on, off string }

// Theme is a scheme made ready for one terminal: nothing below it asks lipgloss again.
type Theme struct {
	Name   string
	Page   Page
	inks   [inkCount]stroke
	styles [inkCount]lipgloss.Style // for what bubbles draws
	Glyphs Glyphs
}

// NewTheme makes the theme of this name for a terminal of this colour depth. The
// renderer is the program's own: lipgloss' default one is a global that asks the terminal.
func NewTheme(name string, depth termenv.Profile, g Glyphs) (*Theme, error) {
	for _, p := range schemes {
		if p.name == name {
			return p.ready(depth, g), nil
		}
	}
	return nil, fmt.Errorf("there is no theme %q; choose %s", name, strings.Join(ThemeNames(), ", "))
}

func (p scheme) ready(depth termenv.Profile, g Glyphs) *Theme {
	if p.name == Plain || depth == termenv.Ascii {
		// The profile without colours would drop bold and reverse too.
		p, depth = plain, termenv.ANSI
	}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(depth)
	r.SetHasDarkBackground(p.name != Light)
	t := &Theme{Name: p.name, Page: p.page, Glyphs: g}
	for k, l := range p.ink {
		s := r.NewStyle().Foreground(l.fg.lip()).Background(l.bg.lip()).
			Bold(l.bold).Faint(l.faint).Reverse(l.reverse).Underline(l.underlined)
		// What lipgloss writes around one letter is what it would write around any
		// other text of one line; a frame has thousands of pieces.
		t.styles[k] = s
		t.inks[k].on, t.inks[k].off, _ = strings.Cut(s.Render("x"), "x")
	}
	return t
}
