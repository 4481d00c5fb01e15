package scenarios

import (
	"testing"
)

// keyless is a step with two writes that no key tells apart, both of which are lost.
const keyless = `title  Two writes without a key
contract ignores-key
fault  commit-then-drop
fault  drop-before-commit
trigger go {"orderId":"order-42"}
wait
expect belief unknown write=first
expect belief unknown write="POST /b"

abandon --force
expect refused abandon
abandon write=third --force
expect refused abandon
record write=first result={} --force
expect refused record
escalate write="POST /b" "ask them"
abandon write="POST /b" --force
wait
expect run failed reconcile needed
expect belief unknown write=first
expect belief not-done write="POST /b"
escalate run=1 step=send write=first "ask them"
record write=first --force result={"sent":true}
wait
expect run succeeded
-- w.woml --
<woml>
  <workflow id="w" name="W">
    <triggers><manual id="go" /></triggers>
    <steps>
      <step id="send">
        <script>
          try {
            await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/a", json: context.payload }, { name: "first" });
          } catch (e) {}
          await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/b", json: context.payload });
          return {};
        </script>
      </step>
    </steps>
  </workflow>
</woml>
`

func TestADecisionNamesAWriteWithoutAKey(t *testing.T) {
	t.Parallel()
	s, err := load("x.txtar", []byte(keyless))
	if err != nil {
		t.Fatal(err)
	}
	r := replay(t, s, Options{})
	for _, c := range r.Complaints() {
		t.Error(c)
	}
	if t.Failed() {
		t.Log("\n" + WireText(r.View.Wire, r.View.Start))
	}
}
