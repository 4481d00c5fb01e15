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

// passes are the verbs that let time pass by themselves.
var passes = map[string]bool{"advance": true, "wait": true, "expire": true}

// Record writes what was done as a scenario file: the head and the files of s, and the
// steps, with an `advance` wherever time passed between them, and `advance 0s` behind it for
// everything that happens at that instant. It leaves out verbs of the screen, files that no
// step names, and the time before a last `wait`. What it writes parses, and has the same
// head and the same lines. It fails if a step names a file that s does not hold, or a file
// cannot be embedded.
func Record(s *Scenario, steps []Step) ([]byte, error) {
	t := &tidy{}
	s.writeHead(t)
	named, loads := map[string]bool{}, false
	var now time.Duration
	for i, step := range steps {
		v := VerbNamed(step.Line.Verb)
		if v == nil || v.Use&InScript == 0 {
			continue
		}
		last := i == len(steps)-1 && v.Name == "wait"
		if gap := step.At - now; gap > 0 && !last {
			t.verb(Line{Verb: "advance", Text: gap.String()}, VerbNamed("advance"))
			if !passes[v.Name] { // it was done after all that happened at that instant
				t.verb(Line{Verb: "advance", Text: "0s"}, VerbNamed("advance"))
			}
		}
		t.step(step.Line, v)
		now = max(now, step.At, step.Until)
		for _, u := range step.Line.uses {
			named[u.text] = named[u.text] || !u.json
			loads = loads || u.kind == KindFile
		}
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
		return nil, fmt.Errorf("cannot save this as a scenario: %w", err)
	}
	return t.out.Bytes(), nil
}

// step writes one line of the script, and why the answer to its question is right.
func (t *tidy) step(l Line, v *Verb) {
	t.verb(l, v)
	if l.Question != nil {
		t.paragraphs("because", l.Question.Because)
	}
}

// writeHead writes the head's lines, in the table's order.
func (s *Scenario) writeHead(t *tidy) {
	t.paragraphs("title", strings.ReplaceAll(s.Title, "\n", " "))
	t.paragraphs("teach", s.Teach)
	t.paragraphs("before", s.Before)
	t.paragraphs("group", strings.ReplaceAll(s.Group, "\n", " "))
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
		text := s.Client
		if s.Idle > 0 {
			text += fmt.Sprintf(" idle=%d", s.Idle)
		}
		t.headLine("client", text)
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
