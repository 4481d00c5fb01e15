package scenarios

import (
	"strings"
	"testing"
)

// TestAllMistakesComeInOneRound: grammar, names, values, documents and embedded contracts, in the order of their places.
func TestAllMistakesComeInOneRound(t *testing.T) {
	t.Parallel()
	const file = `title    T
contract mine.json
subject  orderId
fault    {"commit":"never"}
fault    '{"name":"slow"}' commit-then-eror
fault    comit-then-drop twise=1
trigger  gone {"a":1}
assume   theirs.json
crash    in-fligth
expect   jobs many
expect   belief done step=nowhere
-- w.woml --
<woml>
  <workflow id="w">
    <triggers><webhook id="go" path="/go" /></triggers>
    <steps><step id="a"><scirpt>return 1;</scirpt></step></steps>
  </workflow>
</woml>
-- mine.json --
{
  "extends": "sedd"
}
-- theirs.json --
{"origin": 1}
`
	_, err := load("x.txtar", []byte(file))
	if err == nil {
		t.Fatal("it is accepted")
	}
	want := []string{
		`x.txtar:3:1: subject belongs in the head: move this line up, above line 2 (contract), where the script begins`,
		`x.txtar:4:10: 1:11: "commit" is an object: write "commit":{"when":"never"}`,
		`x.txtar:5:10: JSON needs no quotes here: write {"name":"slow"}`,
		`x.txtar:6:10: unknown fault "comit-then-drop": did you mean "commit-then-drop"?`,
		`x.txtar:6:26: fault has no option twise=`,
		`x.txtar:8:10: theirs.json: 1:`,
		`x.txtar:9:10: unknown word "in-fligth"; valid here: in-flight`,
		`x.txtar:10:10: unknown expectation "jobs"`,
		`x.txtar:15:`, `x.txtar:16:`,
		`x.txtar:21:14: `,
	}
	got := strings.Split(err.Error(), "\n")
	for _, w := range want {
		found := false
		for _, g := range got {
			found = found || strings.HasPrefix(g, w)
		}
		if !found {
			t.Errorf("not said: %s", w)
		}
	}
	if t.Failed() {
		t.Logf("said\n%s", err)
	}
}

// TestAMistakeInADocumentHasNoEcho: what a document holds that cannot be read is not known, so no line is wrong for naming it.
func TestAMistakeInADocumentHasNoEcho(t *testing.T) {
	t.Parallel()
	_, err := load("x.txtar", []byte("title T\ntrigger go\nexpect attempts 1 step=a\n-- w.woml --\n<woml></woml>\n"))
	if err == nil || strings.Contains(err.Error(), "unknown") || !strings.HasPrefix(err.Error(), "x.txtar:5:1: WOML_") {
		t.Errorf("said %v", err)
	}
}
