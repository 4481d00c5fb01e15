package lang

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func seeds(f *testing.F) {
	f.Add([]byte(scenarioB))
	f.Add(Starter("x"))
	f.Add([]byte("title T\r\nask \"a?\" b?  *1 | 2\r\nlookup 'a\\' \"b\\u00e9\" key=\"=\"\r\nwait for not log {x times 3\n"))
	f.Add([]byte("\ufefftitle T\nfault {\"a\":[\"}\"]} b\nescalate step=s --x\n-- a --\n-- a --\n-- /b --\n--c --\n"))
	f.Add([]byte("title \u2028\nexpect result /a \"/b\" \xff\nsend GET /x header= \x00\n\tpolicy retry=0"))
	f.Add([]byte("title T\nexpect zebras 1\nrecord result=[1,{\"a\":null}] result=2\nspeed 1e308\nseed 99999999999999999999"))
}

// places checks that every mistake stands inside the file.
func places(t *testing.T, src []byte, err error) {
	t.Helper()
	var all Errors
	if !errors.As(err, &all) {
		t.Fatalf("%v does not say its place", err)
	}
	lines := strings.Split(strings.TrimPrefix(string(src), "\ufeff"), "\n")
	for _, e := range all {
		if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > utf8.RuneCountInString(lines[e.Line-1])+1 || e.Message == "" {
			t.Errorf("%d:%d (%s) is not in the file:\n%s", e.Line, e.Column, e.Message, src)
		}
	}
}

func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := Parse("x.txtar", src)
		if err != nil {
			places(t, src, err)
			return
		}
		for i := range s.Lines {
			s.ExpectsRefusal(i)
		}
		if err := s.Check(known); err != nil {
			places(t, src, err)
		}
	})
}

func FuzzFormat(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		tidy, err := Format(src)
		if err != nil {
			places(t, src, err)
			return
		}
		before, _ := Parse("x", src)
		after, err := Parse("x", tidy)
		if err != nil {
			t.Fatalf("%v\n%q\n%q", err, src, tidy)
		}
		if !reflect.DeepEqual(meaning(before), meaning(after)) {
			t.Fatalf("%q\nmeans something else tidied:\n%q", src, tidy)
		}
		if twice, _ := Format(tidy); !bytes.Equal(tidy, twice) {
			t.Fatalf("%q\ntidied again\n%q", tidy, twice)
		}
	})
}

func FuzzTypedLine(f *testing.F) {
	for _, s := range []string{"", "trigger a b", "expect not jobs 1 key=", "wait for result /a~1b \"x", "fault {\"a\":1", "deliver 'a' {} id=\"\\u0000\" twice"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		Complete(text, known)
		l, err := ParseLine(text)
		if err != nil {
			return
		}
		again, err := ParseLine(l.String())
		if err != nil || !reflect.DeepEqual(bare(l), bare(again)) {
			t.Fatalf("%q is tidy %q, which is read as %+v, %v", text, l.String(), again, err)
		}
	})
}
