package ecma

import (
	"errors"
	"strings"
	"testing"
)

func TestPatternsAreRewritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, flags, want string }{
		{`abc|(?:d)e*?`, "", `abc|(?:d)e*?`},
		{`^a$`, "", `^a$`},
		{`^a$`, "m", `(?<![^\n\r\u2028\u2029])a(?![^\n\r\u2028\u2029])`},
		{`a.b`, "", `a[^\n\r\u2028\u2029]b`},
		{`a.b`, "s", `a.b`},
		{`\b`, "", `(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))`},
		{`[^]`, "", `[\d\D]`},
		{`[]`, "", `(?!)`},
		{`[[:digit:]]`, "", `[\[:digit:]\]`},
		{`[\w-.]`, "", `[\w\-.]`},
		{`[a-z]`, "", `[a-z]`},
		{`\p{ASCII}`, "u", `[\u{0}-\u{7f}]`},
		{`[\P{ASCII}x]`, "u", `[\u{80}-\u{10ffff}x]`},
		{`\p{ASCII}`, "", `p\{ASCII\}`},
		{`\z\A\G`, "", `zAG`},
		{`(a)\1\2`, "", `(a)(?:\1)\x02`},
		{`a{,2}`, "", `a\{,2\}`},
		{`(?<n>a)`, "u", `(?<n>a)(?=)`},
		{`\u{41}\/`, "u", `\u{41}\/`},
	} {
		got, err := Pattern(c.pattern, c.flags)
		if err != nil || got != c.want {
			t.Errorf("/%s/%s is %q, %v; want %q", c.pattern, c.flags, got, err, c.want)
		}
		if again, err := Pattern(got, c.flags); err != nil {
			t.Errorf("/%s/%s cannot be rewritten once more: %q, %v", got, c.flags, again, err)
		}
	}
}

func TestPatternsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, flags, says string
		valid                bool
	}{
		{`a`, "gg", "stands twice", false},
		{`a`, "x", "no flag", false},
		{`a`, "d", "the flag d", true},
		{`(`, "", "not closed", false},
		{`)`, "", "unmatched", false},
		{`[a`, "", "not closed", false},
		{`[b-a]`, "", "out of order", false},
		{`a{2,1}`, "", "out of order", false},
		{`a**`, "", "nothing to repeat", false},
		{`^*`, "", "nothing to repeat", false},
		{`(?P<n>a)`, "", "begins no group", false},
		{`(?i)a`, "", "flags within", true},
		{`(?<a>x)(?<a>y)`, "", "two groups are named a", false},
		{`\`, "", `ends in a \`, false},
		{`\-`, "u", "not an escape", false},
		{`\pL`, "u", "in braces", false},
		{`\p{Emoji}`, "u", `"Emoji"`, true},
		{`{`, "u", "a bare {", false},
		{`\1`, "u", "no group 1", false},
		{`[\d-x]`, "u", "a set of characters", false},
		{`\k<b>(?<a>x)`, "", "no group is named b", false},
		{`(a*)*`, "", "an iteration can skip", true},
		{`(?:(a)|b){2}`, "", "an iteration can skip", true},
		{`(?:x(a)?)+`, "", "an iteration can skip", true},
		{`(?=(a))(b)`, "", "behind one in a lookahead", true},
		{strings.Repeat("(", 300) + strings.Repeat(")", 300), "", "too deep", false},
	} {
		_, err := Pattern(c.pattern, c.flags)
		var bad *PatternError
		if !errors.As(err, &bad) || !strings.Contains(bad.Error(), c.says) || bad.Valid != c.valid {
			t.Errorf("/%s/%s: %v, want %q", c.pattern, c.flags, err, c.says)
		}
	}
	for _, pattern := range []string{`(a)*`, `(a|b)+`, `(?:(a)(b))+`, `((a))*`, `(a)?`, `(?:a|b)*`, `(?=a)*`, `(?=(a))`, `(?!(a))(b)`, `(x)(?<=(a)(b))`} {
		if _, err := Pattern(pattern, ""); err != nil {
			t.Errorf("/%s/ is refused: %v", pattern, err)
		}
	}
}

// The sets of property escapes are those of the tables of Unicode that Go has.
func TestPropertiesAreSets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, out string }{
		"L": {"aéж語", "1 .\u0301"}, "Letter": {"é", "1"}, "gc=Lu": {"AÉ", "aé"}, "General_Category=Decimal_Number": {"1٣", "a½"},
		"Script=Greek": {"αΩ", "aж"}, "sc=Cyrl": {"ж", "a"}, "Alphabetic": {"aⅧ", "1"}, "Uppercase": {"AⒶ", "a"}, "Lowercase": {"aª", "A"},
		"White_Space": {" \u00a0\u2003", "a\u200b"}, "Any": {"a\U0010ffff", ""}, "Assigned": {"a", "\u0378"}, "Cn": {"\u0378", "a"}, "P": {".!«", "a$"},
		"LC": {"aAǅ", "語"}, "C": {"\x00\u0378", "a"}, "Sc": {"$€", "a"},
	} {
		set := propertySet(name)
		if set == nil {
			t.Errorf("%s is not known", name)
			continue
		}
		has := func(r rune) bool {
			for _, s := range set {
				if s.low <= r && r <= s.high {
					return true
				}
			}
			return false
		}
		for _, r := range c.in {
			if !has(r) {
				t.Errorf("%q is not in %s", r, name)
			}
		}
		for _, r := range c.out {
			if has(r) {
				t.Errorf("%q is in %s", r, name)
			}
		}
		if twice := complement(complement(set)); len(twice) != len(set) {
			t.Errorf("the complement of the complement of %s has %d ranges, not %d", name, len(twice), len(set))
		}
	}
}

// What is rewritten can be rewritten once more, and nothing makes the reader panic.
func FuzzPattern(f *testing.F) {
	for _, seed := range []string{`\bfoo.(?<n>[^a-z\d])+\p{L}$`, `(?=(a))b{2,}?|\u{1F600}\x4`, `[\w-.]\1(a)\k<n>`} {
		f.Add(seed, "u")
		f.Add(seed, "ims")
	}
	f.Fuzz(func(t *testing.T, pattern, flags string) {
		once, err := Pattern(pattern, flags)
		var bad *PatternError
		if err != nil {
			if !errors.As(err, &bad) {
				t.Fatalf("%v", err)
			}
			return
		}
		if _, err := Pattern(once, flags); err != nil {
			t.Fatalf("/%s/%s becomes /%s/, which is refused: %v", pattern, flags, once, err)
		}
	})
}

func TestAPlainPatternStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`^[a-z][a-z0-9._-]{0,127}$`, `(\d+)\s*(?:x|y)?`, `é+[ä-ü]`, `\x41\u0042\t`} {
		got, err := Pattern(pattern, "")
		if err != nil || strings.ReplaceAll(got, `\-`, "-") != pattern {
			t.Errorf("/%s/ becomes /%s/, %v", pattern, got, err)
		}
	}
}
