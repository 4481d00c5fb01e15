package lang

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// scenarioB is the example of the manual, whole.
const scenarioB = `title  B. Commit, then 503
teach  The first attempt really created the job. The retry is safe only because the key stayed the same.
fault  commit-then-error
ask    How many jobs will exist at the end?  0 | *1 | 2
because One key,
because one job.
trigger fulfill payload.json
wait
expect run succeeded
expect attempts 2
expect jobs 1
expect log NEW fault=commit-then-error
expect log REPLAY times 1
expect verdict one-effect
-- workflow.woml --
<woml> POST http://127.0.0.1:4040/jobs </woml>
-- payload.json --
{"orderId":"order-42"}
`

func TestAScenarioIsReadWhole(t *testing.T) {
	t.Parallel()
	s, err := Parse("catalogue/b-commit-then-503.txtar", []byte(scenarioB))
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, want %#v", what, got, want)
		}
	}
	same("name", s.Name, "b-commit-then-503")
	same("title", s.Title, "B. Commit, then 503")
	same("runs", s.Runs, RunsBoth)
	same("files", s.Names, []string{"workflow.woml", "payload.json"})
	same("payload", string(s.Files["payload.json"]), "{\"orderId\":\"order-42\"}\n")
	same("place of the workflow", s.FileLine["workflow.woml"], 16)
	same("place of the payload", s.FileLine["payload.json"], 18)
	q := s.Asked()[0]
	same("question", *q, Question{Text: "How many jobs will exist at the end?", Choices: []string{"0", "1", "2"}, Right: 1, Because: "One key,\none job.", Line: 4})
	var lines []string
	for _, l := range s.Lines {
		lines = append(lines, fmt.Sprintf("%d %s", l.Line, l))
	}
	same("script", lines, []string{
		"3 fault commit-then-error",
		"4 ask How many jobs will exist at the end?  0 | *1 | 2",
		"7 trigger fulfill payload.json",
		"8 wait",
		"9 expect run succeeded",
		"10 expect attempts 2",
		"11 expect jobs 1",
		"12 expect log NEW fault=commit-then-error",
		"13 expect log REPLAY times 1",
		"14 expect verdict one-effect",
	})
	same("columns of trigger", s.Lines[2].Cols, []int{9, 17})
	jobs := s.Lines[6].Expect
	same("jobs", []any{jobs.What, jobs.Args, jobs.Opts["collection"], jobs.Line}, []any{"effects", []string{"1"}, []string{"jobs"}, 11})
	log := s.Lines[8].Expect
	same("log", []any{log.Args, log.Opts["times"]}, []any{[]string{"REPLAY"}, []string{"1"}})
}

func TestTheHeadIsReadIntoFields(t *testing.T) {
	t.Parallel()
	s, err := Parse("x.txtar", []byte(`title T
teach One.
teach Don't "quote".
before First.
group Lost replies
lesson timeout 3
lesson key 1
case drop late-commit
case cut
twin naive-x
runs virtual
client naive
subject orderId
seed -7
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Scenario{Name: "x", File: "x.txtar", Title: "T", Teach: "One.\nDon't \"quote\".", Before: "First.", Group: "Lost replies",
		Lessons: []Place{{"timeout", 3}, {"key", 1}}, Cases: []string{"drop", "late-commit", "cut"}, Twin: "naive-x",
		Runs: RunsVirtual, Client: ClientNaive, Subject: "orderId", Seed: -7, Files: map[string][]byte{}}
	if got := meaning(s); !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got, want)
	}
}

func TestWordsOfALine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		args []string
		opts map[string][]string
	}{
		{`trigger start payload.json`, []string{"start", "payload.json"}, nil},
		{`trigger start {"a": "b c"}`, []string{"start", `{"a":"b c"}`}, nil},
		{`deliver pay p.json id="evt 1" at-once`, []string{"pay", "p.json"}, map[string][]string{"id": {"evt 1"}, "at-once": {""}}},
		{`deliver at-once pay id=e=1 p.json`, []string{"pay", "p.json"}, map[string][]string{"id": {"e=1"}, "at-once": {""}}},
		{`deliver "at-once" 'p.json'`, []string{"at-once", "p.json"}, nil},
		{`send POST /jobs?x=1 b.json header=A:1 header="B: 2"`, []string{"POST", "/jobs?x=1", "b.json"}, map[string][]string{"header": {"A:1", "B: 2"}}},
		{`lookup "a=b \"\u00e9\\"`, []string{`a=b "é\`}, nil},
		{`lookup 'a\b "c"'`, []string{`a\b "c"`}, nil},
		{`lookup ""`, []string{""}, nil},
		{`record result={"jobId":"j 1"} --force`, nil, map[string][]string{"result": {`{"jobId":"j 1"}`}, "--force": {""}}},
		{`record result="7"`, nil, map[string][]string{"result": {`"7"`}}},
		{`record result=7`, nil, map[string][]string{"result": {`7`}}},
		{`record result=seven`, nil, map[string][]string{"result": {`"seven"`}}},
		{`fault a {"commit":"late"} b`, []string{"a", `{"commit":"late"}`, "b"}, nil},
		{`escalate step=s The provider's desk   was asked`, []string{"The provider's desk was asked"}, map[string][]string{"step": {"s"}}},
		{`escalate "two  blanks" run=2`, []string{"two  blanks"}, map[string][]string{"run": {"2"}}},
		{`policy retry=1 retry-backoff=fixed`, nil, map[string][]string{"retry": {"1"}, "retry-backoff": {"fixed"}}},
		{`crash after-effect step=s attempt=2`, []string{"after-effect"}, map[string][]string{"step": {"s"}, "attempt": {"2"}}},
	} {
		l, err := ParseLine(c.line)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if len(c.opts) == 0 {
			c.opts = map[string][]string{}
		}
		if !reflect.DeepEqual(l.Args, c.args) || !reflect.DeepEqual(l.Opts, c.opts) {
			t.Errorf("%s\nread %q %q\nwant %q %q", c.line, l.Args, l.Opts, c.args, c.opts)
		}
	}
}

func TestExpectationsOfALine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want Expectation
	}{
		{`expect run failed reconcile needed run=2`, Expectation{What: "run", Args: []string{"failed"}, Opts: map[string][]string{"reconcile": {"needed"}, "run": {"2"}}}},
		{`expect not log "NEW  x" times >=2`, Expectation{What: "log", Not: true, Args: []string{"NEW  x"}, Opts: map[string][]string{"times": {">=2"}}}},
		{`expect log [provider] key=K  NEW times 3`, Expectation{What: "log", Args: []string{"[provider] key=K NEW"}, Opts: map[string][]string{"times": {"3"}}}},
		{`expect log three times 3 more`, Expectation{What: "log", Args: []string{"three times 3 more"}}},
		{`expect refunds 0 key=K`, Expectation{What: "effects", Args: []string{"0"}, Opts: map[string][]string{"collection": {"refunds"}, "key": {"K"}}}},
		{`expect result /jobId effect`, Expectation{What: "result", Args: []string{"/jobId", `"effect"`}}},
		{`expect result "/a" step=s`, Expectation{What: "result", Args: []string{`"/a"`}, Opts: map[string][]string{"step": {"s"}}}},
		{`expect result /jobId`, Expectation{What: "result", Args: []string{"/jobId"}}},
		{`expect refused resubmit the key has outlived`, Expectation{What: "refused", Args: []string{"resubmit", "the key has outlived"}}},
		{`expect delivery 202 duplicate n=2`, Expectation{What: "delivery", Args: []string{"202"}, Opts: map[string][]string{"duplicate": {""}, "n": {"2"}}}},
		{`expect evidence found cannot-be-compared`, Expectation{What: "evidence", Args: []string{"found", "cannot-be-compared"}}},
		{`wait for attempts >=2 step=s`, Expectation{What: "attempts", Args: []string{">=2"}, Opts: map[string][]string{"step": {"s"}}}},
	} {
		l, err := ParseLine(c.line)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		got := *l.Expect
		got.Text, got.Line = "", 0
		if c.want.Opts == nil {
			c.want.Opts = map[string][]string{}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s\nread %+v\nwant %+v", c.line, got, c.want)
		}
	}
}

func TestEveryMistakeHasItsPlaceAndWhatFits(t *testing.T) {
	t.Parallel()
	const files = "-- w.woml --\n/jobs\n-- p.json --\n{}\n"
	for _, c := range []struct {
		name, src, want string
	}{
		{"unknown verb", "title T\ntriger s p.json\n" + files, `x.txtar:2:1: unknown verb "triger"; valid here: trigger`},
		{"verb of the workbench", "title T\npause\n", `x.txtar:2:1: pause works on the workbench only`},
		{"too few arguments", "title T\ndeliver s\n-- w.woml --\n", `x.txtar:2:10: deliver needs PAYLOAD here; usage: deliver TRIGGER PAYLOAD [id=WORD] [token=WORD] [twice|at-once]`},
		{"too many arguments", "title T\n  restart now\n", `x.txtar:2:11: unexpected word "now"; usage: restart`},
		{"unknown option", "title T\ndeliver s p.json ident=1\n" + files, `x.txtar:2:18: deliver has no option ident=; quote a value with a = in it; valid here: id=`},
		{"unknown flag", "title T\ndeliver s p.json twise\n" + files, `x.txtar:2:18: unexpected word "twise"; usage: deliver TRIGGER PAYLOAD [id=WORD] [token=WORD] [twice|at-once] [when=in-flight|after-crash]; valid here: twice`},
		{"flags that exclude each other", "title T\ndeliver s p.json twice at-once\n" + files, `x.txtar:2:24: at-once and twice cannot be combined`},
		{"an option twice", "title T\nlookup run=1 run=2\n", `x.txtar:2:14: run is given twice in this line`},
		{"unknown choice", "title T\ncrash after-efect\n", `x.txtar:2:7: unknown word "after-efect"; valid here: after-effect`},
		{"a choice that is far off", "title T\nkey zzz\n", `x.txtar:2:5: unknown word "zzz"; valid here: document, run, business, attempt`},
		{"not a duration", "title T\nadvance 10\n", `x.txtar:2:9: not a valid duration: "10"; write 250ms, 1s, 1m30s, 24h or 45d`},
		{"negative duration", "title T\nadvance -1s\n", `x.txtar:2:9: not a valid duration: "-1s"; write 250ms, 1s, 1m30s, 24h or 45d`},
		{"not a count", "title T\nexpect attempts two\n", `x.txtar:2:17: not a valid count: "two"; write 2, >=2 or <=2`},
		{"attempts from 1", "title T\nexpect outcome 0 failed\n", `x.txtar:2:16: not a valid number: "0"; write a number from 1`},
		{"unknown expectation", "title T\nexpect verdikt duplicate\n", `x.txtar:2:8: unknown expectation "verdikt"; valid here: verdict`},
		{"a mistyped count is no collection", "title T\nexpect atempts 2\n" + files, `unknown expectation "atempts", and no file or send mentions such a collection; valid here: attempts`},
		{"unknown word of an expectation", "title T\nexpect run succeded\n", `x.txtar:2:12: unknown word "succeded"; valid here: succeeded`},
		{"nothing expected", "title T\nexpect not\n", `x.txtar:2:11: expect needs an expectation; valid here: run, runs, step`},
		{"nothing to wait for", "title T\nwait for\n", `x.txtar:2:9: wait for needs an expectation`},
		{"keyword without value", "title T\nexpect run failed reconcile\n", `x.txtar:2:19: reconcile needs a value after it: [reconcile needed|not-needed]; valid here: needed, not-needed`},
		{"an empty text is in every line", "title T\nexpect log \"\"\n", `x.txtar:2:12: an empty text is not valid here`},
		{"pair of attempts by halves", "title T\nexpect delay 1 1s\n", `x.txtar:2:16: not a valid number: "1s"; write a number from 1`},
		{"nothing to change", "title T\npolicy\n", `x.txtar:2:7: policy needs at least one argument`},
		{"only what may be refused", "title T\nexpect refused wait\n", `x.txtar:2:16: unknown word "wait"; valid here: trigger, cancel, rerun, lookup, record, resubmit, abandon, escalate`},
		{"open quote", "title T\nlookup \"abc\n", `x.txtar:2:8: the quote is not closed`},
		{"foreign escape", "title T\nlookup \"a\\x\"\n", `x.txtar:2:8: valid escapes in double quotes are`},
		{"no space after a quote", "title T\nlookup \"a\"b\n", `x.txtar:2:11: a space is missing after "a"`},
		{"open JSON", "title T\nfault {\"a\":\n", `x.txtar:2:7: not valid JSON (it is not closed)`},
		{"JSON in a place of its own", "title T\nworkflow {}\n", `x.txtar:2:10: JSON is not valid here: write a file`},
		{"option without value", "title T\nlookup run=\n", `x.txtar:2:12: run= has no value; write run="" for an empty one`},
		{"missing file", "title T\ntrigger s pay.json\n" + files, `x.txtar:2:11: there is no embedded file "pay.json"; valid here: p.json`},
		{"unnamed file", "title T\ntrigger s\n" + files, `x.txtar:5:1: no line of the script uses this file`},
		{"unnamed workflow", "title T\nworkflow v.woml\n-- v.woml --\n-- w.woml --\n", `x.txtar:4:1: no line of the script uses this file`},
		{"file twice", "title T\n-- w.woml --\n-- w.woml --\n", `x.txtar:3:1: two embedded files are named w.woml`},
		{"file outside", "title T\n-- ../w.woml --\n", `x.txtar:2:1: not a valid name of an embedded file: "../w.woml"; write a plain relative name, as payload.json`},
		{"line of a file mistyped", "title T\n--w.woml --\n", `x.txtar:2:1: not a valid beginning of an embedded file; write two dashes`},
		{"no title", "wait\n", `x.txtar:1:1: a scenario needs a title`},
		{"empty file", "", `x.txtar:1:1: a scenario needs a title`},
		{"title twice", "title T\n\ntitle U\n", `x.txtar:3:1: title is given twice, first in line 1`},
		{"title without text", "title  \n", `x.txtar:1:6: title needs TEXT here`},
		{"head after the script", "title T\nwait\nseed 7\n", `x.txtar:3:1: seed belongs in the head: move this line up, above line 2 (wait), where the script begins`},
		{"because of nothing", "title T\nwait\nbecause so\n", `x.txtar:3:1: because needs an ask right above it`},
		{"no right answer", "title T\nask How many?  0 | 1\n", `x.txtar:2:5: no answer is marked as right with a star; valid here: *0, *1`},
		{"two right answers", "title T\nask How many?  *0 | *1\n", `x.txtar:2:5: two answers have a star: mark only the right one`},
		{"one answer", "title T\nask How many?  *0\n", `x.txtar:2:5: a question needs two answers or more, separated by |`},
		{"empty answer", "title T\nask How many?  *0 | | 2\n", `x.txtar:2:5: an answer is empty`},
		{"no question", "title T\nask How many  *0 | 1\n", `x.txtar:2:5: a question needs a question mark`},
		{"control character", "title T\nlookup a\x1b[0m\n", `x.txtar:2:9: a control character ('\x1b') is not valid here; in a quoted word write \u001b`},
		{"not text", "title T\nlookup a\xff\n", `x.txtar:2:9: this is not UTF-8 text`},
		{"columns count characters", "title T\nlookup 日本 x\n", `x.txtar:2:11: unexpected word "x"; usage: `},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("x.txtar", []byte(c.src))
			if err == nil {
				t.Fatal("no mistake was found")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("said  %v\nwant  %s", err, c.want)
			}
			var one *Error
			if !errors.As(err, &one) {
				t.Error("the error does not say its place to a program")
			}
		})
	}
}

func TestAMistakeIsNotToldASecondTimeOfTheFileThatItIsAbout(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"trigger s p.json times=x", "trigger s p.jsn", "trigerr s p.json"} {
		_, err := Parse("x.txtar", []byte("title T\n"+line+"\n-- w.woml --\n-- p.json --\n{}\n"))
		var all Errors
		if !errors.As(err, &all) || len(all) != 1 || all[0].Line != 2 {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestAllMistakesAreFoundAtOnceInOrder(t *testing.T) {
	t.Parallel()
	_, err := Parse("x.txtar", []byte("expect atempts 2\nnonsense\nwait 5\n"))
	var all Errors
	if !errors.As(err, &all) || len(all) != 4 {
		t.Fatalf("found %v", err)
	}
	for i, want := range []int{1, 1, 2, 3} {
		if all[i].Line != want {
			t.Errorf("mistake %d is in line %d, want %d", i, all[i].Line, want)
		}
	}
}

func TestTypedLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"title x":           "title belongs in a scenario file, not on the workbench",
		"ask A?  *1 | 2":    "ask belongs in a scenario file, not on the workbench",
		"":                  "type a verb; valid here: help",
		"puase":             `unknown verb "puase"; valid here: pause`,
		"expect atempts 2":  `unknown expectation "atempts"; for a collection of this name write effects N collection=atempts; valid here: attempts`,
		"speed 1000":        `not a valid speed: "1000"; write a number from 0.1 to 100, or 0 for at once`,
		"speed NaN":         `not a valid speed: "NaN"; write a number from 0.1 to 100, or 0 for at once`,
		"rerun 0":           `not a valid run: "0"; write a number from 1, or a run's id`,
		"escalate":          "escalate needs REASON here; usage: escalate [run=RUN] [step=STEP] [write=WRITE] [key=KEY] REASON",
		"escalate stpe=x y": "escalate has no option stpe=; quote a value with a = in it; valid here: step=",
	} {
		_, err := ParseLine(line)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: said %v, want %s", line, err, want)
		}
	}
}

func TestALineWithAnotherArgument(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line  string
		n     int
		value string
		want  string
	}{
		{"workflow /tmp/a.woml", 0, "a.woml", "workflow a.woml"},
		{`workflow "/tmp/my own.woml"`, 0, "my own-2.woml", `workflow "my own-2.woml"`},
		{"trigger  fulfill x/größe.json   times=3", 1, "größe.json", "trigger fulfill größe.json times=3"},
		{"deliver fulfill /tmp/p.json id=evt_1 twice", 1, "p.json", "deliver fulfill p.json id=evt_1 twice"},
		{"workflow a.woml", 0, "a.woml", "workflow a.woml"},
	} {
		l, err := ParseLine(c.line)
		if err == nil {
			l, err = l.WithArg(c.n, c.value)
		}
		if err != nil || l.String() != c.want || l.Arg(c.n) != c.value {
			t.Errorf("%s with %s: %q, %v", c.line, c.value, l, err)
		}
	}
}
