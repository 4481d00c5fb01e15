package faultprovider

import (
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/fault"
)

type faultRow struct {
	name  string
	gets  string
	after time.Duration
	jobs  [2]int
	again string
}

var jobID = regexp.MustCompile(`job_[0-9a-f]{8}`)

// masked is an answer without the id of its record.
func masked(answer string) string { return jobID.ReplaceAllString(answer, "ID") }

// TestNamedFaults is a row a named fault, under the seed contract: what the caller gets, when, the jobs at that moment
// and a minute later, and what the same request gets then.
func TestNamedFaults(t *testing.T) {
	t.Parallel()
	const full = `{"id":"ID","orderId":"order-42"}` // 42 bytes, the id whole
	rows := []faultRow{
		{"none", "201 " + full, 0, [2]int{1, 1}, "200"},
		{"fail-before-commit", `503 {"error":"temporarily_unavailable"}`, 0, [2]int{0, 0}, "201"},
		{"commit-then-error", `503 {"error":"temporarily_unavailable"}`, 0, [2]int{1, 1}, "200"},
		{"commit-then-drop", "reset", 0, [2]int{1, 1}, "200"},
		{"drop-before-commit", "reset", 0, [2]int{0, 0}, "201"},
		{"hang-before-commit", "too late", patience, [2]int{0, 0}, "201"},
		{"commit-then-hang", "too late", patience, [2]int{1, 1}, "200"},
		{"late-commit", "too late", patience, [2]int{0, 1}, "200"},
		{"error-then-commit", `503 {"error":"temporarily_unavailable"}`, 0, [2]int{0, 1}, "200"},
		{"stuck", "too late", patience, [2]int{0, 0}, "too"},
		{"slow", "201 " + full, 5 * time.Second, [2]int{1, 1}, "200"},
		{"slow-commit", "201 " + full, 5 * time.Second, [2]int{1, 1}, "200"},
		{"cut-body", `201 {"id":"ID", then unexpected EOF`, 0, [2]int{1, 1}, "200"},
		{"cut-then-reset", `201 {"id":"ID", then read: connection reset by peer`, 0, [2]int{1, 1}, "200"},
		{"cut-chunked", `201 {"id":"ID", then unexpected EOF`, 0, [2]int{1, 1}, "200"},
		{"cut-unframed", `201 {"id":"ID", (length -1)`, 0, [2]int{1, 1}, "200"},
		{"not-json", "201 <!doctype html><title>Welcome</title><p>Everything is fine.</p>\n text/html; charset=utf-8", 0, [2]int{1, 1}, "200"},
		{"too-large", `201 {"id":"ID","orderId":"order-42... 5242880 bytes`, 0, [2]int{1, 1}, "200"},
		{"wrong-length", `201 {"id":"ID",`, 0, [2]int{1, 1}, "200"},
		{"drip", "201 " + full, 410 * time.Millisecond, [2]int{1, 1}, "200"},
		{"redirect", `302 {"error":"moved"} Location: ?moved`, 0, [2]int{0, 0}, "201"},
		{"redirect-again", `307 {"error":"moved"} Location: ?moved`, 0, [2]int{0, 0}, "201"},
		{"phantom-success", "201 " + full, 0, [2]int{0, 0}, "201"},
		{"rate-limited", `429 {"error":"rate_limited"} Retry-After: 2`, 0, [2]int{0, 0}, "201"},
		{"unavailable", `503 {"error":"temporarily_unavailable"} Retry-After: 2`, 0, [2]int{0, 0}, "201"},
		{"bad-request", `400 {"error":"bad_request"}`, 0, [2]int{0, 0}, "201"},
		{"forbidden", `403 {"error":"forbidden"}`, 0, [2]int{0, 0}, "201"},
		{"not-found", `404 {"error":"not_found"}`, 0, [2]int{0, 0}, "201"},
		{"conflict", `409 {"error":"conflict"}`, 0, [2]int{0, 0}, "201"},
		{"request-timeout", `408 {"error":"request_timeout"}`, 0, [2]int{0, 0}, "201"},
		{"gateway-timeout", `504 {"error":"gateway_timeout"}`, 0, [2]int{1, 1}, "200"},
		{"replay-error", "201 " + full, 0, [2]int{1, 1}, "503"},
		{"replay-drop", "201 " + full, 0, [2]int{1, 1}, "reset"},
		{"look-up-error", "201 " + full, 0, [2]int{1, 1}, "200"},
		{"look-up-not-found", "201 " + full, 0, [2]int{1, 1}, "200"},
		{"look-up-stale", "201 " + full, 0, [2]int{1, 1}, "200"},
		{"look-up-drop", "201 " + full, 0, [2]int{1, 1}, "200"},
		{"look-up-hang", "201 " + full, 0, [2]int{1, 1}, "200"},
	}
	for _, name := range fault.Names() {
		if !slices.ContainsFunc(rows, func(r faultRow) bool { return r.name == name }) {
			t.Errorf("no row for %s", name)
		}
	}
	seed := preset(t, "seed")
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			inBoth(t, Options{Seed: 1}, func(l *lab) {
				l.faults(row.name)
				got := l.post(&seed, "jobs", "k", `"orderId":"order-42"`)
				if took := l.v.Now().Sub(epoch); took != row.after {
					l.t.Errorf("took %v, want %v", took, row.after)
				}
				l.want("gets", masked(got), row.gets)
				now := len(l.p.Effects())
				l.pass(time.Minute)
				if jobs := [2]int{now, len(l.p.Effects())}; jobs != row.jobs {
					l.t.Errorf("jobs then and a minute later: %v, want %v", jobs, row.jobs)
				}
				again, _, _ := strings.Cut(l.post(&seed, "jobs", "k", `"orderId":"order-42"`), " ")
				l.want("again", again, row.again)
			})
		})
	}
}

// TestShapes is a row for each kind of reply with its parameters.
func TestShapes(t *testing.T) {
	t.Parallel()
	seed := preset(t, "seed")
	for _, c := range []struct{ fault, gets string }{
		{`{"reply":{"do":"normal"}}`, `201 {"id":"ID","orderId":1}`},
		{`{"reply":{"status":500}}`, `500 {"error":"internal_error"}`},
		{`{"reply":{"status":599}}`, `599 {"error":"status_599"}`},
		{`{"reply":{"status":502,"error":"upstream","retryAfter":"100ms"}}`, `502 {"error":"upstream"} Retry-After: 1`},
		{`{"reply":{"do":"reset","slow":"1s"}}`, `reset`},
		{`{"reply":{"do":"nothing"}}`, `too late`},
		{`{"reply":{"do":"cut","bytes":1}}`, `201 { then unexpected EOF`},
		{`{"reply":{"do":"cut","bytes":9999}}`, `201 {"id":"ID","orderId":1 then unexpected EOF`},
		{`{"reply":{"do":"cut","bytes":2,"drip":"1s"}}`, `201 {" then unexpected EOF`},
		{`{"reply":{"do":"cut-unframed","bytes":3}}`, `201 {"i (length -1)`},
		{`{"reply":{"do":"not-json"}}`, "201 <!doctype html><title>Welcome</title><p>Everything is fine.</p>\n text/html; charset=utf-8"},
		{`{"reply":{"do":"too-large","bytes":60}}`, `201 {"id":"ID","orderId":1,"padding":"xxxxxxxxxxxxxx"}`},
		{`{"reply":{"do":"too-large","bytes":1}}`, `201 {"id":"ID","orderId":1,"padding":""}`},
		{`{"reply":{"do":"wrong-length","bytes":4}}`, `201 {"id`},
		{`{"reply":{"do":"wrong-length","bytes":99}}`, `201 {"id":"ID","orderId":1} then unexpected EOF`},
		{`{"reply":{"do":"normal","drip":"1ms"}}`, `201 {"id":"ID","orderId":1}`},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			inBoth(t, Options{}, func(l *lab) {
				l.faults(c.fault)
				got := l.post(&seed, "jobs", "k", `"orderId":1`)
				l.want("gets", masked(got), c.gets)
			})
		})
	}
}

// TestWhichRequests is a row for each way to choose the requests that a fault takes.
func TestWhichRequests(t *testing.T) {
	t.Parallel()
	seed := preset(t, "seed")
	const f = `{"name":"x","commit":{"when":"never"},"reply":{"status":500},"on":{%}}`
	for _, c := range []struct{ on, statuses string }{
		// new k1 · replay k1 · changed k1 · look-up k1 · new k2 · new charge k3 · no key · new k4
		{`"requests":"new"`, "500 201 422 200 201 201 400 201"},
		{`"requests":"new","times":2`, "500 500 201 200 201 201 400 201"},
		{`"requests":"new","times":-1`, "500 500 500 404 500 500 400 500"},
		{`"requests":"replay"`, "201 500 422 200 201 201 400 201"},
		{`"requests":"replay","nth":2`, "201 200 500 200 201 201 400 201"},
		{`"requests":"look-up"`, "201 200 422 500 201 201 400 201"},
		{`"requests":"any","nth":7`, "201 200 422 200 201 201 500 201"},
		{`"requests":"any","times":-1`, "500 500 500 500 500 500 500 500"},
		{`"key":"k2"`, "201 200 422 200 500 201 400 201"},
		{`"key":"nobody's"`, "201 200 422 200 201 201 400 201"},
		{`"collection":"charges"`, "201 200 422 200 201 500 400 201"},
		{`"nth":2`, "201 200 422 200 500 201 400 201"},
		{`"nth":2,"times":2`, "201 200 422 200 500 500 400 201"},
	} {
		t.Run(c.on, func(t *testing.T) {
			t.Parallel()
			inBoth(t, Options{}, func(l *lab) {
				l.faults(strings.Replace(f, "%", c.on, 1))
				var got []string
				add := func(answer string) {
					status, _, _ := strings.Cut(answer, " ")
					got = append(got, status)
				}
				add(l.post(&seed, "jobs", "k1", `"orderId":1`))
				add(l.post(&seed, "jobs", "k1", `"orderId":1`))
				add(l.post(&seed, "jobs", "k1", `"orderId":2`))
				add(l.send(http.MethodGet, "/jobs/by-idempotency-key/k1", ""))
				add(l.post(&seed, "jobs", "k2", `"orderId":1`))
				add(l.post(&seed, "charges", "k3", `"orderId":1`))
				add(l.send(http.MethodPost, "/jobs", "{}"))
				add(l.post(&seed, "jobs", "k4", `"orderId":1`))
				l.want(c.on, strings.Join(got, " "), c.statuses)
			})
		})
	}
}

func TestFaultsAreTakenInOrder(t *testing.T) {
	t.Parallel()
	seed := preset(t, "seed")
	inBoth(t, Options{}, func(l *lab) {
		l.faults("look-up-error", "commit-then-error", "none", `{"name":"forbidden","on":{"key":"k4"}}`, "bad-request")
		var got []string
		for _, key := range []string{"k1", "k2", "k3", "k4"} {
			status, _, _ := strings.Cut(l.post(&seed, "jobs", key, `"a":1`), " ")
			got = append(got, status)
		}
		l.want("statuses", strings.Join(got, " "), "503 201 400 403")
		if left := l.p.Faults(); len(left) != 1 || left[0].Name != "look-up-error" {
			l.t.Errorf("left are %v", left)
		}
	})
}

func TestProbabilityIsDrawnFromTheSeed(t *testing.T) {
	t.Parallel()
	draw := func(seed int64) (string, int) {
		q := newQueue(seed, nil)
		f := Fault{Name: "x", On: fault.On{Probability: 0.3, Times: fault.Always}}
		q.set([]Fault{f})
		var out strings.Builder
		for range 1000 {
			if taken := q.take(&match{class: fault.New}); taken != nil && taken.Fault.Name == "x" {
				out.WriteByte('x')
			} else {
				out.WriteByte('.')
			}
		}
		return out.String(), strings.Count(out.String(), "x")
	}
	first, n := draw(1)
	if again, _ := draw(1); again != first {
		t.Error("one seed gave two sequences")
	}
	if other, _ := draw(2); other == first {
		t.Error("two seeds gave one sequence")
	}
	if math.Abs(float64(n)-300) > 60 {
		t.Errorf("%d of 1000 requests were taken with probability 0.3", n)
	}
}

// TestLookUpsCanBeWrong: not found is not "did not happen".
func TestLookUpsCanBeWrong(t *testing.T) {
	t.Parallel()
	seed := preset(t, "seed")
	const byKey = "/jobs/by-idempotency-key/k"
	inBoth(t, Options{}, func(l *lab) {
		l.faults("late-commit")
		l.post(&seed, "jobs", "k", `"orderId":1`) // gives up after 10 s, the commit comes after 30 s
		l.want("while in flight", brief("", l.send(http.MethodGet, byKey, "")), "404 not_found")
		l.pass(20 * time.Second)
		l.want("after the late commit", brief("", l.send(http.MethodGet, byKey, "")), "200 new")
		l.faults("look-up-stale", "look-up-error", "look-up-not-found", "look-up-drop", "look-up-hang")
		l.want("stale", brief("", l.send(http.MethodGet, byKey, "")), "404 not_found")
		l.want("error", brief("", l.send(http.MethodGet, byKey, "")), "503 temporarily_unavailable")
		l.want("not found", brief("", l.send(http.MethodGet, byKey, "")), "404 not_found")
		l.want("drop", l.send(http.MethodGet, byKey, ""), "reset")
		l.want("hang", l.send(http.MethodGet, byKey, ""), "too late")
		l.faults("look-up-stale")
		l.pass(30 * time.Second)
		l.want("no longer stale", brief("", l.send(http.MethodGet, byKey, "")), "200 new")
	})
}

func TestLookUpSaysThatAKeyIsInFlight(t *testing.T) {
	t.Parallel()
	rules, err := contract.Parse([]byte(`{"lookUp":{"inFlight":{"status":409,"error":"in_progress"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	inBoth(t, Options{Contract: rules}, func(l *lab) {
		l.faults("late-commit")
		l.post(&rules, "jobs", "k", `"orderId":1`)
		l.want("in flight", brief("", l.send(http.MethodGet, "/jobs/by-idempotency-key/k", "")), "409 in_progress")
	})
}
