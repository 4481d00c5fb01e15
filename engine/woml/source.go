package woml

import (
	"fmt"
	"sort"
	"unicode/utf8"
)

// maxSource bounds a document, in bytes. It keeps the time and the stack of a
// check small whatever the text is; real documents are a few kilobytes.
const maxSource = 1 << 20

// source is a text whose byte offsets can be told as lines and columns.
type source struct {
	text  string
	lines []int // offset of each line's first byte
	last  struct{ offset, line, column int }
}

func newSource(text string) *source {
	s := &source{text: text, lines: []int{0}}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// position tells the line and the column (in UTF-16 units) of a byte offset,
// both from 1. An offset behind the text is its end. Asking in ascending order
// costs one pass over the text in all, even where it is a single line.
func (s *source) position(offset int) (line, column int) {
	offset = max(0, min(offset, len(s.text)))
	line = sort.SearchInts(s.lines, offset+1)
	from := s.lines[line-1]
	column = 1
	if s.last.line == line && s.last.offset <= offset {
		from, column = s.last.offset, s.last.column
	}
	for _, r := range s.text[from:offset] {
		column++
		if r > 0xFFFF {
			column++
		}
	}
	s.last.offset, s.last.line, s.last.column = offset, line, column
	return line, column
}

// place names a byte offset in a message.
func (s *source) place(offset int) string {
	line, column := s.position(offset)
	return fmt.Sprintf("line %d, column %d", line, column)
}

// readable refuses what is too large to check and what is not text.
func (c *checker) readable() bool {
	if len(c.text) > maxSource {
		c.fail(0, codeDocumentTooLarge,
			fmt.Sprintf("The document is %d bytes long; at most %d are read.", len(c.text), maxSource),
			"Split it into several workflows that start each other with services.workflows.start.")
		return false
	}
	if utf8.ValidString(c.text) {
		return true
	}
	c.fail(firstInvalid(c.text), codeEncodingInvalid, "The document is not valid UTF-8 here.", "Save the file as UTF-8.")
	return false
}

// firstInvalid finds the first byte that is not UTF-8; there is one.
func firstInvalid(text string) int {
	for i := 0; ; {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
}
