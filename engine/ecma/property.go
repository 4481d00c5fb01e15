package ecma

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// propertyEscape reads \p{...} or \P{...} and writes the ranges that it stands for.
func (p *patternParser) propertyEscape(inClass bool) bool {
	negated := strings.HasPrefix(p.src[p.at:], `\P`)
	if !p.unicode || !negated && !strings.HasPrefix(p.src[p.at:], `\p`) {
		return false
	}
	start, end := p.at, strings.IndexByte(p.src[p.at:], '}')
	p.at += 2
	if p.peek() != '{' || end < 0 {
		p.fail(`\p and \P need a property in braces, as \p{L}`)
	}
	name := p.src[p.at+1 : start+end]
	p.at = start + end + 1
	set, known := propertySet(name)
	if !known {
		p.refuse(start, fmt.Sprintf(`the Unicode property %q is not supported`, name),
			"general categories as L or Lu, Script=..., Alphabetic, Uppercase, Lowercase, White_Space, ASCII and Any are")
	}
	if negated {
		set = complement(set)
	}
	if !inClass {
		p.put("[")
	}
	p.put(members(set))
	if !inClass {
		p.put("]")
	}
	return true
}

// span is a range of code points, both ends included.
type span struct{ low, high rune }

// propertySet is the set of a property's code points.
func propertySet(name string) (set []span, known bool) {
	if cached, ok := propertySets.Load(name); ok {
		return cached.([]span), true
	}
	switch key, value, two := strings.Cut(name, "="); {
	case two && (key == "General_Category" || key == "gc"):
		set, known = category(value)
	case two && (key == "Script" || key == "sc"):
		var table *unicode.RangeTable
		if table, known = unicode.Scripts[scriptName(value)]; known {
			set = spans(table)
		}
	case two:
		return nil, false
	default:
		if set, known = category(name); !known {
			set, known = binaryProperty(name)
		}
	}
	if known {
		propertySets.Store(name, set)
	}
	return set, known
}

// propertySets are the sets that were asked for, by the name in braces.
var propertySets sync.Map

// category is the set of a general category, by its short or long name.
func category(name string) ([]span, bool) {
	if long := categories[name]; long != "" {
		name = long
	}
	switch name {
	case "LC":
		return union(unicode.Lu, unicode.Ll, unicode.Lt), true
	case "Cn":
		return complement(assigned()), true
	case "C":
		return complement(union(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z)), true
	}
	table, ok := unicode.Categories[name]
	if !ok {
		return nil, false
	}
	return spans(table), true
}

func assigned() []span {
	return union(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

// categories are the long names of general categories and the aliases that have no table (ECMA-262, table 70).
var categories = map[string]string{
	"Cased_Letter": "LC", "Close_Punctuation": "Pe", "Connector_Punctuation": "Pc", "Control": "Cc", "cntrl": "Cc", "Currency_Symbol": "Sc",
	"Dash_Punctuation": "Pd", "Decimal_Number": "Nd", "digit": "Nd", "Enclosing_Mark": "Me", "Final_Punctuation": "Pf", "Format": "Cf",
	"Initial_Punctuation": "Pi", "Letter": "L", "Letter_Number": "Nl", "Line_Separator": "Zl", "Lowercase_Letter": "Ll", "Mark": "M",
	"Combining_Mark": "M", "Math_Symbol": "Sm", "Modifier_Letter": "Lm", "Modifier_Symbol": "Sk", "Nonspacing_Mark": "Mn", "Number": "N",
	"Open_Punctuation": "Ps", "Other": "C", "Other_Letter": "Lo", "Other_Number": "No", "Other_Punctuation": "Po", "Other_Symbol": "So",
	"Paragraph_Separator": "Zp", "Private_Use": "Co", "Punctuation": "P", "punct": "P", "Separator": "Z", "Space_Separator": "Zs",
	"Spacing_Mark": "Mc", "Surrogate": "Cs", "Symbol": "S", "Titlecase_Letter": "Lt", "Unassigned": "Cn", "Uppercase_Letter": "Lu",
}

// scriptName gives the long name of a script for the short names that are in use.
func scriptName(name string) string {
	if long := scripts[name]; long != "" {
		return long
	}
	return name
}

var scripts = map[string]string{"Arab": "Arabic", "Armn": "Armenian", "Beng": "Bengali", "Cyrl": "Cyrillic", "Deva": "Devanagari", "Geor": "Georgian",
	"Grek": "Greek", "Hang": "Hangul", "Hani": "Han", "Hebr": "Hebrew", "Hira": "Hiragana", "Kana": "Katakana", "Latn": "Latin", "Thai": "Thai",
	"Zyyy": "Common", "Zinh": "Inherited", "Qaai": "Inherited"}

// binaryProperty is the set of a property that is true or false.
func binaryProperty(name string) ([]span, bool) {
	switch name {
	case "Any":
		return []span{{0, unicode.MaxRune}}, true
	case "ASCII":
		return []span{{0, unicode.MaxASCII}}, true
	case "Assigned":
		return assigned(), true
	case "Alphabetic", "Alpha":
		return union(unicode.L, unicode.Nl, unicode.Other_Alphabetic), true
	case "Uppercase", "Upper":
		return union(unicode.Lu, unicode.Other_Uppercase), true
	case "Lowercase", "Lower":
		return union(unicode.Ll, unicode.Other_Lowercase), true
	case "White_Space", "space":
		return spans(unicode.White_Space), true
	case "Math":
		return union(unicode.Sm, unicode.Other_Math), true
	case "Hex_Digit", "ASCII_Hex_Digit", "Dash", "Diacritic", "Extender", "Ideographic", "Quotation_Mark", "Sentence_Terminal",
		"Terminal_Punctuation", "Unified_Ideograph", "Variation_Selector", "Pattern_White_Space", "Noncharacter_Code_Point":
		return spans(unicode.Properties[name]), true
	}
	return nil, false
}

// spans are the ranges of a table, without gaps between them where it has none.
func spans(table *unicode.RangeTable) []span { return union(table) }

func union(tables ...*unicode.RangeTable) []span {
	var all []span
	for _, t := range tables {
		for _, r := range t.R16 {
			all = addRange(all, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			all = addRange(all, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	slices.SortFunc(all, func(a, b span) int { return int(a.low - b.low) })
	merged := all[:0]
	for _, s := range all {
		if n := len(merged); n > 0 && s.low <= merged[n-1].high+1 {
			merged[n-1].high = max(merged[n-1].high, s.high)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

func addRange(to []span, low, high, stride rune) []span {
	if stride == 1 {
		return append(to, span{low, high})
	}
	for c := low; c <= high; c += stride {
		to = append(to, span{c, c})
	}
	return to
}

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

// members writes a set as members of a class.
func members(set []span) string {
	var b strings.Builder
	for _, s := range set {
		fmt.Fprintf(&b, `\u{%x}`, s.low)
		if s.high > s.low {
			fmt.Fprintf(&b, `-\u{%x}`, s.high)
		}
	}
	return b.String()
}
