package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"faultlab/engine/plain"
	"faultlab/scenarios"
	"faultlab/scenarios/explore"
	"faultlab/tui/draw"
)

// Sizes of the map, in cells.
const (
	mapCell     = 6   // the width of one column
	mapLabel    = 24  // of the names of rows, at most
	mapBeside   = 96  // from this width on the pane stands beside the map
	mapSettings = 118 // from this width on the header says in full what is searched
	mapPane     = 42  // the pane's width there, at least
	mapPaneRows = 8   // the pane's height under the map, at least
)

func (s *mapScreen) draw(u *ui, width, height int) []string {
	out := append([]string{s.band(u, width)}, s.claim(u, width, height)...)
	rest := height - len(out) - 1 // the last line is the progress
	chart, pane := draw.Box{Title: draw.Say(draw.Strong, "Map", draw.Quiet, "  first fault down, then what came next"), Frame: draw.Accent, Focus: true},
		draw.Box{Title: draw.Say(draw.Strong, "Shortest schedule of this cell"), Frame: draw.Frame}
	pane.Body = func(w, h int) []string { return s.paneBody(u, w, h) }
	mapBox := func(w, h int) []string {
		lines := s.mapBody(u, &chart, w-2-draw.Padding, h-2) // it says in the border what is not seen
		chart.Body = func(int, int) []string { return lines }
		return u.t.Box(chart, w, h)
	}
	switch {
	case width >= mapBeside:
		side := clamp(width/3, mapPane, 66)
		out = append(out, draw.Beside(mapBox(width-side-1, rest), u.t.Box(pane, side, rest))...)
	case s.alone == 0 && rest >= mapPaneRows+9:
		under := max(mapPaneRows, rest*2/5)
		out = append(append(out, mapBox(width, rest-under)...), u.t.Box(pane, width, under)...)
	case s.alone == 2:
		out = append(out, u.t.Box(pane, width, rest)...)
	default:
		out = append(out, mapBox(width, rest)...)
	}
	return append(out, s.progressLine(u, width))
}

// verdicts are how the schedules ended that are known so far.
func (s *mapScreen) verdicts() map[string]uint64 {
	if s.state.found != nil {
		return s.state.found.Verdicts
	}
	sum := map[string]uint64{}
	for _, cells := range s.cells.Cells {
		for _, c := range cells {
			for v, n := range c.Verdicts {
				sum[v] += n
			}
		}
	}
	return sum
}

// band says the worst verdict, how many schedules end with it, and the first of the shortest.
func (s *mapScreen) band(u *ui, width int) string {
	t := u.t
	if s.state.err != nil {
		return t.Line(draw.Say(draw.BandBad, padded(t, " "+t.Glyphs.Bad+" CANNOT BE EXPLORED", width)), width)
	}
	worst, count := worstOf(s.verdicts())
	switch {
	case worst == "":
		return t.Line(draw.Say(draw.Quiet, " "+t.Glyphs.Open+" searching"), width)
	case gravityOfVerdict(worst) == 0 && !s.state.over():
		return t.Line(draw.Say(draw.Good, " "+t.Glyphs.Good+" NOTHING BAD SO FAR"), width)
	case gravityOfVerdict(worst) == 0:
		return t.Line(draw.Say(draw.Good, " "+t.Glyphs.Good+" EVERY SCHEDULE ENDS AS IT SHOULD"), width)
	}
	sign := mapSign(worst)
	text := fmt.Sprintf(" %s %d %s %s", sign.Glyph(t.Glyphs), count, map[bool]string{true: "ENDS", false: "END"}[count == 1], strings.ToUpper(sign.Word))
	if !s.state.over() {
		text += " SO FAR"
	}
	shortest := s.shortest(worst)
	text += "   " + t.Head("shortest: "+shortNames(shortest), max(0, width-t.WidthOf(text)-4))
	return t.Line(draw.Say(bandInk(worst), padded(t, text, width)), width)
}

// shortest is a shortest schedule with a verdict.
func (s *mapScreen) shortest(verdict string) (out explore.Schedule) {
	for _, cells := range s.cells.Cells {
		for _, c := range cells {
			if c.Worst == verdict && (out == nil || len(c.Shortest) < len(out)) {
				out = c.Shortest
			}
		}
	}
	return out
}

// shortNames are the deviations of a schedule without their places.
func shortNames(s explore.Schedule) string {
	if len(s) == 0 {
		return "nothing goes wrong"
	}
	var names []string
	for _, d := range s {
		names = append(names, deviationName(d.Alt))
	}
	return strings.Join(names, ", ")
}

// claim says under the band what no schedule did, and how many schedules that is about.
func (s *mapScreen) claim(u *ui, width, height int) (out []string) {
	t, r := u.t, s.state.found
	if r == nil {
		text := "Nothing is claimed before the search is over."
		if s.state.err != nil {
			text = ""
		}
		return []string{t.Line(draw.Say(draw.Quiet, " "+text), width)}
	}
	right := draw.Say(draw.Quiet, fmt.Sprintf("%d schedules stand for all ", r.CarriedOut), draw.Strong, strconv.FormatUint(r.Schedules, 10), draw.Quiet, "   "+seconds(s.state)+" ")
	claim := r.Claim()
	if claim == "" {
		return []string{t.Split(draw.Say(draw.Quiet, " No claim holds: see the map."), right, width)}
	}
	limit := 3
	if height < 18 {
		limit = 1
	}
	lines := t.Wrap(claim, width-4, limit)
	mark := draw.Say(draw.Good, " "+t.Glyphs.Good+" ")
	for i, l := range lines {
		line := append(mark, draw.Span{Ink: draw.Text, Text: l})
		if i == len(lines)-1 && t.Width(line)+t.Width(right) < width {
			return append(out, t.Split(line, right, width))
		}
		out = append(out, t.Line(line, width))
		mark = draw.Say(draw.Text, "   ")
	}
	if height >= 30 {
		out = append(out, t.Split(nil, right, width))
	}
	return out
}

func seconds(st mapState) string { return fmt.Sprintf("%.1f s", st.elapsed.Seconds()) }

// progressLine is how far the search is.
func (s *mapScreen) progressLine(u *ui, width int) string {
	t, st := u.t, s.state
	var right draw.Spans
	part := 0.0
	p := st.progress
	rate := draw.Say(draw.Quiet, "   "+thousands(st.rate())+" a second")
	switch r := st.found; {
	case st.err != nil:
		return t.Line(nil, width)
	case r == nil && p.Queued == 0:
		right = draw.Say(draw.Accent, t.Glyphs.Open+" searching")
	case r == nil:
		part = float64(p.Done) / float64(p.Queued)
		right = append(draw.Say(draw.Quiet, fmt.Sprintf("depth %d  ", p.Depth), draw.Strong, thousands(p.Done), draw.Quiet, " of "+thousands(p.Queued)), rate...).
			And(draw.Accent, "   "+t.Glyphs.Open+" searching")
	case !r.Complete:
		part = 1
		right = append(draw.Say(draw.Strong, thousands(int(r.Schedules)), draw.Quiet, " schedules"), rate...).
			And(draw.Unknown, "   "+t.Glyphs.Unknown+" complete up to "+plain.Count(r.Depth, "deviation"))
	default:
		part = 1
		right = append(draw.Say(draw.Strong, thousands(int(r.Schedules)), draw.Quiet, " of "+thousands(int(r.Schedules))), rate...).
			And(draw.Good, "   "+t.Glyphs.Good+" complete")
	}
	w := t.Width(right)
	bar := max(0, width-w-4)
	ink := draw.Accent
	if part == 1 && st.over() {
		ink = draw.Good
	}
	return t.Line(append(draw.Say(draw.Text, " ", ink, t.Progress(part, bar), draw.Text, "  "), right...), width)
}

// thousands writes a number with its thousands apart.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// mapBody is the map itself with its legend, as much of it as fits around the chosen cell. What is not seen is said in the border.
func (s *mapScreen) mapBody(u *ui, b *draw.Box, w, h int) []string {
	t, m := u.t, &s.cells
	if len(m.Rows) == 0 {
		text := "The first schedules are being carried out."
		if s.state.err != nil {
			text = s.state.err.Error()
		}
		return t.Window(draw.Fixed(t.Paragraph(draw.Text, "", text, w-1, 5)...), 0, w, h)
	}
	label := 0
	for _, r := range m.Rows {
		label = max(label, t.WidthOf(deviationName(r)))
	}
	label = min(label, mapLabel, max(8, w-2-3*mapCell))
	foot := s.foot(t, w-1)
	const heads = 2
	least := len(m.Rows) // the rows go before what can be read where the map has more room
	if h >= 12 {
		least = min(least, h/2)
	}
	for len(foot) > 1 && h-heads-len(foot) < least || len(foot) > h-heads-2 && len(foot) > 0 {
		foot = foot[:len(foot)-1]
	}
	if n := len(foot); n > 0 && len(foot[n-1]) == 0 {
		foot = foot[:n-1]
	}
	row, column := s.place()
	rows := max(1, min(len(m.Rows), h-heads-len(foot)))
	columns := max(1, min(len(m.Columns), (w-2-label)/mapCell))
	s.firstRow = within(s.firstRow, row, rows, len(m.Rows))
	s.firstColumn = within(s.firstColumn, column, columns, len(m.Columns))
	b.Side = draw.Say(draw.Quiet, cutOff(t, "row", s.firstRow, rows, len(m.Rows))+cutOff(t, "column", s.firstColumn, columns, len(m.Columns)))
	if len(b.Side[0].Text) == 0 {
		b.Side = nil
	} else if t.Width(b.Title)+t.Width(b.Side)+draw.Borders+4 > w {
		b.Title = draw.Say(draw.Strong, "Map")
	}
	var lines []draw.Spans
	for i := range heads {
		line := draw.Say(draw.Quiet, strings.Repeat(" ", label+2))
		for _, c := range m.Columns[s.firstColumn : s.firstColumn+columns] {
			ink := draw.Quiet
			if c == s.column {
				ink = draw.Strong
			}
			line = line.And(ink, padded(t, " "+headOf(c)[i], mapCell))
		}
		lines = append(lines, line)
	}
	for r := s.firstRow; r < s.firstRow+rows; r++ {
		mark, ink := t.Mark(r == row)
		line := append(mark, draw.Span{Ink: ink, Text: padded(t, t.Head(deviationName(m.Rows[r]), label), label)})
		for c := s.firstColumn; c < s.firstColumn+columns; c++ {
			line = append(line, s.mapCell(t, m.Cells[r][c], r == row && c == column)...)
		}
		lines = append(lines, line)
	}
	if gap := h - len(lines) - len(foot); gap > 0 && len(foot) > 0 {
		lines = append(lines, nil)
	}
	return t.Window(draw.Fixed(append(lines, foot...)...), 0, w, h)
}

// padded fills a text that is not wider than n cells.
func padded(t *draw.Theme, text string, n int) string {
	return text + strings.Repeat(" ", max(0, n-t.WidthOf(text)))
}

// within moves the first of n that are seen as little as needed to show the chosen one.
func within(first, chosen, n, all int) int {
	return clamp(clamp(first, chosen-n+1, chosen), 0, max(0, all-n))
}

// cutOff says which of several are seen, where that is not all of them.
func cutOff(t *draw.Theme, what string, first, n, all int) string {
	if n >= all {
		return ""
	}
	return fmt.Sprintf(" %ss %d-%d of %d", what, first+1, first+n, all)
}

// mapCell is one field: the glyph of its worst verdict, in brackets where it is chosen.
func (s *mapScreen) mapCell(t *draw.Theme, c explore.MapCell, chosen bool) draw.Spans {
	glyph, ink := t.Glyphs.Dot, draw.Frame
	if c.Worst != "" {
		sign := mapSign(c.Worst)
		glyph, ink = sign.Glyph(t.Glyphs), bandInk(c.Worst)
	} else if !s.state.over() {
		glyph = " "
	}
	left, right := " ", "  "
	if chosen {
		left, right = "[", "] "
	}
	return draw.Say(draw.Accent, left, ink, " "+glyph+" ", draw.Accent, right)
}

// foot is the legend, what other searches found, and what the claim rests on; the last lines go first where there is no room.
func (s *mapScreen) foot(t *draw.Theme, width int) []draw.Spans {
	out := append(s.legend(t, width), nil)
	if other := s.other(t); other != nil {
		out = append(out, other, nil)
	}
	if r := s.state.found; r != nil {
		o := s.search.options
		text := fmt.Sprintf("assumed: %s. Nothing is claimed beyond %s and %s.", strings.Join(r.Assumed, ", "),
			plain.Count(int(o.Bound[explore.Fault]), "fault"), plain.Count(int(o.Bound[explore.Crash]), "crash"))
		out = append(out, t.Paragraph(draw.Quiet, " ", text, width, 4)...)
	}
	return out
}

// legend names the glyphs that are on the map.
func (s *mapScreen) legend(t *draw.Theme, width int) []draw.Spans {
	words := map[string][]string{} // by glyph
	inks := map[string]draw.Ink{}
	var glyphs []string
	verdicts := s.verdicts()
	list := make([]string, 0, len(verdicts))
	for v := range verdicts {
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b string) int {
		if d := gravityOfVerdict(a) - gravityOfVerdict(b); d != 0 {
			return d
		}
		return strings.Compare(b, a)
	})
	for _, v := range list {
		sign := mapSign(v)
		g := sign.Glyph(t.Glyphs)
		if words[g] == nil {
			glyphs = append(glyphs, g)
		}
		words[g], inks[g] = append(words[g], sign.Word), bandInk(v)
	}
	var parts []draw.Spans
	for _, g := range glyphs {
		parts = append(parts, draw.Say(inks[g], " "+g+" ", draw.Text, " "+strings.Join(words[g], ", ")))
	}
	if s.state.over() {
		parts = append(parts, draw.Say(draw.Frame, " "+t.Glyphs.Dot+" ", draw.Quiet, " cannot be"))
	}
	var out []draw.Spans
	line := draw.Spans{}
	for _, p := range parts {
		if len(line) > 0 && t.Width(line)+2+t.Width(p) > width {
			out, line = append(out, line), draw.Spans{}
		}
		line = append(line.And(draw.Text, " "), p...)
	}
	return append(out, line)
}

// other is what searches before this one found under other contracts; nil where there was none.
func (s *mapScreen) other(t *draw.Theme) draw.Spans {
	var out draw.Spans
	for _, o := range s.others {
		if o.contract == s.contract() && o.operator == s.search.options.Operator && o.faults == int(s.search.options.Bound[explore.Fault]) {
			continue
		}
		name := o.contract
		if o.operator != s.search.options.Operator {
			name += ", " + o.operator
		}
		if o.faults != int(s.search.options.Bound[explore.Fault]) {
			name += ", " + plain.Count(o.faults, "fault")
		}
		if out == nil {
			out = draw.Say(draw.Quiet, " before ")
		}
		sign := mapSign(o.worst)
		out = out.And(draw.Strong, "  "+name+" ", sign.Ink, sign.Glyph(t.Glyphs)+" ")
		if gravityOfVerdict(o.worst) == 0 {
			out = out.And(draw.Quiet, "safe")
		} else {
			out = out.And(draw.Quiet, fmt.Sprintf("%s %d of %d", sign.Word, o.count, o.of))
		}
	}
	return out
}

// paneBody is the shortest schedule of the chosen cell: what goes wrong, where, its wire, and why it ends so.
func (s *mapScreen) paneBody(u *ui, w, h int) []string {
	t, cell := u.t, s.cell()
	if cell.Worst == "" {
		return t.Window(draw.Fixed(s.emptyPane(t, w)...), 0, w, h)
	}
	key := cell.Shortest.String()
	shown := s.shown[key]
	list := s.scheduleLines(t, cell, w)
	keys := draw.Say(draw.Badge, " enter ", draw.Text, " open it on a bench   ", draw.Accent, "s", draw.Quiet, " save")
	switch {
	case s.failed[key] != "":
		list = append(append(list, nil), t.Paragraph(draw.Bad, "", s.failed[key], w-1, 6)...)
		return t.Window(draw.Fixed(list...), 0, w, h)
	case shown == nil:
		return t.Window(draw.Fixed(list...), 0, w, h)
	}
	if h < 16 && w >= 70 { // under the map: the wire stands beside
		left := min(34, w/2-4)
		lines := t.Window(draw.Fixed(append(s.scheduleLines(t, cell, left), s.why(t, shown, left)...)...), 0, left, h)
		return draw.Beside(lines, smallWire(u, shown.View, w-left-1, h))
	}
	why := s.why(t, shown, w)
	room := h - len(list) - len(why) - 4
	if room < 4 {
		why, room = nil, h-len(list)-3
	}
	if room < 4 {
		return t.Window(draw.Fixed(append(append(list, nil), keys)...), 0, w, h)
	}
	out := t.Window(draw.Fixed(append(list, nil)...), 0, w, len(list)+1)
	out = append(out, smallWire(u, shown.View, w, room)...)
	rest := append([]draw.Spans{nil}, why...)
	if len(why) > 0 {
		rest = append(rest, nil)
	}
	return append(out, t.Window(draw.Fixed(append(rest, keys)...), 0, w, h-len(out))...)
}

// emptyPane says why there is no schedule.
func (s *mapScreen) emptyPane(t *draw.Theme, w int) []draw.Spans {
	text := "No schedule begins with " + deviationName(s.row) + " and goes on with " + columnName(s.column) + ": it cannot happen here."
	switch {
	case s.state.err != nil:
		text = "There is no schedule."
	case !s.state.over():
		text = "No schedule that begins like this was carried out so far."
	}
	return t.Paragraph(draw.Quiet, "", text, w-1, 4)
}

// scheduleLines name the cell's verdict and its shortest schedule.
func (s *mapScreen) scheduleLines(t *draw.Theme, cell explore.MapCell, w int) []draw.Spans {
	sign := mapSign(cell.Worst)
	out := []draw.Spans{draw.Say(bandInk(cell.Worst), " "+sign.Glyph(t.Glyphs)+" ", draw.Text, " ", sign.Ink, sign.Word, draw.Quiet,
		fmt.Sprintf("   %d of %s", cell.Count, plain.Count(int(cell.Of), "schedule")))}
	if t.Width(out[0]) > w {
		out[0][len(out[0])-1].Text = fmt.Sprintf("   %d of %d", cell.Count, cell.Of)
	}
	out = append(out, nil)
	if len(cell.Shortest) == 0 {
		out = append(out, draw.Say(draw.Text, "nothing goes wrong"))
	}
	for i, d := range cell.Shortest {
		head := draw.Say(draw.Quiet, strconv.Itoa(i+1)+"  ")
		for _, l := range t.Wrap(deviationName(d.Alt), w-4, 2) {
			out, head = append(out, append(head, draw.Span{Ink: draw.Text, Text: l})), draw.Say(draw.Quiet, "   ")
		}
		out = append(out, t.Paragraph(draw.Quiet, "   ", d.Site, w-1, 2)...)
	}
	return out
}

// why explains the gravest operation.
func (s *mapScreen) why(t *draw.Theme, shown *scenarios.ScheduleShown, w int) []draw.Spans {
	ops := shown.View.Operations
	worst := -1
	for i := range ops {
		if worst < 0 || ops[i].Verdict.Gravity() > ops[worst].Verdict.Gravity() {
			worst = i
		}
	}
	if worst < 0 {
		return nil
	}
	return t.Paragraph(draw.Text, "", ops[worst].Why, w-1, 4)
}

// smallWire is the wire of a schedule, its newest rows where there is no room for all.
func smallWire(u *ui, v *scenarios.View, w, h int) []string {
	p := wirePicture{u.t, lanesFor(w, v.At.Sub(v.Start)), v, false}
	return append([]string{p.labels()}, p.lines(h-1, 0)...)
}
