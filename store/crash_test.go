package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"faultlab/engine"
	"faultlab/engine/historytest"
)

func init() {
	children["write"] = writeForEver
	children["limited"] = writeUntilFull
	children["other user"] = openAsAnother
}

// again starts this test program as another process that does what its name says.
func again(child string, env ...string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), append(env, "STORE_TEST_CHILD="+child)...)
	c.Stderr = os.Stderr
	return c
}

// writeForEver appends to runs of its own from many goroutines, and says which events are acknowledged.
func writeForEver() {
	s, err := Open(os.Getenv("STATE"), Options{Command: "write for ever"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var all sync.WaitGroup
	var out sync.Mutex
	for g := range 8 {
		all.Go(func() {
			for i := 0; ; i++ {
				run := fmt.Sprintf("run_%d_%d_%d", os.Getpid(), g, i)
				facts := pairs(run)
				for n := 0; n < len(facts); n += 2 {
					ticket := s.Append(facts[n], facts[n+1])
					if err := ticket.Wait(); err != nil {
						fmt.Fprintln(os.Stderr, err)
						os.Exit(1)
					}
					out.Lock()
					fmt.Printf("%s %d %d\n", run, n+2, ticket.Last())
					out.Unlock()
				}
			}
		})
	}
	all.Wait()
}

// pairs is the history of one run in appends of two events each.
func pairs(run string) []engine.Event {
	all := []engine.Event{admission(run), {Fact: engine.Started{}}}
	for n := range 4 {
		all = append(all, engine.Event{Fact: engine.RequestSent{Pos: engine.Pos{Step: "s", Request: n}, Body: bytes.Repeat([]byte("x"), 300)}},
			engine.Event{Fact: engine.NotSent{Pos: engine.Pos{Step: "s", Request: n}}})
	}
	all = append(all, engine.Event{Fact: engine.AttemptEnded{Pos: engine.Pos{Step: "s"}, Outcome: engine.Succeeded}},
		engine.Event{Fact: engine.Ended{Status: engine.StatusSucceeded}})
	for i := range all {
		all[i].Run, all[i].At = run, historytest.At
	}
	return all
}

// A killed writer leaves a beginning of the order, whole appends only, with everything that it acknowledged.
func TestKillLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	seed := uint64(os.Getpid())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	path := filepath.Join(t.TempDir(), "state.db")
	acknowledged := map[string]int{} // events of a run
	for range 6 {
		c := again("write", "STATE="+path)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		last := readAcknowledged(t, out, random.IntN(800), acknowledged, func() {
			if err := c.Process.Kill(); err != nil {
				t.Error(err)
			}
		})
		c.Wait() // the error is that it was killed
		checkBeginning(t, path, acknowledged, last)
	}
}

// readAcknowledged kills after some lines, and reads what was said until then. It gives the last place acknowledged.
func readAcknowledged(t *testing.T, out io.Reader, kill int, acknowledged map[string]int, killIt func()) (last int64) {
	t.Helper()
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if n == kill {
			killIt()
		}
		f := strings.Fields(lines.Text())
		if len(f) != 3 { // killed within a line
			continue
		}
		events, err1 := strconv.Atoi(f[1])
		place, err2 := strconv.ParseInt(f[2], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		acknowledged[f[0]] = events
		last = max(last, place)
	}
	return last
}

func checkBeginning(t *testing.T, path string, acknowledged map[string]int, last int64) {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs, err := s.Runs(engine.Query{})
	if err != nil {
		t.Fatal(err)
	}
	events, highest := 0, int64(0)
	for _, r := range runs {
		got, err := s.Events(r.Run)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < acknowledged[r.Run] || len(got)%2 != 0 {
			t.Fatalf("run %s has %d events, acknowledged were %d, appended two at a time", r.Run, len(got), acknowledged[r.Run])
		}
		checkRun(t, r, got)
		acknowledged[r.Run] = len(got) // what was there once stays
		events += len(got)
		highest = max(highest, got[len(got)-1].Seq)
	}
	if int64(events) != highest || highest < last {
		t.Fatalf("%d events up to place %d, acknowledged was %d: not a beginning of the order", events, highest, last)
	}
	for run := range acknowledged {
		if _, err := s.Events(run); err != nil {
			t.Fatalf("run %s was acknowledged: %v", run, err)
		}
	}
	if s.last != highest {
		t.Errorf("the next place is after %d, the last one is %d", s.last, highest)
	}
}

// checkRun compares a run's events, bodies and summary with what was appended.
func checkRun(t *testing.T, r engine.Summary, got []engine.Event) {
	t.Helper()
	want := pairs(r.Run)[:len(got)]
	model := engine.NewMemory()
	if err := model.Append(want...).Wait(); err != nil {
		t.Fatal(err)
	}
	kept, err := model.Events(r.Run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range kept {
		kept[i].Seq = got[i].Seq
	}
	if fmt.Sprint(got) != fmt.Sprint(kept) {
		t.Fatalf("run %s:\n got %v\nwant %v", r.Run, got, kept)
	}
	summaries, err := model.Runs(engine.Query{})
	if err != nil || summaries[0] != r {
		t.Fatalf("summary %+v, want %+v (%v)", r, summaries, err)
	}
}

// What a torn log gives back is a beginning too.
func TestATornLogIsABeginning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "state.db")
	s := open(t, path)
	for n := range 30 {
		run := fmt.Sprintf("run_%d", n)
		events := pairs(run)
		for i := 0; i < len(events); i += 2 {
			if err := s.Append(events[i : i+2]...).Wait(); err != nil {
				t.Fatal(err)
			}
		}
	}
	data, err1 := os.ReadFile(path)
	log, err2 := os.ReadFile(path + "-wal")
	if err := errors.Join(err1, err2); err != nil || len(log) < 100_000 {
		t.Fatalf("a log of %d bytes, %v", len(log), err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 12 {
		torn := filepath.Join(dir, fmt.Sprint(n), "state.db")
		if err := os.Mkdir(filepath.Dir(torn), 0o700); err != nil {
			t.Fatal(err)
		}
		err1 := os.WriteFile(torn, data, 0o600)
		err2 := os.WriteFile(torn+"-wal", log[:random.IntN(len(log))], 0o600)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		checkBeginning(t, torn, map[string]int{}, 0)
	}
}

// writeUntilFull appends until no file may grow any more, and says what was acknowledged and how it ended.
func writeUntilFull() {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(os.Getenv("STATE"), Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	limit := syscall.Rlimit{Cur: 200_000, Max: 200_000}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		fmt.Println(err)
		return
	}
	for n := 0; ; n++ {
		run := fmt.Sprintf("run_%d", n)
		events := pairs(run)
		for i := 0; i < len(events); i += 2 {
			ticket := s.Append(events[i : i+2]...)
			if err := ticket.Wait(); err != nil {
				fmt.Println("error", err)
				fmt.Println("then", s.Append(admission("run_x")).Wait())
				return
			}
			fmt.Println(run, i+2, ticket.Last())
		}
	}
}

func TestAFileThatCannotGrow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	out, err := again("limited", "STATE="+path).Output()
	if err != nil {
		t.Fatal(err)
	}
	said, failed, _ := strings.Cut(string(out), "error ")
	first, then, _ := strings.Cut(strings.TrimSpace(failed), "\nthen ")
	if !strings.Contains(first, "the history takes nothing more: "+path) || strings.Contains(first, "\n") || first != then {
		t.Errorf("the first failed append gives %q, the one after it %q", first, then)
	}
	acknowledged := map[string]int{}
	last := readAcknowledged(t, strings.NewReader(said), -1, acknowledged, nil)
	if last == 0 {
		t.Error("nothing was acknowledged before")
	}
	checkBeginning(t, path, acknowledged, last)
}

func TestAFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	admit(t, s, "run_a")
	if err := s.between(func() error {
		pages, err := s.file.conn.number("PRAGMA page_count")
		return errors.Join(err, s.file.conn.exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)))
	}); err != nil {
		t.Fatal(err)
	}
	big := make([]engine.Event, maxGroup) // so that what comes behind is of another commit
	for i := range big {
		big[i] = engine.Event{Run: "run_a", At: historytest.At, Fact: engine.NotSent{Why: strings.Repeat("x", 100)}}
	}
	first := s.Append(big...)
	behind := s.Append(admission("run_b"))
	err := first.Wait()
	wantProblem(t, err, Full, "the history takes nothing more", "free some space and start again")
	for what, ticket := range map[string]engine.Ticket{"behind it": behind, "after it": s.Append(admission("run_c"))} {
		if got := ticket.Wait(); got != err {
			t.Errorf("an append %s gives %v", what, got)
		}
	}
	if _, err := s.Prune(historytest.At, false); err == nil {
		t.Error("a poisoned store was pruned")
	}
	if events, err := s.Events("run_a"); err != nil || len(events) != 1 {
		t.Errorf("what is on disk can still be read: %d events, %v", len(events), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	if open, err := s.Open(); err != nil || len(open) != 1 {
		t.Errorf("after opening again: %v %v", open, err)
	}
	admit(t, s, "run_b")
}
