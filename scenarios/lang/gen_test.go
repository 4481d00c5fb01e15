package lang

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// The generators make lines from the tables, so a verb that is added is tested at once.

var genName = rapid.StringMatching(`[a-z][a-zA-Z0-9_-]{0,8}`)

// genText is any text that one word can hold, awkward ones often.
var genText = rapid.OneOf(
	rapid.StringMatching(`[a-zA-Z0-9:/._-]{1,12}`),
	rapid.SampledFrom([]string{"a b", `say "hi"`, "it's", "{not json", "[1", `{"a":1}`, "key=K", "times 3", "*", "#no", "naïve ✓", "a\tb", "a\nb", "twice", "--force", "not", "\u0085", "\u2028"}),
	rapid.String(),
)

// genWord is one word as it is written, for a kind.
func genWord(t *rapid.T, k Kind, choices []string) string {
	pick := func(words ...string) string { return rapid.SampledFrom(words).Draw(t, string(k)) }
	switch k {
	case KindChoice:
		return pick(choices...)
	case KindVerb:
		return pick("crash", "lookup")
	case KindRefused:
		return pick("record", "resubmit")
	case KindNumber, KindRun:
		return pick("1", "2", "17")
	case KindWhole:
		return pick("0", "3", "17")
	case KindRecord:
		return pick("jobs/job_1", "jobs/*", "v1/orders/order-42")
	case KindSeed:
		return pick("0", "-7", "42")
	case KindCount:
		return pick("0", "2", ">=1", "<=30")
	case KindDuration:
		return pick("0s", "250ms", "1m30s", "45d")
	case KindSpan:
		return pick("1s", ">=1s", "<=1.5s")
	case KindSpeed:
		return pick("0", "0.1", "100")
	case KindStatus:
		return pick("none", "201", "503")
	case KindURLPath, KindPointer:
		return pick("/jobs", "/jobs/order-42", "/a~1b")
	case KindName, KindStep, KindTrigger, KindScenario, KindLesson, KindTheme:
		return genName.Draw(t, string(k))
	case KindField:
		return pick("orderId", "order.id")
	case KindPath:
		return pick("out.txtar", `"my file.md"`)
	case KindFile:
		return pick("workflow.woml", "other.woml")
	case KindPayload:
		return pick("payload.json", `{"orderId": "order 42"}`)
	case KindFault, KindContract:
		return pick("commit-then-error", "seed", `{"commit": "late"}`)
	case KindValue:
		return pick("1", "1.50", "true", "word", `"a b"`, `{"a": 1}`, `"7"`)
	case KindWord, KindKey, KindWrite:
		s := genText.Filter(func(s string) bool { return s != "" || k != KindWrite }).Draw(t, string(k))
		if rapid.Bool().Draw(t, "quoted anyway") {
			return quote(s)
		}
		return quoteUnless(s)
	}
	panic("no generator for " + string(k))
}

// quoteUnless quotes what would read as a flag or a keyword.
func quoteUnless(s string) string {
	if VerbNamed(s) != nil || strings.HasPrefix(s, "--") || s == "twice" || s == "not" || strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		return quote(s)
	}
	return Quote(s)
}

// genWords are words that fit a form, in an order that it allows.
func genWords(t *rapid.T, f *Form) []string {
	var plain, options, text []string
	for _, a := range f.Args {
		if a.Optional && rapid.Bool().Draw(t, "left out") && f.Least == 0 {
			if a.Keyword == "" {
				break
			}
			continue
		}
		switch {
		case a.Kind == KindExpect:
			e := rapid.SampledFrom(Expectations).Draw(t, "expectation")
			words := append([]string{e.Name}, genWords(t, &e)...)
			if rapid.Bool().Draw(t, "not") {
				words = append([]string{"not"}, words...)
			}
			if a.Keyword != "" {
				words = append([]string{a.Keyword}, words...)
			}
			return words
		case a.Keyword != "":
			text = append(text, a.Keyword, genWord(t, a.Kind, a.Choices))
		case a.Kind == KindText:
			text = append(text, genRest(t))
		case a.Kind == KindProse:
			return []string{genProse(t, f)}
		default:
			plain = append(plain, genWord(t, a.Kind, a.Choices))
			if a.Many && rapid.Bool().Draw(t, "more") {
				plain = append(plain, genWord(t, a.Kind, a.Choices))
			}
		}
	}
	taken := map[string]bool{}
	for _, o := range f.Options {
		if !rapid.Bool().Draw(t, o.Name) && f.Least <= len(plain)+len(options) || clash(f, o.Name, taken) {
			continue
		}
		taken[o.Name] = true
		if o.Kind == "" {
			options = append(options, o.Name)
			continue
		}
		options = append(options, o.Name+"="+genWord(t, o.Kind, o.Choices))
	}
	if len(options) > 0 && rapid.Bool().Draw(t, "options first") {
		plain, options = options, plain
	}
	return append(append(plain, options...), text...)
}

func clash(f *Form, name string, taken map[string]bool) bool {
	for _, group := range f.OneOf {
		in, other := false, false
		for _, g := range group {
			in, other = in || g == name, other || g != name && taken[g]
		}
		if in && other {
			return true
		}
	}
	return false
}

// genRest is a text that takes the rest of its line.
func genRest(t *rapid.T) string {
	if rapid.Bool().Draw(t, "quoted text") {
		return quote(genText.Filter(func(s string) bool { return s != "" }).Draw(t, "text"))
	}
	return rapid.SampledFrom([]string{"NEW fault=commit-then-error", "[provider] key=K REPLAY", "asked  the \t provider", "don't know", "so many times 3 more", "{half"}).Draw(t, "words")
}

func genProse(t *rapid.T, f *Form) string {
	if f.Name == "ask" {
		return rapid.SampledFrom([]string{"How many?  0 | *1 | 2", "Really? How many jobs?   *none|  some", `What does "404?" mean? nothing | *no record`}).Draw(t, "question")
	}
	return rapid.SampledFrom([]string{"Plain words", `"Quoted" is not a quote, don't worry`, "a = b  |  c", "# 1", "{"}).Draw(t, "prose")
}

// genScenario is a whole file, untidily written: blanks, comments, empty lines, CRLF.
func genScenario(t *rapid.T) []byte {
	var b strings.Builder
	end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
	put := func(words ...string) {
		if rapid.IntRange(0, 3).Draw(t, "before") == 0 {
			b.WriteString(rapid.SampledFrom([]string{"", "  ", "# a comment", "\t#x  "}).Draw(t, "between") + end)
		}
		gap := rapid.SampledFrom([]string{" ", "  ", "\t"}).Draw(t, "gap")
		b.WriteString(rapid.SampledFrom([]string{"", " "}).Draw(t, "indent") + strings.Join(words, gap) + end)
	}
	put("title", "Something")
	for i := range Verbs {
		v := &Verbs[i]
		if v.Use&InHead != 0 && v.Name != "title" && rapid.Bool().Draw(t, v.Name) {
			words := genWords(t, &v.Form)
			if v.Name == "client" && slices.Contains(words, ClientRepeatsOnce) {
				words = []string{ClientRepeatsOnce} // it keeps no connection
			}
			put(append([]string{v.Name}, words...)...)
		}
	}
	put("trigger", "start", "payload.json")
	put("workflow", "workflow.woml")
	put("workflow", "other.woml")
	for range rapid.IntRange(0, 8).Draw(t, "lines") {
		name := rapid.SampledFrom(verbNames(func(v *Verb) bool { return v.Use&InScript != 0 && v.Name != "because" })).Draw(t, "verb")
		put(append([]string{name}, genWords(t, &VerbNamed(name).Form)...)...)
		if name == "ask" && rapid.Bool().Draw(t, "why") {
			put("because", genProse(t, &VerbNamed("because").Form))
		}
	}
	for _, name := range []string{"workflow.woml", "other.woml", "payload.json"} {
		fmt.Fprintf(&b, "-- %s --\n%s", name, rapid.SampledFrom([]string{"", "x\n", "a\r\nb\n", "no end"}).Draw(t, "data"))
		if !strings.HasSuffix(b.String(), "\n") {
			b.WriteString("\n")
		}
	}
	return []byte(b.String())
}

// meaning is a scenario without the places of its words.
func meaning(s *Scenario) Scenario {
	m := *s
	m.uses, m.FileLine, m.Lines = nil, nil, nil
	for _, l := range s.Lines {
		m.Lines = append(m.Lines, bare(l))
	}
	return m
}

func bare(l Line) Line {
	l.Line, l.Col, l.Cols, l.uses = 0, 0, nil, nil
	if l.Expect != nil {
		e := *l.Expect
		e.Line, l.Expect = 0, &e
	}
	if l.Question != nil {
		q := *l.Question
		q.Line, l.Question = 0, &q
	}
	return l
}
