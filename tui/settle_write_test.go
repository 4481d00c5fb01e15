package tui

import (
	"os"
	"path/filepath"
	"testing"

	"faultlab/engine"
	"faultlab/scenarios"
	"faultlab/scenarios/lang"
)

const keylessWrites = `title  Two writes without a key
contract ignores-key
fault  commit-then-drop
fault  drop-before-commit
trigger go {"orderId":"order-42"}
wait
-- w.woml --
<woml><workflow id="w" name="W"><triggers><manual id="go" /></triggers><steps><step id="send"><script>
  try { await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/a", json: context.payload }, { name: "first" }); } catch (e) {}
  await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/b", json: context.payload });
  return {};
</script></step></steps></workflow></woml>
`

// Of two unknown writes of a step that no key tells apart, a decision is about the one that the pane shows.
func TestAPaneDecidesAboutItsOwnWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keyless"+lang.Ext)
	if err := os.WriteFile(path, []byte(keylessWrites), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := scenarios.Open(s, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.Play()
	rest(t, Live(b))
	m := show(t, Live(b))
	for i, write := range []string{"first", "POST /b"} {
		m.session.pull()
		op := &m.session.view.Operations[i]
		if op.Write != write || len(op.Doubts) != 1 {
			t.Fatalf("operation %d is %q with %d doubts", i, op.Write, len(op.Doubts))
		}
		m.push(&reconcileScreen{run: op.DoubtRuns[0], step: op.Step, write: op.Write})
		follow(m, keyMsg("a"))
		for _, k := range "force abandon" {
			follow(m, keyMsg(string(k)))
		}
		follow(m, keyMsg("enter"))
		rest(t, Live(b))
		if op := &b.Timeline().Latest().Operations[i]; op.Belief != engine.BeliefNotDone {
			t.Errorf("%s is %s: %s", write, op.Belief, m.notice.text)
		}
	}
}
