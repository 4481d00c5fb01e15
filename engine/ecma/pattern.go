// Package ecma knows where the JavaScript runtime differs from the language (ECMA-262), so that a script is never
// silently wrong: Pattern rewrites a regular expression into one that means the same and that the runtime gets right,
// or refuses it; Unsupported names what the parser stumbled over.
//
// It is text in, text out, and knows neither the runtime nor any other package of the engine. What it writes is
// JavaScript again: a rewritten pattern means the same in every engine, and may be rewritten once more.
package ecma

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// PatternError says why a regular expression is refused: it is not valid, or the runtime would answer wrongly.
type PatternError struct {
	Text  string // what is wrong
	Hint  string // what to write instead; "" where Text says it
	Valid bool   // it is valid JavaScript, and only not supported here
}

// Error is the text and the hint in one sentence.
func (e *PatternError) Error() string {
	if e.Hint == "" {
		return e.Text
	}
	return e.Text + "; " + e.Hint
}

// Pattern rewrites a pattern so that the runtime matches as ECMA-262 says. The error is a *PatternError.
//
// What is rewritten, and why: property escapes (the runtime reads \p as p), word boundaries (it counts letters beyond
// ASCII as words), ^ and $ of the flag m (it knows one line terminator of four), the dot, [^], escapes of letters
// that mean something to its engines only, and "[" in a class ([:digit:] is a class to one of them).
//
// What is refused: a capture that an iteration of a loop can skip or match emptily (it would keep the value of an
// earlier iteration), and a capture behind one in a lookahead or lookbehind (it can get lost).
func Pattern(pattern, flags string) (string, error) {
	if err := checkFlags(flags); err != nil {
		return "", err
	}
	has := func(flag string) bool { return strings.Contains(flags, flag) }
	p := &patternParser{src: pattern, names: map[string]bool{}, unicode: has("u"), multiline: has("m"), dotAll: has("s"), ignoreCase: has("i")}
	p.captures, p.named = countCaptures(pattern)
	return p.run()
}

func checkFlags(flags string) error {
	for i, flag := range flags {
		switch {
		case flag == 'v' || flag == 'd':
			return &PatternError{Text: fmt.Sprintf("the flag %c of a regular expression is not supported", flag), Hint: "leave it out", Valid: true}
		case !strings.ContainsRune("gimsuy", flag):
			return &PatternError{Text: fmt.Sprintf("a regular expression has no flag %q", string(flag))}
		case strings.ContainsRune(flags[:i], flag):
			return &PatternError{Text: fmt.Sprintf("the flag %c stands twice", flag)}
		}
	}
	return nil
}

var escapeClassOrGroup = regexp.MustCompile(`(?s)\\.|\[(?:\\.|[^\]\\])*|\(\?<[^=!]|\(\??`)

// countCaptures counts the capturing groups of a pattern, and tells whether one has a name.
func countCaptures(pattern string) (count int, named bool) {
	for _, found := range escapeClassOrGroup.FindAllString(pattern, -1) {
		switch {
		case strings.HasPrefix(found, "(?<"):
			count, named = count+1, true
		case found == "(":
			count++
		}
	}
	return count, named
}

// patternParser reads a pattern by the grammar of ECMA-262, 22.2.1 and B.1.2, and writes it again.
type patternParser struct {
	src   string
	at    int
	out   []byte
	depth int

	unicode, multiline, dotAll, ignoreCase bool

	captures int // of the whole pattern
	named    bool
	names    map[string]bool
	opened   int // captures begun so far
	looked   bool
}

// part is what is known of a part of the pattern.
type part struct {
	captures bool // it has capturing groups
	skips    bool // it can match without one of them
	empty    bool // it can match the empty string
}

// maxGroups is how deep groups may nest.
const maxGroups = 200

func (p *patternParser) run() (out string, err error) {
	defer func() {
		if bad := recover(); bad != nil {
			out, err = "", bad.(*PatternError)
		}
	}()
	p.disjunction()
	if p.at < len(p.src) {
		p.fail("unmatched )")
	}
	if p.named && p.unicode {
		p.put("(?=)") // one of the runtime's engines forgets the names, and has no lookahead
	}
	return string(p.out), nil
}

func (p *patternParser) fail(format string, args ...any) {
	panic(&PatternError{Text: "the regular expression is not valid: " + fmt.Sprintf(format, args...)})
}

func (p *patternParser) refuse(text, hint string) {
	panic(&PatternError{Text: text, Hint: hint, Valid: true})
}

func (p *patternParser) put(text string) { p.out = append(p.out, text...) }

func (p *patternParser) putf(format string, args ...any) { p.out = fmt.Appendf(p.out, format, args...) }

func (p *patternParser) more() bool { return p.at < len(p.src) }

func (p *patternParser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *patternParser) take(prefix string) bool {
	if strings.HasPrefix(p.src[p.at:], prefix) {
		p.at += len(prefix)
		return true
	}
	return false
}

// disjunction reads alternatives up to a closing bracket or the end.
func (p *patternParser) disjunction() part {
	if p.depth++; p.depth > maxGroups {
		p.fail("its groups nest too deep")
	}
	defer func() { p.depth-- }()
	whole := p.alternative()
	for p.take("|") {
		p.put("|")
		next := p.alternative()
		whole.captures = whole.captures || next.captures
		whole.skips = whole.captures
		whole.empty = whole.empty || next.empty
	}
	return whole
}

func (p *patternParser) alternative() part {
	whole := part{empty: true}
	for p.more() && p.peek() != '|' && p.peek() != ')' {
		next := p.term()
		whole = part{whole.captures || next.captures, whole.skips || next.skips, whole.empty && next.empty}
	}
	return whole
}

// term reads an atom or an assertion with its quantifier.
func (p *patternParser) term() part {
	read, repeats := p.atom()
	low, high, ok := p.quantifier()
	if !ok {
		return read
	}
	if !repeats {
		p.fail("nothing to repeat")
	}
	if high > 1 && read.captures && (read.skips || read.empty) {
		p.refuse("a repeated part of the regular expression has a capturing group that an iteration can skip, which is not supported",
			"write (?:...) for a group whose text is not read")
	}
	return part{read.captures, read.skips || read.captures && low == 0, read.empty || low == 0}
}

// lineEnd are the line terminators, as members of a class.
const lineEnd = `\n\r\u2028\u2029`

// atom reads what stands before a quantifier, and tells whether it may be repeated.
func (p *patternParser) atom() (read part, repeats bool) {
	switch c := p.peek(); c {
	case '^', '$':
		p.at++
		if p.multiline {
			p.put(map[byte]string{'^': "(?<![^" + lineEnd + "])", '$': "(?![^" + lineEnd + "])"}[c])
		} else {
			p.put(string(c))
		}
		return part{empty: true}, false
	case '(':
		return p.group()
	case '.':
		p.at++
		if p.dotAll {
			p.put(".")
		} else {
			p.put("[^" + lineEnd + "]")
		}
	case '[':
		p.class()
	case '\\':
		return p.escape()
	case '*', '+', '?':
		p.fail("nothing to repeat")
	case '{':
		if _, _, ok := p.braces(); ok {
			p.fail("nothing to repeat")
		}
		p.literal()
	default:
		p.literal()
	}
	return part{}, true
}

// literal reads one character that stands for itself.
func (p *patternParser) literal() {
	c, size := utf8.DecodeRuneInString(p.src[p.at:])
	if p.unicode && strings.ContainsRune("{}]", c) {
		p.fail("a bare %c; write \\%c", c, c)
	}
	p.at += size
	p.character(c, false)
}

var (
	groupKind  = regexp.MustCompile(`^\((?:\?(?:[:=!]|<[=!]?))?`)
	groupFlags = regexp.MustCompile(`^\(\?[imsx-]+[:)]`)
)

// group reads a group of any kind.
func (p *patternParser) group() (part, bool) {
	rest := p.src[p.at:]
	kind := groupKind.FindString(rest)
	p.at += len(kind)
	capture := kind == "(" || kind == "(?<"
	switch {
	case groupFlags.MatchString(rest):
		p.refuse("flags within a regular expression, as (?i:...), are not supported", "give the flag to the whole expression")
	case kind == "(" && p.peek() == '?':
		p.fail("(? begins no group that JavaScript knows")
	}
	p.put(kind)
	if kind == "(?<" {
		p.name()
	}
	if capture {
		if p.opened++; p.looked {
			p.refuse("a capturing group behind one in a lookahead or lookbehind is not supported: its text can get lost",
				"write (?:...) for the one whose text is not read, or use two expressions")
		}
	}
	before := p.opened
	body := p.disjunction()
	if !p.take(")") {
		p.fail("a group is not closed")
	}
	p.put(")")
	switch kind {
	case "(?=", "(?!", "(?<=", "(?<!":
		p.looked = p.looked || p.opened > before && kind != "(?!" && kind != "(?<!"
		behind := kind == "(?<=" || kind == "(?<!"
		return part{captures: body.captures, skips: body.skips || body.captures && strings.HasSuffix(kind, "!"), empty: true}, !behind && !p.unicode
	}
	body.captures = body.captures || capture
	return body, true
}

var groupName = regexp.MustCompile(`^[$_\pL][$\pL\p{Nd}\p{Mn}\p{Mc}\p{Pc}]*$`)

// name reads a group's name behind "(?<".
func (p *patternParser) name() {
	end := strings.IndexByte(p.src[p.at:], '>')
	if end < 1 {
		p.fail("a group's name is not closed")
	}
	name := p.src[p.at : p.at+end]
	if !groupName.MatchString(name) {
		p.fail("%q is not a name of a group", name)
	}
	if p.names[name] {
		p.fail("two groups are named %s", name)
	}
	p.names[name] = true
	p.at += end + 1
	p.put(name + ">")
}

// quantifier reads *, +, ? or braces and what makes them lazy.
func (p *patternParser) quantifier() (low, high int, ok bool) {
	start := p.at
	switch {
	case p.take("*"):
		low, high = 0, many
	case p.take("+"):
		low, high = 1, many
	case p.take("?"):
		low, high = 0, 1
	default:
		if low, high, ok = p.braces(); !ok {
			return 0, 0, false
		}
	}
	if high < low {
		p.fail("the numbers of a quantifier are out of order")
	}
	p.take("?")
	p.put(p.src[start:p.at])
	return low, high, true
}

const many = 1 << 30

var braces = regexp.MustCompile(`^\{([0-9]+)(,?)([0-9]*)\}`)

// braces reads {n}, {n,} or {n,m}; anything else is left where it is.
func (p *patternParser) braces() (low, high int, ok bool) {
	m := braces.FindStringSubmatch(p.src[p.at:])
	if m == nil || m[2] == "" && m[3] != "" {
		return 0, 0, false
	}
	p.at += len(m[0])
	low, high = number(m[1]), number(m[3])
	if m[2] == "" {
		high = low
	}
	return low, high, true
}

// number reads digits; none, or too many of them, are many.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return many
	}
	return min(n, many)
}
