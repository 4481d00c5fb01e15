package scenarios

import (
	"strings"
	"testing"

	"faultlab/engine/woml"
)

const twoSteps = `<woml>
  <workflow id="two-steps">
    <triggers><manual id="go" /></triggers>
    <steps>
      <step id="first" name="é > 1 😀" retry="3" retry-delay='2s'><script>
        const r = await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/jobs",
          idempotency: { header: "Idempotency-Key", value: "a:" + [1, 2].join(",") + context.payload.orderId } });
        return r.data;
      </script></step>
      <step id="second"><script>
        const r = await services.http.request({ method: "POST", url: "http://127.0.0.1:4040/charges",
          idempotency: { value: attempt.idempotencyKey, header: "Idempotency-Key" } });
        return r.data;
      </script></step>
    </steps>
  </workflow>
</woml>
`

func TestAPolicyChangesEveryStepAndNothingElse(t *testing.T) {
	t.Parallel()
	d, err := policy{retry: map[string]string{"retry": "5", "retry-backoff": "fixed", "retry-delay": "250ms", "retry-throttled": "7"}}.apply(twoSteps, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range d.Workflow.Steps {
		if r := s.Retry; r.Max != 5 || r.Backoff != "fixed" || r.Delay.Milliseconds() != 250 || r.Throttled != 7 {
			t.Errorf("step %s has the policy %+v", s.ID, r)
		}
	}
	plain, _ := woml.Parse([]byte(twoSteps))
	for i, s := range d.Workflow.Steps {
		if was := plain.Workflow.Steps[i]; s.Script.Source != was.Script.Source || s.Name != was.Name {
			t.Errorf("step %s changed beyond its policy", s.ID)
		}
	}
}

func TestAPolicyThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	_, err := policy{retry: map[string]string{"retry": "2", "retry-backoff": "fixed", "retry-max-delay": "9s"}}.apply(twoSteps, "")
	if err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("a fixed backoff with a maximum gives %v", err)
	}
}

func TestKeysComeFromWhereTheStrategySays(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[string][2]string{
		"run":      {"value: attempt.idempotencyKey}", "value: attempt.idempotencyKey, header"},
		"attempt":  {"value: crypto.randomUUID()}", "value: crypto.randomUUID(), header"},
		"business": {`value: "first:" + context.payload.orderId}`, `value: "second:" + context.payload.orderId, header`},
	} {
		d, err := policy{key: strategy}.apply(twoSteps, "orderId")
		if err != nil {
			t.Errorf("%s: %v", strategy, err)
			continue
		}
		for i, s := range d.Workflow.Steps {
			squeezed := strings.Join(strings.Fields(s.Script.Source), " ")
			if !strings.Contains(squeezed, want[i]) {
				t.Errorf("%s: step %s has %s, want %s", strategy, s.ID, squeezed, want[i])
			}
		}
	}
}
