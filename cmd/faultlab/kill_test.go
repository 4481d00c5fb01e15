package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"faultlab/engine"
	"faultlab/engine/clock"
	"faultlab/store"
)

// fleetWorkflow makes a job, which is cancelled again if what follows fails for good:
// a row of a local ledger, a run that it calls, and a letter. Its finished steps must not run again.
const fleetWorkflow = `<woml>
  <workflow id="fleet">
    <triggers><webhook id="order" path="/order" method="POST" auth="none" /></triggers>
    <steps>
      <step id="job" RETRY><script>
        const r = await services.http.request({ method: "POST", url: "http://PROVIDER/jobs", json: { orderId: context.payload.orderId },
          timeout: "2s", idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } });
        return { jobId: r.data.id };
      </script><compensate retry="10" retry-backoff="fixed" retry-delay="20ms"><script>
        await services.http.request({ method: "POST", url: "http://PROVIDER/cancellations", json: { orderId: context.payload.orderId, job: context.steps.job.jobId },
          timeout: "2s", idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } });
      </script></compensate></step>
      <step id="row" RETRY><script>
        const db = services.db({ driver: "sqlite", connection: "ledger.db" });
        const r = await db.execute({ text: "INSERT INTO orders (id) VALUES ($1)", values: [context.payload.orderId] });
        return r.rowsAffected;
      </script><compensate retry="10" retry-backoff="fixed" retry-delay="20ms"><script>
        const db = services.db({ driver: "sqlite", connection: "ledger.db" });
        await db.execute({ text: "DELETE FROM orders WHERE id = $1", values: [context.payload.orderId] });
      </script></compensate></step>
      <step id="call"><script>return await services.workflows.call("notice", { orderId: context.payload.orderId });</script></step>
    </steps>
  </workflow>
</woml>`

// noticeWorkflow is what the fleet calls.
const noticeWorkflow = `<woml>
  <workflow id="notice">
    <steps>
      <step id="notice" RETRY><script>
        const r = await services.http.request({ method: "POST", url: "http://PROVIDER/notices", json: { orderId: context.payload.orderId },
          timeout: "2s", idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } });
        return r.data.id;
      </script></step>
    </steps>
  </workflow>
</woml>`

// inFlight is how many deliveries are on their way at once.
const inFlight = 24

// fleet is a state that lives through many kills, and the senders that go on beside it.
type fleet struct {
	t        *testing.T
	random   *rand.Rand
	dir      string
	program  string
	provider string

	mu      sync.Mutex
	next    int            // the next new order
	again   []int          // orders that got no answer: their senders send them again
	runs    map[int]string // by order: the run that its delivery was acknowledged with
	left    int            // deliveries to acknowledge before due
	due     chan struct{}
	checked map[string]bool

	compensated int // orders
}

// TestKills kills the program under load, on one state, whenever a random number of
// deliveries is acknowledged and the others are on their way, and holds what the new
// process finds against what was acknowledged and what the provider did.
// FAULTLAB_KILLS says how often, FAULTLAB_SEED with which random numbers.
func TestKills(t *testing.T) {
	t.Parallel()
	kills, seed := number(t, "FAULTLAB_KILLS", 20), number(t, "FAULTLAB_SEED", clock.NewWall().Now().UnixNano())
	t.Logf("%d kills, FAULTLAB_SEED=%d", kills, seed)
	program, err := exec.LookPath("faultlab")
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, random: rand.New(rand.NewPCG(uint64(seed), 0)), dir: t.TempDir(), program: program, runs: map[int]string{}, checked: map[string]bool{}}
	f.startProvider(seed)
	for n := range kills {
		run, hook := f.start()
		f.check()
		due := f.countdown(f.random.IntN(maxOrders))
		f.load(hook, func(over <-chan struct{}) {
			select {
			case <-due:
			case <-over:
			}
			if err := run.stop(syscall.SIGKILL); err == nil {
				t.Errorf("life %d ended by itself:\n%s", n, run.out)
			}
		})
	}
	run, hook := f.start()
	f.load(hook, func(<-chan struct{}) {})
	f.rest()
	f.check()
	if err := run.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the last life ended with %v:\n%s", err, run.out)
	}
	f.checked = map[string]bool{} // whatever was right once is right at the end
	settled := f.check()
	f.checkLedger(settled)
	t.Logf("%d orders; runs: %v, %d unknown, %d compensated", len(f.runs), settled.statuses, settled.unknown, f.compensated)
	if settled.statuses["succeeded"] == 0 || settled.unknown == 0 || f.compensated == 0 {
		t.Errorf("%d runs succeeded, %d are unknown, and %d were compensated: the test has shown nothing", settled.statuses["succeeded"], settled.unknown, f.compensated)
	}
}

func number(t *testing.T, variable string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

func (f *fleet) startProvider(seed int64) {
	f.t.Helper()
	args := []string{"provider", "--listen", "127.0.0.1:0", "--log", "json", "--seed", fmt.Sprint(seed&0xffff + 1)}
	for _, name := range []string{"commit-then-drop", "drop-before-commit", "commit-then-error", "fail-before-commit"} {
		args = append(args, "--fault", fmt.Sprintf(`{"name":%q,"on":{"probability":0.03,"times":-1}}`, name))
	}
	args = append(args, "--fault", `{"name":"bad-request","on":{"collection":"notices","probability":0.1,"times":-1}}`)
	d, err := startDaemon(f.program, f.dir, nil, args...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = d.stop(syscall.SIGKILL) })
	f.provider = f.await(d, `listening on http://(.*)`)
	filled := strings.NewReplacer("PROVIDER", f.provider, "RETRY", `retry="4" retry-backoff="fixed" retry-delay="20ms"`)
	for name, doc := range map[string]string{"fleet.woml": fleetWorkflow, "notice.woml": noticeWorkflow} {
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(filled.Replace(doc)), 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	db := f.ledger()
	defer db.Close()
	if _, err := db.Exec(`PRAGMA journal_mode = WAL; CREATE TABLE orders (id TEXT)`); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) await(d *daemon, pattern string) string {
	f.t.Helper()
	found, err := d.await(regexp.MustCompile("(?m)" + pattern + "$"))
	if err != nil {
		f.t.Fatal(err)
	}
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// start begins a life of the program, and returns when it serves.
func (f *fleet) start() (run *daemon, hook string) {
	f.t.Helper()
	run, err := startDaemon(f.program, f.dir, nil, "run", "fleet.woml", "notice.woml", "--port", "0", "--state", "state.db", "--quiet")
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = run.stop(syscall.SIGKILL) }) // does nothing to one that has ended
	hook = f.await(run, `^webhook order of fleet: (.*)`)
	f.await(run, `^running.*`)
	return run, hook
}

// maxOrders keeps the state small enough to be read whole after each kill.
const maxOrders = 100

// countdown is closed once so many more deliveries are acknowledged.
func (f *fleet) countdown(n int) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.due = n, make(chan struct{})
	if n == 0 {
		close(f.due)
	}
	return f.due
}

// load sends deliveries until there is nobody to take them, or the life has had its
// share, and then closes over; meanwhile is done beside it.
func (f *fleet) load(hook string, meanwhile func(over <-chan struct{})) {
	var senders sync.WaitGroup
	over := make(chan struct{})
	last := f.next + maxOrders
	for range inFlight {
		senders.Go(func() {
			for {
				order, ok := f.order(last)
				if !ok || !f.deliver(hook, order) {
					return
				}
			}
		})
	}
	go func() { senders.Wait(); close(over) }()
	meanwhile(over)
	<-over
}

// order is the next one to deliver: one that got no answer before a new one.
func (f *fleet) order(last int) (int, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.again); n > 0 {
		order := f.again[0]
		f.again = f.again[1:]
		return order, true
	}
	f.next++
	return f.next, f.next <= last
}

// deliver sends one order; false says that nobody is there.
func (f *fleet) deliver(hook string, order int) bool {
	status, text, err := exchange(http.MethodPost, hook, fmt.Sprintf(`{"orderId":"order-%d"}`, order), fmt.Sprintf("Idempotency-Key:event-%d", order))
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.again = append(f.again, order)
		return false
	}
	var receipt struct{ RunID string }
	if err := json.Unmarshal([]byte(text), &receipt); err != nil || status != http.StatusAccepted {
		f.t.Errorf("order %d was answered %d %s", order, status, text)
		return false
	}
	f.runs[order] = receipt.RunID
	if f.left--; f.left == 0 {
		close(f.due)
	}
	return true
}

// rest waits until no run is open.
func (f *fleet) rest() {
	f.t.Helper()
	for range int(awaitLimit / inboxPace) {
		open, err := f.reader().Open()
		if err != nil {
			f.t.Fatal(err)
		}
		if len(open) == 0 {
			return
		}
		_ = clock.NewWall().Sleep(context.Background(), inboxPace)
	}
	f.t.Fatal("runs are open after a minute")
}

func (f *fleet) reader() *store.Reader {
	f.t.Helper()
	r, err := store.OpenReader(filepath.Join(f.dir, "state.db"))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = r.Close() })
	return r
}

// fleetState is how the runs stand.
type fleetState struct {
	statuses map[string]int
	unknown  int
	runs     map[string]*engine.Run // by order
}

// check reads every acknowledged run, but for those that had ended when they were last checked.
func (f *fleet) check() fleetState {
	f.t.Helper()
	s := fleetState{statuses: map[string]int{}, runs: map[string]*engine.Run{}}
	h := f.reader()
	for order, id := range f.runs {
		if f.checked[id] {
			continue
		}
		events, err := h.Events(id)
		if err != nil {
			f.t.Errorf("order %d was acknowledged as run %s, which is lost: %v", order, id, err)
			continue
		}
		run := engine.Fold(events)
		f.checkSteps(id, events)
		f.checkWrites(run)
		f.checked[id] = run.Status.Ended()
		s.statuses[string(run.Status)]++
		if run.Reconcile {
			s.unknown++
		}
		s.runs[fmt.Sprintf("order-%d", order)] = run
	}
	return s
}

// checkSteps: no step begins again once it is done.
func (f *fleet) checkSteps(id string, events []engine.Event) {
	done := map[string]bool{}
	for _, e := range events {
		switch fact := e.Fact.(type) {
		case engine.AttemptStarted:
			if done[engine.StepName(fact.Step, fact.Undo)] {
				f.t.Errorf("run %s: step %s was done and began again", id, engine.StepName(fact.Step, fact.Undo))
			}
		case engine.AttemptEnded:
			done[engine.StepName(fact.Step, fact.Undo)] = done[engine.StepName(fact.Step, fact.Undo)] || fact.Outcome == engine.Succeeded
		}
	}
}

// checkWrites: a write that was sent and has no end on disk, in an attempt that is over, is unknown.
func (f *fleet) checkWrites(run *engine.Run) {
	for _, s := range run.Steps {
		for _, a := range s.Attempts {
			for _, c := range a.Calls {
				for _, q := range c.Requests {
					if a.Outcome != "" && !q.Ended && a.Outcome != engine.Unknown {
						f.t.Errorf("run %s: a request of %s, attempt %d, has no end, and the attempt is %s", run.ID, s.ID, a.N, a.Outcome)
					}
				}
			}
		}
	}
}

func (f *fleet) ledger() *sql.DB {
	f.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(f.dir, "ledger.db"))
	if err != nil {
		f.t.Fatal(err)
	}
	return db
}

// checkLedger: no order has two effects, a run that succeeded has all of its own, one
// that failed has none that stands, and what is believed of each is so.
func (f *fleet) checkLedger(s fleetState) {
	f.t.Helper()
	effects := f.effects()
	for what, n := range effects {
		if n > 1 {
			f.t.Errorf("%d %s", n, what)
		}
	}
	h := f.reader()
	for order, run := range s.runs {
		jobs, undone := effects["jobs of "+order], effects["cancellations of "+order]
		rows, notices := effects["rows of "+order], effects["notices of "+order]
		standing := jobs - undone
		f.believed(run, "job", standing)
		for _, c := range f.children(h, run) {
			f.believed(c, "notice", notices)
		}
		switch {
		case run.Reconcile:
		case run.Status == engine.StatusSucceeded && (standing != 1 || rows != 1 || notices != 1),
			run.Status != engine.StatusSucceeded && (standing != 0 || rows != 0 || notices != 0):
			f.t.Errorf("%s, run %s %s (%s): %d jobs, %d cancellations, %d rows, %d notices", order, run.ID, run.Status, run.Code, jobs, undone, rows, notices)
		}
		if undone > 0 {
			f.compensated++
		}
	}
}

// believed holds what is believed of a step against the effects of it that stand.
func (f *fleet) believed(run *engine.Run, step string, standing int) {
	f.t.Helper()
	p := engine.Pair{Belief: engine.BeliefNotDone, Standing: standing}
	if st := run.StepAt(step, false); st != nil {
		p.Belief, p.Inverse = run.StepBelief(st), run.InverseOf(st)
	}
	switch v := engine.VerdictOf(p); v {
	case engine.OneEffect, engine.CleanFailure, engine.Unresolved, engine.Compensated:
	default:
		f.t.Errorf("run %s: %s is believed %s, its inverse %q, and %d of it stand: %s", run.ID, step, p.Belief, p.Inverse, standing, v)
	}
}

// children are the runs that a run called.
func (f *fleet) children(h *store.Reader, run *engine.Run) (out []*engine.Run) {
	f.t.Helper()
	for _, s := range run.Steps {
		for _, a := range s.Attempts {
			for _, c := range a.Calls {
				if c.Child == "" {
					continue
				}
				events, err := h.Events(c.Child)
				if err != nil {
					f.t.Errorf("run %s called %s, which is lost: %v", run.ID, c.Child, err)
					continue
				}
				out = append(out, engine.Fold(events))
			}
		}
	}
	return out
}

// effects counts what the provider and the local ledger hold, by kind and order.
func (f *fleet) effects() map[string]int {
	f.t.Helper()
	status, text, err := exchange(http.MethodGet, "http://"+f.provider+"/_test/state", "")
	if err != nil || status != http.StatusOK {
		f.t.Fatalf("the provider's state: %d, %v", status, err)
	}
	var world struct {
		Effects []struct {
			Collection string
			Body       struct{ OrderID string }
		}
	}
	if err := json.Unmarshal([]byte(text), &world); err != nil {
		f.t.Fatal(err)
	}
	effects := map[string]int{}
	for _, e := range world.Effects {
		effects[e.Collection+" of "+e.Body.OrderID]++
	}
	db := f.ledger()
	defer db.Close()
	rows, err := db.Query(`SELECT id FROM orders`)
	if err != nil {
		f.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			f.t.Fatal(err)
		}
		effects["rows of "+id]++
	}
	if err := rows.Err(); err != nil {
		f.t.Fatal(err)
	}
	return effects
}
