package ecma

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/rangetable"
)

var propertyName = regexp.MustCompile(`^\{([^}]*)\}`)

// propertyEscape reads \p{...} or \P{...} and writes the ranges that it stands for.
func (p *patternParser) propertyEscape(inClass bool) bool {
	negated := strings.HasPrefix(p.src[p.at:], `\P`)
	if !p.unicode || !negated && !strings.HasPrefix(p.src[p.at:], `\p`) {
		return false
	}
	m := propertyName.FindStringSubmatch(p.src[p.at+2:])
	if m == nil {
		p.fail(`\p and \P need a property in braces, as \p{L}`)
	}
	p.at += 2 + len(m[0])
	set := propertySet(m[1])
	if set == nil {
		p.refuse(fmt.Sprintf(`the Unicode property %q is not supported`, m[1]),
			"general categories as L or Lu, Script=..., Alphabetic, Uppercase, Lowercase, White_Space, ASCII and Any are")
	}
	if negated {
		set = complement(set)
	}
	if !inClass {
		p.put("[")
	}
	for _, s := range set {
		p.putf(`\u{%x}`, s.low)
		if s.high > s.low {
			p.putf(`-\u{%x}`, s.high)
		}
	}
	if !inClass {
		p.put("]")
	}
	return true
}

// span is a range of code points, both ends included.
type span struct{ low, high rune }

// propertySets are the sets that were asked for, by the name in braces.
var propertySets sync.Map

// propertySet returns the code points of a property in ascending spans, nil for a property that is not known.
func propertySet(name string) []span {
	if set, ok := propertySets.Load(name); ok {
		return set.([]span)
	}
	table := propertyTable(name)
	if table == nil {
		return nil
	}
	var set []span
	rangetable.Visit(table, func(c rune) {
		if n := len(set); n > 0 && set[n-1].high == c-1 {
			set[n-1].high = c
			return
		}
		set = append(set, span{c, c})
	})
	propertySets.Store(name, set)
	return set
}

// propertyTable finds a general category, by its short or long name, a script or a binary property (ECMA-262, tables 69 to 72).
func propertyTable(name string) *unicode.RangeTable {
	category := func(name string) *unicode.RangeTable {
		return unicode.Categories[cmp.Or(unicode.CategoryAliases[name], name)]
	}
	key, value, two := strings.Cut(name, "=")
	switch {
	case two && (key == "General_Category" || key == "gc"):
		return category(value)
	case two && (key == "Script" || key == "sc"):
		return unicode.Scripts[cmp.Or(scripts[value], value)]
	case two:
		return nil
	case category(name) != nil:
		return category(name)
	case slices.Contains(plainProperties, name):
		return unicode.Properties[name]
	case derivedProperties[name] != nil:
		return rangetable.Merge(derivedProperties[name]...)
	}
	return nil
}

// scripts are the long names of scripts for the short ones that are in use.
var scripts = map[string]string{"Arab": "Arabic", "Armn": "Armenian", "Beng": "Bengali", "Cyrl": "Cyrillic", "Deva": "Devanagari", "Geor": "Georgian",
	"Grek": "Greek", "Hang": "Hangul", "Hani": "Han", "Hebr": "Hebrew", "Hira": "Hiragana", "Kana": "Katakana", "Latn": "Latin", "Thai": "Thai",
	"Zyyy": "Common", "Zinh": "Inherited", "Qaai": "Inherited"}

// plainProperties are the binary properties that the Unicode tables have under the same name.
var plainProperties = []string{"White_Space", "Hex_Digit", "ASCII_Hex_Digit", "Dash", "Diacritic", "Extender", "Ideographic", "Quotation_Mark",
	"Sentence_Terminal", "Terminal_Punctuation", "Unified_Ideograph", "Variation_Selector", "Pattern_White_Space", "Noncharacter_Code_Point"}

// derivedProperties are the others that are known, each with the tables that make it up.
var derivedProperties = map[string][]*unicode.RangeTable{
	"Any":        {everything},
	"ASCII":      {{R16: []unicode.Range16{{Lo: 0, Hi: unicode.MaxASCII, Stride: 1}}}},
	"Assigned":   {unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs},
	"Alphabetic": alphabetic, "Alpha": alphabetic,
	"Uppercase": uppercase, "Upper": uppercase,
	"Lowercase": lowercase, "Lower": lowercase,
	"space": {unicode.White_Space},
	"Math":  {unicode.Sm, unicode.Other_Math},
}

var (
	everything = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0, Hi: 0xffff, Stride: 1}}, R32: []unicode.Range32{{Lo: 0x10000, Hi: unicode.MaxRune, Stride: 1}}}
	alphabetic = []*unicode.RangeTable{unicode.L, unicode.Nl, unicode.Other_Alphabetic}
	uppercase  = []*unicode.RangeTable{unicode.Lu, unicode.Other_Uppercase}
	lowercase  = []*unicode.RangeTable{unicode.Ll, unicode.Other_Lowercase}
)

func complement(set []span) []span {
	var out []span
	next := rune(0)
	for _, s := range set {
		if s.low > next {
			out = append(out, span{next, s.low - 1})
		}
		next = s.high + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, span{next, unicode.MaxRune})
	}
	return out
}
