package tui

import "strings"

// box is a pane: a rounded frame with its title in the border. The focused one
// is marked by a glyph too, not by its colour alone.
type box struct {
	title spans
	side  spans // at the right end of the top border: how much is not seen
	frame ink
	focus bool
	body  func(width, height int) []string // its lines, each exactly width wide; at most height of them
}

// padding is the blank column inside the left border; the right one is the text's own affair.
const padding = 1

// borders are the cells of the top border that are neither title nor side.
const borders = 8

// draw gives exactly height lines of exactly width cells.
func (t *theme) draw(b box, width, height int) []string {
	if width < 4 || height < 2 {
		return t.window(rows{}, 0, width, height)
	}
	g := t.glyphs
	out := make([]string, 0, height)
	out = append(out, t.topBorder(b, width))
	inner := width - 2 - padding
	var body []string
	if height > 2 {
		body = b.body(inner, height-2)
	}
	edge := t.inks[b.frame]
	left, right := edge.on+g.v+edge.off+" ", edge.on+g.v+edge.off
	blank := strings.Repeat(" ", inner)
	for i := range height - 2 {
		text := blank
		if i < len(body) {
			text = body[i]
		}
		out = append(out, left+text+right)
	}
	p := t.pen(width)
	p.put(b.frame, g.bl)
	p.fill(b.frame, g.h, width-2)
	p.put(b.frame, g.br)
	return append(out, p.line())
}

func (t *theme) topBorder(b box, width int) string {
	g := t.glyphs
	p := t.pen(width)
	p.put(b.frame, g.tl)
	p.put(b.frame, g.h)
	p.skip(1)
	title := b.title
	if b.focus {
		title = append(say(inkAccent, g.pick+" "), title...)
	}
	side := t.width(b.side)
	if side > 0 && side+t.width(title)+borders > width {
		side = 0
	}
	head := t.pen(p.room - 2)
	used := min(t.width(title), head.room)
	inner := t.pen(used)
	for _, s := range title {
		inner.put(s.ink, s.text)
	}
	p.b.WriteString(inner.line())
	p.room -= used
	p.skip(1)
	if side > 0 {
		p.fill(b.frame, g.h, p.room-side-4)
		p.skip(1)
		for _, s := range b.side {
			p.put(s.ink, s.text)
		}
		p.skip(1)
		p.fill(b.frame, g.h, 1)
	}
	p.fill(b.frame, g.h, p.room-1)
	p.put(b.frame, g.tr)
	return p.line()
}

// beside joins columns of equal height with one blank column between them.
func beside(cols ...[]string) []string {
	out := make([]string, len(cols[0]))
	var b strings.Builder
	for i := range out {
		b.Reset()
		for j, c := range cols {
			if j > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(c[i])
		}
		out[i] = b.String()
	}
	return out
}
