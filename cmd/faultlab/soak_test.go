package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"faultlab/engine/clock"
	"faultlab/store"
)

// soakWorkflow charges, makes a job and writes a row; a job that is refused takes the charge back.
const soakWorkflow = `<woml>
  <workflow id="soak">
    <triggers><webhook id="paid" path="/paid" method="POST" auth="none" /></triggers>
    <steps>
      <step id="charge" retry="4" retry-backoff="fixed" retry-delay="100ms"><script>
        const r = await services.http.request({ method: "POST", url: "http://PROVIDER/charges", json: { orderId: context.payload.orderId, amount: 120 },
          timeout: "2s", idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } });
        return { chargeId: r.data.id };
      </script><compensate retry="10" retry-backoff="fixed" retry-delay="200ms"><script>
        const r = await services.http.request({ method: "POST", url: "http://PROVIDER/refunds", json: { charge: context.steps.charge.chargeId, orderId: context.payload.orderId },
          timeout: "2s", idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } });
        return { refundId: r.data.id };
      </script></compensate></step>
      <step id="job" retry="4" retry-backoff="fixed" retry-delay="100ms"><script>
        const r = await services.http.request({ method: "POST", url: "http://PROVIDER/jobs", json: { orderId: context.payload.orderId },
          timeout: "2s", idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } });
        return { jobId: r.data.id };
      </script></step>
      <step id="row" retry="10" retry-backoff="fixed" retry-delay="200ms"><script>
        const db = services.db({ driver: "sqlite", connection: "LEDGER" });
        const result = await db.execute({ text: "INSERT INTO events (order_id, job_id) VALUES ($1, $2) ON CONFLICT (order_id) DO NOTHING",
          values: [context.payload.orderId, context.steps.job.jobId] });
        return { first: result.rowsAffected === 1 };
      </script></step>
    </steps>
  </workflow>
</woml>`

// soakFaults are what the provider does wrong, each with the same probability. None of
// them makes a reply to a write lie.
var soakFaults = []string{
	"fail-before-commit", "commit-then-error", "commit-then-drop", "drop-before-commit", "hang-before-commit", "commit-then-hang",
	"error-then-commit", "slow-commit", "cut-body", "not-json", "wrong-length", "redirect", "rate-limited", "unavailable", "request-timeout",
	"gateway-timeout", "replay-error", "replay-drop", "look-up-error", "look-up-drop", "look-up-not-found",
}

// soakRefusals are refusals, of charges and jobs alone: a refund that is refused is for a person.
var soakRefusals = []string{"bad-request", "forbidden", "conflict"}

const (
	soakRate      = 150              // deliveries a second
	soakSenders   = 48               // deliveries at once, at most
	soakAgain     = 0.05             // of the deliveries come again
	soakChance    = 0.004            // of each fault, for each request that it can take
	soakLives     = 30 * time.Second // between two kills
	soakShort     = 3 * time.Second  // without FAULTLAB_SOAK
	maxSoakMemory = 600 << 20        // of the program, in bytes
	maxSoakFiles  = 400              // open at once
)

// soak is a state that is worked on for a while, with everything going wrong that may.
type soak struct {
	t       *testing.T
	random  *rand.Rand
	dir     string
	program string
	address string // of the provider; the same in all of its lives
	seed    int64

	mu       sync.Mutex
	hook     string
	next     int
	runs     map[int]string // by order: the run of its acknowledged delivery
	told     map[string]int // by kind: the runs that were found to be wrong
	sent     int
	repeated int
	clk      clock.Clock
	run      *daemon
	provider *daemon
}

// TestSoak drives deliveries against workflows and a provider that misbehaves, kills
// both again and again, settles what is unknown, and then holds the ledgers of the
// provider and of the workflow against every delivery that was acknowledged.
// FAULTLAB_SOAK says how long, FAULTLAB_SEED with which random numbers.
func TestSoak(t *testing.T) {
	t.Parallel()
	length := soakShort
	if text := os.Getenv("FAULTLAB_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("FAULTLAB_SOAK: %v", err)
		}
	}
	seed := number(t, "FAULTLAB_SEED", clock.NewWall().Now().UnixNano())
	t.Logf("%v, FAULTLAB_SEED=%d", length, seed)
	program, err := exec.LookPath("faultlab")
	if err != nil {
		t.Fatal(err)
	}
	s := &soak{t: t, random: rand.New(rand.NewPCG(uint64(seed), 1)), dir: t.TempDir(), program: program, seed: seed,
		runs: map[int]string{}, told: map[string]int{}, clk: clock.NewWall(), address: "127.0.0.1:0"}
	s.openLedger()
	s.startProvider()
	s.writeWorkflow()
	s.startRun()
	s.drive(length, min(soakLives, length/3))
	s.rest()
	s.measure("at the end")
	left := s.settle()
	s.judge(left)
	if err := s.run.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the last life ended with %v:\n%s", err, s.run.out)
	}
	s.checkFolder()
	t.Logf("%d deliveries, %d of them again; %d runs", s.sent, s.repeated, len(s.runs))
}

func (s *soak) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *soak) openLedger() {
	db := s.ledger()
	_, err := db.Exec(`PRAGMA journal_mode = WAL; CREATE TABLE events (order_id TEXT PRIMARY KEY, job_id TEXT NOT NULL)`)
	s.must(errors.Join(err, db.Close()))
}

// startProvider begins a life of the provider, with the effects of the former ones.
func (s *soak) startProvider() {
	s.t.Helper()
	args := []string{"provider", "--listen", s.address, "--log", "json", "--state", "provider.db", "--seed", fmt.Sprint(s.random.IntN(1<<16) + 1)}
	chance := func(name, more string) {
		args = append(args, "--fault", fmt.Sprintf(`{"name":%q,"on":{"probability":%v,"times":-1%s}}`, name, soakChance, more))
	}
	for _, name := range soakFaults {
		chance(name, "")
	}
	for _, name := range soakRefusals {
		chance(name, `,"collection":"charges"`)
		chance(name, `,"collection":"jobs"`)
	}
	var err error
	s.provider, err = startDaemon(s.program, s.dir, nil, args...)
	s.must(err)
	d := s.provider
	s.t.Cleanup(func() { _ = d.stop(syscall.SIGKILL) })
	s.address = (&fleet{t: s.t}).await(d, `listening on http://(.*)`)
}

func (s *soak) writeWorkflow() {
	doc := strings.NewReplacer("PROVIDER", s.address, "LEDGER", filepath.Join(s.dir, "ledger.db")).Replace(soakWorkflow)
	s.must(os.WriteFile(filepath.Join(s.dir, "soak.woml"), []byte(doc), 0o600))
}

// startRun begins a life of the program, and returns when it serves.
func (s *soak) startRun() {
	s.t.Helper()
	run, err := startDaemon(s.program, s.dir, nil, "run", "soak.woml", "--port", "0", "--state", "state.db", "--quiet")
	s.must(err)
	s.t.Cleanup(func() { _ = run.stop(syscall.SIGKILL) })
	hook := (&fleet{t: s.t}).await(run, `^webhook paid of soak: (.*)`)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.hook = run, hook
}

// drive sends deliveries for so long, and kills the program and the provider in turns.
func (s *soak) drive(length, life time.Duration) {
	over := s.clk.NewEvent("the end of the load")
	var senders sync.WaitGroup
	turns := make(chan struct{}, soakSenders)
	for range soakSenders {
		senders.Go(func() {
			for range turns {
				s.deliver()
			}
		})
	}
	senders.Go(func() {
		defer close(turns)
		start := s.clk.Now()
		for n := 0; !over.IsSet(); n++ {
			due := start.Add(time.Duration(n) * time.Second / soakRate)
			if wait := due.Sub(s.clk.Now()); wait > 0 {
				_ = s.clk.Sleep(context.Background(), wait) // nothing ends it
			}
			turns <- struct{}{}
		}
	})
	kills := 0
	for end := s.clk.Now().Add(length); ; kills++ {
		_ = s.clk.Sleep(context.Background(), min(life, max(end.Sub(s.clk.Now()), 0))) // nothing ends it
		if !s.clk.Now().Before(end) {
			break
		}
		s.measure(fmt.Sprintf("before kill %d", kills))
		if kills%2 == 1 || life < soakLives {
			_ = s.provider.stop(syscall.SIGKILL)
			s.startProvider()
		}
		if kills%2 == 0 || life < soakLives {
			_ = s.run.stop(syscall.SIGKILL)
			s.startRun()
		}
	}
	over.Set()
	senders.Wait()
	s.t.Logf("%d kills", kills)
}

// deliver sends a new order or, now and then, one that was acknowledged before.
func (s *soak) deliver() {
	s.mu.Lock()
	order, before, hook := s.next+1, "", s.hook
	if s.next > 0 && s.random.Float64() < soakAgain {
		order = s.random.IntN(s.next) + 1
		before = s.runs[order]
	} else {
		s.next++
	}
	s.sent++
	s.mu.Unlock()
	status, text, err := exchange(http.MethodPost, hook, fmt.Sprintf(`{"orderId":"order-%d"}`, order), fmt.Sprintf("Idempotency-Key:event-%d", order))
	if err != nil || status == http.StatusServiceUnavailable {
		return // nobody was there to take it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var receipt struct{ RunID string }
	if err := json.Unmarshal([]byte(text), &receipt); err != nil || status != http.StatusAccepted {
		s.t.Errorf("order %d was answered %d %s", order, status, text)
		return
	}
	if before != "" {
		s.repeated++
	}
	if before != "" && before != receipt.RunID {
		s.t.Errorf("order %d was acknowledged as run %s, and then as %s", order, before, receipt.RunID)
	}
	s.runs[order] = receipt.RunID
}

// rest waits until no run is open.
func (s *soak) rest() {
	s.t.Helper()
	h, err := store.OpenReader(filepath.Join(s.dir, "state.db"))
	s.must(err)
	defer h.Close()
	var open []string
	for range int(5 * awaitLimit / inboxPace) {
		open, err = h.Open()
		s.must(err)
		if len(open) == 0 {
			return
		}
		_ = s.clk.Sleep(context.Background(), inboxPace)
	}
	s.t.Errorf("%d runs are open for ever, %s among them", len(open), open[0])
}

// measure holds what the program needs against what it may need.
func (s *soak) measure(when string) {
	s.t.Helper()
	proc := "/proc/" + strconv.Itoa(s.run.cmd.Process.Pid)
	files, err := os.ReadDir(proc + "/fd")
	if err != nil {
		return // no Linux, or it has just ended
	}
	status, err := os.ReadFile(proc + "/status")
	if err != nil {
		return
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kib int64
	_, _ = fmt.Sscan(rest, &kib) // 0 where it has just ended
	s.t.Logf("%s: %d MiB, %d open files", when, kib>>10, len(files))
	if kib<<10 > maxSoakMemory || len(files) > maxSoakFiles {
		s.t.Errorf("%s the program has %d MiB of memory and %d open files", when, kib>>10, len(files))
	}
}

// settle settles what can be settled, twice with the faults and then without them, until nothing changes.
func (s *soak) settle() (left settlement) {
	s.t.Helper()
	for round := range 12 {
		if round == 2 {
			status, text, err := exchange(http.MethodPost, "http://"+s.address+"/_test/faults", `{"faults":[]}`)
			if err != nil || status != http.StatusOK {
				s.t.Fatalf("clear the faults: %d %s, %v", status, text, err)
			}
		}
		before := s.clk.Now()
		cmd := exec.Command(s.program, "settle", "--json", "--state", "state.db")
		cmd.Dir = s.dir
		out, err := cmd.Output()
		left = settlement{}
		if json.Unmarshal(out, &left) != nil {
			s.t.Fatalf("settle: %v: %s", err, out)
		}
		s.t.Logf("settle: %d runs, %d look-ups, %d recorded, %d resubmitted, %d left, in %v", left.Runs, left.Lookups, left.Recorded, left.Resubmitted,
			len(left.Left), s.clk.Now().Sub(before).Round(time.Millisecond))
		s.rest()
		if round >= 2 && left.Recorded+left.Resubmitted == 0 {
			return left
		}
	}
	s.t.Error("settle finds something to decide for ever")
	return left
}
