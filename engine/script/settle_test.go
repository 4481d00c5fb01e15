package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// slowHost answers the nth call after n times 100 ms: with its number, or, where the request says so, with a failure.
func slowHost() *fakeHost {
	h := newHost()
	h.answer = func(id int, c Call) (time.Duration, Completion) {
		done := Completion{Value: json.RawMessage(fmt.Sprint(id))}
		if strings.Contains(string(c.Input), "fail") {
			done = Completion{Err: &ServiceError{Code: "WOML_HTTP_TIMED_OUT", Message: fmt.Sprintf("call %d failed", id), Ambiguous: true}}
		}
		return ms(100 * id), done
	}
	return h
}

func TestWhatASettledScriptLeavesOpen(t *testing.T) {
	t.Parallel()
	const call, fail = `services.http.request({})`, `services.http.request({ fail: 1 })`
	for _, c := range []struct {
		what, src string
		outcome   string
		open      []int
		unhandled []string
		started   int
		until     int // ms
	}{
		{"everything awaited", `return await ` + call, `1`, nil, nil, 1, 100},
		{"a call not awaited is awaited for it", call + `; return "x"`, `"x"`, []int{1}, nil, 1, 100},
		{"two, and it threw", call + `; ` + call + `; throw new Error("x")`, "error: x", []int{1, 2}, nil, 2, 200},
		{"a failure that nobody awaits is not lost", fail + `; return 1`, `1`, []int{1}, []string{"call 1 failed"}, 1, 100},
		{"one that ends before the script does", fail + `; return await ` + call, `2`, nil, []string{"call 1 failed"}, 2, 200},
		{"one that is handled later", `const p = ` + fail + `; await ` + call + `; await p.catch(() => {}); return 1`, `1`, nil, nil, 2, 200},
		{"one that is handled and not awaited", fail + `.catch(() => {}); return 1`, `1`, []int{1}, nil, 1, 100},
		{"two of Promise.all, the first is the script's", `await Promise.all([` + fail + `, ` + fail + `])`, "error: call 1 failed", []int{2}, nil, 2, 200},
		{"the winner of a race", `return Promise.race([` + call + `, ` + fail + `])`, `1`, []int{2}, nil, 2, 200},
		{"a fetch", `fetch("http://a/?fail"); return 1`, `1`, []int{1}, []string{"call 1 failed"}, 1, 100},
		{"timers are withdrawn", `setTimeout(() => { ` + call + ` }, 5); setInterval(() => {}, 5); return 1`, `1`, nil, nil, 0, 0},
		{"timers do not run while calls are awaited", `setTimeout(() => { throw new Error("late") }, 5); ` + call + `; return 1`, `1`, []int{2}, nil, 1, 200},
		{"what goes on after the script begins nothing", `(async () => { await ` + call + `; await ` + call + ` })(); return 1`, `1`, []int{1}, []string{"the script has already returned"}, 1, 100},
		{"nor a timer", call + `.then(() => setTimeout(() => { ` + call + ` }, 1)); return 1`, `1`, []int{1}, nil, 1, 100},
		{"what goes on does not change the result", `const r = { n: 1 }; ` + call + `.then(() => { r.n = 2 }); return r`, `{"n":1}`, []int{1}, nil, 1, 100},
		{"what is thrown there does not either", call + `.then(() => { throw new Error("late") }); return 1`, `1`, []int{1}, nil, 1, 100},
		{"a result that is not JSON, with a call open", call + `; return undefined`, "error: the script returned nothing; return a JSON value, or null", []int{1}, nil, 1, 100},
	} {
		h := slowHost()
		got := run(t, h, c.src)
		if shown := valueOrError(got); shown != c.outcome {
			t.Errorf("%s: %s, want %s", c.what, shown, c.outcome)
		}
		if !slices.Equal(got.Open, c.open) {
			t.Errorf("%s: open when it settled were %v, want %v", c.what, got.Open, c.open)
		}
		if !slices.EqualFunc(got.Unhandled, c.unhandled, func(e ServiceError, says string) bool { return strings.HasPrefix(e.Message, says) }) {
			t.Errorf("%s: unhandled are %v, want %v", c.what, got.Unhandled, c.unhandled)
		}
		if len(h.started) != c.started || h.now.Sub(epoch) != ms(c.until) || len(h.queue) > 0 {
			t.Errorf("%s: %d calls until %v, %d still to come; want %d until %v", c.what, len(h.started), h.now.Sub(epoch), len(h.queue), c.started, ms(c.until))
		}
	}
}

func TestRejectionsThatNobodyHandlesAreLogged(t *testing.T) {
	t.Parallel()
	h := slowHost()
	h.secrets["TOKEN"] = "s3cret"
	run(t, h, `Promise.reject(new TypeError("with " + secrets.TOKEN)); services.http.request({ fail: 1 }); throw new Error("the outcome")`)
	want := []string{
		"error: nobody handled a rejected promise: TypeError: with [secret TOKEN]",
		"error: nobody handled a rejected promise: call 1 failed",
	}
	if !slices.Equal(h.logs, want) {
		t.Errorf("the log is %q, want %q", h.logs, want)
	}
}

func TestTimers(t *testing.T) {
	t.Parallel()
	const note = `const seen = []; const note = (x) => seen.push(x); const wait = (ms) => new Promise((done) => setTimeout(done, ms)); `
	for _, c := range []struct{ src, want string }{
		{`setTimeout(note, 20, "b"); setTimeout(note, 10, "a"); await wait(30); return seen`, `["a","b"]`},
		{`setTimeout(note, 10, 1); setTimeout(note, 10, 2); setTimeout(note, 10, 3); await wait(10); return seen`, `[1,2,3]`},
		{`const id = setTimeout(note, 10, 1); clearTimeout(id); clearTimeout(id); clearTimeout(); clearTimeout("x"); clearTimeout(99); await wait(20); return seen`, `[]`},
		{`const id = setInterval(() => { if (seen.push(1) === 3) clearInterval(id) }, 10); await wait(100); return seen`, `[1,1,1]`},
		{`const id = setInterval(note, 10, 1); await wait(35); clearInterval(id); await wait(50); return seen`, `[1,1,1]`},
		{`const t = Date.now(); await wait(-5); await wait(NaN); await wait(0); await wait("20"); return Date.now() - t`, `23`},
		{`return [setTimeout(note), setInterval(note)]`, `[1,2]`},
		{`setTimeout("note()", 1)`, `error: TypeError: a timer takes a function first`},
		{`setTimeout(() => { throw new Error("first") }, 1); setTimeout(() => { throw new Error("second") }, 2); await wait(5)`, `error: first`},
		{`services.http.request({}).then(note); await wait(50); seen.push("timer"); await wait(60); return seen`, `["timer",2]`},
	} {
		h := newHost()
		h.answer = func(id int, _ Call) (time.Duration, Completion) {
			return ms(100), Completion{Value: []byte(fmt.Sprint(id + 1))}
		}
		if got := valueOrError(run(t, h, note+c.src)); got != c.want {
			t.Errorf("%s gives %s, want %s", c.src, got, c.want)
		}
	}
}
