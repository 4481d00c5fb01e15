package lang

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestWhatTheTableAllowsIsReadAndItsTidyFormMeansTheSame(t *testing.T) {
	t.Parallel()
	for i := range Verbs {
		v := &Verbs[i]
		if !v.Interactive() {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				text := strings.Join(append([]string{v.Name}, genWords(t, &v.Form)...), rapid.SampledFrom([]string{" ", "\t  "}).Draw(t, "gap"))
				l, err := ParseLine(text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				again, err := ParseLine(l.String())
				if err != nil {
					t.Fatalf("%s, tidy: %s: %v", text, l, err)
				}
				if !reflect.DeepEqual(bare(l), bare(again)) {
					t.Fatalf("%s\nread as    %+v\ntidy means %+v", text, bare(l), bare(again))
				}
			})
		})
	}
}

func TestFormattingKeepsTheMeaningAndIsDoneOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := genScenario(t)
		before, err := Parse("x.txtar", src)
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		tidy, err := Format(src)
		if err != nil {
			t.Fatal(err)
		}
		after, err := Parse("x.txtar", tidy)
		if err != nil {
			t.Fatalf("%v\n%s", err, tidy)
		}
		if a, b := meaning(before), meaning(after); !reflect.DeepEqual(a, b) {
			t.Fatalf("meant %+v\nmeans %+v\n%s", a, b, tidy)
		}
		if twice, _ := Format(tidy); !bytes.Equal(tidy, twice) {
			t.Fatalf("tidy:\n%s\ntidied again:\n%s", tidy, twice)
		}
	})
}

func TestARecordingHasTheSameHeadAndLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := genScenario(t)
		s, err := Parse("x.txtar", src)
		if err != nil {
			t.Fatal(err)
		}
		var steps []Step
		for _, l := range s.Lines {
			steps = append(steps, Step{Line: l})
		}
		out, err := Record(s, steps)
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		again, err := Parse("x.txtar", out)
		if err != nil {
			t.Fatal(err)
		}
		a, b := meaning(s), meaning(again)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("did %+v\nwrote %+v\n%s", a, b, out)
		}
		if tidy, _ := Format(out); !bytes.Equal(tidy, out) {
			t.Fatalf("a recording is tidy, this one is not:\n%s", out)
		}
	})
}

func TestARecordingKeepsTheTimesOfWhatWasDone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var steps []Step
		var now time.Duration
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 5000).Draw(t, "gap")) * time.Millisecond
			steps = append(steps, Step{At: now, Until: now, Line: must("restart")})
		}
		out, err := Record(&Scenario{Title: "T"}, steps)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse("", out)
		if err != nil {
			t.Fatal(err)
		}
		var at []time.Duration
		now = 0
		for _, l := range s.Lines {
			if l.Verb == "advance" {
				d, _ := ParseDuration(l.Arg(0))
				now += d
				continue
			}
			at = append(at, now)
		}
		for i, step := range steps {
			if at[i] != step.At {
				t.Fatalf("step %d was done at %v, the recording does it at %v\n%s", i, step.At, at[i], out)
			}
		}
	})
}

func must(text string) Line {
	l, err := ParseLine(text)
	if err != nil {
		panic(err)
	}
	return l
}
