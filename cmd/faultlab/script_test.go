package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"faultlab/engine/clock"
)

// The test binary is the program too, when it is started under its name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"faultlab": main, "faultlab-nobody": asNobody, "faultlab-small": withSmallFiles, "faultlab-nohup": withoutInterrupts})
}

// nobody is a user without rights, by convention.
const nobody = 65534

// asNobody is the program under a user whom permissions bind.
func asNobody() {
	if os.Geteuid() == 0 {
		if err := syscall.Setuid(nobody); err != nil {
			fmt.Println(err)
			os.Exit(99)
		}
	}
	main()
}

// withSmallFiles is the program where no file may grow beyond 300 kB, as on a full disk.
func withSmallFiles() {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 300_000, Max: 300_000}); err != nil {
		fmt.Println(err)
		os.Exit(99)
	}
	main()
}

// withoutInterrupts is the program as a shell starts it in the background: SIGINT is ignored.
func withoutInterrupts() {
	signal.Ignore(syscall.SIGINT)
	program, err := exec.LookPath("faultlab")
	if err == nil {
		err = syscall.Exec(program, append([]string{"faultlab"}, os.Args[1:]...), os.Environ())
	}
	fmt.Println(err)
	os.Exit(99)
}

// TestCommands plays the scripts in testdata. Beside testscript's own commands they have:
//
//	exits CODE ARGS...        faultlab ARGS ends with this exit code; faultlab-nobody, faultlab-small and faultlab-nohup may stand before ARGS
//	start NAME ARGS...        starts faultlab ARGS beside the script
//	await NAME REGEX [VAR...] waits for a line of its output, from the last one awaited on; VARs get the submatches
//	seen NAME REGEX           waits for a line anywhere in its output, and leaves await where it is
//	end NAME [SIGNAL [CODE]]  sends TERM, or KILL, HUP, INT, and waits for the end, with this exit code (0 unless said, any other for !); its whole output is stdout then
//	signal NAME SIGNAL        sends STOP, CONT or INT, and waits for nothing
//	send METHOD URL [BODY] [HEADER:VALUE...]  prints the status and the body of an answer
//	capture VAR REGEX         takes a submatch from stdout
//	fillup URL                posts until an answer is no 202, and remembers the runs
//	acknowledged STATE        each run that was answered 202 is in the state file
//	fill FILE                 puts variables for ${NAME} in a file
func TestCommands(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			for _, dir := range []string{e.WorkDir, filepath.Dir(e.WorkDir)} { // for nobody
				if err := os.Chmod(dir, 0o755); err != nil {
					return err
				}
			}
			e.Values["daemons"] = map[string]*daemon{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "start": start, "await": await, "seen": seen, "end": end, "signal": signalTo, "send": send, "capture": capture, "fill": fill, "fillup": fillup, "acknowledged": acknowledged,
		},
	})
}

// awaitLimit is how long anything that is waited for may take on a machine that is busy.
const awaitLimit = time.Minute

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	code := 0
	program, rest := programOf(args[1:])
	err := ts.Exec(program, rest...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Check(err)
	}
	if want := args[0]; want != strconv.Itoa(code) {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

// programOf is the program that is meant, and its arguments.
func programOf(args []string) (program string, rest []string) {
	if len(args) > 0 && strings.HasPrefix(args[0], "faultlab-") {
		return args[0], args[1:]
	}
	return "faultlab", args
}

// daemon is a faultlab that runs beside a test.
type daemon struct {
	cmd   *exec.Cmd
	out   *output
	ended clock.Event
	err   error // once ended
}

// output is what a daemon has printed, on both streams.
type output struct {
	clk  clock.Clock
	mu   sync.Mutex
	text []byte
	seen int         // how much was awaited
	news clock.Event // set by the next write
}

func newOutput() *output {
	clk := clock.NewWall()
	return &output{clk: clk, news: clk.NewEvent("output")}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	o.news.Set()
	o.news = o.clk.NewEvent("output")
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}

// await waits for a line and gives its submatches. What comes before it is passed over.
func (d *daemon) await(re *regexp.Regexp) ([]string, error) {
	o := d.out
	limit := o.clk.NewEvent("the limit")
	defer o.clk.AfterFunc(awaitLimit, limit.Set)()
	for {
		over := d.ended.IsSet()
		o.mu.Lock()
		text, seen, news := o.text[o.seen:], o.seen, o.news
		if whole := strings.LastIndexByte(string(text), '\n') + 1; whole > 0 {
			if m := re.FindSubmatchIndex(text[:whole]); m != nil {
				o.seen = seen + m[1]
				o.mu.Unlock()
				var out []string
				for i := 2; i < len(m); i += 2 {
					out = append(out, string(text[m[i]:m[i+1]]))
				}
				return out, nil
			}
		}
		o.mu.Unlock()
		switch {
		case over:
			return nil, fmt.Errorf("no line like %s before its end; there is:\n%s", re, o)
		case limit.IsSet():
			return nil, fmt.Errorf("no line like %s within %v; there is:\n%s", re, awaitLimit, o)
		}
		o.any(news, limit, d.ended)
	}
}

// any waits for one of several events.
func (o *output) any(events ...clock.Event) {
	one := o.clk.NewEvent("one of several")
	for _, e := range events {
		o.clk.Go("any", func() { e.Wait(); one.Set() })
	}
	one.Wait()
}

// startDaemon starts the program; env and dir may be empty.
func startDaemon(program, dir string, env []string, args ...string) (*daemon, error) {
	d := &daemon{cmd: exec.Command(program, args...), out: newOutput()}
	d.ended = d.out.clk.NewEvent("the end of " + program)
	d.cmd.Dir, d.cmd.Env = dir, env
	d.cmd.Stdout, d.cmd.Stderr = d.out, d.out
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	d.out.clk.Go("wait", func() { d.err = d.cmd.Wait(); d.ended.Set() })
	return d, nil
}

// stop sends a signal and waits for the end.
func (d *daemon) stop(s syscall.Signal) error {
	if err := d.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	d.ended.Wait()
	return d.err
}

func daemons(ts *testscript.TestScript) map[string]*daemon {
	return ts.Value("daemons").(map[string]*daemon)
}

func running(ts *testscript.TestScript, name string) *daemon {
	d := daemons(ts)[name]
	if d == nil {
		ts.Fatalf("nothing was started as %s", name)
	}
	return d
}

func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: start NAME ARGS...")
	}
	name, rest := programOf(args[1:])
	program, err := exec.LookPath(name)
	ts.Check(err)
	env := []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "TMPDIR=" + ts.Getenv("TMPDIR"),
		"XDG_STATE_HOME=" + ts.Getenv("XDG_STATE_HOME"), "XDG_CONFIG_HOME=" + ts.Getenv("XDG_CONFIG_HOME")}
	d, err := startDaemon(program, ts.MkAbs("."), env, rest...)
	ts.Check(err)
	daemons(ts)[args[0]] = d
	ts.Defer(func() {
		if daemons(ts)[args[0]] == d {
			_ = d.stop(syscall.SIGKILL) // the script is over
		}
	})
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await NAME REGEX [VAR...]")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found, err := running(ts, args[0]).await(re)
	ts.Check(err)
	if len(found) < len(args)-2 {
		ts.Fatalf("%s has %d submatches", args[1], len(found))
	}
	for i, name := range args[2:] {
		ts.Setenv(name, found[i])
	}
}

func seen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: seen NAME REGEX")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	d := running(ts, args[0])
	d.out.mu.Lock()
	at := d.out.seen
	d.out.seen = 0
	d.out.mu.Unlock()
	_, err = d.await(re)
	ts.Check(err)
	d.out.mu.Lock()
	d.out.seen = at
	d.out.mu.Unlock()
}

func signalTo(ts *testscript.TestScript, neg bool, args []string) {
	sig, known := map[string]syscall.Signal{"STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT, "INT": syscall.SIGINT}[args[len(args)-1]]
	if neg || len(args) != 2 || !known {
		ts.Fatalf("usage: signal NAME STOP|CONT|INT")
	}
	ts.Check(running(ts, args[0]).cmd.Process.Signal(sig))
}

func end(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "HUP": syscall.SIGHUP, "INT": syscall.SIGINT}
	sig := syscall.SIGTERM
	if len(args) >= 2 {
		sig = signals[args[1]]
	}
	if len(args) < 1 || len(args) > 3 || sig == 0 {
		ts.Fatalf("usage: end NAME [SIGNAL [CODE]]")
	}
	d := running(ts, args[0])
	delete(daemons(ts), args[0])
	err := d.stop(sig)
	fmt.Fprint(ts.Stdout(), d.out)
	switch {
	case len(args) == 3 && args[2] != strconv.Itoa(d.cmd.ProcessState.ExitCode()):
		ts.Fatalf("%s ended with %d, want %s", args[0], d.cmd.ProcessState.ExitCode(), args[2])
	case len(args) < 3 && sig != syscall.SIGKILL && (err != nil) != neg:
		ts.Fatalf("%s ended with %v", args[0], err)
	}
}

func send(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: send METHOD URL [BODY] [HEADER:VALUE...]")
	}
	body := ""
	if len(args) > 2 {
		body = args[2]
	}
	status, text, err := exchange(args[0], args[1], body, args[min(3, len(args)):]...)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%d %s\n", status, text)
}

// exchange sends one request with headers NAME:VALUE and gives the answer.
func exchange(method, url, body string, headers ...string) (status int, text string, err error) {
	ctx, done := clock.NewWall().WithTimeout(context.Background(), awaitLimit, errors.New("no answer"))
	defer done(nil)
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, strings.TrimSpace(string(raw)), err
}

func fillup(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fillup URL")
	}
	payload := fmt.Sprintf(`{"long":%q}`, strings.Repeat("x", 5000))
	var runs []string
	for {
		status, text, err := exchange("POST", args[0], payload)
		if status != http.StatusAccepted || err != nil {
			break
		}
		runs = append(runs, text)
	}
	if len(runs) == 0 {
		ts.Fatalf("no delivery was acknowledged")
	}
	ts.Setenv("ACKNOWLEDGED", strings.Join(runs, "\n"))
}

func acknowledged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: acknowledged STATE")
	}
	for _, m := range regexp.MustCompile(`"runId":"([^"]+)"`).FindAllStringSubmatch(ts.Getenv("ACKNOWLEDGED"), -1) {
		ts.Check(ts.Exec("faultlab", "get", m[1], "--state", args[0]))
	}
}

func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture VAR REGEX")
	}
	m := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) < 2 {
		ts.Fatalf("stdout has nothing like %s", args[1])
	}
	ts.Setenv(args[0], m[1])
}

func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fill FILE")
	}
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}
