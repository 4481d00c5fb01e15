package tui

import (
	"strconv"
	"strings"
	"time"

	"faultlab/scenarios"
	"faultlab/tui/draw"
)

// lanes are the columns of the wire: the clock, the caller's lifeline, the provider's.
type lanes struct {
	clock    int // cells of the clock
	caller   int // column of the caller's lifeline
	provider int
	cells    int // the whole width
}

// lanesFor divides the width. The lane right of the provider needs room for a short id.
func lanesFor(width int, span time.Duration) lanes {
	l := lanes{cells: width, clock: len(moment(span))}
	right := 11
	switch {
	case width >= 95:
		right = 30
	case width >= 75:
		right = 24
	}
	l.caller = l.clock + 1
	l.provider = max(l.caller+12, width-right-1)
	return l
}

// moment is a time on the wire's clock: seconds to the millisecond, and from a quarter of an hour on h:mm:ss.
func moment(d time.Duration) string {
	if d < 15*time.Minute {
		return strconv.FormatFloat(d.Seconds(), 'f', 3, 64)
	}
	s := int64(d / time.Second)
	two := func(n int64) string { return strconv.FormatInt(n/10, 10) + strconv.FormatInt(n%10, 10) }
	return strconv.FormatInt(s/3600, 10) + ":" + two(s/60%60) + ":" + two(s%60)
}

var toneInks = map[scenarios.Tone]draw.Ink{
	scenarios.TonePlain:   draw.Text,
	scenarios.ToneQuiet:   draw.Quiet,
	scenarios.ToneGood:    draw.Good,
	scenarios.ToneBad:     draw.Bad,
	scenarios.ToneUnknown: draw.Unknown,
	scenarios.ToneWire:    draw.Wire,
	scenarios.ToneTruth:   draw.Truth,
}

// glyphOf is the sign that says a tone again.
func glyphOf(g draw.Glyphs, t scenarios.Tone) string {
	switch t {
	case scenarios.ToneGood:
		return g.Good
	case scenarios.ToneBad:
		return g.Bad
	case scenarios.ToneUnknown:
		return g.Unknown
	}
	return g.Note
}

// wirePicture draws rows of the wire.
type wirePicture struct {
	*draw.Theme
	lanes
	view    *scenarios.View
	covered bool
}

// lines are the newest rows that fit, ending skip rows before the last one.
func (w wirePicture) lines(height, skip int) (out []string) {
	rows := w.view.Wire
	last := len(rows) - 1
	for ; skip > 0 && last > 0; last-- {
		if !w.hidden(rows[last]) {
			skip--
		}
	}
	used, first := 0, last+1
	var groups [][]string
	for used < height && first > 0 {
		first--
		if w.hidden(rows[first]) {
			continue
		}
		group := w.row(rows[first])
		groups, used = append(groups, group), used+len(group)
	}
	for i := len(groups) - 1; i >= 0; i-- {
		out = append(out, groups[i]...)
	}
	if len(out) > height {
		out = out[len(out)-height:]
	}
	if len(out) < height {
		out = append(out, w.lifelines(""))
	}
	return out
}

// hidden reports whether a row shows what the caller cannot know while the truth is covered.
func (w wirePicture) hidden(r scenarios.Row) bool { return w.covered && r.Truth }

// told is a row as the caller itself could tell it, for while the truth is covered:
// that an answer was a replay stands in the provider's log.
func told(r scenarios.Row) scenarios.Row {
	r.Replay = false
	return r
}

func (w wirePicture) labels() string {
	p := w.Pen(w.cells)
	p.Skip(w.caller)
	p.Put(draw.Strong, "CALLER")
	p.Skip(w.provider - 6 - w.caller - 6)
	p.Put(draw.Strong, "PROVIDER")
	return p.Line()
}

// lifelines is an empty row, with a text beside the provider's lifeline.
func (w wirePicture) lifelines(beside string) string {
	p := w.Pen(w.cells)
	p.Skip(w.caller)
	p.Put(draw.Frame, w.Glyphs.V)
	p.Skip(w.provider - w.caller - 1)
	p.Put(draw.Frame, w.Glyphs.V)
	if beside != "" {
		p.Skip(1)
		p.Put(draw.Truth, beside)
	}
	return p.Line()
}

// begin writes the clock, quietly.
func (w wirePicture) begin(r scenarios.Row) *draw.Pen {
	p := w.Pen(w.cells)
	at := moment(r.At.Sub(w.view.Start))
	p.Skip(w.clock - len(at))
	p.Put(draw.Quiet, at)
	p.Skip(1)
	return p
}

// middle shortens a long path in its middle: the collection and the key's end are what people look for.
func (w wirePicture) middle(s string, room int) string {
	r := []rune(s)
	if w.WidthOf(s) <= room || len(r) <= room || room < 12 {
		return s
	}
	return string(r[:room-7]) + w.Glyphs.More + string(r[len(r)-6:])
}

// row is one row as up to three lines.
func (w wirePicture) row(r scenarios.Row) []string {
	if w.covered {
		r = told(r)
	}
	switch r.Kind {
	case scenarios.RowSend:
		return []string{w.arrowRight(r)}
	case scenarios.RowReply:
		return []string{w.arrowLeft(r)}
	case scenarios.RowBroken, scenarios.RowSilence:
		return []string{w.brokenArrow(r)}
	case scenarios.RowCommit, scenarios.RowReplay, scenarios.RowRefused:
		return w.atProvider(r)
	case scenarios.RowNote:
		return w.across(r)
	}
	return w.atCaller(r)
}

func (w wirePicture) arrowRight(r scenarios.Row) string {
	g, k := w.Glyphs, toneInks[r.Tone]
	if r.Hidden {
		k = draw.Bad
	}
	p := w.begin(r)
	p.Put(k, g.Tee)
	p.Put(k, g.H)
	p.Skip(1)
	room := w.provider - w.caller - 5
	label := w.Pen(room)
	label.Put(draw.Text, w.middle(w.who(r)+r.Text, room))
	if r.Hidden && w.WidthOf(r.Detail)+2 > label.Room {
		r.Detail = "by the transport" // that says it all
	}
	if r.Detail != "" {
		label.Put(draw.Text, "  ")
		label.Put(detailInk(r), r.DetailWithin(label.Room))
	}
	p.Add(label)
	p.Skip(1)
	p.Fill(k, g.H, label.Room)
	p.Put(k, g.Right)
	p.Put(draw.Frame, g.V)
	return p.Line()
}

func (w wirePicture) arrowLeft(r scenarios.Row) string {
	g, k := w.Glyphs, toneInks[r.Tone]
	p := w.begin(r)
	p.Put(draw.Frame, g.V)
	p.Put(k, g.Left)
	w.label(p, k, k, g.H, w.provider-w.caller-2, w.who(r)+r.Label(), r.Detail)
	p.Put(k, g.End)
	return p.Line()
}

// brokenArrow does not reach the caller. Of silence it says rather how long it was than that it was one.
func (w wirePicture) brokenArrow(r scenarios.Row) string {
	g, k := w.Glyphs, toneInks[r.Tone]
	dash := k
	if k == draw.Unknown {
		dash = draw.Alarm
	}
	p := w.begin(r)
	p.Put(draw.Frame, g.V)
	p.Skip(2)
	p.Put(dash, g.Broken)
	p.Skip(1)
	room := w.provider - w.caller - 6
	if r.Kind == scenarios.RowSilence && r.Detail != "" && w.WidthOf(w.who(r)+r.Text+" "+r.Detail) > room-2 {
		r.Text, r.Detail = r.Detail, ""
	}
	w.label(p, k, dash, g.Dash, room, w.who(r)+r.Text, r.Detail)
	p.Skip(1)
	p.Put(draw.Frame, g.V)
	return p.Line()
}

// label writes a text amid a line of room cells.
func (w wirePicture) label(p *draw.Pen, k, rule draw.Ink, glyph string, room int, text, detail string) {
	if detail != "" {
		text += " " + detail
	}
	width := min(w.WidthOf(text), max(room-2, 0))
	left := max((room-width-2)*3/5, 0)
	p.Fill(rule, glyph, left)
	p.Skip(1)
	p.Within(width, draw.Say(k, text))
	p.Skip(1)
	p.Fill(rule, glyph, room-left-width-2)
}

var providerGlyphs = map[scenarios.RowKind]func(draw.Glyphs) string{
	scenarios.RowCommit:  func(g draw.Glyphs) string { return g.Effect },
	scenarios.RowReplay:  func(g draw.Glyphs) string { return g.Replay },
	scenarios.RowRefused: func(g draw.Glyphs) string { return g.Refused },
}

func (w wirePicture) atProvider(r scenarios.Row) []string {
	k := toneInks[r.Tone]
	p := w.begin(r)
	p.Put(draw.Frame, w.Glyphs.V)
	p.Skip(w.provider - w.caller - 1)
	p.Put(k, providerGlyphs[r.Kind](w.Glyphs))
	p.Skip(1)
	p.Put(k, r.Text)
	switch {
	case r.Detail == "":
	case w.WidthOf(r.Detail) < p.Room:
		p.Skip(1)
		p.Put(k, r.Detail)
	case r.Kind == scenarios.RowCommit: // which effect it is matters most
		return []string{p.Line(), w.lifelines(r.Detail)}
	}
	return []string{p.Line()}
}

// across is something that was done to the bench: it belongs to neither side.
func (w wirePicture) across(r scenarios.Row) []string {
	p := w.begin(r)
	k := toneInks[r.Tone]
	r.Detail = w.aboutFaults(r)
	p.Fill(draw.Frame, w.Glyphs.Dash, 3)
	p.Skip(1)
	if r.Tone == scenarios.ToneBad {
		p.Put(k, w.Glyphs.Bad+" ")
	}
	p.Put(k, r.Text)
	if r.Detail == "" || w.WidthOf(r.Detail) < p.Room {
		p.Skip(min(1, len(r.Detail)))
		p.Put(draw.Quiet, r.Detail)
		p.Skip(1)
		p.Fill(draw.Frame, w.Glyphs.Dash, w.provider-(w.cells-p.Room)+1)
		return []string{p.Line()}
	}
	out := []string{p.Line()}
	for _, l := range w.Wrap(r.Detail, w.cells-w.caller-4, 2) {
		p := w.Pen(w.cells)
		p.Skip(w.caller + 4)
		p.Put(draw.Quiet, l)
		out = append(out, p.Line())
	}
	return out
}

// aboutFaults is what a row about the bench says, without the truth that is coming
// while that is covered.
func (w wirePicture) aboutFaults(r scenarios.Row) string {
	switch r.Verb {
	case "fault", "contract", "clearfaults":
		if w.covered && r.Detail != "" {
			return strings.Repeat(w.Glyphs.Cover, 3)
		}
	}
	return r.Detail
}

// atCaller is what the caller knows or does by itself. A detail that does not fit goes on in a second line.
func (w wirePicture) atCaller(r scenarios.Row) []string {
	k := toneInks[r.Tone]
	room := w.provider - w.caller - 2
	head := draw.Say(k, w.callerGlyph(r)+w.who(r)+r.Text)
	rest := r.Detail
	if used := w.Width(head); rest != "" && used+2+w.WidthOf(rest) <= room {
		head = append(head, w.detail(rest, r.Mark)...)
		rest = ""
	}
	out := []string{w.callerLine(w.begin(r), head, room)}
	for _, l := range w.Wrap(rest, room-2, 2) {
		if l != "" {
			p := w.Pen(w.cells)
			p.Skip(w.caller)
			out = append(out, w.callerLine(p, draw.Say(draw.Quiet, "  "+l), room))
		}
	}
	return out
}

func (w wirePicture) callerLine(p *draw.Pen, text draw.Spans, room int) string {
	p.Put(draw.Frame, w.Glyphs.V)
	p.Skip(1)
	p.Within(room, text)
	p.Put(draw.Frame, w.Glyphs.V)
	return p.Line()
}

// detail is quiet but for the last word about a key: the same or a new one is the point.
func (w wirePicture) detail(s string, mark scenarios.KeyMark) draw.Spans {
	k := map[scenarios.KeyMark]draw.Ink{scenarios.KeySame: draw.Good, scenarios.KeyNew: draw.Bad}[mark]
	if head, ok := strings.CutSuffix(s, " "+string(mark)); ok && mark != "" {
		return draw.Say(draw.Quiet, "  "+head, k, " "+string(mark))
	}
	return draw.Say(draw.Quiet, "  "+s)
}

func detailInk(r scenarios.Row) draw.Ink {
	if r.Mark == scenarios.KeyNew || r.Mark == scenarios.KeyMissing {
		return draw.Bad
	}
	return draw.Quiet
}

func (w wirePicture) callerGlyph(r scenarios.Row) string {
	g := w.Glyphs
	switch r.Kind {
	case scenarios.RowAttempt:
		return ""
	case scenarios.RowWait:
		return g.Wait + " "
	case scenarios.RowInbound:
		return g.Right + " "
	case scenarios.RowNotSent:
		return g.Bad + " "
	case scenarios.RowRun:
		if r.Tone == scenarios.ToneQuiet {
			return ""
		}
	}
	return glyphOf(g, r.Tone) + " "
}

// manyRuns is from when on a run is named by its id, which needs no search.
const manyRuns = 500

// who names the run of a row where there are several.
func (w wirePicture) who(r scenarios.Row) string {
	if len(w.view.Runs) < 2 || r.Run == "" || r.Kind == scenarios.RowRun || r.Kind == scenarios.RowInbound {
		return ""
	}
	return runName(w.view, r.Run) + " "
}

// runName is a run's number, or the end of its id where there are too many to search.
func runName(v *scenarios.View, id string) string {
	if len(v.Runs) <= manyRuns {
		for i, run := range v.Runs {
			if run.ID == id {
				return "#" + strconv.Itoa(i+1)
			}
		}
	}
	return "#" + id[max(0, len(id)-4):]
}
