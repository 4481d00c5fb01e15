package tui

import (
	"strconv"
	"strings"
	"time"

	"faultlab/scenarios"
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

var toneInks = map[scenarios.Tone]ink{
	scenarios.TonePlain:   inkText,
	scenarios.ToneQuiet:   inkQuiet,
	scenarios.ToneGood:    inkGood,
	scenarios.ToneBad:     inkBad,
	scenarios.ToneUnknown: inkUnknown,
	scenarios.ToneWire:    inkWire,
	scenarios.ToneTruth:   inkTruth,
}

// glyphOf is the sign that says a tone again.
func (g glyphs) glyphOf(t scenarios.Tone) string {
	switch t {
	case scenarios.ToneGood:
		return g.good
	case scenarios.ToneBad:
		return g.bad
	case scenarios.ToneUnknown:
		return g.unknown
	}
	return g.note
}

// wirePicture draws rows of the wire.
type wirePicture struct {
	*theme
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
	p := w.pen(w.cells)
	p.skip(w.caller)
	p.put(inkStrong, "CALLER")
	p.skip(w.provider - 6 - w.caller - 6)
	p.put(inkStrong, "PROVIDER")
	return p.line()
}

// lifelines is an empty row, with a text beside the provider's lifeline.
func (w wirePicture) lifelines(beside string) string {
	p := w.pen(w.cells)
	p.skip(w.caller)
	p.put(inkFrame, w.glyphs.v)
	p.skip(w.provider - w.caller - 1)
	p.put(inkFrame, w.glyphs.v)
	if beside != "" {
		p.skip(1)
		p.put(inkTruth, beside)
	}
	return p.line()
}

// begin writes the clock, quietly.
func (w wirePicture) begin(r scenarios.Row) *pen {
	p := w.pen(w.cells)
	at := moment(r.At.Sub(w.view.Start))
	p.skip(w.clock - len(at))
	p.put(inkQuiet, at)
	p.skip(1)
	return p
}

// middle shortens a long path in its middle: the collection and the key's end are what people look for.
func (w wirePicture) middle(s string, room int) string {
	r := []rune(s)
	if w.widthOf(s) <= room || len(r) <= room || room < 12 {
		return s
	}
	return string(r[:room-7]) + w.glyphs.more + string(r[len(r)-6:])
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
	g, k := w.glyphs, toneInks[r.Tone]
	if r.Hidden {
		k = inkBad
	}
	p := w.begin(r)
	p.put(k, g.tee)
	p.put(k, g.h)
	p.skip(1)
	room := w.provider - w.caller - 5
	label := w.pen(room)
	label.put(inkText, w.middle(w.who(r)+r.Text, room))
	if r.Hidden && w.widthOf(r.Detail)+2 > label.room {
		r.Detail = "by the transport" // that says it all
	}
	if r.Detail != "" {
		label.put(inkText, "  ")
		label.put(detailInk(r), r.DetailWithin(label.room))
	}
	used := room - label.room
	p.b.WriteString(label.b.String())
	p.room -= used
	p.skip(1)
	p.fill(k, g.h, room-used)
	p.put(k, g.right)
	p.put(inkFrame, g.v)
	return p.line()
}

func (w wirePicture) arrowLeft(r scenarios.Row) string {
	g, k := w.glyphs, toneInks[r.Tone]
	p := w.begin(r)
	p.put(inkFrame, g.v)
	p.put(k, g.left)
	w.label(p, k, k, g.h, w.provider-w.caller-2, w.who(r)+r.Label(), r.Detail)
	p.put(k, g.end)
	return p.line()
}

// brokenArrow does not reach the caller. Of silence it says rather how long it was than that it was one.
func (w wirePicture) brokenArrow(r scenarios.Row) string {
	g, k := w.glyphs, toneInks[r.Tone]
	dash := k
	if k == inkUnknown {
		dash = inkAlarm
	}
	p := w.begin(r)
	p.put(inkFrame, g.v)
	p.skip(2)
	p.put(dash, g.broken)
	p.skip(1)
	room := w.provider - w.caller - 6
	if r.Kind == scenarios.RowSilence && r.Detail != "" && w.widthOf(w.who(r)+r.Text+" "+r.Detail) > room-2 {
		r.Text, r.Detail = r.Detail, ""
	}
	w.label(p, k, dash, g.dash, room, w.who(r)+r.Text, r.Detail)
	p.skip(1)
	p.put(inkFrame, g.v)
	return p.line()
}

// label writes a text amid a line of room cells.
func (w wirePicture) label(p *pen, k, rule ink, glyph string, room int, text, detail string) {
	if detail != "" {
		text += " " + detail
	}
	width := min(w.widthOf(text), max(room-2, 0))
	left := max((room-width-2)*3/5, 0)
	p.fill(rule, glyph, left)
	p.skip(1)
	in := w.pen(width)
	in.put(k, text)
	p.b.WriteString(in.line())
	p.room -= width
	p.skip(1)
	p.fill(rule, glyph, room-left-width-2)
}

var providerGlyphs = map[scenarios.RowKind]func(glyphs) string{
	scenarios.RowCommit:  func(g glyphs) string { return g.effect },
	scenarios.RowReplay:  func(g glyphs) string { return g.replay },
	scenarios.RowRefused: func(g glyphs) string { return g.refused },
}

func (w wirePicture) atProvider(r scenarios.Row) []string {
	k := toneInks[r.Tone]
	p := w.begin(r)
	p.put(inkFrame, w.glyphs.v)
	p.skip(w.provider - w.caller - 1)
	p.put(k, providerGlyphs[r.Kind](w.glyphs))
	p.skip(1)
	p.put(k, r.Text)
	switch {
	case r.Detail == "":
	case w.widthOf(r.Detail) < p.room:
		p.skip(1)
		p.put(k, r.Detail)
	case r.Kind == scenarios.RowCommit: // which effect it is matters most
		return []string{p.line(), w.lifelines(r.Detail)}
	}
	return []string{p.line()}
}

// across is something that was done to the bench: it belongs to neither side.
func (w wirePicture) across(r scenarios.Row) []string {
	p := w.begin(r)
	k := toneInks[r.Tone]
	r.Detail = w.aboutFaults(r)
	p.fill(inkFrame, w.glyphs.dash, 3)
	p.skip(1)
	if r.Tone == scenarios.ToneBad {
		p.put(k, w.glyphs.bad+" ")
	}
	p.put(k, r.Text)
	if r.Detail == "" || w.widthOf(r.Detail) < p.room {
		p.skip(min(1, len(r.Detail)))
		p.put(inkQuiet, r.Detail)
		p.skip(1)
		p.fill(inkFrame, w.glyphs.dash, w.provider-(w.cells-p.room)+1)
		return []string{p.line()}
	}
	out := []string{p.line()}
	for _, l := range w.wrap(r.Detail, w.cells-w.caller-4, 2) {
		p := w.pen(w.cells)
		p.skip(w.caller + 4)
		p.put(inkQuiet, l)
		out = append(out, p.line())
	}
	return out
}

// aboutFaults is what a row about the bench says, without the truth that is coming
// while that is covered.
func (w wirePicture) aboutFaults(r scenarios.Row) string {
	switch r.Verb {
	case "fault", "contract", "clearfaults":
		if w.covered && r.Detail != "" {
			return strings.Repeat(w.glyphs.cover, 3)
		}
	}
	return r.Detail
}

// atCaller is what the caller knows or does by itself. A detail that does not fit goes on in a second line.
func (w wirePicture) atCaller(r scenarios.Row) []string {
	k := toneInks[r.Tone]
	room := w.provider - w.caller - 2
	head := say(k, w.callerGlyph(r)+w.who(r)+r.Text)
	rest := r.Detail
	if used := w.width(head); rest != "" && used+2+w.widthOf(rest) <= room {
		head = append(head, w.detail(rest, r.Mark)...)
		rest = ""
	}
	out := []string{w.callerLine(w.begin(r), head, room)}
	for _, l := range w.wrap(rest, room-2, 2) {
		if l != "" {
			p := w.pen(w.cells)
			p.skip(w.caller)
			out = append(out, w.callerLine(p, say(inkQuiet, "  "+l), room))
		}
	}
	return out
}

func (w wirePicture) callerLine(p *pen, text spans, room int) string {
	p.put(inkFrame, w.glyphs.v)
	p.skip(1)
	in := w.pen(room)
	for _, s := range text {
		in.put(s.ink, s.text)
	}
	p.b.WriteString(in.line())
	p.room -= room
	p.put(inkFrame, w.glyphs.v)
	return p.line()
}

// detail is quiet but for the last word about a key: the same or a new one is the point.
func (w wirePicture) detail(s string, mark scenarios.KeyMark) spans {
	k := map[scenarios.KeyMark]ink{scenarios.KeySame: inkGood, scenarios.KeyNew: inkBad}[mark]
	if head, ok := strings.CutSuffix(s, " "+string(mark)); ok && mark != "" {
		return say(inkQuiet, "  "+head, k, " "+string(mark))
	}
	return say(inkQuiet, "  "+s)
}

func detailInk(r scenarios.Row) ink {
	if r.Mark == scenarios.KeyNew || r.Mark == scenarios.KeyMissing {
		return inkBad
	}
	return inkQuiet
}

func (w wirePicture) callerGlyph(r scenarios.Row) string {
	g := w.glyphs
	switch r.Kind {
	case scenarios.RowAttempt:
		return ""
	case scenarios.RowWait:
		return g.wait + " "
	case scenarios.RowInbound:
		return g.right + " "
	case scenarios.RowNotSent:
		return g.bad + " "
	case scenarios.RowRun:
		if r.Tone == scenarios.ToneQuiet {
			return ""
		}
	}
	return g.glyphOf(r.Tone) + " "
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
