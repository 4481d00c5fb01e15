package lang

import (
	"slices"
	"strings"
)

// Candidate is one way to go on with a typed line.
type Candidate struct {
	Line string // the whole line with it
	Word string // the word alone
	Help string // what a verb or an expectation does; empty for a value
}

// Complete says how a line that is typed on the workbench can go on at its end:
// verbs first, then what fits their next argument, with the values that n knows
// (n may be nil). Nothing, where only the person can know.
func Complete(text string, n Names) []Candidate {
	start := strings.LastIndexAny(text, " \t") + 1
	typed := text[start:]
	var offers []Candidate
	if strings.TrimSpace(text[:start]) == "" {
		offers = verbOffers()
	} else {
		offers = argumentOffers(&lexer{line: text[:start]}, typed, n)
	}
	var out []Candidate
	for _, o := range offers {
		if strings.HasPrefix(strings.ToLower(o.Word), strings.ToLower(typed)) {
			o.Line = text[:start] + o.Word
			out = append(out, o)
		}
	}
	return out
}

func verbOffers() []Candidate {
	var out []Candidate
	for i := range Verbs {
		if v := &Verbs[i]; v.Interactive() {
			out = append(out, Candidate{Word: v.Name, Help: v.Help})
		}
	}
	return out
}

// argumentOffers is what fits after the words that are already there.
func argumentOffers(l *lexer, typed string, n Names) []Candidate {
	first, _, err := l.next()
	v := VerbNamed(first.text)
	if err != nil || v == nil || !v.Interactive() {
		return nil
	}
	g := guide{form: &v.Form, places: v.positional(), used: map[string]bool{}}
	for {
		w, ok, err := l.next()
		if err != nil {
			return nil
		}
		if !ok {
			return g.offers(typed, n)
		}
		if !g.take(w) {
			return nil
		}
	}
}

// guide follows the words of a line that is not complete yet.
type guide struct {
	form    *Form
	places  []Arg
	pending *Arg // the value of this keyword comes next
	used    map[string]bool
	not     bool // an expectation has begun with `not`
}

// take follows one word; false if nothing can be said after it.
func (g *guide) take(w word) bool {
	expects := g.pending != nil && g.pending.Kind == KindExpect || len(g.places) > 0 && g.places[0].Kind == KindExpect
	switch {
	case expects && w.bare() && w.text == "not" && !g.not:
		g.not = true
	case expects:
		form := expectationNamed(w.text)
		if form == nil {
			return false
		}
		*g = guide{form: form, places: form.positional(), used: map[string]bool{}}
	case g.pending != nil:
		g.pending = nil
	case w.name != "":
		g.used[w.name] = true
	case w.bare() && g.form.option(w.text) != nil:
		g.used[w.text] = true
	case w.bare() && g.form.keyword(w.text) != nil:
		g.used[w.text], g.pending = true, g.form.keyword(w.text)
	case len(g.places) == 0 || g.places[0].Kind == KindText || g.places[0].Kind == KindProse:
		return false
	default:
		if skips(g.places[0], w) {
			g.places = g.places[1:]
		}
		if len(g.places) > 0 && !g.places[0].Many {
			g.places = g.places[1:]
		}
	}
	return true
}

// offers is all that fits next.
func (g *guide) offers(typed string, n Names) []Candidate {
	if g.pending != nil {
		return offersOf(g.pending.Kind, g.pending.Choices, "", n, !g.not)
	}
	if name := optionName(typed); name != "" {
		if o := g.form.option(name); o != nil {
			return offersOf(o.Kind, o.Choices, name+"=", n, false)
		}
		return nil
	}
	var out []Candidate
	if len(g.places) > 0 {
		out = offersOf(g.places[0].Kind, g.places[0].Choices, "", n, !g.not)
	}
	if len(out) > 0 && !g.places[0].Optional && !g.places[0].Many && typed == "" {
		return out // what must come first, before what may
	}
	for _, a := range g.form.Args {
		if a.Keyword != "" && !g.used[a.Keyword] {
			out = append(out, Candidate{Word: a.Keyword, Help: a.usage()})
		}
	}
	for _, o := range g.form.Options {
		if g.used[o.Name] && !o.Repeat || slices.ContainsFunc(g.form.OneOf, func(group []string) bool {
			return slices.Contains(group, o.Name) && slices.ContainsFunc(group, func(s string) bool { return s != o.Name && g.used[s] })
		}) {
			continue
		}
		w := o.Name
		if o.Kind != "" {
			w += "="
		}
		out = append(out, Candidate{Word: w})
	}
	return out
}

// offersOf are the values of a kind, each with a prefix.
func offersOf(k Kind, choices []string, prefix string, n Names, not bool) []Candidate {
	var values []string
	switch k {
	case KindChoice:
		values = choices
	case KindRefused:
		values = verbNames(func(v *Verb) bool { return v.Refusable })
	case KindVerb:
		values = verbNames((*Verb).Interactive)
	case KindExpect:
		return expectOffers(not)
	default:
		if n != nil {
			values = n.Values(k)
		}
	}
	var out []Candidate
	for _, v := range values {
		out = append(out, Candidate{Word: prefix + Quote(v)})
	}
	return out
}

func expectOffers(not bool) []Candidate {
	var out []Candidate
	for i := range Expectations {
		out = append(out, Candidate{Word: Expectations[i].Name, Help: Expectations[i].Help})
	}
	if not {
		out = append(out, Candidate{Word: "not", Help: "States the opposite."})
	}
	return out
}
