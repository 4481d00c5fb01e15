package lang

import (
	"slices"
	"strings"
)

// use is a value whose fitness only a bench or the archive's files can tell.
type use struct {
	kind Kind
	text string
	json bool
	line int
	col  int
}

// fitted is a line's words, fitted to a form.
type fitted struct {
	args  []string
	cols  []int
	opts  map[string][]string
	words []word
	uses  []use
	sub   *Expectation // of a KindExpect argument
}

// fitter fits the words of one line to a form. The first mistake ends the line: what follows would only be its echo.
type fitter struct {
	*lexer
	form  *Form
	label string // the form as an error names it
	out   fitted
}

// fit reads all that is left of the line as a form's arguments.
func fit(l *lexer, form *Form, label string) (fitted, *Error) {
	f := &fitter{lexer: l, form: form, label: label, out: fitted{opts: map[string][]string{}}}
	err := f.all()
	if err != nil && err.Column == 0 {
		err.Column = l.col(len(strings.TrimRight(l.line, " \t")))
	}
	return f.out, err
}

func (f *fitter) all() *Error {
	places := f.form.positional()
	for {
		if len(places) > 0 && places[0].Kind == KindProse {
			return f.prose(places[0])
		}
		if len(places) > 0 && places[0].Kind == KindExpect {
			return f.expectation()
		}
		before := f.pos
		w, ok, err := f.next()
		text := len(places) > 0 && places[0].Kind == KindText
		if err != nil && (!text || w.quoted) {
			return err
		}
		if !ok {
			return f.missing(places)
		}
		if done, err := f.named(w); done || err != nil {
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
			err = f.surplus(w)
		case text:
			f.pos = before
			err = f.text()
		default:
			err = f.unnamed(places[0], w)
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

// skips reports whether an optional place is left out in favour of the next: a
// pointer begins with a slash.
func skips(a Arg, w word) bool {
	return a.Optional && a.Kind == KindPointer && !(w.bare() && strings.HasPrefix(w.text, "/"))
}

// named takes a flag, an option or a keyword and its value; done is false for any other word.
func (f *fitter) named(w word) (done bool, err *Error) {
	if w.name != "" {
		o := f.form.option(w.name)
		if o == nil || o.Kind == "" {
			near := Nearest(w.name+"=", f.form.named())
			if f.takesText() && len(near) == 0 {
				return false, nil
			}
			return false, &Error{Column: w.col, Message: f.label + " has no option " + w.name + "=; put a value that has a = in quotes",
				Suggest: fitting(w.name+"=", f.form.named())}
		}
		return true, f.set(o.Name, o.Kind, o.Choices, o.Repeat, w)
	}
	if !w.bare() {
		return false, nil
	}
	if o := f.form.option(w.text); o != nil && o.Kind == "" {
		return true, f.set(o.Name, "", nil, false, w)
	}
	a := f.form.keyword(w.text)
	if a == nil {
		return false, nil
	}
	return true, f.pair(a, w)
}

// pair takes the value that follows a keyword.
func (f *fitter) pair(a *Arg, keyword word) *Error {
	if a.Kind == KindExpect {
		f.out.words = append(f.out.words, keyword)
		return f.expectation()
	}
	v, ok, err := f.next()
	if err != nil {
		return err
	}
	if !ok {
		return &Error{Column: keyword.col, Message: a.Keyword + " wants a value after it: " + a.usage(), Suggest: a.Choices}
	}
	f.out.words = append(f.out.words, keyword)
	if v.name != "" {
		return &Error{Column: v.col, Message: a.Keyword + " wants a value after it: " + a.usage(), Suggest: a.Choices}
	}
	return f.set(a.Keyword, a.Kind, a.Choices, false, v)
}

func (f *fitter) set(name string, k Kind, choices []string, repeat bool, w word) *Error {
	if len(f.out.opts[name]) > 0 && !repeat {
		return &Error{Column: w.col, Message: name + " stands twice in this line"}
	}
	for _, group := range f.form.OneOf {
		for _, other := range group {
			if other != name && slices.Contains(group, name) && len(f.out.opts[other]) > 0 {
				return &Error{Column: w.col, Message: name + " and " + other + " exclude each other"}
			}
		}
	}
	value := ""
	if k != "" {
		if err := f.check(k, choices, w); err != nil {
			return err
		}
		value = jsonOf(k, w)
	}
	f.out.opts[name] = append(f.out.opts[name], value)
	f.out.words = append(f.out.words, w)
	return nil
}

// unnamed takes a positional argument.
func (f *fitter) unnamed(a Arg, w word) *Error {
	if err := f.check(a.Kind, a.Choices, w); err != nil {
		return err
	}
	f.add(jsonOf(a.Kind, w), w)
	return nil
}

func (f *fitter) add(value string, w word) {
	f.out.args = append(f.out.args, value)
	f.out.cols = append(f.out.cols, w.col)
	f.out.words = append(f.out.words, w)
}

func (f *fitter) check(k Kind, choices []string, w word) *Error {
	if err := mistake(k, choices, w); err != nil {
		err.Column = w.col
		return err
	}
	if asked[k] {
		f.out.uses = append(f.out.uses, use{kind: k, text: w.text, json: w.json, col: w.col})
	}
	return nil
}

// asked are the kinds that the archive's files or Names decide.
var asked = map[Kind]bool{KindFile: true, KindPayload: true, KindFault: true, KindContract: true, KindTrigger: true,
	KindStep: true, KindScenario: true, KindLesson: true, KindTheme: true}

// jsonOf is the value of a word; where any JSON value fits, it is always JSON.
func jsonOf(k Kind, w word) string {
	if k == KindValue && !w.json && (w.quoted || !validJSON(w.text)) {
		return quote(w.text)
	}
	return w.text
}

func (f *fitter) prose(a Arg) *Error {
	text, col := f.rest()
	if text == "" {
		return f.missing([]Arg{a})
	}
	f.add(text, word{text: text, col: col})
	return nil
}

func (f *fitter) takesText() bool {
	return slices.ContainsFunc(f.form.Args, func(a Arg) bool { return a.Kind == KindText })
}

// text takes one quoted word, or all words that are left as they stand, but for a
// keyword and its value at the end of the line.
func (f *fitter) text() *Error {
	f.skip()
	if c := f.line[f.pos]; c == '"' || c == '\'' {
		w, _, err := f.next()
		if err != nil {
			return err
		}
		if err := f.check(KindText, nil, w); err != nil {
			return err
		}
		f.add(w.text, w)
		return nil
	}
	raw := strings.TrimRight(f.line[f.pos:], " \t")
	for _, a := range f.form.Args {
		if head := beforePair(raw, a.Keyword); head != "" {
			raw = head
		}
	}
	w := word{text: single(raw), col: f.col(f.pos)}
	f.pos += len(raw)
	f.add(w.text, w)
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

func (f *fitter) missing(places []Arg) *Error {
	for _, a := range f.form.Args {
		if a.Keyword != "" && !a.Optional && len(f.out.opts[a.Keyword]) == 0 {
			places = append(places, a)
		}
	}
	for _, a := range places {
		if !a.Optional {
			return &Error{Message: f.label + " wants " + a.usage() + " here: " + f.usage(), Suggest: a.offer()}
		}
	}
	if f.form.Least > len(f.out.args)+len(f.out.opts) {
		return &Error{Message: f.label + " wants at least one argument: " + f.usage()}
	}
	return nil
}

func (f *fitter) surplus(w word) *Error {
	var fits []string
	for _, o := range f.form.Options {
		fits = append(fits, strings.Trim(o.usage(), "[]."))
	}
	for _, a := range f.form.Args {
		if a.Keyword != "" {
			fits = append(fits, a.Keyword)
		}
	}
	return &Error{Column: w.col, Message: "nothing fits " + quoted(w.String()) + " here: " + f.usage(), Suggest: fitting(w.text, fits)}
}

func (f *fitter) usage() string {
	return strings.TrimSuffix(f.label, f.form.Name) + f.form.Usage()
}

// offer are the values that an error can name for a missing argument.
func (a Arg) offer() []string {
	switch a.Kind {
	case KindExpect:
		return expectationNames()
	case KindRefused:
		return verbNames(func(v *Verb) bool { return v.Refusable })
	}
	return nil
}

// expectation takes all that is left of the line as an expectation.
func (f *fitter) expectation() *Error {
	e := &Expectation{}
	prefix := f.label + " "
	if f.label != "expect" {
		prefix += "for "
	}
	var words []word
	w, ok, err := f.next()
	if ok && err == nil && w.bare() && w.text == "not" {
		e.Not, words = true, append(words, w)
		w, ok, err = f.next()
	}
	if err != nil {
		return err
	}
	if !ok {
		return &Error{Message: strings.TrimSpace(prefix) + " wants to be told what", Suggest: fitting("", expectationNames())}
	}
	form := expectationNamed(w.text)
	if form == nil || !w.bare() {
		if form = f.collection(w); form == nil {
			return &Error{Column: w.col, Message: "unknown expectation " + quoted(w.String()), Suggest: fitting(w.text, expectationNames())}
		}
	}
	sub, err := fit(f.lexer, form, prefix+form.Name)
	if err != nil {
		return err
	}
	e.What, e.Args, e.Opts = form.Name, sub.args, sub.opts
	if expectationNamed(form.Name) == nil {
		e.What, e.Opts["collection"] = "effects", []string{form.Name}
		f.out.uses = append(f.out.uses, use{kind: kindCollection, text: form.Name, col: w.col})
	}
	words = append(append(words, w), sub.words...)
	e.Text = join(words)
	f.out.words, f.out.uses, f.out.sub = append(f.out.words, words...), append(f.out.uses, sub.uses...), e
	return nil
}

// kindCollection is the name of a collection in the place of an expectation.
const kindCollection Kind = "collection"

// collection is the form of a collection's count, if the word and the one after it look like one.
func (f *fitter) collection(w word) *Form {
	here := f.pos
	n, ok, err := f.next()
	f.pos = here
	if !ok || err != nil || !w.bare() || rules[KindName](w.text) != nil {
		return nil
	}
	if _, err := ParseCount(n.text); err != nil || !n.bare() {
		return nil
	}
	return &Form{Name: w.text, Args: count("COUNT"), Options: []Option{byStep, byWrite, byKey}}
}
