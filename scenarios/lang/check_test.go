package lang

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// names are a bench's names, written out.
type names map[Kind][]string

func (n names) Values(k Kind) []string { return n[k] }

// strict is a bench that knows faults with parameters.
type strict struct{ names }

func (s strict) Judge(k Kind, v string) error {
	if k == KindFault && v == "never" {
		return &Error{Message: "no fault does that: say when"}
	}
	if k == KindFault && !strings.HasPrefix(v, "commit-") && v != `{"commit":"late"}` {
		return errors.New("no fault does that")
	}
	return nil
}

var known = names{KindFault: {"commit-then-error", "commit-then-drop"}, KindContract: {"seed", "ietf"}, KindTrigger: {"fulfill"}, KindStep: {"createFulfillment"}}

func TestCheckJudgesNames(t *testing.T) {
	t.Parallel()
	const files = "-- w.woml --\n-- p.json --\n{}\n-- c.json --\n{}\n"
	for _, c := range []struct{ name, lines, want string }{
		{"all known", "fault commit-then-drop {\"any\":1}\ncontract ietf\ncontract c.json\ntrigger fulfill p.json\nexpect step createFulfillment succeeded\nlookup step=createFulfillment\n", ""},
		{"fault", "fault commit-then-dorp\ncontract c.json\ntrigger fulfill p.json\n", `x.txtar:2:7: unknown fault "commit-then-dorp"; valid here: commit-then-drop`},
		{"contract", "contract sead\ncontract c.json\ntrigger fulfill p.json\n", `x.txtar:2:10: unknown contract "sead"; valid here: seed`},
		{"trigger", "contract c.json\ntrigger start p.json\n", `x.txtar:3:9: unknown trigger "start"; valid here: fulfill`},
		{"step in a claim", "contract c.json\ntrigger fulfill p.json\nexpect not step createFulfilment failed\n", `x.txtar:4:17: unknown step "createFulfilment"; valid here: createFulfillment`},
		{"step that chooses", "contract c.json\ntrigger fulfill p.json\nwait for attempts 2 step=x\n", `x.txtar:4:21: unknown step "x"; valid here: createFulfillment`},
	} {
		s, err := Parse("x.txtar", []byte("title T\n"+c.lines+files))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		said := ""
		if err := s.Check(known); err != nil {
			said = err.Error()
		}
		if said != c.want {
			t.Errorf("%s: said %q, want %q", c.name, said, c.want)
		}
	}
}

func TestAJudgeDecidesByItself(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"fault commit-then-anything":                 "",
		`fault {"commit": "late"}`:                   "",
		`fault commit-then-error {"commit":"never"}`: "no fault does that",
		"fault never":                                "no fault does that: say when",
		"fault comit-then-error":                     "no fault does that; valid here: commit-then-error",
	} {
		said := ""
		if err := must(line).Check(strict{known}); err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("%s: said %q, want %q", line, said, want)
		}
	}
}

func TestExpectsRefusal(t *testing.T) {
	t.Parallel()
	s, err := Parse("x.txtar", []byte("title T\nrecord\nexpect runs 0\nexpect refused record\nresubmit\nexpect refused record\nabandon\nexpect not refused abandon\nrecord\nwait\nexpect refused record\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]bool{0: true}
	for i, l := range s.Lines {
		if got := s.ExpectsRefusal(i); l.Verb != "expect" && got != want[i] {
			t.Errorf("line %d (%s) may be refused: %v", l.Line, l.Verb, got)
		}
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{"tr", []string{"trigger"}},
		{"  TR", []string{"  trigger"}},
		{"fault ", []string{"fault commit-then-error", "fault commit-then-drop", "fault step=", "fault attempt=", "fault request="}},
		{"fault commit-then-error commit-then-d", []string{"fault commit-then-error commit-then-drop"}},
		{"contract i", []string{"contract ietf"}},
		{"crash during", []string{"crash during-backoff"}},
		{"crash now ", []string{"crash now run=", "crash now step=", "crash now attempt=", "crash now call=", "crash now request="}},
		{"crash now step=", []string{"crash now step=createFulfillment"}},
		{"deliver fulfill p.json t", []string{"deliver fulfill p.json token=", "deliver fulfill p.json twice"}},
		{"deliver fulfill p.json twice ", []string{"deliver fulfill p.json twice id=", "deliver fulfill p.json twice token=", "deliver fulfill p.json twice when="}},
		{"send POST /jobs header=a:1 h", []string{"send POST /jobs header=a:1 header="}},
		{"wait f", []string{"wait for"}},
		{"wait for ver", []string{"wait for verdict"}},
		{"expect n", []string{"expect not"}},
		{"expect not n", nil},
		{"expect not belief not", []string{"expect not belief not-done"}},
		{"expect run failed rec", []string{"expect run failed reconcile"}},
		{"expect run failed reconcile ", []string{"expect run failed reconcile needed", "expect run failed reconcile not-needed"}},
		{"expect step ", []string{"expect step createFulfillment"}},
		{"expect refused re", []string{"expect refused rerun", "expect refused record", "expect refused resubmit"}},
		{"expect result /a st", []string{"expect result /a step="}},
		{"help loo", []string{"help lookup"}},
		{"title ", nil},
		{"nonsense ", nil},
		{"expect log NEW fault", nil},
		{"lookup \"open ", nil},
		{"theme ", nil},
	} {
		var got []string
		for _, o := range Complete(c.text, known) {
			got = append(got, o.Line)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: offered %q, want %q", c.text, got, c.want)
		}
	}
	for _, o := range Complete("", nil) {
		if VerbNamed(o.Word) == nil || o.Help == "" {
			t.Errorf("%q is offered without its help", o.Word)
		}
	}
}
