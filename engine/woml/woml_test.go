package woml_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"faultlab/engine/woml"
)

// order is a document with everything in it that runs here.
const order = `<woml>
  <!-- One job for each paid order. -->
  <workflow id="ship-order" name="Ship &quot;it&quot;" description="Book the parcel &amp; tell" version="2.1.0">
    <config concurrency="4" timeout="10m" rate-limit="100/0.5m" queue="parcels.high" />
    <triggers>
      <manual id="byHand" />
      <webhook id="paid" path="/webhooks/paid" method="POST" auth="bearer" secret="{{secrets.PAID_TOKEN}}">
        <schema>
          { "type": "object", "required": ["orderId"] <!-- more to come --> }
        </schema>
      </webhook>
      <webhook id="open" path="/webhooks/open" auth="none" />
    </triggers>
    <steps>
      <step id="bookParcel" name="Book" description="At the carrier"
            retry="3" retry-backoff="exponential" retry-delay="2s" retry-max-delay="20s">
        <script>return a < b && "&amp;";</script>
        <compensate retry="2" retry-backoff="fixed" retry-delay="250ms">
          <script>return 1;</script>
        </compensate>
      </step>
      <step id="slow" retry="2" retry-delay="1m"><script></script></step>
      <step id="tell"><script/></step>
    </steps>
  </workflow>
</woml>
`

func TestParseReadsADocument(t *testing.T) {
	t.Parallel()
	doc, diags := woml.Parse([]byte(order))
	if doc == nil || len(diags) != 0 {
		t.Fatalf("the document is refused: %v", diags)
	}
	if doc.Source != order {
		t.Error("Source is not the text as given")
	}
	once := woml.Retry{Max: 1, Backoff: "exponential", Delay: time.Second, MaxDelay: 30 * time.Second}
	want := woml.Workflow{
		ID: "ship-order", Name: `Ship "it"`, Description: "Book the parcel & tell", Version: "2.1.0",
		Config: woml.Config{
			Concurrency: 4, Timeout: 10 * time.Minute, Queue: "parcels.high",
			Rate: woml.Rate{Count: 100, Per: 30 * time.Second},
		},
		Triggers: []woml.Trigger{
			{Kind: "manual", ID: "byHand", Line: 6, Column: 7},
			{
				Kind: "webhook", ID: "paid", Path: "/webhooks/paid", Auth: "bearer", Secret: "PAID_TOKEN",
				Schema: json.RawMessage(`{ "type": "object", "required": ["orderId"]  }`), Line: 7, Column: 7,
			},
			{Kind: "webhook", ID: "open", Path: "/webhooks/open", Auth: "none", Line: 12, Column: 7},
		},
		Steps: []woml.Step{
			{
				ID: "bookParcel", Name: "Book", Description: "At the carrier",
				Retry:  woml.Retry{Max: 3, Backoff: "exponential", Delay: 2 * time.Second, MaxDelay: 20 * time.Second},
				Script: woml.Script{Source: `return a < b && "&amp;";`, Line: 17, Column: 17},
				Compensate: &woml.Compensate{
					Retry:  woml.Retry{Max: 2, Backoff: "fixed", Delay: 250 * time.Millisecond, MaxDelay: 30 * time.Second},
					Script: woml.Script{Source: "return 1;", Line: 19, Column: 19},
				},
				Line: 15, Column: 7,
			},
			{
				ID: "slow", Retry: woml.Retry{Max: 2, Backoff: "exponential", Delay: time.Minute, MaxDelay: time.Minute},
				Script: woml.Script{Line: 22, Column: 58}, Line: 22, Column: 7,
			},
			{ID: "tell", Retry: once, Script: woml.Script{Line: 23, Column: 32}, Line: 23, Column: 7},
		},
	}
	if !reflect.DeepEqual(doc.Workflow, want) {
		t.Errorf("the workflow is read as\n%+v\nwant\n%+v", doc.Workflow, want)
	}
}

// A workflow without triggers can only be called, and has every default.
func TestParseFillsInDefaults(t *testing.T) {
	t.Parallel()
	doc, diags := woml.Parse([]byte(`<woml><workflow id="x"><steps><step id="a"><script>1</script></step></steps></workflow></woml>`))
	if doc == nil {
		t.Fatalf("the document is refused: %v", diags)
	}
	if w := doc.Workflow; w.Config != (woml.Config{}) || len(w.Triggers) != 0 || w.Steps[0].Compensate != nil {
		t.Errorf("something is there that the document does not say: %+v", w)
	}
}

// What a diagnostic looks like to a machine.
func TestDiagnosticJSON(t *testing.T) {
	t.Parallel()
	_, diags := woml.Parse([]byte("<woml>\n<workflow id='x'><stepss/></workflow></woml>"))
	got, err := json.Marshal(diags[0])
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"code":"WOML_UNKNOWN_ELEMENT","severity":"error","message":"WOML has no element \u003cstepss\u003e.","line":2,"column":18,"hint":"Did you mean \u003csteps\u003e?"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func ExampleParse() {
	doc, diags := woml.Parse([]byte(`
<woml>
  <workflow id="refund-order">
    <triggers>
      <webhook id="cancelled" path="/webhooks/cancelled" auth="none" />
    </triggers>
    <steps>
      <step id="refund" retry="3">
        <script>
          return await services.http.request({
            method: "POST",
            url: "http://127.0.0.1:4040/refunds",
            json: { orderId: context.payload.orderId },
            idempotency: { header: "Idempotency-Key", value: "refund:" + Date.now() },
          });
        </script>
      </step>
    </steps>
  </workflow>
</woml>`))
	step := doc.Workflow.Steps[0]
	fmt.Println(doc.Workflow.ID, step.ID, step.Retry.Max, step.Retry.Backoff, step.Retry.Delay)
	for _, d := range diags {
		fmt.Printf("%d:%d: %s: %s\n%s\n", d.Line, d.Column, d.Severity, d.Message, d.Hint)
	}
	// Output:
	// refund-order refund 3 exponential 1s
	// 14:62: warning: This idempotency key is made from Date.now, so it differs each time: one operation gets two keys.
	// Use attempt.idempotencyKey, or the identity of the operation, such as "fulfillment:" + context.payload.orderId.
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if doc, _ := woml.Parse([]byte(order)); doc == nil {
			b.Fatal("the document is refused")
		}
	}
}
