package tui

import "fmt"

// The smallest screen that the workbench is drawn on, in cells.
const (
	minWidth  = 60
	minHeight = 16
)

// widestWire is how long arrows may be, in cells: on longer ones the eye loses the row.
const widestWire = 110

// shape is how the bench is laid out.
type shape int

const (
	tooSmall shape = iota
	stacked        // the wire, and the other panes as tabs under it
	columns        // belief left, wire in the centre, truth right
)

// layout is where things stand for one size of the terminal. Header, timeline
// and footer take a line each; air is how many blank lines stand between them.
type layout struct {
	shape             shape
	width, height     int
	air               int // 0 or 1, of each of the three gaps
	margin            int // blank columns at the left
	left, wire, right int // widths; in the stacked shape all are the same
	body              int // the height between header and timeline
	wireHeight        int // stacked: the wire's; else the body's
	ledger, log       int // columns: heights of the right panes, the verdict takes the rest
	identity          int // columns: the height of the identities under the belief, 0 where they are shown on demand
}

// layoutFor decides. It is pure: the same size gives the same layout, so nothing jumps while a run goes on.
func layoutFor(width, height int) layout {
	l := layout{width: width, height: height}
	switch {
	case width < minWidth || height < minHeight:
		return l
	case width < 110 || height < 22:
		return l.stack()
	}
	return l.split()
}

func (l layout) stack() layout {
	l.shape = stacked
	if l.height >= 32 {
		l.air = 1
	}
	l.body = l.height - 3 - 3*l.air
	l.left, l.wire, l.right = l.width, l.width, l.width
	l.wireHeight = (l.body*11 + 10) / 20
	return l
}

func (l layout) split() layout {
	l.shape, l.margin = columns, 1
	if l.height >= 30 {
		l.air = 1
	}
	l.body = l.height - 3 - 3*l.air
	room := l.width - l.margin - 2
	l.left, l.right = 32, 30
	if l.width < 120 {
		l.left, l.right = 31, 28
	}
	spare := max(0, l.width-120)
	l.left += min(24, spare*3/10)
	l.right += min(20, spare/5)
	if l.wire = room - l.left - l.right; l.wire > widestWire {
		rest := l.wire - widestWire
		l.left, l.right, l.wire = l.left+rest/2, l.right+rest-rest/2, widestWire
	}
	l.wireHeight = l.body
	l.ledger = max(5, l.body*5/20)
	l.log = max(5, l.body*7/20)
	if l.body >= 42 {
		l.identity = 14
	}
	return l
}

// asking makes room for a question over the verdict.
func (l layout) asking() layout {
	if l.shape == columns {
		l.ledger = max(5, l.body/5)
		l.log = l.ledger
	}
	return l
}

// need is the one line for a terminal that is too small.
func need(width, height int) string {
	return fmt.Sprintf("faultlab needs %dx%d cells, this terminal has %dx%d", minWidth, minHeight, width, height)
}
