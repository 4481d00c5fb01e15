package lang

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
)

// Step is one line that was carried out on a bench, with the bench's time when it
// began and when it had ended, since the bench's start. Only lines that take time
// by themselves, as advance, end later than they began.
type Step struct {
	At, Until time.Duration
	Line      Line
}

// Record writes what was done as a scenario file: the head and the files of s, the
// steps with an `advance` wherever time passed between them, and a last `wait`. Verbs that only
// concern the screen and files that no step names are left out. What it writes
// parses, and has the same head and the same lines; it is an error if a file
// cannot be embedded.
func Record(s *Scenario, steps []Step) ([]byte, error) {
	t := &tidy{}
	s.writeHead(t)
	named, loads := map[string]bool{}, false
	var now time.Duration
	for _, step := range steps {
		v := VerbNamed(step.Line.Verb)
		if v == nil || v.Use&InScript == 0 {
			continue
		}
		if gap := step.At - now; gap > 0 {
			t.verb(Line{Verb: "advance", Text: gap.String()}, VerbNamed("advance"))
		}
		t.verb(step.Line, v)
		if q := step.Line.Question; q != nil {
			t.paragraphs("because", q.Because)
		}
		now = max(now, step.At, step.Until)
		for _, u := range step.Line.uses {
			named[u.text] = named[u.text] || !u.json
			loads = loads || u.kind == KindFile
		}
	}
	if n := len(steps); n > 0 && steps[n-1].Line.Verb != "wait" && steps[n-1].Line.Verb != "expect" {
		t.verb(Line{Verb: "wait"}, VerbNamed("wait"))
	}
	for _, name := range s.Names {
		if !named[name] && (loads || !strings.HasSuffix(name, ".woml")) {
			continue
		}
		if err := embeddable(name, s.Files[name]); err != nil {
			return nil, err
		}
		t.file(name, s.Files[name])
	}
	if _, err := Parse("", t.out.Bytes()); err != nil {
		return nil, fmt.Errorf("what was done makes no scenario: %w", err)
	}
	return t.out.Bytes(), nil
}

// writeHead writes the head's lines, in the table's order.
func (s *Scenario) writeHead(t *tidy) {
	t.paragraphs("title", s.Title)
	t.paragraphs("teach", s.Teach)
	t.paragraphs("before", s.Before)
	t.paragraphs("group", s.Group)
	for _, p := range s.Lessons {
		t.headLine("lesson", fmt.Sprintf("%s %d", Quote(p.Lesson), p.N))
	}
	if len(s.Cases) > 0 {
		t.headLine("case", strings.Join(s.Cases, " "))
	}
	if s.Twin != "" {
		t.headLine("twin", Quote(s.Twin))
	}
	if s.Runs != RunsBoth && s.Runs != "" {
		t.headLine("runs", s.Runs)
	}
	if s.Client != "" {
		t.headLine("client", s.Client)
	}
	if s.Subject != "" {
		t.headLine("subject", Quote(s.Subject))
	}
	if s.Seed != 0 {
		t.headLine("seed", fmt.Sprint(s.Seed))
	}
}

func (t *tidy) headLine(verb, text string) {
	t.verb(Line{Verb: verb, Text: text}, VerbNamed(verb))
}

// paragraphs writes a text of several lines as a verb for each.
func (t *tidy) paragraphs(verb, text string) {
	for _, one := range strings.Split(text, "\n") {
		if one = single(one); one != "" {
			t.verb(Line{Verb: verb, Text: one}, VerbNamed(verb))
		}
	}
}

// embeddable says why a file cannot stand in a scenario; nil if it can.
func embeddable(name string, data []byte) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("%s is not UTF-8 text, so it cannot be embedded in a scenario", name)
	}
	if a := txtar.Parse(data); len(a.Files) > 0 || bytes.HasPrefix(data, []byte("\ufeff")) {
		return fmt.Errorf("%s has a line that reads as the beginning of an embedded file, so it cannot be embedded in a scenario", name)
	}
	return nil
}
