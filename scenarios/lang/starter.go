package lang

import (
	"bytes"
	_ "embed" // the starter is a scenario file of its own
	"strings"
	"unicode"
)

//go:embed starter.txtar
var starter []byte

// Starter is a commented scenario file to begin with, which parses, is tidy, and
// replays without a failure. The name is its title, and the file's name in its
// comment; an empty one is taken for "my-scenario".
func Starter(name string) []byte {
	name = single(strings.Map(func(r rune) rune {
		if forbidden(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "?")))
	if name == "" {
		name = "my-scenario"
	}
	title := strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), " ")
	if title == "" {
		title = name
	}
	letters := []rune(title)
	letters[0] = unicode.ToUpper(letters[0])
	out := bytes.Replace(starter, []byte("NAME.txtar"), []byte(name+Ext), 1)
	return bytes.Replace(out, []byte("TITLE"), []byte(string(letters)), 1)
}
