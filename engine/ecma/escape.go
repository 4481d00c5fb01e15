package ecma

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is the class \w, in which the flags i and u together find two letters more.
func (p *patternParser) word() string {
	if p.unicode && p.ignoreCase {
		return `[0-9A-Za-z_\u017f\u212a]`
	}
	return "[0-9A-Za-z_]"
}

// escape reads a backslash outside of a class and what follows it.
func (p *patternParser) escape() (part, bool) {
	w := p.word()
	switch {
	case p.take(`\b`):
		p.put("(?:(?<=" + w + ")(?!" + w + ")|(?<!" + w + ")(?=" + w + "))")
		return part{empty: true}, false
	case p.take(`\B`):
		p.put("(?:(?<=" + w + ")(?=" + w + ")|(?<!" + w + ")(?!" + w + "))")
		return part{empty: true}, false
	case p.named && p.take(`\k`):
		return p.namedReference(), true
	case p.reference():
		return part{empty: true}, true
	case p.propertyEscape(false):
		return part{}, true
	}
	p.characterEscape(false)
	return part{}, true
}

var (
	groupReference = regexp.MustCompile(`^<([^>]+)>`)
	reference      = regexp.MustCompile(`^\\([1-9][0-9]{0,3})`)
)

func (p *patternParser) namedReference() part {
	m := groupReference.FindStringSubmatch(p.src[p.at:])
	if m == nil {
		p.fail(`\k needs a group's name: \k<name>`)
	}
	if !strings.Contains(p.src, "(?"+m[0]) {
		p.fail("no group is named %s", m[1])
	}
	p.at += len(m[0])
	p.put(`\k` + m[0])
	return part{empty: true}
}

// reference reads \1 and so on, where there is such a group.
func (p *patternParser) reference() bool {
	m := reference.FindStringSubmatch(p.src[p.at:])
	if m == nil {
		return false
	}
	n, _ := strconv.Atoi(m[1])
	switch {
	case n <= p.captures:
		p.put("(?:" + m[0] + ")") // a digit behind it would be read as part of the number
		p.at += len(m[0])
		return true
	case p.unicode:
		p.fail(`there is no group %s`, m[1])
	}
	return false
}

// Escapes, behind their backslash: those that the runtime reads as the language does, and \u{...}.
var (
	plainEscape     = regexp.MustCompile(`^(?:[dDsSwWfnrtv]|x[[:xdigit:]]{2}|u[[:xdigit:]]{4}|[$()*+./?\[\\\]^{|}])`)
	codePointEscape = regexp.MustCompile(`^u\{([[:xdigit:]]*)\}`)
	octalEscape     = regexp.MustCompile(`^(?:[0-3][0-7]{0,2}|[4-7][0-7]?)`)
)

// escapeNeeds are the letters of escapes, each with what must follow it.
var escapeNeeds = map[rune]string{'c': "a letter", 'x': "2 hexadecimal digits", 'u': "4 hexadecimal digits"}

// characterEscape reads an escape that stands for one character or for a class of them.
func (p *patternParser) characterEscape(inClass bool) (class bool) {
	p.at++
	if !p.more() {
		p.fail(`it ends in a \`)
	}
	rest := p.src[p.at:]
	c, size := utf8.DecodeRuneInString(rest)
	switch same := plainEscape.FindString(rest); {
	case same != "":
		p.at += len(same)
		p.put(`\` + same)
		return strings.ContainsRune("dDsSwW", c)
	case c == 'c' && len(rest) > 1 && rest[1]|0x20 >= 'a' && rest[1]|0x20 <= 'z':
		p.at += 2
		p.putf(`\x%02x`, rest[1]&0x1f)
	case p.unicode && strings.HasPrefix(rest, "u{"):
		p.codePoint()
	case escapeNeeds[c] != "" && p.unicode:
		p.fail(`\%c needs %s`, c, escapeNeeds[c])
	case c == 'c': // the backslash stands for itself
		p.put(`\\`)
	case c >= '0' && c <= '9':
		p.octal()
	case c == 'b' && inClass:
		p.at++
		p.put(`\x08`)
	case c == '-' && p.unicode && inClass:
		p.at++
		p.put(`\-`)
	case p.unicode:
		p.fail(`\%c is not an escape with the flag u`, c)
	default:
		p.at += size
		p.character(c, inClass)
	}
	return false
}

// character writes a character that stands for itself.
func (p *patternParser) character(c rune, inClass bool) {
	special := `$()*+./?[\]^{|}`
	if inClass {
		special = `-/[\]^`
	}
	switch {
	case c < 0x20 || c == 0x7f || c == 0x2028 || c == 0x2029:
		p.putf(`\u%04x`, c)
	case strings.ContainsRune(special, c):
		p.put(`\` + string(c))
	default:
		p.put(string(c))
	}
}

// octal reads \0, and without the flag u the old octal escapes; \8 and \9 are those digits.
func (p *patternParser) octal() {
	digits := octalEscape.FindString(p.src[p.at:])
	p.at += len(digits)
	switch value, _ := strconv.ParseUint(digits, 8, 8); {
	case p.unicode && (digits != "0" || p.peek() >= '0' && p.peek() <= '9'):
		p.fail(`an octal escape; write \x and two digits`)
	case digits == "":
		p.put(string(p.peek()))
		p.at++
	default:
		p.putf(`\x%02x`, value)
	}
}

// codePoint reads \u{1F600}.
func (p *patternParser) codePoint() {
	m := codePointEscape.FindStringSubmatch(p.src[p.at:])
	if m == nil {
		m = []string{"", ""}
	}
	value, err := strconv.ParseUint(m[1], 16, 32)
	if err != nil || value > unicode.MaxRune {
		p.fail(`\u{...} needs a code point of at most 10FFFF`)
	}
	p.putf(`\u{%x}`, value)
	p.at += len(m[0])
}

// class reads a class in brackets.
func (p *patternParser) class() {
	switch {
	case p.take("[^]"):
		p.put(`[\d\D]`)
		return
	case p.take("[]"):
		p.put("(?!)")
		return
	}
	p.at++
	p.put("[")
	if p.take("^") {
		p.put("^")
	}
	for p.more() && p.peek() != ']' {
		low, set := p.member()
		if p.peek() != '-' || strings.HasPrefix(p.src[p.at:], "-]") || p.at+1 == len(p.src) {
			continue
		}
		p.at++
		p.between(low, set)
	}
	if !p.take("]") {
		p.fail("a class is not closed")
	}
	p.put("]")
}

// between reads what stands behind the dash of a range. A dash beside a set is a dash, without the flag u.
func (p *patternParser) between(low string, set bool) {
	dash := len(p.out)
	p.put("-")
	high, second := p.member()
	switch {
	case (set || second) && p.unicode:
		p.fail("a range of a class begins or ends with a set of characters")
	case set || second:
		p.out = slices.Insert(p.out, dash, '\\')
	case ordinal(low) > ordinal(high) && ordinal(high) >= 0:
		p.fail("a range of a class is out of order")
	}
}

// member reads one member of a class: its text as written, and whether it is a set of characters.
func (p *patternParser) member() (text string, set bool) {
	from := len(p.out)
	switch {
	case p.peek() != '\\':
		c, size := utf8.DecodeRuneInString(p.src[p.at:])
		p.at += size
		p.character(c, true)
	case p.propertyEscape(true):
		set = true
	default:
		set = p.characterEscape(true)
	}
	return string(p.out[from:]), set
}

// ordinal is the code of a member of a class, -1 where that is not worth knowing.
func ordinal(text string) rune {
	if c, size := utf8.DecodeRuneInString(text); size == len(text) {
		return c
	}
	if len(text) == 2 && text[0] == '\\' && !strings.Contains("fnrtv", text[1:]) {
		return rune(text[1])
	}
	return -1
}
