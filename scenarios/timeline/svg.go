package timeline

import (
	"fmt"
	"html"
	"strings"
	"time"
	"unicode/utf8"

	"faultlab/engine/plain"
)

// Where things stand in a wire diagram as SVG, in pixels.
const (
	svgRow      = 22 // height of a row
	svgTop      = 44 // baseline of the first row
	svgCaller   = 96 // the caller's lifeline
	svgProvider = 520
	svgWidth    = 900
	svgGlyph    = 8.2 // width of a character
)

// WireSVG draws the wire diagram as an SVG element whose colours come from the page's classes: plain, quiet, good, bad,
// unknown, wire and truth. Glyphs and words say the same without colour.
func WireSVG(rows []Row, start time.Time) string {
	var b strings.Builder
	height := svgTop + svgRow*len(rows)
	width := svgWidth
	for _, r := range rows {
		if right := svgRight(r); right > width {
			width = right
		}
	}
	fmt.Fprintf(&b, `<svg class="wire" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="wire diagram">`, width, height, width, height)
	svgText(&b, svgCaller-24, 18, "plain", "CALLER")
	svgText(&b, svgProvider-32, 18, "plain", "PROVIDER")
	svgLine(&b, svgCaller, 26, svgCaller, height, "quiet", "")
	svgLine(&b, svgProvider, 26, svgProvider, height, "quiet", "")
	last := ""
	for i, r := range rows {
		y := svgTop + svgRow*i
		if at := timeOf(r.At, start); at != last {
			last = at
			fmt.Fprintf(&b, `<text class="quiet" x="%d" y="%d" text-anchor="end">%s</text>`, svgCaller-16, y, html.EscapeString(at))
		}
		r.svg(&b, y)
	}
	b.WriteString("</svg>")
	return b.String()
}

// what is the row's text in one line.
func (r Row) what() string {
	what := plain.Escape(r.Label())
	if r.Detail != "" {
		what += "  " + plain.Escape(r.Detail)
	}
	return what
}

func svgRight(r Row) int {
	x := svgCaller + 24
	if r.Kind == RowCommit || r.Kind == RowReplay || r.Kind == RowRefused {
		x = svgProvider + 24
	}
	return x + int(svgGlyph*float64(utf8.RuneCountInString(r.what()))) + 24
}

func (r Row) svg(b *strings.Builder, y int) {
	class, what := svgClasses[r.Tone], r.what()
	middle := y - 5
	switch r.Kind {
	case RowSend:
		svgArrow(b, svgCaller, svgProvider, middle, class, "")
		svgLabel(b, svgCaller+12, y, class, what)
	case RowReply:
		svgArrow(b, svgProvider, svgCaller, middle, class, "")
		svgLabel(b, svgCaller+24, y, class, what)
	case RowBroken:
		svgLine(b, svgProvider, middle, svgCaller+12, middle, class, "3 5")
		svgText(b, svgCaller+2, y, class, "╳")
		svgLabel(b, svgCaller+24, y, class, what)
	case RowCommit:
		svgText(b, svgProvider-5, y, "truth", "◆")
		svgText(b, svgProvider+14, y, "truth", what)
	case RowReplay:
		svgText(b, svgProvider-5, y, "wire", "◇")
		svgText(b, svgProvider+14, y, "wire", what)
	case RowRefused:
		svgText(b, svgProvider-5, y, "bad", "✗")
		svgText(b, svgProvider+14, y, "bad", what)
	case RowOutcome:
		svgText(b, svgCaller+12, y, class, map[Tone]string{ToneGood: "✓ ", ToneBad: "✗ ", ToneUnknown: "? "}[r.Tone]+what)
	default:
		glyph := glyphs[r.Kind]
		if glyph == "│" {
			glyph = ""
		}
		svgText(b, svgCaller+12, y, class, strings.TrimSpace(glyph+" "+what))
	}
}

var svgClasses = map[Tone]string{
	TonePlain: "plain", ToneQuiet: "quiet", ToneGood: "good", ToneBad: "bad", ToneUnknown: "unknown", ToneWire: "wire", ToneTruth: "truth",
}

func svgText(b *strings.Builder, x, y int, class, text string) {
	fmt.Fprintf(b, `<text class="%s" x="%d" y="%d" xml:space="preserve">%s</text>`, class, x, y, html.EscapeString(text))
}

// svgLabel writes a text on an arrow, with the page's ground behind it.
func svgLabel(b *strings.Builder, x, y int, class, text string) {
	width := int(svgGlyph*float64(utf8.RuneCountInString(text))) + 8
	fmt.Fprintf(b, `<rect class="ground" x="%d" y="%d" width="%d" height="%d"/>`, x-4, y-15, width, 19)
	svgText(b, x, y, class, text)
}

func svgLine(b *strings.Builder, x1, y1, x2, y2 int, class, dashes string) {
	if dashes != "" {
		dashes = ` stroke-dasharray="` + dashes + `"`
	}
	fmt.Fprintf(b, `<line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"%s/>`, class, x1, y1, x2, y2, dashes)
}

func svgArrow(b *strings.Builder, from, to, y int, class, dashes string) {
	svgLine(b, from, y, to, y, class, dashes)
	back := 8
	if to > from {
		back = -8
	}
	fmt.Fprintf(b, `<path class="%s" d="M%d %d l%d -4 v8 z"/>`, class, to, y, back)
}
