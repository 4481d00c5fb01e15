package tui

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// askBackground is what a terminal is asked for its background (OSC 11), followed
// by a question that every terminal answers (DA1), so that one without a
// background to tell does not cost the whole limit.
const askBackground = "\x1b]11;?\x1b\\\x1b[c"

// askLimit is how long the answer is waited for, in milliseconds.
const askLimit = 50

// lightBackground reads the answer to askBackground. known is false where none came.
func lightBackground(reply []byte) (light, known bool) {
	_, rest, ok := bytes.Cut(reply, []byte("\x1b]11;"))
	end := bytes.IndexAny(rest, "\a\x1b")
	if !ok || end < 0 {
		return false, false
	}
	spec := string(rest[:end])
	c := ansi.XParseColor(spec)
	if c == nil || strings.Trim(strings.TrimPrefix(spec, "rgb:"), "/0123456789abcdefABCDEF") != "" {
		return false, false
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*float64(r)+0.7152*float64(g)+0.0722*float64(b) > 0xffff/2, true
}

// lightByEnvironment reads COLORFGBG, which some terminals set: "15;0" is light on dark.
func lightByEnvironment(value string) bool {
	i := strings.LastIndexByte(value, ';')
	if i < 0 {
		return false
	}
	n, err := strconv.Atoi(value[i+1:])
	return err == nil && (n == 7 || n >= 9 && n <= 15)
}

// answered reports whether the terminal has answered all that it was asked: DA1 comes last.
func answered(reply []byte) bool {
	_, rest, ok := bytes.Cut(reply, []byte("\x1b[?"))
	return ok && bytes.IndexByte(rest, 'c') >= 0
}

// typedAhead is what a person typed before the answer came: what is left without the replies.
func typedAhead(reply []byte) []byte {
	var f replyFilter
	out := f.drop(reply)
	if i := bytes.Index(out, []byte("\x1b[?")); i >= 0 {
		if j := bytes.IndexByte(out[i:], 'c'); j >= 0 {
			out = append(out[:i:i], out[i+j+1:]...)
		}
	}
	return out
}

// replyFilter takes answers about colours out of what is typed: one that comes
// late would be read as keys.
type replyFilter struct {
	held   []byte // the beginning of what may be an answer
	inside bool   // within an answer, whose end has not come
}

const replyStart = "\x1b]1" // OSC 10 to 19: colours

// drop gives the bytes without answers. It keeps back a tail that may begin one.
func (f *replyFilter) drop(in []byte) []byte {
	data := append(f.held, in...)
	f.held = nil
	var out []byte
	for len(data) > 0 {
		if f.inside {
			end := bytes.IndexAny(data, "\a\\")
			if end < 0 {
				return out
			}
			f.inside, data = false, data[end+1:]
			continue
		}
		i := bytes.IndexByte(data, 0x1b)
		if i < 0 {
			return append(out, data...)
		}
		out, data = append(out, data[:i]...), data[i:]
		switch {
		case bytes.HasPrefix(data, []byte(replyStart)):
			f.inside, data = true, data[len(replyStart):]
		case len(data) > 1 && strings.HasPrefix(replyStart, string(data)):
			f.held = append([]byte{}, data...)
			return out
		default:
			out, data = append(out, data[0]), data[1:]
		}
	}
	return out
}

// keyboard is the terminal's input without late answers. It stays a file, so that
// Bubble Tea can put it into raw mode and cancel a read.
type keyboard struct {
	*os.File
	filter replyFilter
}

func (k *keyboard) Read(p []byte) (int, error) {
	n, err := k.File.Read(p)
	return copy(p, k.filter.drop(p[:n])), err
}
