package tui

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// tinyScreen is as much of a terminal as the workbench uses: text, colours, moving
// the cursor, erasing. What is written beyond the right edge is noted: on a real
// terminal it would break the frame.
type tinyScreen struct {
	width, height int
	x, y          int
	cells         [][]rune
	alt, hidden   bool // the alternate screen is shown, the cursor is not
	beyond        []string
	rest          []byte // an escape code that is not complete yet
}

func newTinyScreen(width, height int) *tinyScreen {
	s := &tinyScreen{}
	s.resize(width, height)
	return s
}

func (s *tinyScreen) resize(width, height int) {
	s.width, s.height = width, height
	s.cells = make([][]rune, height)
	for i := range s.cells {
		s.cells[i] = []rune(strings.Repeat(" ", width))
	}
	s.x, s.y = min(s.x, width-1), min(s.y, height-1)
}

func (s *tinyScreen) String() string {
	lines := make([]string, len(s.cells))
	for i, l := range s.cells {
		lines[i] = strings.TrimRight(strings.ReplaceAll(string(l), "\x00", ""), " ")
	}
	return strings.Join(lines, "\n")
}

func (s *tinyScreen) Write(p []byte) (int, error) {
	data := append(s.rest, p...)
	s.rest = nil
	for len(data) > 0 {
		n := s.one(data)
		if n == 0 {
			s.rest = append([]byte{}, data...)
			break
		}
		data = data[n:]
	}
	return len(p), nil
}

// one takes the first thing of data and tells how long it was; 0 if it is not complete.
func (s *tinyScreen) one(data []byte) int {
	switch data[0] {
	case '\r':
		s.x = 0
		return 1
	case '\n':
		if s.y++; s.y >= s.height {
			s.cells = append(s.cells[1:], []rune(strings.Repeat(" ", s.width)))
			s.y = s.height - 1
		}
		return 1
	case 0x1b:
		return s.escape(data)
	}
	if !utf8.FullRune(data) {
		return 0
	}
	r, size := utf8.DecodeRune(data)
	w := ansi.StringWidth(string(r))
	if s.x+w > s.width {
		s.beyond = append(s.beyond, fmt.Sprintf("%q at %d,%d", r, s.x, s.y))
		return size
	}
	if w > 0 {
		s.cells[s.y][s.x] = r
		for i := 1; i < w; i++ {
			s.cells[s.y][s.x+i] = 0
		}
		s.x += w
	}
	return size
}

func (s *tinyScreen) escape(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	if data[1] == ']' || data[1] == 'P' { // OSC, DCS: up to BEL or ST
		for i := 2; i < len(data); i++ {
			if data[i] == '\a' {
				return i + 1
			}
			if data[i] == '\\' && data[i-1] == 0x1b {
				return i + 1
			}
		}
		return 0
	}
	if data[1] != '[' {
		return 2
	}
	end := 2
	for end < len(data) && (data[end] < 0x40 || data[end] > 0x7e) {
		end++
	}
	if end == len(data) {
		return 0
	}
	s.csi(string(data[2:end]), data[end])
	return end + 1
}

func (s *tinyScreen) csi(args string, final byte) {
	n, _ := strconv.Atoi(strings.Split(args, ";")[0])
	switch final {
	case 'H':
		var row, col int
		if parts := strings.Split(args, ";"); len(parts) == 2 {
			row, _ = strconv.Atoi(parts[0])
			col, _ = strconv.Atoi(parts[1])
		} else {
			row = n
		}
		s.y, s.x = clamp(row-1, 0, s.height-1), clamp(col-1, 0, s.width-1)
	case 'A':
		s.y = max(0, s.y-max(1, n))
	case 'K':
		from, to := s.x, s.width
		if n == 2 {
			from = 0
		}
		for i := from; i < to; i++ {
			s.cells[s.y][i] = ' '
		}
	case 'J':
		if n == 2 {
			s.resize(s.width, s.height)
		} else {
			for y := s.y; y < s.height; y++ {
				from := 0
				if y == s.y {
					from = s.x
				}
				for i := from; i < s.width; i++ {
					s.cells[y][i] = ' '
				}
			}
		}
	case 'h', 'l':
		on := final == 'h'
		switch args {
		case "?1049":
			s.alt = on
		case "?25":
			s.hidden = !on
		}
	}
}
