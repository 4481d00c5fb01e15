package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/engine/trigger"
	"faultlab/engine/woml"
	"faultlab/faultprovider"
)

// ledgerWorkflow is the inbound side: an event of the payment provider is written down
// once, and only its first delivery starts the fulfilment.
const ledgerWorkflow = `<woml>
  <workflow id="payment-webhook-ledger" name="Payment webhook ledger" version="1.0.0">
    <triggers>
      <webhook id="payment" path="/webhooks/payment" method="POST" auth="none">
        <schema>{
          "type": "object", "additionalProperties": false,
          "required": ["eventId", "type", "paymentId", "orderId", "amount"],
          "properties": {
            "eventId": { "type": "string" }, "type": { "const": "payment.succeeded" }, "paymentId": { "type": "string" },
            "orderId": { "type": "string" }, "amount": { "type": "number", "minimum": 0 }
          }
        }</schema>
      </webhook>
    </triggers>
    <steps>
      <step id="recordEvent" name="Record the event once">
        <script>
          const db = services.db({ driver: "sqlite", connection: "LEDGER" });
          const { eventId, type, paymentId, orderId, amount } = context.payload;
          const result = await db.execute({
            text: ` + "`" + `
              INSERT INTO payment_events
                (provider_event_id, type, payment_id, order_id, amount, received_at)
              VALUES ($1, $2, $3, $4, $5, $6)
              ON CONFLICT (provider_event_id) DO NOTHING
            ` + "`" + `,
            values: [eventId, type, paymentId, orderId, amount, new Date().toISOString()]
          }, { name: "insert-payment-event" });
          return { firstDelivery: result.rowsAffected === 1 };
        </script>
      </step>
      <step id="startFulfillment" name="Start the fulfilment of a first delivery">
        <script>
          if (!context.steps.recordEvent.firstDelivery) {
            return { started: false };
          }
          const { paymentId, orderId, amount } = context.payload;
          const child = await services.workflows.start("fulfill-paid-order", { paymentId, orderId, amount }, { name: "start-fulfillment" });
          return { started: true, runId: child.runId };
        </script>
      </step>
    </steps>
  </workflow>
</woml>`

// fulfillmentWorkflow is the outbound side: one job, under one key, with a retry.
const fulfillmentWorkflow = `<woml>
  <workflow id="fulfill-paid-order" name="Fulfill a paid order" version="1.0.0">
    <steps>
      <step id="createFulfillment" name="Create fulfillment job" retry="3" retry-backoff="exponential" retry-delay="50ms" retry-max-delay="10s">
        <script>
          const response = await services.http.request({
            method: "POST",
            url: "http://PROVIDER/jobs",
            json: { orderId: context.payload.orderId, paymentId: context.payload.paymentId, amount: context.payload.amount },
            timeout: "10s",
            idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey }
          }, { name: "create-fulfillment" });
          return { jobId: response.data.id };
        </script>
      </step>
    </steps>
  </workflow>
</woml>`

// shop is the two workflows at work, beside a provider: in this process or as programs of their own.
type shop struct {
	t        *testing.T
	app      *app // looks at the state
	hook     string
	provider string
	ledger   *sql.DB
	settle   func(run, decision string) // looks the run up, and decides
}

// shopFiles makes the ledger of events and the documents, filled in.
func shopFiles(t *testing.T, provider string) (ledger *sql.DB, documents []string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "payments.db")
	ledger, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := ledger.Exec(`CREATE TABLE payment_events (provider_event_id TEXT PRIMARY KEY, type TEXT NOT NULL, payment_id TEXT NOT NULL,
		order_id TEXT NOT NULL, amount REAL NOT NULL, received_at TEXT NOT NULL)`); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"ledger.woml": strings.ReplaceAll(ledgerWorkflow, "LEDGER", path), "fulfill.woml": strings.ReplaceAll(fulfillmentWorkflow, "PROVIDER", provider)} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		documents = append(documents, file)
	}
	return ledger, documents
}

// listen serves on a loopback address until the test ends.
func listen(t *testing.T, serve *http.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	clk := clock.NewWall()
	ended := clk.NewEvent("the end of a server")
	clk.Go("server", func() { defer ended.Set(); _ = serve.Serve(l) })
	t.Cleanup(func() { serve.Close(); ended.Wait() })
	return l.Addr().String()
}

// inProcess wires the rooms together as the program does: engine, store, webhook and
// provider, on real sockets and real files.
func inProcess(t *testing.T) *shop {
	t.Helper()
	a := &app{streams: streams{Out: io.Discard, Err: io.Discard}, clk: clock.NewWall(), state: filepath.Join(t.TempDir(), "state.db")}
	p, err := faultprovider.New(faultprovider.Options{Clock: a.clk, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{t: t, app: a, provider: listen(t, &http.Server{Handler: p.Handler()})}
	ledger, files := shopFiles(t, s.provider)
	s.ledger = ledger
	docs, err := a.loadDocuments(files)
	if err != nil {
		t.Fatal(err)
	}
	w, err := a.openWorker(workerOptions{docs: docs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	s.hook = "http://" + listen(t, &http.Server{Handler: webhooks(t, w, docs)}) + "/webhooks/payment"
	s.settle = func(run, decision string) {
		if _, err := w.eng.Lookup(t.Context(), run, "", engine.LookupOptions{}); err != nil {
			t.Error(err)
		}
		if err := w.eng.Resolve(engine.Resolution{Run: run, Decision: engine.Decision(decision)}); err != nil {
			t.Error(err)
		}
	}
	return s
}

func webhooks(t *testing.T, w *worker, docs []*woml.Document) http.Handler {
	t.Helper()
	routes, err := routesOf(docs, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	h, err := trigger.New(w.admit, nil, routes...)
	if err != nil {
		t.Fatal(err)
	}
	h.Ready()
	return h
}

// asPrograms starts "faultlab provider" and "faultlab run".
func asPrograms(t *testing.T) *shop {
	t.Helper()
	program, err := exec.LookPath("faultlab")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := &app{streams: streams{Out: io.Discard, Err: io.Discard}, clk: clock.NewWall(), state: filepath.Join(dir, "state.db")}
	begin := func(ready string, args ...string) string {
		d, err := startDaemon(program, dir, os.Environ(), args...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.stop(syscall.SIGTERM) })
		found, err := d.await(regexp.MustCompile("(?m)" + ready))
		if err != nil {
			t.Fatal(err)
		}
		return found[0]
	}
	s := &shop{t: t, app: a, provider: begin(`listening on http://(.*)$`, "provider", "--listen", "127.0.0.1:0")}
	ledger, files := shopFiles(t, s.provider)
	s.ledger = ledger
	s.hook = begin(`^webhook payment .*: (http://.*)\n(?s:.*)^running`, append([]string{"run", "--port", "0", "--state", a.state}, files...)...)
	s.settle = func(run, decision string) {
		none := map[bool]int{true: exitFailed, false: 0} // a look-up without a record
		s.program(program, none[decision != "record"], "lookup", run)
		s.program(program, 0, "resolve", run, "--"+decision)
	}
	return s
}

// program runs a command on the shop's state, which ends with this code.
func (s *shop) program(path string, code int, args ...string) {
	s.t.Helper()
	c := exec.Command(path, append(args, "--state", s.app.state)...)
	if out, err := c.CombinedOutput(); c.ProcessState.ExitCode() != code {
		s.t.Errorf("%v: %v, want exit code %d\n%s", args, err, code, out)
	}
}

// event is what the payment provider delivers.
const event = `{"eventId":"evt_1","type":"payment.succeeded","paymentId":"pay-42","orderId":"order-42","amount":120}`

// deliver sends one event to the webhook, as often and with the keys that are given, all at the same moment.
func (s *shop) deliver(payload string, keys ...string) (runs []string) {
	s.t.Helper()
	answers := make([]string, len(keys))
	var all sync.WaitGroup
	for i, key := range keys {
		all.Go(func() {
			var headers []string
			if key != "" {
				headers = []string{"Idempotency-Key:" + key}
			}
			status, text, err := exchange("POST", s.hook, payload, headers...)
			var accepted struct{ RunID string }
			if err != nil || status != http.StatusAccepted || json.Unmarshal([]byte(text), &accepted) != nil {
				s.t.Errorf("the delivery was answered %d %s, %v", status, text, err)
			}
			answers[i] = accepted.RunID
		})
	}
	all.Wait()
	for _, run := range answers {
		if run == "" || s.app.awaitEndElsewhere(context.Background(), run) != nil {
			s.t.Fatalf("the run of a delivery did not end: %q", run)
		}
	}
	return answers
}

// runs are the ends of all runs of a workflow, once they have ended.
func (s *shop) runs(workflow string) (ended []*engine.Run) {
	s.t.Helper()
	h, err := s.app.openReader()
	if err != nil {
		s.t.Fatal(err)
	}
	defer h.Close()
	list, err := h.Runs(engine.Query{Workflow: workflow})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range list {
		if err := s.app.awaitEndElsewhere(context.Background(), r.Run); err != nil {
			s.t.Fatal(err)
		}
		run, err := s.app.readRun(r.Run)
		if err != nil {
			s.t.Fatal(err)
		}
		ended = append(ended, run)
	}
	return ended
}

func (s *shop) faults(names ...string) {
	s.t.Helper()
	body, _ := json.Marshal(map[string][]string{"faults": names})
	if status, text, err := exchange("POST", "http://"+s.provider+"/_test/faults", string(body)); status != http.StatusOK || err != nil {
		s.t.Fatalf("the faults were answered %d %s, %v", status, text, err)
	}
}

// truth is what the ledger of events and the provider hold: their rows and jobs.
func (s *shop) truth() string {
	s.t.Helper()
	rows, err := s.ledger.Query("SELECT provider_event_id, order_id, amount FROM payment_events ORDER BY 1")
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	var b bytes.Buffer
	for rows.Next() {
		var id, order string
		var amount float64
		if err := rows.Scan(&id, &order, &amount); err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s %g; ", id, order, amount)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	_, text, err := exchange("GET", "http://"+s.provider+"/_test/jobs", "")
	var jobs struct {
		Count int
		Jobs  []struct{ OrderID string }
	}
	if err != nil || json.Unmarshal([]byte(text), &jobs) != nil {
		s.t.Fatalf("the provider's jobs: %s, %v", text, err)
	}
	fmt.Fprintf(&b, "%d jobs", jobs.Count)
	for _, j := range jobs.Jobs {
		b.WriteString(" " + j.OrderID)
	}
	return b.String()
}

// The guide's two boundaries: whatever is delivered twice, and whatever happens to the
// request, there is one row of the event and one job of the order.
func TestPaymentWebhookLedger(t *testing.T) {
	t.Parallel()
	const once = "evt_1 order-42 120; 1 jobs order-42"
	for _, r := range []struct {
		name     string
		faults   []string
		waves    [][]string // the keys of the deliveries of each moment; "" sends none
		ledger   int        // runs of the ledger
		attempts int        // of the one fulfilment
		requests int
		status   engine.Status
		decide   string // what settles it afterwards
		truth    string
	}{
		{"one delivery", nil, [][]string{{""}}, 1, 1, 1, engine.StatusSucceeded, "", once},
		{"a redelivery under the sender's key", nil, [][]string{{"evt_1"}, {"evt_1"}}, 1, 1, 1, engine.StatusSucceeded, "", once},
		{"a redelivery that nothing marks", nil, [][]string{{""}, {""}}, 2, 1, 1, engine.StatusSucceeded, "", once},
		{"a redelivery under another key", nil, [][]string{{"a"}, {"b"}}, 2, 1, 1, engine.StatusSucceeded, "", once},
		{"two at once under the sender's key", nil, [][]string{{"evt_1", "evt_1"}}, 1, 1, 1, engine.StatusSucceeded, "", once},
		{"two at once that nothing marks", nil, [][]string{{"", ""}}, 2, 1, 1, engine.StatusSucceeded, "", once},
		{"eight at once, some marked", nil, [][]string{{"", "evt_1", "", "evt_1", "", "evt_1", "", "evt_1"}}, 5, 1, 1, engine.StatusSucceeded, "", once},
		{"503 before the commit", []string{"fail-before-commit"}, [][]string{{""}, {""}}, 2, 2, 2, engine.StatusSucceeded, "", once},
		{"503 after the commit", []string{"commit-then-error"}, [][]string{{"", ""}}, 2, 2, 2, engine.StatusSucceeded, "", once},
		{"a drop after the commit", []string{"commit-then-drop"}, [][]string{{""}}, 1, 1, 1, engine.StatusFailed, "record", once},
		{"a drop after the commit, and a redelivery", []string{"commit-then-drop"}, [][]string{{""}, {"", ""}}, 3, 1, 1, engine.StatusFailed, "record", once},
		{"a drop before the commit, and a redelivery", []string{"drop-before-commit"}, [][]string{{""}, {""}}, 2, 1, 1, engine.StatusFailed, "resubmit", "evt_1 order-42 120; 0 jobs"},
	} {
		for world, open := range map[string]func(*testing.T) *shop{"in process": inProcess, "as programs": asPrograms} {
			t.Run(r.name+", "+world, func(t *testing.T) {
				t.Parallel()
				s := open(t)
				s.faults(r.faults...)
				for _, keys := range r.waves {
					s.deliver(event, keys...)
					s.runs("fulfill-paid-order")
				}
				for _, run := range s.runs("payment-webhook-ledger") {
					if run.Status != engine.StatusSucceeded {
						t.Errorf("a run of the ledger %s: %s", run.Status, run.Message)
					}
				}
				if n := len(s.runs("payment-webhook-ledger")); n != r.ledger {
					t.Errorf("%d runs of the ledger, want %d", n, r.ledger)
				}
				fulfilled := s.runs("fulfill-paid-order")
				if len(fulfilled) != 1 {
					t.Fatalf("%d fulfilments were started, want one", len(fulfilled))
				}
				run := fulfilled[0]
				attempts, _, requests := run.Counts()
				if run.Status != r.status || attempts != r.attempts || requests != r.requests {
					t.Errorf("the fulfilment %s after %d attempts and %d requests; want %s, %d, %d (%s)", run.Status, attempts, requests, r.status, r.attempts, r.requests, run.Message)
				}
				if got := s.truth(); got != r.truth {
					t.Errorf("there is %q, want %q", got, r.truth)
				}
				s.settled(run, r.decide, once)
			})
		}
	}
}

// settled looks a fulfilment up that nobody knows the end of, decides, and checks what is there then.
func (s *shop) settled(run *engine.Run, decide, truth string) {
	s.t.Helper()
	if run.Reconcile != (decide != "") {
		s.t.Errorf("reconcile %v, and %q settles it", run.Reconcile, decide)
	}
	if decide == "" {
		return
	}
	s.settle(run.ID, decide)
	if run = s.runs("fulfill-paid-order")[0]; run.Status != engine.StatusSucceeded || run.Reconcile {
		s.t.Errorf("after %s: %s, reconcile %v: %s", decide, run.Status, run.Reconcile, run.Message)
	}
	if got := s.truth(); got != truth {
		s.t.Errorf("after %s there is %q, want %q", decide, got, truth)
	}
}

// What does not fit the webhook's schema never gets as far as the ledger.
func TestPaymentWebhookRefusesWhatIsNoPayment(t *testing.T) {
	t.Parallel()
	s := inProcess(t)
	status, text, err := exchange("POST", s.hook, strings.Replace(event, "120", "-1", 1))
	if err != nil || status != http.StatusBadRequest || !strings.Contains(text, "WOML_TRIGGER_SCHEMA_INVALID") || !strings.Contains(text, `"/amount"`) {
		t.Errorf("a negative amount was answered %d %s, %v", status, text, err)
	}
	if got := s.truth(); got != "0 jobs" {
		t.Errorf("there is %q", got)
	}
}
