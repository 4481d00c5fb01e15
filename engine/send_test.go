package engine_test

import (
	"strings"
	"testing"
	"time"

	"faultlab/engine"
)

// Retention and timeout count at the moment at which a request leaves, however it was held up.
func TestARequestIsJudgedWhenItLeaves(t *testing.T) {
	t.Parallel()
	const shared = `const r = await services.http.request({method: "POST", url: "http://provider.test/jobs", json: {},
  idempotency: {header: "Idempotency-Key", value: "order-1"}}, {name: "create"}); return r.data;`
	const holder = `await services.http.request({method: "POST", url: "http://provider.test/holds", json: {}, timeout: "3h"}); return 1;`
	for _, r := range []struct {
		name   string
		config string
		script string
		held   time.Duration // how long another run has the slot when the retry is due
		dead   time.Duration // how long no worker runs after the first attempt
		before time.Duration // how long before another run sent the same key
		posts  int           // of jobs
		code   string        // of the last call
	}{
		{"at once", "", post, 0, 0, 0, 2, ""},
		{"waited for a slot", `<config concurrency="1" />`, post, 2 * time.Hour, 0, 0, 1, "FAULTLAB_KEY_EXPIRED"},
		{"waited for a slot, but not for long", `<config concurrency="1" />`, post, 50 * time.Minute, 0, 0, 2, ""},
		{"no worker was there", "", post, 0, 2 * time.Hour, 0, 1, "FAULTLAB_KEY_EXPIRED"},
		{"another run had sent the key before", "", shared, 0, 20 * time.Minute, 50 * time.Minute, 2, "FAULTLAB_KEY_EXPIRED"},
		{"another run had sent the key before, and it was forgotten since", "", shared, 0, 20 * time.Minute, 70 * time.Minute, 3, ""},
		{"the run's timeout is over", `<config timeout="1h" />`, post, 0, 2 * time.Hour, 0, 1, ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, document(r.config, retry3+`if (context.payload.hold) { `+holder+` } `+r.script))
			jobs := 0
			l.world.answer = func(_ int, s seen) answer {
				switch {
				case s.path == "/holds":
					return answer{status: 201, body: "{}", after: r.held}
				case s.path != "/jobs":
					return answer{status: 404, body: "{}"}
				}
				if jobs++; jobs == 1 && r.before > 0 {
					return created
				}
				if _, there := l.world.effects[s.key]; there && jobs > 2 || jobs > 1 && r.before == 0 {
					return replay
				}
				return hidden
			}
			l.options = func(o *engine.Options) {
				o.Assume = declare(t, `{"origins":{"http://provider.test":{"enforces":true,"retention":"1h"}}}`)
			}
			eng := l.start()
			var id string
			l.run(func() {
				if r.before > 0 {
					l.admit("orders", "", `{}`)
					_ = l.clk.Sleep(t.Context(), r.before)
				}
				id, _ = l.admit("orders", "", `{}`)
				_ = l.clk.Sleep(t.Context(), 500*time.Millisecond)
				if r.held > 0 {
					l.admit("orders", "", `{"hold":true}`)
				}
				if r.dead > 0 {
					eng.Kill()
					_ = l.clk.Sleep(t.Context(), r.dead)
				}
			})
			run := l.get(id)
			if r.dead > 0 {
				run = l.restart(id)
			}
			a := run.Steps[0].Last()
			if got := strings.Count(l.writes(), "jobs"); got != r.posts {
				t.Errorf("%d requests for a job, want %d", got, r.posts)
			}
			c := a.Calls[len(a.Calls)-1]
			if r.code != "" && (c.Code != r.code || a.Next != engine.NextStop || run.Status != engine.StatusFailed || !run.Reconcile || run.StepBelief(run.Steps[0]) != engine.BeliefUnknown) {
				t.Errorf("the call ended %q, next %s; run %s, reconcile %v: %s", c.Code, a.Next, run.Status, run.Reconcile, run.Message)
			}
			if r.code == "" && c.Code == "FAULTLAB_KEY_EXPIRED" {
				t.Errorf("not sent: %s", c.Message)
			}
		})
	}
}

// A resubmit that was decided on while the key lived, and then waits for a slot past its
// life, is not sent. One that was forced past its life is.
func TestAResubmitIsJudgedWhenItLeaves(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name   string
		wait   time.Duration // before the decision
		force  bool
		posts  int
		status engine.Status
	}{
		{"decided in time", time.Minute, false, 1, engine.StatusFailed},
		{"forced past the key's life", 90 * time.Minute, true, 2, engine.StatusSucceeded},
	} {
		l := newLab(t, nil, document(`<config concurrency="1" />`, `|if (context.payload.hold) { await services.http.request({method: "POST", url: "http://provider.test/holds", json: {}, timeout: "3h"}); return 1; } `+post))
		l.world.answer = func(_ int, s seen) answer {
			switch {
			case s.path == "/holds":
				return answer{status: 201, body: "{}", after: 2 * time.Hour}
			case s.method == "GET":
				return answer{status: 404, body: "{}"}
			case strings.Contains(l.writes(), "jobs"):
				return created
			}
			return lost
		}
		l.options = func(o *engine.Options) {
			o.Assume = declare(t, `{"origins":{"http://provider.test":{"enforces":true,"retention":"1h"}}}`)
		}
		run := l.once(`{}`)
		l.run(func() {
			_ = l.clk.Sleep(t.Context(), r.wait)
			l.admit("orders", "", `{"hold":true}`)
			if _, err := l.eng.Lookup(t.Context(), run.ID, "", engine.LookupOptions{}); err != nil {
				t.Error(err)
			}
			if err := l.eng.Resolve(engine.Resolution{Run: run.ID, Decision: engine.Resubmit, Force: r.force}); err != nil {
				t.Error(err)
			}
		})
		run = l.get(run.ID)
		if got := strings.Count(l.writes(), "jobs"); got != r.posts || run.Status != r.status {
			t.Errorf("%s: %d requests for a job, run %s: %s; want %d, %s", r.name, got, run.Status, run.Message, r.posts, r.status)
		}
	}
}
