package lang

import (
	"bytes"
	"fmt"
	"strings"
)

// width is that of the longest frequent verb, so that most arguments stand in one column.
const width = len("expect")

// Format writes a scenario tidily: one space between words, arguments in one
// column, a blank line between the head, the acts and what is expected of them. Comments, other
// single blank lines and the embedded files stay. It means the same, and
// formatting it again changes nothing. What does not parse is not formatted.
func Format(src []byte) ([]byte, error) {
	if _, err := Parse("", src); err != nil {
		return nil, err
	}
	p := newReader("", src)
	t := &tidy{}
	for n, text := range p.script {
		l, v := p.line(n+1, text)
		if v != nil {
			t.verb(l, v)
		} else {
			t.other(strings.TrimRight(text, " \t\r"))
		}
	}
	t.flush()
	for _, f := range p.files {
		t.file(f.Name, f.Data)
	}
	return t.out.Bytes(), nil
}

// tidy writes lines with the blank lines that belong between them.
type tidy struct {
	out     bytes.Buffer
	pending []string // comments that wait for the line that they belong to
	blank   bool     // a blank line is due before the next line
	last    section  // of the last verb
}

// section is a part of a scenario that stands apart from the others.
type section int

const (
	none section = iota
	head
	act
	proof
)

func sectionOf(v *Verb) section {
	switch {
	case v.Use&InHead != 0:
		return head
	case v.Name == "expect":
		return proof
	}
	return act
}

// verb writes one verb, and before it the comments that belong to it.
func (t *tidy) verb(l Line, v *Verb) {
	now := sectionOf(v)
	if t.last == head && now != head || t.last == proof && now == act {
		t.blank = true
	}
	t.flush()
	t.last = now
	t.line(padded(l))
}

func padded(l Line) string {
	if l.Text == "" {
		return l.Verb
	}
	return fmt.Sprintf("%-*s %s", width, l.Verb, l.Text)
}

// other takes a comment or a blank line.
func (t *tidy) other(text string) {
	if text = strings.TrimLeft(text, " \t"); text != "" {
		t.pending = append(t.pending, text)
		return
	}
	t.flush()
	t.blank = true
}

// flush writes the comments that wait.
func (t *tidy) flush() {
	for _, c := range t.pending {
		t.line(c)
	}
	t.pending = nil
}

func (t *tidy) line(text string) {
	if t.blank && t.out.Len() > 0 {
		t.out.WriteByte('\n')
	}
	t.blank = false
	t.out.WriteString(text + "\n")
}

func (t *tidy) file(name string, data []byte) {
	fmt.Fprintf(&t.out, "-- %s --\n", name)
	t.out.Write(data)
	if len(data) > 0 && data[len(data)-1] != '\n' {
		t.out.WriteByte('\n')
	}
}
