package timeline

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"faultlab/engine/plain"
)

// timeOf is a moment on the wire's clock.
func timeOf(at, start time.Time) string {
	return strconv.FormatFloat(at.Sub(start).Seconds(), 'f', 3, 64)
}

// wireWidth is how many columns lie between the two lifelines in text.
const wireWidth = 46

// WireText draws the wire diagram in plain text, a line for each row: time, caller's side, arrow, provider's side.
func WireText(rows []Row, start time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%9s %-*s PROVIDER\n", "", wireWidth-3, "CALLER")
	last := ""
	for _, r := range rows {
		at := timeOf(r.At, start)
		shown := at
		if at == last {
			shown = ""
		}
		last = at
		fmt.Fprintf(&b, "%9s %s\n", shown, strings.TrimRight(r.text(), " "))
	}
	return b.String()
}

var glyphs = map[RowKind]string{
	RowRun: "●", RowAttempt: "│", RowOutcome: "│", RowWait: "⋮", RowCall: "│", RowEvidence: "│", RowDecision: "│", RowInbound: "▶", RowNote: "#", RowNotSent: "│",
}

// text is one row without its time.
func (r Row) text() string {
	what := r.what()
	switch r.Kind {
	case RowSend:
		if room := wireWidth - 7; utf8.RuneCountInString(what) > room {
			what = plain.Escape(r.Label())
			if r.Detail != "" && (r.Key != "" || r.Mark != "") {
				what += "  " + plain.Escape(r.DetailWithin(room-2-utf8.RuneCountInString(what)))
			}
		}
		return "├─ " + line(what, "─", wireWidth-5) + "▶│"
	case RowReply:
		return "│◀" + line("── "+what, "─", wireWidth-3) + "┤"
	case RowBroken:
		return "│╳" + line("╌╌ "+what, "╌", wireWidth-3) + " │"
	case RowSilence:
		return "│ " + line("… "+what, " ", wireWidth-3) + " │"
	case RowCommit:
		return "│" + strings.Repeat(" ", wireWidth-2) + "◆ " + what
	case RowReplay:
		return "│" + strings.Repeat(" ", wireWidth-2) + "◇ " + what
	case RowRefused:
		return "│" + strings.Repeat(" ", wireWidth-2) + "✗ " + what
	case RowOutcome:
		return "│ " + map[Tone]string{ToneGood: "✓ ", ToneBad: "✗ ", ToneUnknown: "? "}[r.Tone] + what
	}
	return glyphs[r.Kind] + " " + what
}

// line is a text with a line of dashes after it, up to a width.
func line(text, dash string, width int) string {
	n := width - utf8.RuneCountInString(text) - 1
	if n < 2 {
		return text + " " + dash
	}
	return text + " " + strings.Repeat(dash, n)
}
