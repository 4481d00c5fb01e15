package tui

import "strings"

// span is a piece of text in one ink. Its text may come from anywhere: it is
// made safe when it is put on a line.
type span struct {
	ink  ink
	text string
}

// spans is one line of a pane before it is given a width.
type spans []span

// say makes a line of alternating inks and texts.
func say(k ink, text string, more ...any) spans {
	out := spans{{k, text}}
	for i := 0; i+1 < len(more); i += 2 {
		out = append(out, span{more[i].(ink), more[i+1].(string)})
	}
	return out
}

// pen writes one line that is exactly as wide as asked, in cells. Text that does
// not fit ends in an ellipsis. All text of every frame goes through put.
type pen struct {
	t    *theme
	b    strings.Builder
	room int
}

func (t *theme) pen(width int) *pen {
	p := &pen{t: t, room: max(width, 0)}
	p.b.Grow(width * 3)
	return p
}

// put adds text in one ink.
func (p *pen) put(k ink, text string) {
	if p.room == 0 || text == "" {
		return
	}
	out, w, cut := clean(text, p.room, p.t.glyphs.ascii)
	if cut {
		out, w, _ = clean(text, p.room-1, p.t.glyphs.ascii)
		out, w = out+p.t.glyphs.more, w+1
	}
	p.ink(k, out)
	p.room -= w
}

// fill repeats a glyph of one cell.
func (p *pen) fill(k ink, glyph string, n int) {
	if n = min(n, p.room); n > 0 {
		p.ink(k, strings.Repeat(glyph, n))
		p.room -= n
	}
}

func (p *pen) ink(k ink, safe string) {
	s := p.t.inks[k]
	p.b.WriteString(s.on)
	p.b.WriteString(safe)
	p.b.WriteString(s.off)
}

// skip leaves n cells blank.
func (p *pen) skip(n int) { p.fill(inkText, " ", n) }

// line ends the line, filled with blanks to its width.
func (p *pen) line() string {
	p.skip(p.room)
	return p.b.String()
}

// line gives the spans the width.
func (t *theme) line(s spans, width int) string {
	p := t.pen(width)
	for _, x := range s {
		p.put(x.ink, x.text)
	}
	return p.line()
}

// split is a line with one part at each end. Where both do not fit, the right part goes.
func (t *theme) split(left, right spans, width int) string {
	l, r := t.width(left), t.width(right)
	p := t.pen(width)
	if l+1+r > width {
		r = 0
	}
	body := p.t.pen(width - r)
	for _, x := range left {
		body.put(x.ink, x.text)
	}
	p.b.WriteString(body.line())
	p.room = r
	if r > 0 {
		for _, x := range right {
			p.put(x.ink, x.text)
		}
	}
	return p.line()
}

// cutTo is the beginning of the spans that fits, with a mark where something is cut off.
func (t *theme) cutTo(s spans, room int) spans {
	if t.width(s) <= room {
		return s
	}
	room -= t.widthOf(t.glyphs.more)
	var out spans
	for _, x := range s {
		w := t.widthOf(x.text)
		if w > room {
			text, _, _ := clean(x.text, max(0, room), t.glyphs.ascii)
			return append(out, span{x.ink, text + t.glyphs.more})
		}
		out, room = append(out, x), room-w
	}
	return out
}

func (t *theme) width(s spans) int {
	n := 0
	for _, x := range s {
		n += t.widthOf(x.text)
	}
	return n
}

// rows is a list of lines of which only those that are seen are built.
type rows struct {
	n  int
	at func(i int) spans
}

func fixed(lines ...spans) rows {
	return rows{len(lines), func(i int) spans { return lines[i] }}
}

// then is one list after another.
func (r rows) then(next rows) rows {
	return rows{r.n + next.n, func(i int) spans {
		if i < r.n {
			return r.at(i)
		}
		return next.at(i - r.n)
	}}
}

// window paints the lines from first on, height of them, blank where there are none.
func (t *theme) window(r rows, first, width, height int) []string {
	out := make([]string, height)
	for i := range out {
		if n := first + i; n >= 0 && n < r.n {
			out[i] = t.line(r.at(n), width)
		} else {
			out[i] = t.line(nil, width)
		}
	}
	return out
}
