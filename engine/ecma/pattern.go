package ecma

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PatternError says why a regular expression is refused: it is not valid, or the runtime would answer wrongly.
type PatternError struct {
	Offset int    // in the pattern, in bytes
	Text   string // what is wrong
	Hint   string // what to write instead; "" where Text says it
	Valid  bool   // it is valid JavaScript, and only not supported here
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
	p := &patternParser{src: pattern, names: map[string]bool{}}
	p.unicode, p.multiline, p.dotAll, p.ignoreCase = strings.Contains(flags, "u"), strings.Contains(flags, "m"), strings.Contains(flags, "s"), strings.Contains(flags, "i")
	p.captures, p.named = countCaptures(pattern)
	err := p.run()
	if err != nil {
		return "", err
	}
	return string(p.out), nil
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

// countCaptures counts the capturing groups of a pattern, and tells whether one has a name.
func countCaptures(pattern string) (count int, named bool) {
	class := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case class || c != '(':
		case !strings.HasPrefix(pattern[i:], "(?"):
			count++
		case strings.HasPrefix(pattern[i:], "(?<") && !strings.HasPrefix(pattern[i:], "(?<=") && !strings.HasPrefix(pattern[i:], "(?<!"):
			count, named = count+1, true
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

func (p *patternParser) run() (err error) {
	defer func() {
		switch bad := recover().(type) {
		case nil:
		case *PatternError:
			err = bad
		default:
			panic(bad)
		}
	}()
	p.disjunction()
	if p.at < len(p.src) {
		p.fail("unmatched )")
	}
	if p.named && p.unicode {
		p.put("(?=)") // one of the runtime's engines forgets the names, and has no lookahead
	}
	return nil
}

func (p *patternParser) fail(format string, args ...any) {
	panic(&PatternError{Offset: p.at, Text: "the regular expression is not valid: " + fmt.Sprintf(format, args...)})
}

func (p *patternParser) refuse(at int, text, hint string) {
	panic(&PatternError{Offset: at, Text: text, Hint: hint, Valid: true})
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
	start := p.at
	read, repeats := p.atom()
	low, high, ok := p.quantifier()
	if !ok {
		return read
	}
	if !repeats {
		p.at = start
		p.fail("nothing to repeat")
	}
	if high > 1 && read.captures && (read.skips || read.empty) {
		p.refuse(start, "a repeated part of the regular expression has a capturing group that an iteration can skip, which is not supported",
			"write (?:...) for a group whose text is not read")
	}
	return part{read.captures, read.skips || read.captures && low == 0, read.empty || low == 0}
}

// lineEnd are the line terminators, as members of a class.
const lineEnd = `\n\r\u2028\u2029`

// atom reads what stands before a quantifier, and tells whether it may be repeated.
func (p *patternParser) atom() (read part, repeats bool) {
	switch c := p.peek(); c {
	case '^':
		return p.assertion("^", "(?<![^"+lineEnd+"])"), false
	case '$':
		return p.assertion("$", "(?![^"+lineEnd+"])"), false
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

func (p *patternParser) assertion(plain, ofLines string) part {
	p.at++
	if p.multiline {
		plain = ofLines
	}
	p.put(plain)
	return part{empty: true}
}

// literal reads one character that stands for itself.
func (p *patternParser) literal() {
	c, size := utf8.DecodeRuneInString(p.src[p.at:])
	if p.unicode && strings.ContainsRune("{}]", c) {
		p.fail("a bare %c; write \\%c", c, c)
	}
	p.at += size
	switch {
	case strings.ContainsRune("{}]/", c):
		p.put(`\` + string(c))
	case c == '\n':
		p.put(`\n`)
	case c == '\r':
		p.put(`\r`)
	default:
		p.put(p.src[p.at-size : p.at])
	}
}

// group reads a group of any kind.
func (p *patternParser) group() (part, bool) {
	start := p.at
	kind := ""
	for _, k := range []string{"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<", "("} {
		if p.take(k) {
			kind = k
			break
		}
	}
	capture := kind == "(" || kind == "(?<"
	if kind == "(" && p.peek() == '?' {
		p.refuseGroup(start)
	}
	p.put(kind)
	if kind == "(?<" {
		p.name()
	}
	if capture {
		if p.opened++; p.looked {
			p.refuse(start, "a capturing group behind one in a lookahead or lookbehind is not supported: its text can get lost",
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

// refuseGroup says what is wrong with a group "(?" of no known kind.
func (p *patternParser) refuseGroup(start int) {
	p.at = start
	rest := strings.TrimLeft(p.src[start+2:], "imsx-")
	if len(rest) < len(p.src)-start-2 && rest != "" && (rest[0] == ':' || rest[0] == ')') {
		p.refuse(start, "flags within a regular expression, as (?i:...), are not supported", "give the flag to the whole expression")
	}
	p.fail("(? begins no group that JavaScript knows")
}

// name reads a group's name behind "(?<".
func (p *patternParser) name() {
	end := strings.IndexByte(p.src[p.at:], '>')
	if end < 1 {
		p.fail("a group's name is not closed")
	}
	name := p.src[p.at : p.at+end]
	for i, c := range name {
		if !(c == '$' || c == '_' || unicode.IsLetter(c) || i > 0 && (unicode.IsDigit(c) || unicode.Is(unicode.Mn, c) || unicode.Is(unicode.Mc, c) || unicode.Is(unicode.Pc, c))) {
			p.fail("%q is not a name of a group", name)
		}
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
	switch c := p.peek(); c {
	case '*', '+', '?':
		p.at++
		low, high = 0, many
		if c == '+' {
			low = 1
		}
		if c == '?' {
			high = 1
		}
	case '{':
		if low, high, ok = p.braces(); !ok {
			return 0, 0, false
		}
	default:
		return 0, 0, false
	}
	if high < low {
		p.at = start
		p.fail("the numbers of a quantifier are out of order")
	}
	p.take("?")
	p.put(p.src[start:p.at])
	return low, high, true
}

const many = 1 << 30

// braces reads {n}, {n,} or {n,m}; anything else is left where it is.
func (p *patternParser) braces() (low, high int, ok bool) {
	end := strings.IndexByte(p.src[p.at:], '}')
	if end < 0 {
		return 0, 0, false
	}
	first, second, comma := strings.Cut(p.src[p.at+1:p.at+end], ",")
	low, ok = number(first)
	if !ok {
		return 0, 0, false
	}
	high = low
	if comma {
		if high, ok = number(second); second == "" {
			high, ok = many, true
		}
	}
	if ok {
		p.at += end + 1
	}
	return low, high, ok
}

func number(digits string) (int, bool) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > many {
		n = many
	}
	return n, true
}
