package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	computedTooLong = "the script computed for more than"
	waitedTooLong   = "the script waited for timers for more than"
	waitsInVain     = "the script waits for something that cannot happen"
)

// What computes without an end is given 50 ms, everything else 10 s: on a busy machine an innocent script can stand
// still for a while.
func TestTheScriptsOwnTimeIsLimited(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, src, says string }{
		{"an endless loop", `for (;;) {}`, computedTooLong},
		{"an endless loop that catches everything", `for (;;) { try { for (;;) {} } catch {} finally { continue } }`, computedTooLong},
		{"endless jobs", `for (;;) await null`, computedTooLong},
		{"endless jobs that nobody awaits", `(async () => { for (;;) await null })(); return 1`, computedTooLong},
		{"a loop after a call", `await services.http.request({}); for (;;) {}`, computedTooLong},
		{"small pieces between calls, without an end", `for (;;) await services.http.request({})`, computedTooLong},
		{"a loop in a timer", `setTimeout(() => { for (;;) {} }, 1); await new Promise(() => {})`, computedTooLong},
		{"a loop until time has passed, which stands still", `const t = Date.now(); while (Date.now() === t);`, computedTooLong},
		{"a loop while a call is open", `const p = services.http.request({}); for (;;) {}`, computedTooLong},
		{"a loop in a getter of what was thrown", `throw Object.defineProperty(new Error(), "stack", { get() { for (;;) {} } })`, computedTooLong},
		{"a timer that is too long", `await new Promise((done) => setTimeout(done, 10001))`, waitedTooLong},
		{"timers that are too long together", `for (let i = 0; i < 6; i++) await new Promise((done) => setTimeout(done, 2000)); return 1`, waitedTooLong},
		{"an interval that nobody clears", `setInterval(() => {}, 3000); await new Promise(() => {})`, waitedTooLong},
		{"timers within the limit", `for (let i = 0; i < 5; i++) await new Promise((done) => setTimeout(done, 2000)); return 1`, ""},
		{"a timer of no time", `await new Promise((done) => setTimeout(done)); return 1`, ""},
		{"a call that takes an hour", `await services.http.request({ hour: 1 }); return 1`, ""},
		{"a timer while a call is open", `const p = services.http.request({ hour: 1 }); await new Promise((done) => setTimeout(done, 60000)); await p; return 1`, ""},
		{"a promise that nothing settles", `await new Promise(() => {}); return 1`, waitsInVain},
		{"a promise that nothing settles, after a call", `await services.http.request({}); await new Promise(() => {})`, waitsInVain},
		{"a race that only a cleared timer could win", `const id = setTimeout(() => {}, 10); clearTimeout(id); await new Promise(() => {})`, waitsInVain},
	} {
		h := newHost()
		h.answer = func(_ int, c Call) (time.Duration, Completion) {
			if strings.Contains(string(c.Input), "hour") {
				return time.Hour, Completion{Value: []byte(`1`)}
			}
			return time.Millisecond, Completion{Value: []byte(`1`)}
		}
		limit := 10 * time.Second
		if c.says == computedTooLong {
			limit = ms(50)
		}
		got := runWith(t, h, c.src, Input{Limits: Limits{Time: limit, Grace: 10 * time.Second}})
		switch {
		case c.says == "" && got.Err != nil:
			t.Errorf("%s: %v, want a result", c.what, got.Err)
		case c.says != "" && (codeOf(got) != CodeTimeout || !strings.HasPrefix(got.Err.Message, c.says)):
			t.Errorf("%s: %s %v, want %q", c.what, got.Value, got.Err, c.says)
		}
	}
}

func TestWaitingForTimersEndsAtTheLimitAndNotAtTheTimer(t *testing.T) {
	t.Parallel()
	h := newHost()
	got := run(t, h, `await services.http.request({}); await new Promise((done) => setTimeout(done, 60000)); return 1`)
	if codeOf(got) != CodeTimeout || h.now.Sub(epoch) != 5*time.Second+ms(1) {
		t.Errorf("it ended after %v with %v, want 5s after the call", h.now.Sub(epoch), got.Err)
	}
	if want := []string{"start 1 http.request", "timer 2 1m0s", "cancel 2", "timer 0 5s"}; !slices.Equal(h.events, want) {
		t.Errorf("the host saw %v, want %v", h.events, want)
	}
}

func TestWhatIsUsedOfTheOwnTimeIsGone(t *testing.T) {
	t.Parallel()
	w := newWatchdog(time.Hour)
	for range 5 {
		before := w.left
		w.start()
		for time.Since(w.since) == 0 {
		}
		w.stop()
		if w.left >= before {
			t.Fatalf("%v are left after %v", w.left, before)
		}
		after := w.left
		if w.stop(); w.left != after {
			t.Fatalf("time passes while the script does not run: %v, then %v", after, w.left)
		}
	}
}

// Not parallel: what it leaves behind for a moment is somebody's leak.
func TestAScriptThatHangsInABuiltInIsAbandoned(t *testing.T) {
	h := newHost()
	began := time.Now()
	got := runWith(t, h, `services.http.request({}); const three = 3n; three ** 6000000n; console.log("late"); return 1`,
		Input{Limits: Limits{Time: ms(10), Grace: ms(10)}})
	took := time.Since(began)
	if codeOf(got) != CodeTimeout || !slices.Equal(got.Open, []int{1}) {
		t.Errorf("gives %s %v with %v open, want a timeout with its call open", got.Value, got.Err, got.Open)
	}
	for goleak.Find() != nil { // until the built-in function is over
	}
	if total := time.Since(began); total < 2*took {
		t.Errorf("Run took %v, nearly as long as the built-in's %v", took, total)
	}
	if len(h.logs) > 0 {
		t.Errorf("the host was called after Run had returned: %v", h.logs)
	}
}

func TestTheStackIsLimited(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, want string }{
		{`const f = (n) => n === 0 ? 0 : 1 + f(n - 1); return f(90)`, ""},
		{`const f = (n) => n === 0 ? 0 : 1 + f(n - 1); return f(110)`, CodeStackTooDeep},
		{`function f() { try { f() } catch { return 1 } } return f()`, CodeStackTooDeep}, // nobody catches it
		{`const f = () => [1].map(f); f()`, CodeStackTooDeep},
		{`const o = { toString() { return String(o) } }; return String(o)`, CodeStackTooDeep},
		{`const o = { get x() { return this.x } }; return o.x`, CodeStackTooDeep},
		{`await services.http.request({}); const f = () => f(); f()`, CodeStackTooDeep},
		{`setTimeout(function f() { f() }, 1); await new Promise(() => {})`, CodeStackTooDeep},
		{`services.http.request({ get x() { return services.http.request(this) } }); return 1`, CodeStackTooDeep},
	} {
		if got := runWith(t, newHost(), c.src, Input{Limits: Limits{Stack: 100}}); codeOf(got) != c.want {
			t.Errorf("%s gives %s %v, want %q", c.src, got.Value, got.Err, c.want)
		}
	}
	for n, want := range map[int]string{900: "", 1100: CodeStackTooDeep} {
		if got := run(t, newHost(), fmt.Sprintf(`const f = (n) => n === 0 ? 0 : 1 + f(n - 1); return f(%d)`, n)); codeOf(got) != want {
			t.Errorf("%d nested calls give %v, want %q", n, got.Err, want)
		}
	}
}

var errRunTimeout = errors.New("the run's timeout of 2m is over")

func TestNextsErrorEndsTheScript(t *testing.T) {
	t.Parallel()
	h := newHost()
	h.stop, h.stopAt = errRunTimeout, ms(10)
	h.answer = func(id int, _ Call) (time.Duration, Completion) {
		return ms(id * 8), Completion{Value: []byte(`1`)}
	}
	got := run(t, h, `const b = services.http.request({}); const c = services.http.request({}); await b; await c; return 1`)
	if codeOf(got) != CodeCancelled || !errors.Is(got.Err, errRunTimeout) || !strings.Contains(got.Err.Message, errRunTimeout.Error()) {
		t.Errorf("gives %s %v, want %v", got.Value, got.Err, errRunTimeout)
	}
	if !slices.Equal(got.Open, []int{2}) {
		t.Errorf("open are %v, want the call that had not ended", got.Open)
	}
}

func TestACancelledContextEndsTheScript(t *testing.T) {
	t.Parallel()
	why := errors.New("somebody cancelled the run")
	for _, c := range []struct {
		when  string
		src   string
		calls int
	}{
		{"before", `services.http.request({}); return 1`, 0},
		{"in a call's start", `services.http.request({ cancel: 1 }); await null; services.http.request({}); return 1`, 1},
		{"in the middle of computing", `console.log("cancel soon"); for (;;) {}`, 0},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		h := &cancellingHost{fakeHost: newHost(), cancel: func() { cancel(why) }}
		if c.when == "before" {
			cancel(why)
		}
		got := Run(ctx, mustCompile(t, c.src), Input{}, h)
		if codeOf(got) != CodeCancelled || !errors.Is(got.Err, why) {
			t.Errorf("%s: %s %v, want %v", c.when, got.Value, got.Err, why)
		}
		if len(h.started) != c.calls || len(got.Open) != c.calls {
			t.Errorf("%s: %d calls were begun and %v are open, want %d", c.when, len(h.started), got.Open, c.calls)
		}
	}
}

// cancellingHost cancels its run while it is busy with the script, or a little later.
type cancellingHost struct {
	*fakeHost
	cancel func()
}

func (h *cancellingHost) Start(id int, c Call) *ServiceError {
	if strings.Contains(string(c.Input), "cancel") {
		h.cancel()
	}
	return h.fakeHost.Start(id, c)
}

func (h *cancellingHost) Log(level, text string) {
	h.fakeHost.Log(level, text)
	context.AfterFunc(alreadyDone, h.cancel)
}

var alreadyDone = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func TestAPanicOfTheRuntimeIsAnErrorOfTheScript(t *testing.T) {
	t.Parallel()
	for what, h := range map[string]*fakeHost{
		"a completion that is not JSON": {now: epoch, answer: value(`{"a":`)},
		"details that are not JSON":     {now: epoch, answer: failing(ServiceError{Code: "X", Details: []byte(`{`)})},
		"a completion that comes twice": {now: epoch, answer: value(`1`), queue: []scheduled{
			{at: epoch.Add(ms(1)), done: Completion{ID: 1, Value: []byte(`1`)}}, {at: epoch.Add(ms(2)), done: Completion{ID: 1, Value: []byte(`1`)}},
		}},
		"a completion of nothing open": {now: epoch, queue: []scheduled{{at: epoch, done: Completion{ID: 9}}}},
	} {
		got := run(t, h, `await Promise.all([services.http.request({}), services.http.request({})]); return 1`)
		if codeOf(got) != CodeCrashed || !strings.HasPrefix(got.Err.Message, "the script's runtime crashed: ") {
			t.Errorf("%s: %s %v, want %s", what, got.Value, got.Err, CodeCrashed)
		}
	}
	if got := runWith(t, newHost(), `return context.payload`, Input{Payload: []byte(`{`)}); codeOf(got) != CodeCrashed {
		t.Errorf("a payload that is not JSON: %v, want %s", got.Err, CodeCrashed)
	}
}

func TestAPanicOfTheHostIsItsOwn(t *testing.T) {
	t.Parallel()
	h := newHost()
	h.refuse = func(Call) *ServiceError { panic("the disk is full") }
	defer func() {
		if x := recover(); x != "the disk is full" {
			t.Errorf("recovered %v, want the host's own panic", x)
		}
	}()
	run(t, h, `services.http.request({}); return 1`)
}
