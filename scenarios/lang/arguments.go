package lang

import (
	"slices"
	"strings"
)

// use is a value that only the embedded files or a bench (Names) can judge.
type use struct {
	kind Kind
	text string
	json bool
	line int
	col  int
}

// arguments are a line's words, assigned to the places of a form.
type arguments struct {
	args  []string
	cols  []int
	opts  map[string][]string
	words []word
	uses  []use
	sub   *Expectation // of a KindExpect argument
}

// argumentParser assigns the words of one line to the places of a form. It stops at the first mistake.
type argumentParser struct {
	*lexer
	form  *Form
	label string // the form as an error names it
	out   arguments
}

// parseArguments reads the rest of the line as a form's arguments.
func parseArguments(l *lexer, form *Form, label string) (arguments, *Error) {
	p := &argumentParser{lexer: l, form: form, label: label, out: arguments{opts: map[string][]string{}}}
	err := p.all()
	if err != nil && err.Column == 0 {
		err.Column = l.col(len(strings.TrimRight(l.line, " \t")))
	}
	return p.out, err
}

func (p *argumentParser) all() *Error {
	places := p.form.positional()
	for {
		if len(places) > 0 && places[0].Kind == KindProse {
			return p.prose(places[0])
		}
		if len(places) > 0 && places[0].Kind == KindExpect {
			return p.expectation()
		}
		before := p.pos
		w, ok, err := p.next()
		text := len(places) > 0 && places[0].Kind == KindText
		if err != nil && (!text || w.quoted) {
			return err
		}
		if !ok {
			return p.missing(places)
		}
		if done, err := p.named(w); done || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if len(places) > 0 && skips(places[0], w) {
			places = places[1:]
		}
		switch {
		case len(places) == 0:
			err = p.surplus(w)
		case text:
			p.pos = before
			err = p.text()
		default:
			err = p.unnamed(places[0], w)
		}
		if err != nil {
			return err
		}
		if places[0].Many {
			places[0].Optional = true
		} else {
			places = places[1:]
		}
	}
}

// skips reports whether an optional place is left out: a pointer begins with a slash.
func skips(a Arg, w word) bool {
	return a.Optional && a.Kind == KindPointer && !(w.bare() && strings.HasPrefix(w.text, "/"))
}

// named takes a flag, an option or a keyword and its value; done is false for any other word.
func (p *argumentParser) named(w word) (done bool, err *Error) {
	if w.name != "" {
		o := p.form.option(w.name)
		if o == nil || o.Kind == "" {
			near := Nearest(w.name+"=", p.form.named())
			if p.takesText() && len(near) == 0 {
				return false, nil
			}
			return false, &Error{Column: w.col, Message: p.label + " has no option " + w.name + "=; quote a value with a = in it",
				Suggest: alternatives(w.name+"=", p.form.named())}
		}
		return true, p.set(o.Name, o.Kind, o.Choices, o.Repeat, w)
	}
	if !w.bare() {
		return false, nil
	}
	if o := p.form.option(w.text); o != nil && o.Kind == "" {
		return true, p.set(o.Name, "", nil, false, w)
	}
	a := p.form.keyword(w.text)
	if a == nil {
		return false, nil
	}
	return true, p.pair(a, w)
}

// pair takes the value that follows a keyword.
func (p *argumentParser) pair(a *Arg, keyword word) *Error {
	if a.Kind == KindExpect {
		p.out.words = append(p.out.words, keyword)
		return p.expectation()
	}
	v, ok, err := p.next()
	if err != nil {
		return err
	}
	if !ok {
		return &Error{Column: keyword.col, Message: a.Keyword + " needs a value after it: " + a.usage(), Suggest: a.Choices}
	}
	p.out.words = append(p.out.words, keyword)
	if v.name != "" {
		return &Error{Column: v.col, Message: a.Keyword + " needs a value after it: " + a.usage(), Suggest: a.Choices}
	}
	return p.set(a.Keyword, a.Kind, a.Choices, false, v)
}

func (p *argumentParser) set(name string, k Kind, choices []string, repeat bool, w word) *Error {
	if len(p.out.opts[name]) > 0 && !repeat {
		return &Error{Column: w.col, Message: name + " is given twice in this line"}
	}
	for _, group := range p.form.OneOf {
		for _, other := range group {
			if other != name && slices.Contains(group, name) && len(p.out.opts[other]) > 0 {
				return &Error{Column: w.col, Message: name + " and " + other + " cannot be combined"}
			}
		}
	}
	value := ""
	if k != "" {
		if err := p.check(k, choices, w); err != nil {
			return err
		}
		value = jsonOf(k, w)
	}
	p.out.opts[name] = append(p.out.opts[name], value)
	p.out.words = append(p.out.words, w)
	return nil
}

// unnamed takes a positional argument.
func (p *argumentParser) unnamed(a Arg, w word) *Error {
	if err := p.check(a.Kind, a.Choices, w); err != nil {
		return err
	}
	p.add(jsonOf(a.Kind, w), w)
	return nil
}

func (p *argumentParser) add(value string, w word) {
	p.out.args = append(p.out.args, value)
	p.out.cols = append(p.out.cols, w.col)
	p.out.words = append(p.out.words, w)
}

func (p *argumentParser) check(k Kind, choices []string, w word) *Error {
	if err := validate(k, choices, w); err != nil {
		err.Column = w.col
		return err
	}
	if asked[k] {
		p.out.uses = append(p.out.uses, use{kind: k, text: w.text, json: w.json, col: w.col})
	}
	return nil
}

// asked are the kinds that the embedded files or Names judge.
var asked = map[Kind]bool{KindFile: true, KindPayload: true, KindFault: true, KindContract: true, KindTrigger: true,
	KindStep: true, KindScenario: true, KindLesson: true, KindTheme: true}

// jsonOf returns the value of a word; of KindValue it is always JSON.
func jsonOf(k Kind, w word) string {
	if k == KindValue && !w.json && (w.quoted || !validJSON(w.text)) {
		return quote(w.text)
	}
	return w.text
}

func (p *argumentParser) prose(a Arg) *Error {
	text, col := p.rest()
	if text == "" {
		return p.missing([]Arg{a})
	}
	p.add(text, word{text: text, col: col})
	return nil
}

func (p *argumentParser) takesText() bool {
	return slices.ContainsFunc(p.form.Args, func(a Arg) bool { return a.Kind == KindText })
}

// text takes one quoted word, or the rest of the line as it stands, without a keyword and
// its value at the end of the line.
func (p *argumentParser) text() *Error {
	p.skip()
	if c := p.line[p.pos]; c == '"' || c == '\'' {
		w, _, err := p.next()
		if err != nil {
			return err
		}
		if err := p.check(KindText, nil, w); err != nil {
			return err
		}
		p.add(w.text, w)
		return nil
	}
	raw := strings.TrimRight(p.line[p.pos:], " \t")
	for _, a := range p.form.Args {
		if head := beforePair(raw, a.Keyword); head != "" {
			raw = head
		}
	}
	w := word{text: single(raw), col: p.col(p.pos)}
	p.pos += len(raw)
	p.add(w.text, w)
	return nil
}

// beforePair is what stands before a keyword and its value at the end of a text; empty if there is no such pair.
func beforePair(raw, keyword string) string {
	isBlank := func(r rune) bool { return r == ' ' || r == '\t' }
	i := strings.LastIndexFunc(raw, isBlank)
	if keyword == "" || i < 0 {
		return ""
	}
	head, ok := strings.CutSuffix(strings.TrimRight(raw[:i], " \t"), keyword)
	if !ok || strings.TrimRight(head, " \t") == head {
		return ""
	}
	return head
}

func (p *argumentParser) missing(places []Arg) *Error {
	for _, a := range p.form.Args {
		if a.Keyword != "" && !a.Optional && len(p.out.opts[a.Keyword]) == 0 {
			places = append(places, a)
		}
	}
	for _, a := range places {
		if !a.Optional {
			return &Error{Message: p.label + " needs " + a.usage() + " here; usage: " + p.usage(), Suggest: a.offer()}
		}
	}
	if p.form.Least > len(p.out.args)+len(p.out.opts) {
		return &Error{Message: p.label + " needs at least one argument; usage: " + p.usage()}
	}
	return nil
}

func (p *argumentParser) surplus(w word) *Error {
	var fits []string
	for _, o := range p.form.Options {
		fits = append(fits, strings.Trim(o.usage(), "[]."))
	}
	for _, a := range p.form.Args {
		if a.Keyword != "" {
			fits = append(fits, a.Keyword)
		}
	}
	return &Error{Column: w.col, Message: "unexpected word " + quoted(w.String()) + "; usage: " + p.usage(), Suggest: alternatives(w.text, fits)}
}

func (p *argumentParser) usage() string {
	return strings.TrimSuffix(p.label, p.form.Name) + p.form.Usage()
}

// offer returns the values that an error can name for a missing argument.
func (a Arg) offer() []string {
	switch a.Kind {
	case KindExpect:
		return expectationNames()
	case KindRefused:
		return verbNames(func(v *Verb) bool { return v.Refusable })
	}
	return nil
}

// expectation reads the rest of the line as an expectation.
func (p *argumentParser) expectation() *Error {
	e := &Expectation{}
	prefix := p.label + " "
	if p.label != "expect" {
		prefix += "for "
	}
	var words []word
	w, ok, err := p.next()
	if ok && err == nil && w.bare() && w.text == "not" {
		e.Not, words = true, append(words, w)
		w, ok, err = p.next()
	}
	if err != nil {
		return err
	}
	if !ok {
		return &Error{Message: strings.TrimSpace(prefix) + " needs an expectation", Suggest: alternatives("", expectationNames())}
	}
	form := expectationNamed(w.text)
	if form == nil || !w.bare() {
		if form = p.collection(w); form == nil {
			return &Error{Column: w.col, Message: "unknown expectation " + quoted(w.String()), Suggest: alternatives(w.text, expectationNames())}
		}
	}
	sub, err := parseArguments(p.lexer, form, prefix+form.Name)
	if err != nil {
		return err
	}
	e.What, e.Args, e.Opts = form.Name, sub.args, sub.opts
	if expectationNamed(form.Name) == nil {
		e.What, e.Opts["collection"] = "effects", []string{form.Name}
		p.out.uses = append(p.out.uses, use{kind: kindCollection, text: form.Name, col: w.col})
	}
	words = append(append(words, w), sub.words...)
	e.Text = join(words)
	p.out.words, p.out.uses, p.out.sub = append(p.out.words, words...), append(p.out.uses, sub.uses...), e
	return nil
}

// kindCollection is the name of a collection in the place of an expectation.
const kindCollection Kind = "collection"

// collection returns the form of a collection's count, if the word and the one after it look like one.
func (p *argumentParser) collection(w word) *Form {
	here := p.pos
	n, ok, err := p.next()
	p.pos = here
	if !ok || err != nil || !w.bare() || !shapes[KindName].valid(w.text) {
		return nil
	}
	if _, err := ParseCount(n.text); err != nil || !n.bare() {
		return nil
	}
	return &Form{Name: w.text, Args: count("COUNT"), Options: []Option{byStep, byWrite, byKey}}
}
