package draw

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

// Text needs a contrast of 4.5:1 (WCAG 2.2, success criterion 1.4.3). Frames are decoration.
const enough = 4.5

func TestEveryInkCanBeRead(t *testing.T) {
	t.Parallel()
	for _, p := range schemes {
		for k, l := range p.ink {
			if l.fg.rgb == "" || Ink(k) == Frame {
				continue
			}
			backs := append([]string{p.page.Back}, p.back...)
			if l.bg.rgb != "" {
				backs = []string{l.bg.rgb}
			}
			for _, b := range backs {
				if c := contrastOf(l.fg.rgb, b); c < enough {
					t.Errorf("theme %s: %v on %s has a contrast of %.2f:1", p.name, Ink(k), b, c)
				}
			}
		}
	}
}

func TestTextOnThePageOfAPictureCanBeRead(t *testing.T) {
	t.Parallel()
	for _, p := range schemes {
		if c := contrastOf(p.page.Back, p.page.Text); c < enough {
			t.Errorf("theme %s: text on its page has a contrast of %.2f:1", p.name, c)
		}
	}
}

func TestTheThemeWithoutHuesKeepsBoldAndReverse(t *testing.T) {
	t.Parallel()
	for _, depth := range []termenv.Profile{termenv.Ascii, termenv.TrueColor} {
		th, err := NewTheme("none", depth, Unicode)
		if err != nil {
			t.Fatal(err)
		}
		if got := th.inks[Unknown].on; got != "\x1b[1;7m" {
			t.Errorf("unknown is written as %q, want bold and reverse", got)
		}
		for k, s := range th.inks {
			if strings.Contains(s.on, "3") || strings.Contains(s.on, "4") {
				t.Errorf("%v has a hue: %q", Ink(k), s.on)
			}
		}
	}
}

func TestEveryThemeWritesItsInksAsColours(t *testing.T) {
	t.Parallel()
	for _, p := range schemes[:3] {
		for depth, want := range map[termenv.Profile]string{termenv.TrueColor: "38;2;", termenv.ANSI256: "38;5;", termenv.ANSI: "\x1b["} {
			th, err := NewTheme(p.name, depth, Unicode)
			if err != nil {
				t.Fatal(err)
			}
			if got := th.inks[Good].on; !strings.Contains(got, want) {
				t.Errorf("theme %s at depth %v writes %q", p.name, depth, got)
			}
		}
	}
}

func TestAnUnknownThemeIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := NewTheme("solarized", termenv.TrueColor, Unicode); err == nil || !strings.Contains(err.Error(), "high-contrast") || strings.Contains(err.Error(), "auto") {
		t.Errorf("refused with %v", err)
	}
}

func TestGlyphsAreOneCellWide(t *testing.T) {
	t.Parallel()
	for _, g := range []Glyphs{Unicode, ASCII} {
		for _, s := range allGlyphs(g) {
			if out, w, _ := Clean(s, 10, g.ASCII); out != s || w != 1 || ansi.StringWidth(s) != 1 {
				t.Errorf("glyph %q is shown as %q, %d cells wide", s, out, w)
			}
		}
	}
}

func contrastOf(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// luminance is the relative luminance of sRGB as WCAG defines it.
func luminance(rgb string) float64 {
	n, err := strconv.ParseUint(rgb[1:], 16, 32)
	if err != nil {
		panic(err)
	}
	lin := func(c uint64) float64 {
		v := float64(c&255) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(n>>16) + 0.7152*lin(n>>8) + 0.0722*lin(n)
}

func allGlyphs(g Glyphs) (out []string) {
	for v, i := reflect.ValueOf(g), 0; i < v.NumField(); i++ {
		if f := v.Field(i); f.Kind() == reflect.String {
			out = append(out, f.String())
		}
	}
	return out
}
