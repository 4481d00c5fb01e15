package woml

import (
	"fmt"
	"regexp"
	"strings"
)

// element is one element of the document. Offsets are bytes of the text.
type element struct {
	name       string
	start      int // of its "<"
	bodyStart  int // behind the ">" of its start tag
	bodyEnd    int // of the "<" of its end tag; bodyStart if it closes itself
	selfClosed bool
	attributes []attribute // in the order of the document, each name once
	children   []node      // empty for a script: its body is raw text
}

// node is a child of an element: an element, or text that is not just white
// space (a comment splits a text in two).
type node struct {
	element    *element
	start, end int
}

// markupParser builds the tree, from the first "<" to the end of the text.
type markupParser struct {
	*checker
	root *element
	open []*element // the elements that are not closed yet, outermost first
}

var entityPattern = regexp.MustCompile(`^&(#[0-9]+|#x[0-9A-Fa-f]+|\w{1,20});`)

// markup turns the text into its tree; without a tree the errors say why.
func (c *checker) markup() *element {
	if !c.rawBodies() {
		return nil
	}
	p := &markupParser{checker: c}
	if p.parse(); p.root == nil || len(p.open) > 0 {
		return nil
	}
	return p.root
}

// parse reads one piece of markup after the other until one cannot be understood. It leaves something open if that is
// inside the root.
func (p *markupParser) parse() {
	found := len(p.errors)
	for at, more := len(p.text)-len(strings.TrimPrefix(p.text, "\ufeff")), true; at < len(p.text); {
		kind, end := pieceAt(p.text, at)
		switch kind {
		case pieceText:
			more = p.characters(at, end)
		case pieceComment:
			if more = strings.Contains(p.text[at+len("<!--"):end], "-->"); !more {
				p.fail(at, "WOML_MALFORMED_MARKUP", "This comment is never closed.", "Add -->.")
			}
		case pieceEndTag:
			more = p.endTag(at, end)
		case pieceStartTag:
			end, more = p.startTag(at)
		}
		if !more {
			return
		}
		at = end
	}
	if len(p.open) > 0 {
		last := p.open[len(p.open)-1]
		p.fail(last.start, "WOML_MALFORMED_MARKUP", fmt.Sprintf("<%s> is never closed.", last.name), fmt.Sprintf("Add </%s>.", last.name))
	} else if p.root == nil && len(p.errors) == found {
		p.fail(0, "WOML_MALFORMED_MARKUP", "The document has no element.", "Start with <woml> and put one <workflow> in it.")
	}
}

// characters takes the text up to the next "<".
func (p *markupParser) characters(at, end int) (more bool) {
	first := at + strings.IndexFunc(p.text[at:end], func(r rune) bool { return !isSpace(r) })
	switch {
	case first < at: // only white space
		return true
	case len(p.open) > 0:
		p.content(at, end)
		return true
	case p.root == nil:
		p.fail(first, "WOML_MALFORMED_MARKUP", "There is text before the first element.", "A document starts with <woml>.")
		return true
	case p.root.selfClosed:
		p.fail(first, "WOML_TEXT_OUTSIDE_ROOT", fmt.Sprintf("There is text behind <%s/>.", p.root.name), "Put it inside, or remove it.")
	default:
		p.fail(first, "WOML_MALFORMED_MARKUP", fmt.Sprintf("There is text behind </%s>.", p.root.name), "Put it inside, or remove it.")
	}
	return false
}

// content appends a text to the element that is open.
func (p *markupParser) content(at, end int) {
	parent := p.open[len(p.open)-1]
	parent.children = append(parent.children, node{start: at, end: end})
	for i := at; i < end; i++ {
		if p.text[i] == '&' && !entityPattern.MatchString(p.text[i:min(end, i+24)]) {
			p.fail(i, "WOML_MALFORMED_MARKUP", `"&" cannot stand alone in text.`, `In JSON, write \u0026 for it.`)
			return
		}
	}
}

// endTag takes "</name>" and closes the element that is open.
func (p *markupParser) endTag(at, end int) (more bool) {
	name := strings.TrimRight(strings.TrimSuffix(p.text[at+len("</"):end], ">"), tagSpace)
	message, hint := "", ""
	switch {
	case !namePattern.MatchString(name) || p.text[end-1] != '>':
		message, hint = "This is not an end tag.", `An end tag is "</", the name of the element and ">".`
	case len(p.open) == 0:
		message, hint = fmt.Sprintf("</%s> closes nothing.", name), "Remove it."
	default:
		last := p.open[len(p.open)-1]
		if last.name == name {
			last.bodyEnd = at
			p.open = p.open[:len(p.open)-1]
			return true
		}
		message = fmt.Sprintf("</%s> does not close <%s>, which was opened at %s.", name, last.name, p.place(last.start))
		if hint = fmt.Sprintf("Write </%s>.", last.name); name == "script" {
			hint = `The first "</script>" ends a script, even in a string or a comment; write "<\/script>" there.`
		}
	}
	p.fail(at, "WOML_MALFORMED_MARKUP", message, hint)
	return false
}

// startTag takes "<name ...>" or "<name .../>", and a script with all its body.
func (p *markupParser) startTag(at int) (int, bool) {
	e, end := p.element(at)
	if e == nil {
		return end, false
	}
	switch {
	case len(p.open) > 0:
		parent := p.open[len(p.open)-1]
		parent.children = append(parent.children, node{element: e, start: at})
	case p.root == nil:
		p.root = e
	default:
		second, code := end-1, "WOML_MALFORMED_MARKUP"
		if p.root.selfClosed || e.selfClosed {
			second, code = at, "WOML_MULTIPLE_ROOTS"
		}
		p.fail(second, code, "A document has one root; this is a second one.", "Put both workflows into files of their own.")
		return end, false
	}
	switch {
	case e.selfClosed:
		e.bodyEnd = e.bodyStart
	case e.name == "script":
		end = behind(p.text, end, scriptEnd) // rawBodies has seen that it is there
		e.bodyEnd = end - len(scriptEnd)
	default:
		p.open = append(p.open, e)
	}
	return end, true
}
