package lang

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"
)

// repeated are the head's verbs that may stand more than once.
var repeated = map[string]bool{"teach": true, "before": true, "lesson": true, "case": true}

// head takes one line of the head.
func (p *reader) head(l Line) {
	if first := p.heads[l.Verb]; first > 0 && !repeated[l.Verb] {
		p.fail(l.Line, &Error{Column: l.Col, Message: l.Verb + " is given twice, first in line " + strconv.Itoa(first)})
		return
	}
	p.heads[l.Verb] = l.Line
	s := p.out
	switch l.Verb {
	case "title":
		s.Title = l.Text
	case "teach":
		s.Teach = paragraph(s.Teach, l.Text)
	case "before":
		s.Before = paragraph(s.Before, l.Text)
	case "group":
		s.Group = l.Text
	case "lesson":
		n, _ := strconv.Atoi(l.Arg(1))
		s.Lessons = append(s.Lessons, Place{l.Arg(0), n})
	case "case":
		s.Cases = append(s.Cases, l.Args...)
	case "twin":
		s.Twin = l.Arg(0)
	case "runs":
		s.Runs = l.Arg(0)
	case "client":
		s.Client = l.Arg(0)
		s.Idle, _ = strconv.Atoi(l.Opt("idle"))
		if s.Idle > 0 && s.Client != ClientNaive {
			p.fail(l.Line, &Error{Column: l.Col, Message: "idle= goes with client naive: " + s.Client + " keeps no connection"})
		}
	case "subject":
		s.Subject = l.Arg(0)
	case "seed":
		s.Seed, _ = strconv.ParseInt(l.Arg(0), 10, 64)
	}
	s.uses = append(s.uses, l.uses...)
}

// paragraph adds one more paragraph to a text.
func paragraph(text, more string) string {
	if text == "" {
		return more
	}
	return text + "\n" + more
}

// finish judges the scenario as a whole: its title, and that the embedded files and the script name each other.
func (p *reader) finish() {
	if p.heads["title"] == 0 {
		p.fail(1, &Error{Column: 1, Message: "a scenario needs a title", Suggest: []string{"title What it shows"}})
	}
	for i, f := range p.files {
		at := &Error{Column: 1}
		switch clean := path.Clean(f.Name); {
		case p.out.Files[f.Name] != nil:
			at.Message = "two embedded files are named " + f.Name
		case clean != f.Name || path.IsAbs(clean) || strings.HasPrefix(clean, "..") || strings.ContainsAny(f.Name, "\\:") || printable(f.Name) != nil:
			at.Message = "not a valid name of an embedded file: " + quoted(f.Name) + "; write a plain relative name, as payload.json"
		}
		if at.Message != "" {
			p.fail(p.starts[i]-1, at)
			continue
		}
		p.out.Names = append(p.out.Names, f.Name)
		p.out.Files[f.Name] = append([]byte{}, f.Data...)
		p.out.FileLine[f.Name] = p.starts[i]
	}
	p.references()
}

// references checks that every file that a line names is there, and that every file there is named.
func (p *reader) references() {
	named := map[string]bool{}
	loads := false
	for _, u := range p.out.allUses() {
		loads = loads || u.kind == KindFile
		_, there := p.out.Files[u.text]
		switch {
		case u.kind == kindCollection:
			p.collection(u)
		case u.json:
		case u.kind == KindFile, u.kind == KindPayload, u.kind == KindContract && (there || strings.HasSuffix(u.text, ".json")):
			named[u.text] = true
			if !there {
				p.fail(u.line, &Error{Column: u.col, Message: "there is no embedded file " + quoted(u.text), Suggest: alternatives(u.text, p.out.Names)})
			}
		}
	}
	for _, name := range p.out.Names {
		if named[name] || !loads && strings.HasSuffix(name, ".woml") || p.meant(name) {
			continue
		}
		p.fail(p.out.FileLine[name]-1, &Error{Column: 1, Message: "no line of the script uses this file: use it or remove it"})
	}
}

// meant reports whether a line with a mistake in it is about a file: it names the file, or should.
func (p *reader) meant(file string) bool {
	return slices.ContainsFunc(p.errs, func(e *Error) bool {
		return slices.Contains(e.Suggest, file) || e.Line <= len(p.script) && strings.Contains(p.script[e.Line-1], file)
	})
}

// collection refuses the count of a collection that neither a file nor a send ever mentions: it is a mistyped word.
func (p *reader) collection(u use) {
	for _, name := range p.out.Names {
		if bytes.Contains(p.out.Files[name], []byte("/"+u.text)) {
			return
		}
	}
	for _, l := range p.out.Lines {
		if l.Verb == "send" && strings.HasPrefix(l.Arg(1), "/"+u.text) {
			return
		}
	}
	p.fail(u.line, &Error{Column: u.col, Message: "unknown expectation " + quoted(u.text) + ", and no file or send mentions such a collection",
		Suggest: alternatives(u.text, expectationNames())})
}

// allUses are the values of all lines that files and Names decide.
func (s *Scenario) allUses() []use {
	out := append([]use{}, s.uses...)
	for _, l := range s.Lines {
		out = append(out, l.uses...)
	}
	return out
}
