package draw

import "strings"

// Box is a pane: a rounded frame with its title in the border. The focused one
// is marked by a glyph too, not by its colour alone.
type Box struct {
	Title Spans
	Side  Spans // at the right end of the top border: how much is not seen
	Frame Ink
	Focus bool
	Body  func(width, height int) []string // its lines, each exactly width wide; at most height of them
}

// Padding is the blank column inside the left border; the right one is the text's own affair.
const Padding = 1

// Borders are the cells of the top border that are neither title nor side.
const Borders = 8

// Box gives exactly height lines of exactly width cells.
func (t *Theme) Box(b Box, width, height int) []string {
	if width < 4 || height < 2 {
		return t.Window(Rows{}, 0, width, height)
	}
	g := t.Glyphs
	out := make([]string, 0, height)
	out = append(out, t.topBorder(b, width))
	inner := width - 2 - Padding
	var body []string
	if height > 2 {
		body = b.Body(inner, height-2)
	}
	edge := t.inks[b.Frame]
	left, right := edge.on+g.V+edge.off+" ", edge.on+g.V+edge.off
	blank := strings.Repeat(" ", inner)
	for i := range height - 2 {
		text := blank
		if i < len(body) {
			text = body[i]
		}
		out = append(out, left+text+right)
	}
	p := t.Pen(width)
	p.Put(b.Frame, g.bl)
	p.Fill(b.Frame, g.H, width-2)
	p.Put(b.Frame, g.br)
	return append(out, p.Line())
}

func (t *Theme) topBorder(b Box, width int) string {
	g := t.Glyphs
	p := t.Pen(width)
	p.Put(b.Frame, g.tl)
	p.Put(b.Frame, g.H)
	p.Skip(1)
	title := b.Title
	if b.Focus {
		title = append(Say(Accent, g.Pick+" "), title...)
	}
	side := t.Width(b.Side)
	if side > 0 && side+t.Width(title)+Borders > width {
		side = 0
	}
	p.Within(min(t.Width(title), p.Room-2), title)
	p.Skip(1)
	if side > 0 {
		p.Fill(b.Frame, g.H, p.Room-side-4)
		p.Skip(1)
		p.Spans(b.Side)
		p.Skip(1)
		p.Fill(b.Frame, g.H, 1)
	}
	p.Fill(b.Frame, g.H, p.Room-1)
	p.Put(b.Frame, g.tr)
	return p.Line()
}

// Beside joins columns of equal height with one blank column between them.
func Beside(cols ...[]string) []string {
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
