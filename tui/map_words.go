package tui

import (
	"slices"
	"strings"

	"faultlab/engine"
	"faultlab/faultprovider/fault"
	"faultlab/scenarios/explore"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// Columns that stand for several kinds of deviations.
const (
	columnCrash    = "crash"
	columnLookup   = "look up"
	columnAgain    = "delivered again"
	columnDecision = "another decision"
	columnOrder    = "another order"
)

// lastColumns stand behind those of faults, in this order.
var lastColumns = []string{columnCrash, columnLookup, columnAgain, columnDecision, columnOrder}

// mapOf makes the map of cells: each crash and each fault of a look-up has a row of its own, and all of them one column each.
// Columns stand in the order of the rows, those that are none behind them.
func mapOf(cells []explore.Cell) explore.Map {
	grouped := make([]explore.Cell, len(cells))
	for i, c := range cells {
		if c.Second.Alt != "" {
			c.Second.Alt = columnOf(c.Second)
		}
		grouped[i] = c
	}
	m := explore.MapOf(grouped, gravityOfVerdict)
	rank := func(column string) int {
		row, last := slices.Index(m.Rows, column), slices.Index(lastColumns, column)
		switch {
		case column == "":
			return -1
		case last >= 0:
			return len(m.Rows) + 1 + last
		case row >= 0:
			return row
		}
		return len(m.Rows)
	}
	order := make([]int, len(m.Columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(m.Columns[a]) - rank(m.Columns[b]) })
	out := explore.Map{Rows: m.Rows, Columns: make([]string, len(order)), Cells: make([][]explore.MapCell, len(m.Rows))}
	for to, from := range order {
		out.Columns[to] = m.Columns[from]
		for r := range m.Rows {
			out.Cells[r] = append(out.Cells[r], m.Cells[r][from])
		}
	}
	return out
}

// columnOf is the column that a deviation belongs to.
func columnOf(d explore.Deviation) string {
	switch d.Kind {
	case explore.Crash:
		return columnCrash
	case explore.Redelivery:
		return columnAgain
	case explore.Decision:
		return columnDecision
	case explore.Order:
		return columnOrder
	}
	if f, err := fault.Parse(d.Alt); err == nil && f.On.Requests == fault.LookUp {
		return columnLookup
	}
	return d.Alt
}

// columnHeads are two short words for each column, at most five letters each.
var columnHeads = map[string][2]string{
	"":                   {"none", ""},
	"fail-before-commit": {"503", "early"},
	"commit-then-error":  {"503", "late"},
	"error-then-commit":  {"503", "then"},
	"drop-before-commit": {"drop", "early"},
	"commit-then-drop":   {"drop", "late"},
	"hang-before-commit": {"hang", "early"},
	"commit-then-hang":   {"hang", "late"},
	"late-commit":        {"hang", "then"},
	"rate-limited":       {"429", ""},
	"bad-request":        {"400", ""},
	"cut-body":           {"cut", "body"},
	columnCrash:          {"crash", ""},
	columnLookup:         {"look", "up"},
	columnAgain:          {"sent", "again"},
	columnDecision:       {"other", "move"},
	columnOrder:          {"other", "order"},
}

// headOf are the words over a column. Of a name that has none of its own they are its first and last word.
func headOf(column string) [2]string {
	if head, ok := columnHeads[column]; ok {
		return head
	}
	words := strings.FieldsFunc(deviationName(column), func(r rune) bool { return r == '-' || r == ' ' || r == ',' })
	if len(words) == 0 {
		return [2]string{"?", ""}
	}
	head := [2]string{words[0], ""}
	if len(words) > 1 {
		head[1] = words[len(words)-1]
	}
	for i := range head {
		head[i] = string([]rune(head[i])[:min(5, len([]rune(head[i])))])
	}
	return head
}

var crashNames = map[string]string{
	lang.CrashBeforeSend: "before the send", lang.CrashInFlight: "in flight", lang.CrashAfterEffect: "after the effect", lang.CrashAfterReply: "after the reply",
	lang.CrashAfterRecord: "after the record", lang.CrashInBackoff: "in the backoff", lang.CrashAtLookup: "at the look-up",
}

// deviationName is what a deviation does, as people read it.
func deviationName(alt string) string {
	if point, ok := strings.CutPrefix(alt, "crash "); ok && crashNames[point] != "" {
		return "crash " + crashNames[point]
	}
	if f, err := fault.Parse(alt); strings.HasPrefix(alt, "{") && err == nil {
		return f.Words()
	}
	return alt
}

// columnName is what came next, in full.
func columnName(column string) string {
	switch column {
	case "":
		return "nothing more"
	case columnCrash:
		return "a crash"
	case columnLookup:
		return "a look-up that breaks"
	}
	return deviationName(column)
}

// mapSign is a verdict as the map shows it: one glyph for each, and its word.
func mapSign(verdict string) draw.Sign {
	sign, ok := runVerdictSigns[engine.RunVerdict(verdict)]
	if !ok {
		sign = verdictSigns[engine.Verdict(verdict)]
	}
	if !ok && sign.Word == "" {
		return draw.Sign{Glyph: draw.GlyphOpen, Word: verdict, Ink: draw.Text}
	}
	if own, ok := mapGlyphs[verdict]; ok {
		sign.Glyph = func(g draw.Glyphs) string {
			if g.ASCII {
				return own[1]
			}
			return own[0]
		}
	}
	return sign
}

// mapGlyphs tell bad verdicts apart, where there is no room for their words; the second ones are ASCII.
var mapGlyphs = map[string][2]string{
	string(engine.RunHalfDone):         {"½", "h"},
	string(engine.PhantomSuccess):      {"0", "0"},
	string(engine.RunFailedThoughDone): {"!", "!"},
	string(engine.FalseFailure):        {"!", "!"},
	string(engine.Uncompensated):       {"±", "u"},
}

// bandInk is the ink of a verdict on a background of its own; that of what is good has none.
func bandInk(verdict string) draw.Ink {
	switch {
	case verdict == string(engine.Unresolved):
		return draw.BandUnknown
	case gravityOfVerdict(verdict) > 0:
		return draw.BandBad
	}
	return draw.Good
}
