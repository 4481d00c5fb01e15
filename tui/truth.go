package tui

import (
	"strconv"
	"strings"

	"faultlab/faultprovider"
	"faultlab/scenarios"
)

// truth is the provider's side: ledger, log and verdict. It can be covered.
type truth struct {
	*theme
	view    *scenarios.View
	state   scenarios.State
	covered bool
	absent  bool   // it is not here at all
	uncover string // the key that takes the cover off
	pick    int    // index of the operation whose verdict is explained
	skip    int    // lines of the verdict that are scrolled away
	count   spans  // how many effects there are
}

// cover is what an audience sees instead of the truth.
func (t truth) cover(width, height int) []string {
	if t.absent {
		return t.window(fixed(say(inkQuiet, t.glyphs.none+" not in the store")), 0, width, height)
	}
	text := rows{}
	if height >= 3 {
		text = fixed(nil)
	}
	text = text.then(fixed(
		say(inkCover, strings.Repeat(t.glyphs.cover, 3)+" covered "+strings.Repeat(t.glyphs.cover, 3)),
		say(inkQuiet, "the caller cannot see this"),
		say(inkAccent, t.uncover, inkQuiet, " uncovers it")))
	return t.window(text, 0, width, height)
}

// ledger is the effects in the order of their commits, the newest at the end.
func (t truth) ledger(width, height, skip int) []string {
	if t.covered {
		return t.cover(width, height)
	}
	return t.tailOf(t.count, t.effects(width), width, height, skip)
}

// tailOf shows a head line and the last lines of a list under it.
func (t truth) tailOf(head spans, list rows, width, height, skip int) []string {
	out := []string{t.line(head, width)}
	room := max(0, height-1)
	first := max(0, list.n-room-skip)
	return append(out, t.window(list, first, width, room)...)
}

// countEffects says how many effects there are, by collection.
func countEffects(effects []faultprovider.Effect) spans {
	var order []string
	n := map[string]int{}
	last, run := "", 0
	flush := func() {
		if run > 0 {
			if n[last] == 0 {
				order = append(order, last)
			}
			n[last] += run
		}
	}
	for i := range effects {
		if c := effects[i].Collection; c != last || run == 0 {
			flush()
			last, run = c, 1
		} else {
			run++
		}
	}
	flush()
	if len(order) == 0 {
		return say(inkQuiet, "no effects")
	}
	var out spans
	for i, c := range order {
		if i > 0 {
			out = append(out, span{inkQuiet, "   "})
		}
		out = append(out, span{inkQuiet, c + " "}, span{inkStrong, strconv.Itoa(n[c])})
	}
	return out
}

func (t truth) effects(width int) rows {
	return rows{len(t.view.Effects), func(i int) spans {
		e := &t.view.Effects[i]
		k, rest := inkTruth, ""
		switch {
		case e.UndoneBy != "":
			k, rest = inkQuiet, " undone"
		case e.Of != "":
			rest = " undoes " + t.tail(e.Of)
		}
		if e.Gone {
			k = inkQuiet
		}
		if s := subjectOf(e.Body); s != "" {
			rest += " " + s
		}
		if e.Key != "" {
			rest += " " + t.tail(e.Key)
		}
		room := width - 2 - t.widthOf(rest)
		return say(k, t.glyphs.effect+" ", inkStrong, t.head(e.ID, max(9, room)), inkQuiet, rest)
	}}
}

// head is the beginning of an id, where there is no room for all of it.
func (t *theme) head(id string, room int) string {
	if t.widthOf(id) <= room {
		return id
	}
	out, _, _ := clean(id, room-1, t.glyphs.ascii)
	return out + t.glyphs.more
}

// logLines are the newest decisions of the provider that fit.
func (t truth) logLines(width, height, skip int) []string {
	if t.covered {
		return t.cover(width, height)
	}
	log := t.view.Log
	i := len(log) - 1
	for ; skip > 0 && i > 0; i-- {
		if shown(log[i].Kind) {
			skip--
		}
	}
	var groups [][]spans
	used := 0
	for ; i >= 0 && used < height; i-- {
		if shown(log[i].Kind) {
			g := t.logEntry(&log[i], width)
			groups, used = append(groups, g), used+len(g)
		}
	}
	var lines []spans
	for j := len(groups) - 1; j >= 0; j-- {
		lines = append(lines, groups[j]...)
	}
	if len(lines) == 0 {
		lines = []spans{say(inkQuiet, "no request yet")}
	}
	return t.window(fixed(lines...), max(0, len(lines)-height), width, height)
}

// shown reports whether an entry stands in the pane: the decisions do, the rest of a request is on the wire.
func shown(k faultprovider.Kind) bool {
	switch k {
	case faultprovider.NewOperation, faultprovider.Replay, faultprovider.Rejected, faultprovider.InFlight, faultprovider.Looked, faultprovider.Failed:
		return true
	}
	return false
}

func (t truth) logEntry(e *faultprovider.Entry, width int) []spans {
	at := moment(e.At.Sub(t.view.Start)) + " "
	head := say(inkQuiet, at)
	indent := strings.Repeat(" ", len(at))
	key := t.tail(e.Key)
	if key == "" {
		key = "no key"
	}
	rest := ""
	switch e.Kind {
	case faultprovider.NewOperation:
		head = append(head, span{inkWire, "NEW "}, span{inkText, key})
		rest = "fault=" + e.Fault
	case faultprovider.Replay:
		head = append(head, span{inkWire, "REPLAY "}, span{inkText, e.EffectID})
		if e.Fault != "" && e.Fault != "none" {
			rest = "fault=" + e.Fault
		}
	case faultprovider.Looked:
		head = append(head, span{inkWire, "LOOK-UP "}, span{inkText, key})
		if rest = "no record"; e.EffectID != "" {
			rest = "found " + e.EffectID
		}
	case faultprovider.InFlight:
		head = append(head, span{inkBad, "IN FLIGHT "}, span{inkText, key})
		rest = e.Note
	case faultprovider.Failed:
		head = append(head, span{inkBad, "FAILED "}, span{inkText, e.Note})
	default:
		head = append(head, span{inkBad, "REJECTED "}, span{inkText, key})
		rest = e.Note
	}
	switch {
	case rest == "":
		return []spans{head}
	case t.width(head)+1+t.widthOf(rest) <= width:
		return []spans{append(head, span{inkQuiet, " " + rest})}
	case len(indent)+t.widthOf(rest) > width:
		indent = strings.Repeat(" ", max(0, width-t.widthOf(rest)))
	}
	return []spans{head, say(inkQuiet, indent+rest)}
}
