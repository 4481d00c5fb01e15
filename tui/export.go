package tui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"faultlab/scenarios"
)

// picture is the bench's own frame, whatever lies over it, in all colours of its
// theme, however few of them the terminal has.
func (m *model) picture() (string, page) {
	own := *m
	own.stack, own.palette, own.notice, own.memo = []screen{&catalogue{}, &benchScreen{}}, nil, notice{}, memo{}
	if t, err := newTheme(m.t.name, termenv.TrueColor, m.t.glyphs); err == nil {
		own.t = t
	}
	return own.build(), own.t.page
}

// Plain writes a view's wire line by line, without colours or frames: for screen
// readers, pipes and reports. With covered, what only the provider knows is left out.
func Plain(v *scenarios.View, from int, covered bool) []string {
	var out []string
	for _, r := range v.Wire {
		if r.Entry <= from || covered && r.Truth {
			continue
		}
		if covered {
			r = told(r)
		}
		out = append(out, plainRow(v, r))
	}
	return out
}

// plainSides say in a word what the picture says by where a row stands.
var plainSides = map[scenarios.RowKind]string{
	scenarios.RowSend: "caller sends", scenarios.RowCommit: "provider", scenarios.RowReplay: "provider", scenarios.RowRefused: "provider",
	scenarios.RowReply: "caller gets", scenarios.RowBroken: "caller gets no whole answer", scenarios.RowSilence: "caller gets nothing",
	scenarios.RowWait: "caller waits", scenarios.RowInbound: "inbound", scenarios.RowNote: "bench", scenarios.RowEvidence: "look-up",
	scenarios.RowDecision: "decision",
}

func plainRow(v *scenarios.View, r scenarios.Row) string {
	side := plainSides[r.Kind]
	if side == "" {
		side = "caller"
	}
	text := r.Label()
	if r.Detail != "" {
		text += " (" + r.Detail + ")"
	}
	if r.Hidden {
		text += " [not written by the caller]"
	}
	line, _, _ := clean(fmt.Sprintf("%s %s: %s", moment(r.At.Sub(v.Start)), side, text), 2000, false)
	return line
}

// markdown is the bench as a report that a reviewer reads.
func markdown(title string, v *scenarios.View) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	safe := func(s string) string {
		out, _, _ := clean(s, 500, false)
		return scenarios.MarkdownText(out)
	}
	line("# %s\n", safe(title))
	for i := range v.Operations {
		op := &v.Operations[i]
		line("**%s**: %s. Believed %s, %s. %s\n", safe(opName(op)), verdictSigns[op.Verdict].word, beliefSigns[op.Belief].word, plural(len(op.Effects), "effect"), safe(op.Why))
	}
	line("## Wire\n\n```text")
	for _, l := range Plain(v, 0, false) {
		line("%s", strings.ReplaceAll(l, "```", "'''"))
	}
	line("```\n\n## Ledger\n\n| id | collection | key | record |\n| --- | --- | --- | --- |")
	for _, e := range v.Effects {
		line("| %s | %s | %s | %s |", safe(e.ID), safe(e.Collection), safe(e.Key), safe(string(e.Body)))
	}
	return []byte(b.String())
}

// leastFrame is how long a frame of a recording stays at least: what happens
// at one moment of the bench's clock is to be seen one after the other.
const leastFrame = 300 * time.Millisecond

// recorder makes a recording of the terminal (asciicast v2): the bench's frame
// after each entry, as far apart as the entries, but leastFrame at least. It is called outside Update.
func (m *model) recorder() func() []byte {
	bench, width, height, t := m.session.bench, m.width, m.height, m.t
	scenario, state, covered := m.session.scenario, m.session.state, m.session.covered
	return func() []byte {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(map[string]any{"version": 2, "width": width, "height": height, "title": scenario.Title}) // plain values
		own := &model{t: t, width: width, height: height, memory: recall(""), stack: []screen{&benchScreen{}}}
		own.session = newSession(frozen{bench, state}, scenario)
		own.session.covered = covered
		var at, before time.Duration
		for n := 1; n <= bench.Len(); n++ {
			own.session.at = n
			own.session.pull()
			now := own.session.view.At.Sub(own.session.view.Start)
			if n > 1 {
				at += max(leastFrame, now-before)
			}
			before = now
			_ = enc.Encode([]any{at.Seconds(), "o", "\x1b[H" + strings.ReplaceAll(own.build(), "\n", "\r\n")})
		}
		return []byte(b.String())
	}
}

// frozen is a bench whose state stays as it was.
type frozen struct {
	Bench
	state scenarios.State
}

func (f frozen) State() scenarios.State { return f.state }

// svg draws a frame as a picture: one text element for each run of one style.
func svg(frame string, on page, width, height int) []byte {
	const cw, ch = 8.4, 17
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14">`, float64(width)*cw+20, height*ch+20)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", on.back)
	for y, l := range strings.Split(frame, "\n") {
		x := 0
		for _, p := range pieces(l, on) {
			w := ansi.StringWidth(p.text)
			if p.bg != "" {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, 10+float64(x)*cw, 10+y*ch, float64(w)*cw, ch, p.bg)
			}
			if strings.TrimSpace(p.text) != "" {
				weight := ""
				if p.bold {
					weight = ` font-weight="bold"`
				}
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="%s" textLength="%.1f" xml:space="preserve"%s>%s</text>`+"\n",
					10+float64(x)*cw, 10+y*ch+13, cmp.Or(p.fg, on.text), float64(w)*cw, weight, xmlEscape.Replace(p.text))
			}
			x += w
		}
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

var xmlEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// piece is text in one style, as the escape codes of a frame give it.
type piece struct {
	text, fg, bg string
	bold         bool
}

// pieces reads a line of a frame of ours: only true colours, bold and reverse are looked at.
func pieces(line string, on page) []piece {
	var out []piece
	cur := piece{}
	for line != "" {
		i := strings.IndexByte(line, 0x1b)
		if i != 0 {
			text := line
			if i > 0 {
				text = line[:i]
			}
			p := cur
			p.text = text
			out, line = append(out, p), line[len(text):]
			continue
		}
		end := strings.IndexByte(line, 'm')
		if end < 0 {
			break
		}
		cur = styled(cur, strings.Split(line[2:end], ";"), on)
		line = line[end+1:]
	}
	return out
}

func styled(p piece, codes []string, on page) piece {
	rgb := func(c []string) string {
		var n [3]int
		for i := range n {
			fmt.Sscan(c[i], &n[i])
		}
		return fmt.Sprintf("#%02x%02x%02x", n[0], n[1], n[2])
	}
	for i := 0; i < len(codes); i++ {
		switch c := codes[i]; {
		case c == "0" || c == "":
			p = piece{}
		case c == "1":
			p.bold = true
		case c == "7":
			p.fg, p.bg = on.back, on.text
		case (c == "38" || c == "48") && i+4 < len(codes) && codes[i+1] == "2":
			if c == "38" {
				p.fg = rgb(codes[i+2:])
			} else {
				p.bg = rgb(codes[i+2:])
			}
			i += 4
		}
	}
	return p
}
