package script

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAMemoGivesWhatARunWouldGive(t *testing.T) {
	t.Parallel()
	const call, fail = `services.http.request({})`, `services.http.request({ fail: 1 })`
	stopped := errors.New("stopped")
	hosts := map[string]func() *fakeHost{
		"slow":    slowHost,
		"refuses": func() *fakeHost { h := slowHost(); h.refuse = refuseAll; return h },
		"stops":   func() *fakeHost { h := slowHost(); h.stop, h.stopAt = stopped, ms(150); return h },
		"later":   func() *fakeHost { h := slowHost(); h.now = epoch.Add(time.Hour); return h },
		"secrets": func() *fakeHost { h := slowHost(); h.secrets["TOKEN"] = "hush"; return h },
		"others": func() *fakeHost {
			h := slowHost()
			h.answer = value(`{"other":true}`)
			return h
		},
	}
	for _, src := range []string{
		`return 1`, `throw new Error("no")`, `return await ` + call, call + `; ` + call + `; throw new Error("x")`,
		fail + `; return await ` + call, `try { await ` + fail + ` } catch (e) { return e.code } return 1`,
		`await Promise.all([` + fail + `, ` + fail + `])`, `return Promise.race([` + call + `, ` + fail + `])`,
		`setTimeout(() => {}, 5); await new Promise(r => setTimeout(r, 20)); return Date.now()`,
		`console.log("at", Math.random(), secrets.TOKEN); return [context.payload, attempt.number, crypto.randomUUID()]`,
		`const r = []; for (let i = 0; i < 3; i++) r.push(await ` + call + `); return r`, `await new Promise(() => {})`,
	} {
		m := &Memo{}
		for range 2 {
			for name, host := range hosts {
				for _, in := range []Input{{Payload: []byte(`{"n":1}`), Seed: 1}, {Payload: []byte(`{"n":2}`), Seed: 1}, {Payload: []byte(`{"n":1}`), Seed: 2}} {
					want, got := host(), host()
					p := mustCompile(t, src)
					a, b := Run(context.Background(), p, in, want), m.Run(context.Background(), p, in, got)
					if !reflect.DeepEqual(orEmpty(a), orEmpty(b)) || !reflect.DeepEqual(want.events, got.events) || !reflect.DeepEqual(want.logs, got.logs) || !reflect.DeepEqual(want.started, got.started) {
						t.Errorf("%s with host %s and seed %d: from memory\n%+v %v %v, want\n%+v %v %v", src, name, in.Seed, b, got.events, got.logs, a, want.events, want.logs)
					}
				}
			}
		}
		if len(m.runs) != 3 {
			t.Errorf("%s: %d runs remembered, want one for each input", src, len(m.runs))
		}
	}
}

func refuseAll(c Call) *ServiceError { return refusal(c, "refused") }

// orEmpty makes no list of an empty one.
func orEmpty(r Result) Result {
	if len(r.Open) == 0 {
		r.Open = nil
	}
	if len(r.Unhandled) == 0 {
		r.Unhandled = nil
	}
	return r
}

func TestAMemoEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m, p := &Memo{}, mustCompile(t, `await services.http.request({}); await services.http.request({}); return 1`)
	for range 3 { // cancelled while the Host starts the second call
		ctx, cancel := context.WithCancelCause(context.Background())
		h := slowHost()
		slow := h.answer
		h.answer = func(id int, c Call) (time.Duration, Completion) {
			if id == 2 {
				cancel(errors.New("enough"))
			}
			return slow(id, c)
		}
		got := m.Run(ctx, p, Input{}, h)
		if got.Err == nil || got.Err.Code != CodeCancelled || len(got.Open) != 1 || got.Open[0] != 2 || len(h.started) != 2 {
			t.Fatalf("%+v after %d calls, want cancelled with the second call open", got, len(h.started))
		}
		if got := m.Run(context.Background(), p, Input{}, slowHost()); string(got.Value) != "1" {
			t.Fatalf("without a cancel: %+v", got)
		}
	}
}

func TestAMemoIsBounded(t *testing.T) {
	t.Parallel()
	m, p := &Memo{Most: 10_000}, mustCompile(t, `return 1`)
	for i := range 100 {
		m.Run(context.Background(), p, Input{Payload: []byte(`"` + strings.Repeat("x", 1000+i) + `"`)}, newHost())
		if len(m.runs) > 10 {
			t.Fatalf("%d runs of a kilobyte each kept in ten", len(m.runs))
		}
	}
}
