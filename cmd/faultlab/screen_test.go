package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"faultlab/engine"
	"faultlab/engine/clock"
)

// marketWorkflow has two writes, so that a run goes on when the first one is settled.
const marketWorkflow = `<woml>
  <workflow id="fleet">
    <triggers><webhook id="order" path="/order" method="POST" auth="none" /></triggers>
    <steps>
      <step id="one" retry="4" retry-backoff="fixed" retry-delay="20ms"><script>
        const r = await services.http.request({ method: "POST", url: "http://PROVIDER/jobs", json: { orderId: context.payload.orderId },
          timeout: "2s", idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } });
        return { jobId: r.data.id };
      </script></step>
      <step id="two" retry="4" retry-backoff="fixed" retry-delay="20ms"><script>
        const r = await services.http.request({ method: "POST", url: "http://PROVIDER/notices", json: { orderId: context.payload.orderId, job: context.steps.one.jobId },
          timeout: "2s", idempotency: { header: "Idempotency-Key", value: attempt.idempotencyKey } });
        return r.data.id;
      </script></step>
    </steps>
  </workflow>
</woml>`

// board is the workbench on a terminal of its own.
type board struct {
	t    *testing.T
	cmd  *exec.Cmd
	file *os.File
	clk  clock.Clock

	mu   sync.Mutex
	text strings.Builder // all that came, without escape codes
	from int             // where what came since the last keys begins
	news clock.Event     // set by the next bytes, or by the end
	over bool
}

// openBoard starts faultlab ARGS on a terminal of 80 x 24 cells.
func openBoard(t *testing.T, dir string, args ...string) *board {
	t.Helper()
	b := &board{t: t, cmd: exec.Command("faultlab", append(args, "--theme", "dark")...), clk: clock.NewWall()}
	b.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C.UTF-8", "TMUX=", "CI=",
		"XDG_STATE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	b.news = b.clk.NewEvent("the screen")
	var err error
	if b.file, err = pty.StartWithSize(b.cmd, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	b.clk.Go("screen", b.read)
	t.Cleanup(func() {
		_ = b.cmd.Process.Kill() // it may have ended long ago
		_ = b.file.Close()
	})
	return b
}

var escapeCode = regexp.MustCompile(`\x1b(\[[0-9;?>=]*[a-zA-Z]|\][^\x07\x1b]*(\x07|\x1b\\)|[=>78])`)

func (b *board) read() {
	buf := make([]byte, 64<<10)
	rest := ""
	for {
		n, err := b.file.Read(buf)
		rest += string(buf[:n])
		whole := len(rest)
		if i := strings.LastIndexByte(rest, 0x1b); i >= 0 && len(rest)-i < 32 && err == nil {
			whole = i // an escape code may be on its way
			if loc := escapeCode.FindStringIndex(rest[i:]); loc != nil {
				whole = len(rest)
			}
		}
		b.mu.Lock()
		b.text.WriteString(escapeCode.ReplaceAllString(rest[:whole], ""))
		b.over = err != nil
		b.news.Set()
		b.news = b.clk.NewEvent("the screen")
		b.mu.Unlock()
		if rest = rest[whole:]; err != nil {
			return
		}
	}
}

// keys presses keys. What is seen from then on is what they brought.
func (b *board) keys(keys ...string) {
	b.t.Helper()
	b.mu.Lock()
	b.from = b.text.Len()
	b.mu.Unlock()
	for _, k := range keys {
		if _, err := b.file.WriteString(k); err != nil {
			b.t.Fatal(err)
		}
	}
}

// sees waits until all of these texts were drawn since the last keys.
func (b *board) sees(want ...string) {
	b.t.Helper()
	limit := b.clk.NewEvent("the limit")
	defer b.clk.AfterFunc(awaitLimit, limit.Set)()
	for _, w := range want {
		for {
			b.mu.Lock()
			text, news, over := b.text.String()[b.from:], b.news, b.over
			b.mu.Unlock()
			if strings.Contains(text, w) {
				break
			}
			if over || limit.IsSet() {
				b.t.Fatalf("waited for %q; since the last keys was drawn:\n%s", w, text)
			}
			(&output{clk: b.clk}).any(news, limit)
		}
	}
}

// quits leaves the workbench.
func (b *board) quits() {
	b.t.Helper()
	b.keys("q")
	if err := b.cmd.Wait(); err != nil {
		b.t.Errorf("the workbench ended with %v", err)
	}
}

const enter, tab, escape = "\r", "\t", "\x1b"

// market is a provider in a process of its own, and a workflow that calls it.
type market struct {
	provider, doc, state string
}

func openMarket(t *testing.T, faults ...string) market {
	t.Helper()
	dir := t.TempDir()
	args := []string{"provider", "--listen", "127.0.0.1:0"}
	for _, f := range faults {
		args = append(args, "--fault", fmt.Sprintf(`{"name":%q,"on":{"collection":"jobs"}}`, f))
	}
	d, err := startDaemon("faultlab", dir, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.stop(syscall.SIGKILL) })
	s := market{provider: (&fleet{t: t}).await(d, `listening on http://(.*)`), doc: filepath.Join(dir, "fleet.woml"), state: filepath.Join(dir, "state.db")}
	if err := os.WriteFile(s.doc, []byte(strings.ReplaceAll(marketWorkflow, "PROVIDER", s.provider)), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// triggers starts a run and gives its id.
func (s market) triggers(t *testing.T, order string) (run, said string) {
	t.Helper()
	out, err := exec.Command("faultlab", "trigger", s.doc, "--state", s.state, "--payload", fmt.Sprintf(`{"orderId":%q}`, order)).CombinedOutput()
	m := regexp.MustCompile(`run (run_[0-9a-f]+) `).FindSubmatch(out)
	if m == nil {
		t.Fatalf("no run was made: %v\n%s", err, out)
	}
	return string(m[1]), string(out)
}

// ends checks how a run ended and how many jobs there are.
func (s market) ends(t *testing.T, run string, want engine.Status, jobs int) {
	t.Helper()
	out, err := exec.Command("faultlab", "get", run, "--state", s.state, "--json").Output()
	var got runView
	if err != nil || json.Unmarshal(out, &got) != nil || got.Status != want || got.Reconcile != "" {
		t.Errorf("run %s: %v, status %q, reconcile %q; want %s, settled", run, err, got.Status, got.Reconcile, want)
	}
	_, text, err := exchange("GET", "http://"+s.provider+"/_test/jobs", "")
	if err != nil || !strings.Contains(text, fmt.Sprintf(`"count":%d`, jobs)) {
		t.Errorf("the provider has %s, %v; want %d jobs", text, err, jobs)
	}
}

// A person finds the run that nobody knows about among those on disk, looks its key up
// and records what was found.
func TestSettlingARunOfTheStoreOnTheScreen(t *testing.T) {
	t.Parallel()
	s := openMarket(t, "commit-then-drop", "none")
	unknown, said := s.triggers(t, "order-1")
	if !strings.Contains(said, "reconcile: needed") {
		t.Fatalf("the run did not end unknown:\n%s", said)
	}
	done, _ := s.triggers(t, "order-2")

	b := openBoard(t, t.TempDir(), "--state", s.state)
	b.sees("Catalogue")
	b.keys("h")
	b.sees(unknown, done, "2 runs")
	b.keys(tab)
	b.sees("those that need reconciling", "1 run")
	b.keys(enter)
	b.sees(unknown, "Sent, but no reply came.", "look the key up")
	b.keys("u")
	b.sees("found 200", "its fields match what was sent")
	b.keys("s") // what is refused says why
	b.sees("resubmit: the look-up found the record: do not send it again")
	b.keys("r")
	b.sees("then Enter, to confirm")
	b.keys("x", enter) // a stray key takes nothing
	b.sees(`not taken: "x" is not "record"`)
	b.keys("record", enter)
	b.sees("decision record", "succeeded")
	b.keys(escape)
	b.sees("CALLER", "record")
	b.keys(escape)
	b.sees("no runs") // nothing needs reconciling any more
	b.keys(tab, tab)
	b.sees("Runs  succeeded", unknown, done)
	b.quits()
	s.ends(t, unknown, engine.StatusSucceeded, 2)
}

// While another process holds the state, it carries out what is decided on the screen;
// what it does on its own comes to the screen by itself.
func TestSettlingThroughTheOwnerOnTheScreen(t *testing.T) {
	t.Parallel()
	s := openMarket(t, "drop-before-commit")
	b := openBoard(t, t.TempDir(), "--state", s.state)
	b.sees("Catalogue")
	b.keys("h")
	b.sees("there are no runs yet: faultlab run and faultlab trigger keep theirs in")

	owner, err := startDaemon("faultlab", filepath.Dir(s.doc), nil, "run", s.doc, "--port", "0", "--state", s.state)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.stop(syscall.SIGKILL) })
	f := &fleet{t: t}
	hook := f.await(owner, `^webhook order of fleet: (.*)`)
	b.sees("no runs") // the file is there now
	if status, text, err := exchange("POST", hook, `{"orderId":"order-1"}`); status != 202 {
		t.Fatalf("the delivery got %d %s, %v", status, text, err)
	}
	run := f.await(owner, `(run_[0-9a-f]+) failed, reconcile: needed.*`)
	b.sees(run, "needs reconciling")
	b.keys("U")
	b.sees("Unknown operations", run, "not looked up")
	b.keys("u")
	b.sees("no record 404", "unproven: the look-up address is an assumption")
	b.keys("s")
	b.sees("then Enter, to confirm")
	b.keys("resubmit", enter)
	b.sees("decision resubmit")
	f.await(owner, run+` succeeded`)
	b.keys(escape)
	b.sees("CALLER")
	b.keys(escape)
	b.sees("nothing is unknown")
	b.quits()
	s.ends(t, run, engine.StatusSucceeded, 1)
}
