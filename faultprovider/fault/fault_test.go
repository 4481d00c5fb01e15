package fault

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"faultlab/faultprovider/jsondoc"
)

func TestNamedFaultsAreCompositions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Fault{
		"none":               {Commit: Commit{When: BeforeReply}, Reply: Reply{Do: Normal}, On: On{Requests: New}},
		"fail-before-commit": {Commit: Commit{When: Never}, Reply: Reply{Do: Status, Status: 503}, On: On{Requests: New}},
		"commit-then-error":  {Commit: Commit{When: BeforeReply}, Reply: Reply{Do: Status, Status: 503}, On: On{Requests: New}},
		"commit-then-drop":   {Commit: Commit{When: BeforeReply}, Reply: Reply{Do: Reset}, On: On{Requests: New}},
		"drop-before-commit": {Commit: Commit{When: Never}, Reply: Reply{Do: Reset}, On: On{Requests: New}},
		"hang-before-commit": {Commit: Commit{When: Never}, Reply: Reply{Do: Nothing}, On: On{Requests: New}},
		"commit-then-hang":   {Commit: Commit{When: BeforeReply}, Reply: Reply{Do: Nothing}, On: On{Requests: New}},
		"late-commit":        {Commit: Commit{When: Late, After: 30 * time.Second}, Reply: Reply{Do: Nothing}, On: On{Requests: New}},
		"rate-limited":       {Commit: Commit{When: Never}, Reply: Reply{Do: Status, Status: 429, RetryAfter: 2 * time.Second}, On: On{Requests: New}},
		"look-up-stale":      {Commit: Commit{When: BeforeReply}, Reply: Reply{Do: Normal, Stale: 30 * time.Second}, On: On{Requests: LookUp}},
	} {
		want.Name = name
		if got, ok := Named(name); !ok || got != want {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
}

func TestEveryAliasSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	meanings := map[Fault]string{}
	for _, a := range Aliases() {
		if names[a.Name] || a.Fault.Name != a.Name || !strings.HasSuffix(a.Summary, ".") {
			t.Errorf("%+v has no name or summary of its own", a)
		}
		names[a.Name] = true
		bare := a.Fault
		bare.Name = ""
		if other, ok := meanings[bare]; ok {
			t.Errorf("%s and %s are the same composition", a.Name, other)
		}
		meanings[bare] = a.Name
		if got, err := Parse(a.Name); err != nil || got != a.Fault || got != got.defaults() {
			t.Errorf("Parse(%s) = %+v, %v", a.Name, got, err)
		}
	}
}

func TestParseList(t *testing.T) {
	t.Parallel()
	errorOf := func(code int) Fault {
		f, _ := Named("commit-then-error")
		f.Reply.Status = code
		return f
	}
	named := func(name string) Fault { f, _ := Named(name); return f }
	for text, want := range map[string][]Fault{
		``:                                       nil,
		`{}`:                                     nil,
		`{"faults":null}`:                        nil,
		`{"faults":[]}`:                          nil,
		`{"faults":["none","commit-then-drop"]}`: {named("none"), named("commit-then-drop")},
		`{"faults":[{"name":"slow"}]}`:           {named("slow")},
		`{"faults":[{"name":"commit-then-error","reply":{"status":500}}]}`:                            {errorOf(500)},
		`{"faults":[{"reply":{"status":500}}]}`:                                                       {{Commit: Commit{When: BeforeReply}, Reply: Reply{Do: Status, Status: 500}, On: On{Requests: New}}},
		`{"faults":[{"name":"mine","commit":{"when":"late","after":"1m"},"reply":{"do":"nothing"}}]}`: {{Name: "mine", Commit: Commit{Late, time.Minute}, Reply: Reply{Do: Nothing}, On: On{Requests: New}}},
		`{"faults":[{"name":"late-commit","commit":{"after":"1m"}}]}`:                                 {{Name: "late-commit", Commit: Commit{Late, time.Minute}, Reply: Reply{Do: Nothing}, On: On{Requests: New}}},
		`{"faults":[{"name":"commit-then-drop","commit":{"when":"never"}}]}`:                          {{Name: "commit-then-drop", Commit: Commit{When: Never}, Reply: Reply{Do: Reset}, On: On{Requests: New}}},
		`{"faults":[{"name":"none","on":{"requests":"any","key":"k","collection":"charges","step":"~pay","attempt":2,"request":4,"nth":3,"probability":0.5,"times":-1}}]}`: {
			{Name: "none", Commit: Commit{When: BeforeReply}, Reply: Reply{Do: Normal}, On: On{Any, "k", "charges", "~pay", 2, 4, 3, 0.5, Always}}},
	} {
		if got, err := ParseList([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n\tgot  %+v, %v\n\twant %+v", text, got, err, want)
		}
	}
}

func TestParseListRefusesTheWholeList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"faults":["none","commit-then-eror"]}`:                        `1:19: unknown fault "commit-then-eror": did you mean "commit-then-error"?`,
		`{"faults":["zzz"]}`:                                            `1:12: unknown fault "zzz"; the names are ` + strings.Join(Names(), ", "),
		`{"faults":[{"name":"slwo"}]}`:                                  `1:20: unknown fault "slwo": did you mean "slow"?`,
		`{"faults":[{}]}`:                                               `1:12: a fault needs a "name", or one of "commit" and "reply"`,
		`{"faults":[{"commit":"never"}]}`:                               `1:22: "commit" is an object: write "commit":{"when":"never"}, where "when" is before-reply, never, late or stuck`,
		`{"faults":[{"reply":"reset"}]}`:                                `1:21: "reply" is an object: write "reply":{"do":"reset"} or "reply":{"status":503}`,
		`{"faults":[{"name":"slow","on":"any"}]}`:                       `1:32: "on" is an object: write "on":{"requests":"replay"}, where "requests" is new, replay, look-up or any`,
		`{"faults":[7]}`:                                                `1:12: a fault is a name or an object, not a number`,
		`{"faults":"none"}`:                                             `1:11: "faults" must be a list, not a string`,
		`{"fault":["none"]}`:                                            `1:2: unknown member "fault": did you mean "faults"?`,
		`["none"]`:                                                      `1:1: an object is needed here, not a list`,
		`{"faults":["none"`:                                             `1:18: unexpected end, the list goes on with , or ]`,
		`{"faults":[{"reply":{"do":"explode"}}]}`:                       `1:27: "do" must be one of normal, status, reset, nothing, cut, cut-reset, cut-chunked, cut-unframed, not-json, too-large, wrong-length, redirect, not "explode"`,
		`{"faults":[{"reply":{"do":"status"}}]}`:                        `1:27: "status" needs "status", from 400 to 599`,
		`{"faults":[{"reply":{"do":"reset","status":503}}]}`:            `1:27: "status" goes with status and redirect, not with "reset"`,
		`{"faults":[{"reply":{"status":200}}]}`:                         `1:31: "status" must be an integer from 301 to 599, not 200`,
		`{"faults":[{"reply":{"status":304}}]}`:                         `1:31: the status of an error ("status") is from 400 to 599`,
		`{"faults":[{"reply":{"do":"redirect","status":304}}]}`:         `1:47: a redirect has the status 301, 302, 303, 307 or 308`,
		`{"faults":[{"reply":{"do":"redirect","retryAfter":"1s"}}]}`:    `1:27: "error" and "retryAfter" go with status, not with "redirect"`,
		`{"faults":[{"reply":{"bytes":3}}]}`:                            `1:30: "bytes" goes with cut, cut-reset, cut-chunked, cut-unframed, too-large and wrong-length, not with "normal"`,
		`{"faults":[{"reply":{"do":"reset","drip":"1s"}}]}`:             `1:42: "drip" needs an answer, and there is none with "reset"`,
		`{"faults":[{"reply":{"do":"nothing","slow":"1s"}}]}`:           `1:44: "slow" needs an answer, and there is none with "nothing"`,
		`{"faults":[{"reply":{"do":"too-large","drip":"1s"}}]}`:         `1:46: "too-large" does not drip: it would take for ever`,
		`{"faults":[{"commit":{"when":"late"}}]}`:                       `1:30: "late" needs "after", a duration such as "30s"`,
		`{"faults":[{"commit":{"when":"stuck","after":"1s"}}]}`:         `1:46: "after" has no meaning when "when" is "stuck"`,
		`{"faults":[{"commit":{"when":"never","after":"1s"}}]}`:         `1:46: "after" has no meaning when "when" is "never"`,
		`{"faults":[{"name":"none","on":{"probability":2}}]}`:           `1:47: "probability" must be above 0 and at most 1, not 2`,
		`{"faults":[{"name":"a b","reply":{"do":"reset"}}]}`:            `1:20: a name has no spaces, not "a b"`,
		`{"faults":[{"name":"none","on":{"reqests":"any"}},"nothing"]}`: `1:33: unknown member "reqests": did you mean "requests"?`,
	} {
		got, err := ParseList([]byte(text))
		var at *jsondoc.Error
		if got != nil || !errors.As(err, &at) || err.Error() != want {
			t.Errorf("%s\n\tgot  %v, %v\n\twant %s", text, got, err, want)
		}
	}
}

func TestParseOfACommandLine(t *testing.T) {
	t.Parallel()
	if f, err := Parse(`{"name":"slow","reply":{"slow":"1s"}}`); err != nil || f.Reply.Slow != time.Second {
		t.Errorf("%+v, %v", f, err)
	}
	for arg, want := range map[string]string{
		"comit-then-drop": `unknown fault "comit-then-drop": did you mean "commit-then-drop"?`,
		"nope":            `unknown fault "nope": did you mean "none"?`,
		"comit-then-eror": `unknown fault "comit-then-eror": did you mean "commit-then-error"?`,
		"teapot":          `unknown fault "teapot"; the names are ` + strings.Join(Names(), ", "),
		"{":               `1:2: unexpected end, a name in double quotes is missing`,
		`{"nam":"slow"}`:  `1:1: a fault needs a "name", or one of "commit" and "reply"`,
	} {
		if _, err := Parse(arg); err == nil || err.Error() != want {
			t.Errorf("Parse(%s): %v, want %s", arg, err, want)
		}
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]Fault{
		"none":                              {},
		"late-commit":                       {Name: "late-commit"},
		"commit:late+30s,reply:503":         {Commit: Commit{Late, 30 * time.Second}, Reply: Reply{Do: Status, Status: 503}},
		"commit:before-reply,reply:cut":     {Reply: Reply{Do: Cut}},
		"commit:never,reply:normal,slow:2s": {Commit: Commit{When: Never}, Reply: Reply{Slow: 2 * time.Second}},
		"commit:before-reply,reply:normal,drip:1ms,stale:3s": {Reply: Reply{Drip: time.Millisecond, Stale: 3 * time.Second}},
	} {
		if got := f.String(); got != want {
			t.Errorf("%+v is %s, want %s", f, got, want)
		}
	}
}

// anyFault draws valid faults.
func anyFault() *rapid.Generator[Fault] {
	span := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 2 * time.Second, 26 * time.Hour})
	return rapid.Custom(func(t *rapid.T) Fault {
		f := Fault{Name: rapid.SampledFrom(append(Names(), "mine", "")).Draw(t, "name")}
		f.Commit.When = rapid.SampledFrom([]When{BeforeReply, Never, Stuck, Late}).Draw(t, "when")
		if f.Commit.When != Never && f.Commit.When != Stuck {
			f.Commit.After = span.Draw(t, "after")
		}
		if f.Commit.When == Late {
			f.Commit.After += time.Second
		}
		f.Reply.Do = rapid.SampledFrom([]Kind{Normal, Status, Reset, Nothing, Cut, CutReset, CutChunked, CutUnframed, NotJSON, TooLarge, WrongLength, Redirect}).Draw(t, "do")
		f.Reply.Stale = span.Draw(t, "stale")
		switch f.Reply.Do {
		case Status:
			f.Reply.Status, f.Reply.RetryAfter = rapid.IntRange(400, 599).Draw(t, "status"), span.Draw(t, "retryAfter")
			f.Reply.Error = rapid.SampledFrom([]string{"", "oops"}).Draw(t, "error")
		case Redirect:
			f.Reply.Status = rapid.SampledFrom([]int{0, 301, 303, 308}).Draw(t, "redirect")
		case Cut, CutReset, CutChunked, CutUnframed, TooLarge, WrongLength:
			f.Reply.Bytes = rapid.IntRange(0, 99).Draw(t, "bytes")
		}
		if f.Reply.Do != Nothing {
			f.Reply.Slow = span.Draw(t, "slow")
		}
		if !slices.Contains([]Kind{Reset, Nothing, TooLarge}, f.Reply.Do) {
			f.Reply.Drip = span.Draw(t, "drip")
		}
		f.On = On{rapid.SampledFrom([]Which{New, Replay, LookUp, Any}).Draw(t, "requests"), rapid.SampledFrom([]string{"", "k"}).Draw(t, "key"),
			rapid.SampledFrom([]string{"", "jobs"}).Draw(t, "collection"), rapid.SampledFrom([]string{"", "pay", "~pay"}).Draw(t, "step"),
			rapid.IntRange(0, 2).Draw(t, "attempt"), rapid.IntRange(0, 2).Draw(t, "request"), rapid.IntRange(0, 3).Draw(t, "nth"),
			rapid.SampledFrom([]float64{0, 0.25, 1}).Draw(t, "probability"), rapid.IntRange(-1, 3).Draw(t, "times")}
		return f
	})
}

func TestAFaultSurvivesItsJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := []Fault{anyFault().Draw(t, "fault"), anyFault().Draw(t, "another")}
		text, err := json.Marshal(map[string]any{"faults": want})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseList(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\ngot  %+v, %v\nwant %+v", text, got, err, want)
		}
	})
}

func TestAliasesAreEchoedAsNames(t *testing.T) {
	t.Parallel()
	text := `["fail-before-commit",{"name":"slow","reply":{"do":"normal","slow":"1s"}}]`
	list, err := ParseList([]byte(`{"faults":` + text + `}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(list); string(got) != text {
		t.Errorf("%s came back as %s", text, got)
	}
}

func FuzzParseList(f *testing.F) {
	f.Add([]byte(`{"faults":["none",{"name":"late-commit","commit":{"after":"5s"},"on":{"nth":2}}]}`))
	f.Add([]byte(`{"faults":[{"reply":{"do":"cut","bytes":10,"drip":"1ms"},"on":{"requests":"look-up","times":-1}}]}`))
	f.Add([]byte(`{"faults":["commit-then-eror"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ParseList(text)
		if err != nil {
			var at *jsondoc.Error
			if list != nil || !errors.As(err, &at) || at.Line < 1 || at.Column < 1 || at.Msg == "" {
				t.Fatalf("%q: %v, %v does not say where", text, list, err)
			}
			return
		}
		out, err := json.Marshal(map[string]any{"faults": list})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseList(out); err != nil || len(again) != len(list) {
			t.Fatalf("%q became %s: %v", text, out, err)
		}
	})
}
