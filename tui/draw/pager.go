package draw

import (
	"strings"

	"github.com/charmbracelet/bubbles/viewport"
)

// Pager is a fixed text of which a part is seen: help, a source, a lesson, details.
// The zero Pager is at its beginning.
type Pager struct {
	view viewport.Model
	want int // the line to begin with at the next Window; see Start
}

// Start begins with the n-th line from now on.
func (p *Pager) Start(n int) { p.want = n }

// Window gives the lines that are seen: exactly height lines of exactly width cells.
func (p *Pager) Window(t *Theme, text Rows, width, height int) []string {
	p.view.Width, p.view.Height = width, height
	lines := make([]string, text.N)
	for i := range lines {
		lines[i] = t.Line(text.At(i), width)
	}
	p.view.SetContent(strings.Join(lines, "\n"))
	if p.want > 0 {
		p.view.SetYOffset(p.want)
		p.want = 0
	}
	p.view.SetYOffset(p.view.YOffset) // the text may have become shorter
	if height < 1 || width < 1 {
		return nil
	}
	return strings.Split(p.view.View(), "\n")
}

// Move scrolls by the verb of this name, and reports whether it is one that scrolls.
func (p *Pager) Move(verb string) bool {
	switch verb {
	case "up":
		p.view.ScrollUp(1)
	case "down":
		p.view.ScrollDown(1)
	case "pageup":
		p.view.PageUp()
	case "pagedown":
		p.view.PageDown()
	case "top":
		p.view.GotoTop()
	case "bottom":
		p.view.GotoBottom()
	default:
		return false
	}
	return true
}
