package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"faultlab/engine"
	"faultlab/engine/clock"
)

// ledgerFleet writes each event down once, and makes the job of a first delivery.
const ledgerFleet = `<woml>
  <workflow id="fleet">
    <triggers><webhook id="order" path="/order" method="POST" auth="none" /></triggers>
    <steps>
      <step id="recordEvent"><script>
        const db = services.db({ driver: "sqlite", connection: "LEDGER" });
        const result = await db.execute({
          text: "INSERT INTO payment_events (provider_event_id, received_at) VALUES ($1, $2) ON CONFLICT (provider_event_id) DO NOTHING",
          values: [context.payload.orderId, new Date().toISOString()]
        }, { name: "insert-payment-event" });
        return { firstDelivery: result.rowsAffected === 1 };
      </script></step>
      <step id="createFulfillment" retry="4" retry-backoff="fixed" retry-delay="20ms"><script>
        if (!context.steps.recordEvent.firstDelivery) return { started: false };
        const r = await services.http.request({ method: "POST", url: "http://PROVIDER/jobs", json: { orderId: context.payload.orderId },
          timeout: "2s", idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } }, { name: "create-fulfillment" });
        return { jobId: r.data.id };
      </script></step>
    </steps>
  </workflow>
</woml>`

// TestKillsOfALedger kills the program while events are delivered, and delivered again
// under no key. No event is lost and none is written down twice: whatever is left
// unknown is a job whose request was out, and settling gives each event its one job.
func TestKillsOfALedger(t *testing.T) {
	t.Parallel()
	kills, seed := number(t, "FAULTLAB_LEDGER_KILLS", 5), number(t, "FAULTLAB_SEED", clock.NewWall().Now().UnixNano())
	t.Logf("%d kills, FAULTLAB_SEED=%d", kills, seed)
	program, err := exec.LookPath("faultlab")
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, random: rand.New(rand.NewPCG(uint64(seed), 0)), dir: t.TempDir(), program: program, runs: map[int]string{}, checked: map[string]bool{}}
	f.startProvider(seed)
	ledger := f.makeLedger()
	for range kills {
		run, hook := f.start()
		due := f.countdown(1 + f.random.IntN(maxOrders-1))
		f.load(hook, func(over <-chan struct{}) {
			f.redeliver(hook)
			select {
			case <-due:
			case <-over:
			}
			_ = run.stop(syscall.SIGKILL)
		})
	}
	run, hook := f.start()
	f.load(hook, func(<-chan struct{}) { f.redeliver(hook) })
	f.rest()
	state := f.check()
	for order, run := range state.runs {
		f.checkLedgerStep(order, run)
	}
	for range 3 { // what is resubmitted can meet a fault again
		if out, err := exec.Command(program, "settle", "--state", filepath.Join(f.dir, "state.db")).CombinedOutput(); err == nil {
			break
		} else {
			t.Logf("settle: %v\n%s", err, out)
		}
	}
	f.rest()
	if err := run.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the last life ended with %v:\n%s", err, run.out)
	}
	f.checkEvents(ledger)
	t.Logf("%d events; runs: %v, %d of them unknown before they were settled", len(f.runs), state.statuses, state.unknown)
}

// makeLedger makes the table of events, and the document that writes to it.
func (f *fleet) makeLedger() *sql.DB {
	f.t.Helper()
	path := filepath.Join(f.dir, "ledger.db")
	ledger, err := sql.Open("sqlite", path)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = ledger.Close() })
	if _, err := ledger.Exec(`CREATE TABLE payment_events (provider_event_id TEXT PRIMARY KEY, received_at TEXT NOT NULL)`); err != nil {
		f.t.Fatal(err)
	}
	doc := strings.NewReplacer("PROVIDER", f.provider, "LEDGER", path).Replace(ledgerFleet)
	if err := os.WriteFile(filepath.Join(f.dir, "fleet.woml"), []byte(doc), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return ledger
}

// redeliver sends some events again that were acknowledged, as new deliveries.
func (f *fleet) redeliver(hook string) {
	f.mu.Lock()
	var orders []int
	for order := range f.runs {
		if len(orders) < 10 {
			orders = append(orders, order)
		}
	}
	f.mu.Unlock()
	for _, order := range orders {
		_, _, _ = exchange(http.MethodPost, hook, fmt.Sprintf(`{"orderId":"order-%d"}`, order)) // nobody may be there any more
	}
}

// checkLedgerStep: the step that writes the event down never needs a person.
func (f *fleet) checkLedgerStep(order string, run *engine.Run) {
	s := run.StepAt("recordEvent", false)
	if s == nil || !s.Done || s.ByRecord {
		f.t.Errorf("%s, run %s %s: its event is not written down by itself: %s", order, run.ID, run.Status, run.Message)
	}
}

// checkEvents: each acknowledged event has one row and one job, and nothing is left to settle.
func (f *fleet) checkEvents(ledger *sql.DB) {
	f.t.Helper()
	if left, err := f.reader().Runs(engine.Query{Reconcile: true}); err != nil || len(left) > 0 {
		f.t.Errorf("%d runs are still unknown: %v", len(left), err)
	}
	_, text, err := exchange(http.MethodGet, "http://"+f.provider+"/_test/jobs", "")
	var world struct{ Jobs []struct{ OrderID string } }
	if err != nil || json.Unmarshal([]byte(text), &world) != nil {
		f.t.Fatalf("the provider's jobs: %v", err)
	}
	jobs := map[string]int{}
	for _, j := range world.Jobs {
		jobs[j.OrderID]++
	}
	var rows int
	for order := range f.runs {
		id := fmt.Sprintf("order-%d", order)
		if err := ledger.QueryRow("SELECT count(*) FROM payment_events WHERE provider_event_id = ?", id).Scan(&rows); err != nil || rows != 1 || jobs[id] != 1 {
			f.t.Errorf("%s has %d rows and %d jobs, want one of each (%v)", id, rows, jobs[id], err)
		}
	}
	if err := ledger.QueryRow("SELECT count(*) FROM faultlab_calls").Scan(&rows); err != nil || rows > 100 {
		f.t.Errorf("%d marks are left in the ledger (%v)", rows, err)
	}
}
