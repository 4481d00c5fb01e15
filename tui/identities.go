package tui

import (
	"strconv"
	"strings"

	"faultlab/scenarios"
	"faultlab/tui/draw"
)

// identities tells apart the names that one logical effect goes by, and what
// becomes of each when something is repeated.
type identities struct {
	*draw.Theme
	view    *scenarios.View
	op      *scenarios.Operation // nil: nothing was asked for yet
	covered bool                 // what was made is the provider's to know
}

// again is what a repetition does to an identity: by the rules, or as seen in this timeline.
type again struct {
	word string // "same", "new" or "-"
	seen bool   // it happened here
}

type identity struct {
	name, value              string
	retry, rerun, redelivery again
}

// identityHeight is the box of the whole table: head, rows, what its sign means.
const identityHeight = 12

// Widths of the table's columns, in cells.
const (
	identityName = 12
	identityMark = 7
)

// rows are a table with a column for each kind of repetition, or without room for them a line for each.
func (d identities) rows(width int) draw.Rows {
	if d.op == nil {
		return draw.Fixed(draw.Say(draw.Quiet, "no operation yet"))
	}
	value := width - identityName - 3*identityMark - 3
	wide := value >= 9
	if !wide {
		value = width - identityName
	}
	head := "what        " + draw.PadTo(d.Theme, "which", value)
	if wide {
		head += draw.Pad("retry", identityMark) + draw.Pad("rerun", identityMark) + "redelivery"
	}
	out := []draw.Spans{draw.Say(draw.Quiet, head)}
	table := d.table()
	for _, i := range table {
		line := draw.Say(draw.Quiet, draw.Pad(i.name, identityName), draw.Strong, draw.PadTo(d.Theme, d.Shorten(i.value, value-1), value))
		if wide {
			for _, a := range []again{i.retry, i.rerun, i.redelivery} {
				line = append(line, d.mark(a))
			}
		}
		out = append(out, line)
	}
	if wide {
		return draw.Fixed(append(out, nil, draw.Say(draw.Good, d.Glyphs.Good, draw.Quiet, " seen here, else by the rules"))...)
	}
	for _, k := range []struct {
		what string
		of   func(identity) again
	}{{"retry", func(i identity) again { return i.retry }}, {"rerun", func(i identity) again { return i.rerun }},
		{"redelivery", func(i identity) again { return i.redelivery }}} {
		out = append(out, nil, draw.Say(draw.Strong, "the same over a "+k.what))
		out = append(out, d.Paragraph(draw.Quiet, "  ", kept(table, k.of), width, 2)...)
	}
	return draw.Fixed(out...)
}

func (d identities) mark(a again) draw.Span {
	switch {
	case a.seen && a.word == "same":
		return draw.Span{Ink: draw.Good, Text: draw.Pad(d.Glyphs.Good+" same", identityMark)}
	case a.seen && a.word == "new":
		return draw.Span{Ink: draw.Strong, Text: draw.Pad(d.Glyphs.Good+" new", identityMark)}
	}
	return draw.Span{Ink: draw.Quiet, Text: draw.Pad("  "+a.word, identityMark)}
}

func kept(table []identity, of func(identity) again) string {
	var names []string
	for _, i := range table {
		if of(i).word == "same" {
			names = append(names, i.name)
		}
	}
	return strings.Join(names, ", ")
}

func (d identities) table() []identity {
	op := d.op
	event, redelivered := d.inbound()
	retried, rerun := d.attempts() > len(op.Runs), len(op.Runs) > 1
	oneKey := len(op.Keys) < 2
	rule := func(same, seen bool) again {
		if same {
			return again{"same", seen}
		}
		return again{"new", seen}
	}
	business := len(op.Keys) > 0 && !strings.HasPrefix(op.Keys[0], "sha256:") && oneKey
	resource, met := []string{}, true
	for i := range op.Effects {
		resource = append(resource, op.Effects[i].ID)
	}
	if d.covered {
		resource, met = []string{strings.Repeat(d.Glyphs.Cover, 3)}, false
	}
	none := again{"-", false}
	return []identity{
		{"event id", event, rule(true, retried), none, rule(true, redelivered)},
		{"run", strings.Join(op.Runs, ", "), rule(true, retried), rule(false, rerun), rule(true, redelivered && !rerun)},
		{"operation", op.Step, rule(true, retried), rule(op.Subject != firstOf(op.Runs), rerun), rule(true, redelivered)},
		{"subject", op.Subject, rule(true, retried), rule(op.Subject != firstOf(op.Runs), rerun), rule(true, redelivered)},
		{"key", strings.Join(op.Keys, ", "), rule(oneKey || business, retried), rule(business, rerun), rule(true, redelivered)},
		{"attempt", strconv.Itoa(d.attempts()), rule(false, retried), rule(false, rerun), none},
		{"resource id", strings.Join(resource, ", "), rule(len(resource) < 2, met && retried), rule(len(resource) < 2 && business, met && rerun), rule(true, met && redelivered)},
	}
}

// inbound is the event id of the delivery that made one of the runs, and whether it came again.
func (d identities) inbound() (id string, again bool) {
	for _, del := range d.view.Deliveries {
		for _, r := range d.op.Runs {
			if del.Run == r {
				if id = del.EventID; del.Duplicate {
					again = true
				}
			}
		}
	}
	if id == "" {
		return "none", again
	}
	return id, again
}

func (d identities) attempts() (n int) {
	mine := map[string]bool{}
	for _, r := range d.op.Runs {
		mine[r] = true
	}
	for _, r := range d.view.Runs {
		if s := r.StepAt(d.op.Step, d.op.Undo); s != nil && mine[r.ID] {
			n += len(s.Attempts)
		}
	}
	return n
}

func firstOf(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}
