package woml

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// attribute is name="value" of a start tag.
type attribute struct {
	name       string
	value      string // decoded
	start      int    // of the name
	valueStart int    // behind the quote
}

const (
	scriptEnd = "</script>"
	tagSpace  = " \t\r\n"
)

var (
	namePattern = regexp.MustCompile(`^[\pL_:][\pL\pN_:.-]*$`)

	// decode resolves the five predefined entities; any other stays as written.
	decode = strings.NewReplacer("\r\n", "\n", "\r", "\n",
		"&amp;", "&", "&quot;", `"`, "&apos;", "'", "&lt;", "<", "&gt;", ">")
)

// isSpace tells white space of text, as JavaScript's trim has it.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// attribute finds an attribute by name, nil if the element has none.
func (e *element) attribute(name string) *attribute {
	for i := range e.attributes {
		if e.attributes[i].name == name {
			return &e.attributes[i]
		}
	}
	return nil
}

// piece is a kind of what a document is made of.
type piece int

const (
	pieceText piece = iota
	pieceComment
	pieceDeclaration
	pieceEndTag
	pieceStartTag
)

// pieceAt tells what begins at an offset, and where it ends; what is not closed ends with the text.
func pieceAt(text string, at int) (kind piece, end int) {
	rest := text[at:]
	switch {
	case rest[0] != '<':
		if length := strings.IndexByte(rest, '<'); length >= 0 {
			return pieceText, at + length
		}
		return pieceText, len(text)
	case strings.HasPrefix(rest, "<!--"):
		return pieceComment, behind(text, at+len("<!--"), "-->")
	case strings.HasPrefix(rest, "<![CDATA["):
		return pieceDeclaration, behind(text, at, "]]>")
	case strings.HasPrefix(rest, "<?"), strings.HasPrefix(rest, "<!"):
		kind = pieceDeclaration
	case strings.HasPrefix(rest, "</"):
		kind = pieceEndTag
	default:
		kind = pieceStartTag
	}
	end, _ = tagEnd(text, at)
	return kind, end
}

// rawBodies looks for scripts without an end and for declarations, whatever
// else is wrong: the reference reports these before it reads the markup.
func (c *checker) rawBodies() bool {
	var declarations []int
	closed := true
	for at := 0; closed && at < len(c.text); {
		kind, end := pieceAt(c.text, at)
		switch {
		case kind == pieceDeclaration:
			declarations = append(declarations, at)
		case kind == pieceStartTag && isScriptTag(c.text[at:]) && c.text[end-2] != '/':
			if closed = strings.Contains(c.text[end:], scriptEnd); !closed {
				c.fail(at, "WOML_UNCLOSED_RAW_BODY", "This <script> is never closed.",
					"Add </script>, in lower case and without white space; nothing else ends a script.")
			}
			end = behind(c.text, end, scriptEnd)
		}
		at = end
	}
	for _, at := range declarations {
		c.fail(at, "WOML_DECLARATION_NOT_ALLOWED", "WOML has no declarations, document types, processing instructions or CDATA sections.",
			"Remove it; a script needs no CDATA, its text is taken as it is.")
	}
	return closed
}

// isScriptTag tells whether the text starts with the start tag of a script.
func isScriptTag(text string) bool {
	name, found := strings.CutPrefix(text, "<script")
	return found && (name == "" || strings.ContainsRune(tagSpace+"/>", rune(name[0])))
}

// behind returns the offset behind the next mark, or the end of the text.
func behind(text string, from int, mark string) int {
	length := strings.Index(text[min(from, len(text)):], mark)
	if length < 0 {
		return len(text)
	}
	return from + length + len(mark)
}

// tagEnd finds the offset behind the ">" of a tag: the first one outside of
// quotes. If there is none it is the end of the text, and open the quote that
// is still open, if any.
func tagEnd(text string, start int) (end int, open byte) {
	for i := start + 1; i < len(text); i++ {
		switch ch := text[i]; {
		case open != 0:
			if ch == open {
				open = 0
			}
		case ch == '"' || ch == '\'':
			open = ch
		case ch == '>':
			return i + 1, 0
		}
	}
	return len(text), open
}

// element reads a start tag. It returns nil if nothing behind it can be
// understood either.
func (p *markupParser) element(at int) (*element, int) {
	end, open := tagEnd(p.text, at)
	nameEnd := at + 1
	for nameEnd < end && !strings.ContainsRune(tagSpace+"/>", rune(p.text[nameEnd])) {
		nameEnd++
	}
	name := p.text[at+1 : nameEnd]
	if !namePattern.MatchString(name) {
		p.fail(nameEnd, "WOML_MALFORMED_MARKUP", `"<" starts a tag, and no name of an element follows.`,
			`In JSON, write \u003c for a "<" that is meant as text.`)
		return nil, end
	}
	if open != 0 {
		p.fail(nameEnd, "WOML_INVALID_ATTRIBUTE",
			fmt.Sprintf("In <%s>, a value starts with %c and is never closed.", name, open),
			fmt.Sprintf("Close the value with %c.", open))
		return nil, end
	}
	if p.text[end-1] != '>' {
		p.fail(at, "WOML_MALFORMED_MARKUP", fmt.Sprintf(`The start tag of <%s> never ends.`, name), `Close it with ">".`)
		return nil, end
	}
	e := &element{name: name, start: at, bodyStart: end, selfClosed: p.text[end-2] == '/'}
	limit := end - 1
	if e.selfClosed {
		limit--
	}
	p.attributes(e, nameEnd, limit)
	return e, end
}

// attributes reads name="value" pairs between two offsets. What is wrong is
// reported and passed over.
func (p *markupParser) attributes(e *element, at, limit int) {
	seen := map[string]bool{}
	for {
		start := p.skip(at, limit, isTagSpace)
		if start >= limit {
			return
		}
		if start == at {
			p.fail(start, "WOML_INVALID_ATTRIBUTE", "An attribute needs white space before its name.", "Put a space here.")
		}
		nameEnd := p.skip(start, limit, func(ch byte) bool { return ch != '=' && !isTagSpace(ch) })
		name := p.text[start:nameEnd]
		equals := p.skip(nameEnd, limit, isTagSpace)
		if equals >= limit || p.text[equals] != '=' {
			p.fail(start, "WOML_INVALID_ATTRIBUTE", fmt.Sprintf("Attribute %q has no value.", name),
				fmt.Sprintf(`Write %s="...".`, name))
			at = nameEnd
			continue
		}
		quote := p.skip(equals+1, limit, isTagSpace)
		if quote >= limit || p.text[quote] != '"' && p.text[quote] != '\'' {
			p.fail(start, "WOML_INVALID_ATTRIBUTE", fmt.Sprintf("The value of attribute %q is not in quotes.", name),
				`Put the value between " and ".`)
			at = p.skip(quote, limit, func(ch byte) bool { return !isTagSpace(ch) })
			continue
		}
		length := strings.IndexByte(p.text[quote+1:limit], p.text[quote])
		if length < 0 {
			p.fail(start, "WOML_INVALID_ATTRIBUTE", fmt.Sprintf("The value of attribute %q is never closed.", name),
				fmt.Sprintf("Close the value with %c.", p.text[quote]))
			return
		}
		at = quote + 1 + length + 1
		p.attribute(e, seen, attribute{name: name, value: decode.Replace(p.text[quote+1 : at-1]), start: start, valueStart: quote + 1})
	}
}

// attribute adds one attribute to its element.
func (p *markupParser) attribute(e *element, seen map[string]bool, a attribute) {
	switch {
	case !namePattern.MatchString(a.name):
		p.fail(a.start, "WOML_INVALID_ATTRIBUTE", fmt.Sprintf("%q cannot be the name of an attribute.", a.name), "")
	case seen[a.name]:
		p.fail(a.start, "WOML_DUPLICATE_ATTRIBUTE", fmt.Sprintf("<%s> has attribute %q twice.", e.name, a.name), "Remove one of them.")
	default:
		seen[a.name] = true
		e.attributes = append(e.attributes, a)
	}
}

// skip passes over the bytes that are wanted, from an offset up to a limit.
func (p *markupParser) skip(at, limit int, wanted func(byte) bool) int {
	for at < limit && wanted(p.text[at]) {
		at++
	}
	return at
}

func isTagSpace(ch byte) bool { return strings.IndexByte(tagSpace, ch) >= 0 }
