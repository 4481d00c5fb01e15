package draw

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"github.com/rivo/uniseg"
)

// narrow measures every rune of ambiguous width as one cell, whatever the
// locale says: a frame must not depend on the environment. Where a terminal
// draws them two cells wide, the ASCII glyphs are used.
var narrow = &runewidth.Condition{StrictEmojiNeutral: true}

// Clean makes text safe to stand in a frame, and measures it. It is the one way
// in for every string, ours and other people's alike: Pen.Put calls it.
//
// What comes out holds no control characters, no direction or joining marks and
// no character whose width terminals disagree about; each of those is written
// as an escape, \x1b or \u202e, so that two different keys never look the same.
// At most max cells are used; cut reports that there was more. With ascii,
// everything outside ASCII is escaped.
func Clean(s string, max int, ascii bool) (out string, width int, cut bool) {
	if n := plainPrefix(s, max+1); n == len(s) {
		if n <= max {
			return s, n, false
		}
		return s[:max], max, true
	}
	var b strings.Builder
	state := -1
	for s != "" {
		var cluster string
		cluster, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		text, w := cleanCluster(cluster, ascii)
		if width+w > max {
			return b.String(), width, true
		}
		b.WriteString(text)
		width += w
	}
	return b.String(), width, false
}

// plainPrefix counts the leading bytes that are printable ASCII, stopping at limit.
func plainPrefix(s string, limit int) int {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return i
		}
		if i == limit {
			return len(s) // longer than anybody looks: the caller cuts it
		}
	}
	return len(s)
}

// maxMarks is how many accents may stand on one letter before they are escaped.
const maxMarks = 2

// cleanCluster gives one grapheme cluster as it may be shown. A cluster stays
// whole if it is one character, or one with few accents: those are as wide as
// their first character everywhere. Of any other (joined emoji, flags, skin
// tones, stacked accents) terminals make what they like, so its parts are told apart.
func cleanCluster(cluster string, ascii bool) (string, int) {
	first, size := utf8.DecodeRuneInString(cluster)
	if first == utf8.RuneError && size <= 1 {
		return escapeBytes(cluster)
	}
	text, width := cleanRune(first, ascii)
	rest := cluster[size:]
	if rest == "" {
		return text, width
	}
	if keep := accents(rest); keep && !ascii && width > 0 && text == cluster[:size] {
		return cluster, width
	}
	var b strings.Builder
	b.WriteString(text)
	for i, r := range rest {
		if r == utf8.RuneError && rest[i] != 0xef {
			esc := fmt.Sprintf(`\x%02x`, rest[i])
			b.WriteString(esc)
			width += len(esc)
			continue
		}
		esc, w := cleanRune(r, ascii)
		if unicode.Is(unicode.M, r) || !standsAlone(r) {
			esc = escapeRune(r)
			w = len(esc)
		}
		b.WriteString(esc)
		width += w
	}
	return b.String(), width
}

// accents reports whether s is nothing but a few nonspacing marks of no width.
func accents(s string) bool {
	n := 0
	for _, r := range s {
		if n++; n > maxMarks || !unicode.Is(unicode.Mn, r) || narrow.RuneWidth(r) != 0 || r >= 0xfe00 && r <= 0xfe0f {
			return false
		}
	}
	return true
}

func cleanRune(r rune, ascii bool) (string, int) {
	if r < utf8.RuneSelf {
		if r >= 0x20 && r != 0x7f {
			return string(r), 1
		}
		esc := escapeRune(r)
		return esc, len(esc)
	}
	switch {
	case ascii && r == '…': // ours: it stands in shortened keys
		return "...", 3
	case ascii || !standsAlone(r):
		esc := escapeRune(r)
		return esc, len(esc)
	}
	return string(r), narrow.RuneWidth(r)
}

// standsAlone reports whether terminals agree how wide the character is when
// nothing joins it: it is printable, no mark, one or two cells wide by both
// measures in use, and not a piece that combines with its neighbours.
func standsAlone(r rune) bool {
	switch {
	case !unicode.IsPrint(r) || unicode.Is(unicode.M, r):
		return false
	case r >= 0x1f1e6 && r <= 0x1f1ff: // flags come in pairs
		return false
	case r >= 0x1f3fb && r <= 0x1f3ff: // skin tones
		return false
	case r >= 0x1100 && r <= 0x11ff || r >= 0xa960 && r <= 0xa97f || r >= 0xd7b0 && r <= 0xd7ff: // parts of Hangul syllables
		return false
	case r >= 0x2065 && r <= 0x2069 || r == 0x115f || r == 0x3164 || r == 0xffa0: // fillers
		return false
	}
	w := narrow.RuneWidth(r)
	return w > 0 && w == uniseg.StringWidth(string(r))
}

func escapeRune(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r <= 0xff:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

func escapeBytes(s string) (string, int) {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\x%02x`, s[i])
	}
	return b.String(), b.Len()
}

// WidthOf measures text as it would be shown, up to a bound that no screen exceeds.
func (t *Theme) WidthOf(s string) int {
	_, w, _ := Clean(s, 1000, t.Glyphs.ASCII)
	return w
}

// Wrap breaks text into lines of at most width cells, at spaces where it can. It
// never gives more than limit lines; a mark says that there would be more.
func (t *Theme) Wrap(s string, width, limit int) []string {
	if width < 1 || limit < 1 {
		return nil
	}
	var out []string
	for _, para := range strings.Split(s, "\n") {
		line, used := "", 0
		for _, word := range strings.Fields(para) {
			w := t.WidthOf(word)
			if used > 0 && used+1+w > width {
				out = append(out, line)
				line, used = "", 0
			}
			for w > width && len(out) <= limit {
				var head string
				head, word = t.Chop(word, width)
				out, w = append(out, head), t.WidthOf(word)
			}
			if len(out) > limit {
				break
			}
			if used > 0 {
				line, used = line+" ", used+1
			}
			line, used = line+word, used+w
		}
		if out = append(out, line); len(out) > limit && strings.Join(out[limit:], "") != "" {
			out[limit-1] = t.marked(out[limit-1], width)
			return out[:limit]
		}
	}
	return out[:min(len(out), limit)]
}

// marked is a line with a mark at its end that says that something is missing there.
func (t *Theme) marked(line string, width int) string {
	room := width - t.WidthOf(t.Glyphs.More)
	switch {
	case room < 1:
		line = ""
	case t.WidthOf(line) > room:
		line, _ = t.Chop(line, room)
	}
	return line + t.Glyphs.More
}

// Chop splits text after at most width cells, but never before its first character.
func (t *Theme) Chop(s string, width int) (head, tail string) {
	rest, used, state := s, 0, -1
	for rest != "" {
		var cluster string
		before := rest
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		_, w := cleanCluster(cluster, t.Glyphs.ASCII)
		if used > 0 && used+w > width {
			return s[:len(s)-len(before)], before
		}
		used += w
	}
	return s, ""
}

// Shorten keeps both ends of a key or an id, which is where people compare them.
func (t *Theme) Shorten(s string, room int) string {
	if room < 5 || t.WidthOf(s) <= room {
		return s
	}
	head, digest := "", s
	if rest, ok := strings.CutPrefix(s, "sha256:"); ok && room >= 16 {
		head, digest = "sha256:", rest
	}
	r := []rune(digest)
	keep := max(2, min(8, (room-len(head)-1)/2))
	if len(r) <= 2*keep {
		return s
	}
	return head + string(r[:keep]) + t.Glyphs.More + string(r[len(r)-keep:])
}

// Tail is the end of a key, as rows and logs have room for it.
func (t *Theme) Tail(key string) string {
	if r := []rune(key); len(r) > 16 {
		return t.Glyphs.More + string(r[len(r)-4:])
	}
	return key
}

// Head is the beginning of an id, where there is no room for all of it.
func (t *Theme) Head(id string, room int) string {
	if t.WidthOf(id) <= room {
		return id
	}
	out, _, _ := Clean(id, room-1, t.Glyphs.ASCII)
	return out + t.Glyphs.More
}

func PadTo(t *Theme, s string, width int) string {
	return s + strings.Repeat(" ", max(1, width-t.WidthOf(s)))
}

// Pad fills ASCII labels of ours; values of others are cut before.
func Pad(s string, width int) string {
	n := len([]rune(s))
	return s + strings.Repeat(" ", max(1, width-n))
}

// Paragraph wraps text to lines of one ink behind an indent, at most limit of them.
// The width is that of a whole line.
func (t *Theme) Paragraph(k Ink, indent, text string, width, limit int) (out []Spans) {
	for _, l := range t.Wrap(text, width-len(indent), limit) {
		out = append(out, Say(k, indent+l))
	}
	return out
}
