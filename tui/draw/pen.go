// Package draw puts text on the cells of a screen: pens that write lines of an
// exact width, boxes, glyphs, and themes that give inks their colours.
//
// It promises that no text of others, whatever bytes it holds, can leave its place
// on the screen or give the terminal an order (see Clean), and that no line is wider
// than it was asked to be. It knows nothing of what is drawn, and no other package
// of the product.
package draw

import "strings"

// Span is a piece of text in one ink. Its text may come from anywhere: it is
// made safe when it is put on a line.
type Span struct {
	Ink  Ink
	Text string
}

// Spans is one line of a pane before it is given a width.
type Spans []Span

// Say makes a line of alternating inks and texts.
func Say(k Ink, text string, more ...any) Spans {
	out := make(Spans, 1, 1+len(more)/2)
	out[0] = Span{k, text}
	for i := 0; i+1 < len(more); i += 2 {
		out = append(out, Span{more[i].(Ink), more[i+1].(string)})
	}
	return out
}

// Pen writes one line that is exactly as wide as asked, in cells. Text that does
// not fit ends in an ellipsis. All text of every frame goes through Put.
type Pen struct {
	t     *Theme
	b     strings.Builder
	width int
	Room  int // cells that are left
}

func (t *Theme) Pen(width int) *Pen {
	width = max(width, 0)
	p := &Pen{t: t, width: width, Room: width}
	p.b.Grow(width * 3)
	return p
}

// Put adds text in one ink.
func (p *Pen) Put(k Ink, text string) {
	if p.Room == 0 || text == "" {
		return
	}
	out, w, cut := Clean(text, p.Room, p.t.Glyphs.ASCII)
	if cut {
		out, w, _ = Clean(text, p.Room-1, p.t.Glyphs.ASCII)
		out, w = out+p.t.Glyphs.More, w+1
	}
	p.ink(k, out)
	p.Room -= w
}

// Fill repeats a glyph of one cell.
func (p *Pen) Fill(k Ink, glyph string, n int) {
	if n = min(n, p.Room); n > 0 {
		p.ink(k, strings.Repeat(glyph, n))
		p.Room -= n
	}
}

func (p *Pen) ink(k Ink, safe string) {
	s := p.t.inks[k]
	p.b.WriteString(s.on)
	p.b.WriteString(safe)
	p.b.WriteString(s.off)
}

// Skip leaves n cells blank.
func (p *Pen) Skip(n int) { p.Fill(Text, " ", n) }

// Add writes what another pen has written so far.
func (p *Pen) Add(q *Pen) {
	p.b.WriteString(q.b.String())
	p.Room -= q.width - q.Room
}

// Within writes spans on exactly width cells.
func (p *Pen) Within(width int, s Spans) {
	q := p.t.Pen(width)
	q.Spans(s)
	q.Skip(q.Room)
	p.Add(q)
}

// Spans adds pieces of text in their inks.
func (p *Pen) Spans(s Spans) {
	for _, x := range s {
		p.Put(x.Ink, x.Text)
	}
}

// Line ends the line, filled with blanks to its width.
func (p *Pen) Line() string {
	p.Skip(p.Room)
	return p.b.String()
}

// Line gives the spans the width.
func (t *Theme) Line(s Spans, width int) string {
	p := t.Pen(width)
	p.Spans(s)
	return p.Line()
}

// Split is a line with one part at each end. Where both do not fit, the right part goes.
func (t *Theme) Split(left, right Spans, width int) string {
	l, r := t.Width(left), t.Width(right)
	p := t.Pen(width)
	if l+1+r > width {
		r = 0
	}
	p.Within(max(0, width-r), left)
	if r > 0 {
		p.Spans(right)
	}
	return p.Line()
}

// And adds a piece of text, or several of them.
func (s Spans) And(k Ink, text string, more ...any) Spans {
	return append(s, Say(k, text, more...)...)
}

// Cut is the beginning of the spans that fits, with a mark where something is cut off.
func (t *Theme) Cut(s Spans, room int) Spans {
	if t.Width(s) <= room {
		return s
	}
	room -= t.WidthOf(t.Glyphs.More)
	var out Spans
	for _, x := range s {
		w := t.WidthOf(x.Text)
		if w > room {
			text, _, _ := Clean(x.Text, max(0, room), t.Glyphs.ASCII)
			return out.And(x.Ink, text+t.Glyphs.More)
		}
		out, room = append(out, x), room-w
	}
	return out
}

// Width measures spans as they would be shown.
func (t *Theme) Width(s Spans) int {
	n := 0
	for _, x := range s {
		n += t.WidthOf(x.Text)
	}
	return n
}

// Rows is a list of lines of which only those that are seen are built.
type Rows struct {
	N  int
	At func(i int) Spans
}

// Fixed is a list of lines that are there already.
func Fixed(lines ...Spans) Rows {
	return Rows{len(lines), func(i int) Spans { return lines[i] }}
}

// Then is one list after another.
func (r Rows) Then(next Rows) Rows {
	return Rows{r.N + next.N, func(i int) Spans {
		if i < r.N {
			return r.At(i)
		}
		return next.At(i - r.N)
	}}
}

// Window paints the lines from first on, height of them, blank where there are none.
func (t *Theme) Window(r Rows, first, width, height int) []string {
	out := make([]string, height)
	for i := range out {
		if n := first + i; n >= 0 && n < r.N {
			out[i] = t.Line(r.At(n), width)
		} else {
			out[i] = t.Line(nil, width)
		}
	}
	return out
}
