package ecma

import (
	"slices"
	"strconv"
	"strings"
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

func (p *patternParser) namedReference() part {
	end := strings.IndexByte(p.src[p.at:], '>')
	if p.peek() != '<' || end < 2 {
		p.fail(`\k needs a group's name: \k<name>`)
	}
	name := p.src[p.at+1 : p.at+end]
	if !strings.Contains(p.src, "(?<"+name+">") {
		p.fail("no group is named %s", name)
	}
	p.at += end + 1
	p.put(`\k<` + name + ">")
	return part{empty: true}
}

// reference reads \1 and so on, where there is such a group.
func (p *patternParser) reference() bool {
	end := p.at + 1
	for end < len(p.src) && end < p.at+5 && p.src[end] >= '0' && p.src[end] <= '9' {
		end++
	}
	digits := p.src[p.at+1 : end]
	if digits == "" || digits[0] == '0' {
		return false
	}
	n, _ := strconv.Atoi(digits)
	switch {
	case n <= p.captures:
		// A digit behind it would be read as part of the number.
		p.put("(?:" + `\` + digits + ")")
		p.at = end
		return true
	case p.unicode:
		p.fail(`there is no group %s`, digits)
	}
	return false
}

// characterEscape reads an escape that stands for one character or for a class of them.
func (p *patternParser) characterEscape(inClass bool) (class bool) {
	p.at++
	if !p.more() {
		p.fail(`it ends in a \`)
	}
	c, size := utf8.DecodeRuneInString(p.src[p.at:])
	switch {
	case strings.ContainsRune("dDsSwW", c):
		p.at++
		p.put(`\` + string(c))
		return true
	case strings.ContainsRune("fnrtv", c):
		p.at++
		p.put(`\` + string(c))
	case c == 'c':
		p.control()
	case c >= '0' && c <= '9':
		p.octal()
	case c == 'x':
		p.at++
		p.hex('x', 2)
	case c == 'u':
		p.at++
		if p.unicode && p.peek() == '{' {
			p.codePoint()
		} else {
			p.hex('u', 4)
		}
	case c == 'b' && inClass:
		p.at++
		p.put(`\x08`)
	case c == '-' && p.unicode && inClass, strings.ContainsRune(`^$\.*+?()[]{}|/`, c):
		p.at++
		p.put(`\` + string(c))
	case p.unicode:
		p.fail(`\%c is not an escape with the flag u`, c)
	default:
		p.at += size
		p.character(c)
	}
	return false
}

// character writes a character that stands for itself, in a class and outside of one.
func (p *patternParser) character(c rune) {
	switch {
	case c < 0x20 || c == 0x7f || c == 0x2028 || c == 0x2029:
		p.putf(`\u%04x`, c)
	case c < utf8.RuneSelf && !strings.ContainsRune("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_ \"'#%&,:;<=>@`~!", c):
		p.put(`\` + string(c))
	default:
		p.put(string(c))
	}
}

// control reads \cA; without a letter the backslash stands for itself.
func (p *patternParser) control() {
	next := byte(0)
	if p.at+1 < len(p.src) {
		next = p.src[p.at+1] | 0x20
	}
	switch {
	case next >= 'a' && next <= 'z':
		p.putf(`\x%02x`, next-'a'+1)
		p.at += 2
	case p.unicode:
		p.fail(`\c needs a letter`)
	default:
		p.put(`\\`)
	}
}

// octal reads \0, and without the flag u the old octal escapes; \8 and \9 are those digits.
func (p *patternParser) octal() {
	value, start := 0, p.at
	for p.more() && p.at < start+3 && p.peek() >= '0' && p.peek() <= '7' && value*8+int(p.peek()-'0') < 256 {
		value = value*8 + int(p.peek()-'0')
		p.at++
	}
	switch length := p.at - start; {
	case length == 0 && !p.unicode:
		p.put(string(p.peek()))
		p.at++
	case p.unicode && (length != 1 || value != 0 || p.peek() >= '0' && p.peek() <= '9'):
		p.fail(`an octal escape; write \x and two digits`)
	default:
		p.putf(`\x%02x`, value)
	}
}

// hex reads the digits of \x or \u; without them the letter stands for itself.
func (p *patternParser) hex(letter byte, digits int) {
	end := p.at + digits
	if end <= len(p.src) && strings.Trim(p.src[p.at:end], "0123456789abcdefABCDEF") == "" {
		p.put(`\` + string(letter) + p.src[p.at:end])
		p.at = end
		return
	}
	if p.unicode {
		p.fail(`\%c needs %d hexadecimal digits`, letter, digits)
	}
	p.put(string(letter))
}

// codePoint reads the braces of \u{1F600}.
func (p *patternParser) codePoint() {
	end := strings.IndexByte(p.src[p.at:], '}')
	value, err := strconv.ParseUint(p.src[p.at+1:p.at+max(1, end)], 16, 32)
	if err != nil || value > 0x10ffff {
		p.fail(`\u{...} needs a code point of at most 10FFFF`)
	}
	p.putf(`\u{%x}`, value)
	p.at += end + 1
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
	if p.peek() != '\\' {
		c, size := utf8.DecodeRuneInString(p.src[p.at:])
		p.at += size
		p.classCharacter(c)
	} else if p.propertyEscape(true) {
		return "", true
	} else {
		set = p.characterEscape(true)
	}
	return string(p.out[from:]), set
}

func (p *patternParser) classCharacter(c rune) {
	if c == '^' || c == '-' || c == '[' || c == '/' || c == '\n' || c == '\r' {
		p.character(c)
		return
	}
	p.put(string(c))
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
