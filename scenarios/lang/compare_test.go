package lang

import (
	"encoding/json"
	"errors"
	"testing"
	"time"
)

// world is a bench's facts, written out.
type world struct {
	wall       bool
	runs       []RunFact
	operations []OperationFact
	requests   []RequestFact
	effects    []EffectFact
	log        []string
	deliveries []DeliveryFact
	replies    []ReplyFact
	refusals   []RefusalFact
	crashes    CrashesFact
	untaken    []string
}

func (w world) Exact() bool                 { return !w.wall }
func (w world) Runs() []RunFact             { return w.runs }
func (w world) Operations() []OperationFact { return w.operations }
func (w world) Requests() []RequestFact     { return w.requests }
func (w world) Effects() []EffectFact       { return w.effects }
func (w world) Log() []string               { return w.log }
func (w world) Deliveries() []DeliveryFact  { return w.deliveries }
func (w world) Replies() []ReplyFact        { return w.replies }
func (w world) Refusals() []RefusalFact     { return w.refusals }
func (w world) Crashes() CrashesFact        { return w.crashes }
func (w world) Untaken() []string           { return w.untaken }
func (w world) Rows(database, table string) (int, error) {
	if database == "app.db" && table == "events" {
		return 3, nil
	}
	return 0, errors.New("no such table: " + table)
}

const second = time.Second

// twoRuns is a world of two runs for one order: the first did it at its second
// attempt, the rerun under a new key lost the reply of its only one, and was looked up.
func twoRuns() world {
	try := func(n int, outcome string, from, to time.Duration, calls ...CallFact) AttemptFact {
		return AttemptFact{N: n, Outcome: outcome, Started: from, Ended: to, Calls: calls}
	}
	return world{
		runs: []RunFact{
			{ID: "run_a", Status: "succeeded", Steps: []StepFact{
				{ID: "pay", Status: "succeeded", Result: json.RawMessage(`{"jobId":"job_1","amount":1.0,"tags":["a"],"note":null}`), Attempts: []AttemptFact{
					try(1, "failed", 0, second/10, CallFact{Status: 503, Code: "WOML_HTTP_STATUS_REJECTED", Key: "k1"}),
					try(2, "succeeded", second+second/10, 2*second, CallFact{Status: 200, Key: "k1", Write: "charge", Target: "POST /jobs"}),
				}},
			}},
			{ID: "run_b", Status: "failed", Reconcile: true, Code: "WOML_STEP_FAILED", Steps: []StepFact{
				{ID: "pay", Status: "unknown", Attempts: []AttemptFact{try(1, "unknown", 5*second, 15*second, CallFact{Code: "WOML_HTTP_TIMED_OUT", Key: "k2"})}},
				{ID: "pay", Undo: true, Status: "running", Attempts: []AttemptFact{try(1, "", 16*second, 0)}},
			}},
		},
		operations: []OperationFact{
			{Step: "pay", Subject: "order-42", Runs: []int{1, 2}, Keys: []string{"k1", "k2"}, Belief: "unknown", Verdict: "duplicate",
				Evidence: []EvidenceFact{{Run: 2, Found: "no record"}, {Run: 2, Found: "found", Match: "cannot be compared"}}},
			{Step: "ship", Write: "invoice", Target: "POST /invoices", Subject: "order-42", Runs: []int{1}, Keys: []string{"k3"}, Belief: "done", Verdict: "one effect"},
		},
		requests: []RequestFact{
			{Run: 1, Step: "pay", Attempt: 1, Method: "POST", Path: "/jobs", Key: "k1"},
			{Run: 1, Step: "pay", Attempt: 2, Method: "POST", Path: "/jobs", Key: "k1", At: second},
			{Run: 2, Step: "pay", Attempt: 1, Method: "POST", Path: "/jobs", Key: "k2", At: second + 20*time.Millisecond},
			{Run: 2, Step: "pay", Attempt: 1, Method: "GET", Path: "/jobs/by-idempotency-key/k2", Query: "region=eu", Key: "k2", Lookup: true},
			{Run: 2, Step: "pay", Undo: true, Attempt: 1, Method: "DELETE", Path: "/jobs/job_2", At: 16 * second},
			{Method: "GET", Path: "/jobs", At: 9 * second},
		},
		effects: []EffectFact{{Collection: "jobs", ID: "job_1", Key: "k1", Step: "pay", Write: "charge", Target: "POST /jobs", Body: json.RawMessage(`{"id":"job_1","amount":120}`)},
			{Collection: "jobs", ID: "job_2", Key: "k2", Body: json.RawMessage(`{"id":"job_2","amount":120.0}`)}, {Collection: "refunds", ID: "ref_1", Key: "k4"}},
		log:        []string{"[provider] key=k1 NEW fault=commit-then-error", "[provider] key=k1 REPLAY job=job_1", "[provider] key=k2 NEW fault=commit-then-drop"},
		deliveries: []DeliveryFact{{Status: 202}, {Status: 200, Duplicate: true}, {Status: 409, Code: "WOML_IDEMPOTENCY_CONFLICT"}},
		replies:    []ReplyFact{{Status: 201, Body: `{"id":"job_9"}`}, {}},
		refusals:   []RefusalFact{{"record", "the evidence is older than the last request"}},
		crashes:    CrashesFact{Happened: 2},
		untaken:    []string{"commit-then-drop"},
	}
}

func TestExpectationsThatAreMet(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"run succeeded run=1", "run failed reconcile needed run=run_b", "run succeeded reconcile not-needed run=1", "not run cancelled", "runs 2", "runs >=1",
		"step pay succeeded run=1", "step pay unknown run=2", "step ~pay running run=2", "not step ~pay succeeded", "step ship not-started", "not step pay failed",
		"attempts 4", "attempts 2 run=1", "attempts 1 step=~pay", "attempts 3 step=pay", "attempts 0 step=ship", "not attempts 3",
		"calls 3", "calls 1 attempt=2", "calls <=1 run=2",
		"requests 5", "requests 1 step=~pay", "requests 3 step=pay", "requests 2 run=1", "requests 3 method=post", "requests 1 key=k2", "requests 1 path=/jobs method=GET", "requests 3 attempt=1", "lookups 1", "lookups 0 run=1", "lookups 1 path=/jobs/by-idempotency-key/k2", "lookups 1 path=/jobs/by-idempotency-key/k2?region=eu", "lookups 0 path=/jobs/by-idempotency-key/k2?region=us",
		"effects 3", "jobs 2", "refunds 1", "effects 0 collection=charges", "jobs 1 key=k2",
		"log REPLAY", "log NEW times 2", "log key=k1 times <=2", "not log REJECTED", "log REJECTED times 0", "not log NEW times 1",
		"outcome 1 failed run=1", "outcome 2 succeeded", "outcome 1 unknown run=2 step=pay", "not outcome 1 succeeded",
		"belief unknown step=pay", "belief done subject=order-42 step=ship", "verdict duplicate key=k2", "verdict one-effect key=k3", "not verdict clean-failure", "verdict duplicate run=2",
		"delay 1 2 1s", "delay 1 2 >=900ms", "delay 1 2 <=1s run=1", "not delay 1 2 2s",
		"key same run=1", "key same 1 2 run=1", "not key same", "not key different", "key different 1 1",
		"status 200 run=1", "status 503 attempt=1 run=1", "status none run=2 step=pay", "not status 500 run=1",
		"code WOML_HTTP_TIMED_OUT", "code WOML_STEP_FAILED run=2", "code WOML_IDEMPOTENCY_CONFLICT", "not code WOML_STEP_FAILED run=1", "not code WOML_IDEMPOTENCY_CONFLICT run=2", "not code WOML_STEP_FAILED step=pay",
		"evidence found", "evidence found cannot-be-compared step=pay", "not evidence no-record step=pay",
		"refused record", "refused record older than", "not refused abandon", "not refused record outlived",
		`result /jobId "job_1" run=1`, "result /jobId effect", "result /amount 1", "result /tags/0 a", "result /note null", "result /note", "not result /nothing",
		`result {"note":null,"tags":["a"],"amount":1,"jobId":"job_1"}`, "not result /amount effect", "not result /tags/1", "not result /jobId job_2",
		"delivery 409", "delivery 200 duplicate n=2", "delivery 202 n=1", "not delivery 202 duplicate n=1", "not delivery 200",
		"reply none", "reply 201 n=1 contains=job_9", "not reply 200",
		"rows app.db events 3", "not rows app.db events 2",
		"verdict one-effect write=invoice", `belief done write="POST /invoices"`, "not verdict duplicate write=invoice", "calls 1 write=charge", `status 200 write="POST /jobs"`, "jobs 1 write=charge", "effects 1 step=pay", "effects 0 write=refund",
		"record jobs/job_1", "record jobs/job_1 /amount 120", "record jobs/* /amount 120", "record jobs/* /id", "not record jobs/job_2 /amount 121", `record jobs/job_1 {"amount":120,"id":"job_1"}`,
		"crashed", "crashed 2", "crashed >=1", "not crashed 1", "not faults taken",
		"peak 2 within 20ms", "peak 1 within 19ms", "peak 5 within 1m", "peak 2 within 1h run=2",
	} {
		if f := expectation(t, line).Compare(twoRuns()); f != nil {
			t.Errorf("%s: %v", line, f)
		}
	}
}

func TestExpectationsThatAreNotMet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, seen string }{
		{"run succeeded", "run 1 succeeded, run 2 failed reconcile needed (WOML_STEP_FAILED)"},
		{"not run failed", "run 1 succeeded, run 2 failed reconcile needed (WOML_STEP_FAILED)"},
		{"run failed reconcile not-needed run=2", "run 2 failed reconcile needed (WOML_STEP_FAILED)"},
		{"run succeeded run=3", "no run"},
		{"not run succeeded run=3", "no run"},
		{"runs 1", "2 runs"},
		{"step pay failed run=2", "pay unknown in run 2"},
		{"attempts 2", "4 attempts"},
		{"attempts 2 run=2 step=pay", "1 attempt"},
		{"calls 1", "3 calls"},
		{"requests 4", "5 requests"},
		{"requests 1 run=7", "0 requests"},
		{"lookups 0", "1 look-up"},
		{"jobs 1", "2 effects in jobs"},
		{"not refunds 1", "1 effect in refunds"},
		{"effects 2", "3 effects"},
		{"log REJECTED", `no such line among 3, the last is "[provider] key=k2 NEW fault=commit-then-drop"`},
		{"log NEW times 1", "2 such lines"},
		{"not log REPLAY", "1 such line"},
		{"outcome 1 failed step=pay", "attempt 1 of pay in run 1 failed, attempt 1 of pay in run 2 unknown"},
		{"not outcome 9 failed", "no attempt 9"},
		{"outcome 1 failed step=~pay", "attempt 1 of ~pay in run 2 open"},
		{"belief done", "unknown for pay of order-42, done for ship (invoice) of order-42"},
		{"not verdict duplicate", "duplicate for pay of order-42, one-effect for ship (invoice) of order-42"},
		{"not verdict duplicate step=nothing", "no operation"},
		{"delay 1 2 2s", "1s before attempt 2 of pay in run 1"},
		{"delay 1 3 1s", "no step with attempts 1 and 3"},
		{"key same", "2 keys in 3 attempts of pay"},
		{"key different", "2 keys in 3 attempts of pay"},
		{"not key same run=2", "no two attempts that sent a key"},
		{"status 200", "none"},
		{"not status 200 run=9", "no call"},
		{"code WOML_OTHER run=1", "WOML_HTTP_STATUS_REJECTED"},
		{"code WOML_OTHER run=1 attempt=2", "no code"},
		{"evidence no-record step=pay", "found cannot-be-compared for pay"},
		{"evidence found matches step=pay", "found cannot-be-compared for pay"},
		{"not evidence found step=ship", "no evidence"},
		{"refused abandon", "record refused: the evidence is older than the last request"},
		{"result /jobId job_2", `"job_1" in run 1`},
		{"result /other", "nothing at /other in run 1"},
		{"result /amount \"1\"", "1.0 in run 1"},
		{"not result /jobId run=2", "no result"},
		{"delivery 202", "409 (WOML_IDEMPOTENCY_CONFLICT)"},
		{"delivery 202 duplicate n=1", "202"},
		{"not delivery 200 n=9", "no such delivery"},
		{"reply 201", "none"},
		{"reply 201 n=1 contains=job_8", `201 {"id":"job_9"}`},
		{"verdict one-effect write=payment", "no operation"},
		{"jobs 1 write=payment", "0 effects in jobs"},
		{"record jobs/job_1 /amount 121", "120 in jobs/job_1"},
		{"record jobs/* /amount 120.5", "120 in jobs/job_1, 120.0 in jobs/job_2"},
		{"record jobs/job_3", "no record jobs/job_3"},
		{"record refunds/ref_1 /amount", "nothing at /amount in refunds/ref_1"},
		{"crashed 1", "2 crashes"},
		{"not crashed", "2 crashes"},
		{"faults taken", "not taken: commit-then-drop"},
		{"rows app.db events 4", "3 rows"},
		{"not rows app.db other 4", "no answer: no such table: other"},
		{"peak 3 within 20ms", "2 requests"},
	} {
		f := expectation(t, c.line).Compare(twoRuns())
		switch {
		case f == nil:
			t.Errorf("%s is met, but should not be", c.line)
		case f.Seen != c.seen || f.Expected != c.line || f.Line != 1 || f.What != "expect "+c.line:
			t.Errorf("%s\nsaid %+v\nwant %s", c.line, *f, c.seen)
		}
	}
}

func TestNothingIsMetByAnEmptyWorldButCounts(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"run succeeded", "not run failed", "step s not-started", "not step s failed", "not outcome 1 failed", "not belief done", "not verdict duplicate",
		"not delay 1 2 1s", "not key same", "not status 200", "not evidence found", "not result 1", "record jobs/job_1", "not record jobs/*", "crashed", "not delivery 202", "not reply 200"} {
		if f := expectation(t, line).Compare(world{}); f == nil {
			t.Errorf("%s is met where nothing has happened", line)
		}
	}
	for _, line := range []string{"runs 0", "attempts 0", "calls 0", "requests 0", "lookups 0", "effects 0", "jobs 0", "log x times 0", "not log x", "not code X", "not refused record", "not crashed", "faults taken", "peak 0 within 1s"} {
		if f := expectation(t, line).Compare(world{}); f != nil {
			t.Errorf("%s: %v", line, f)
		}
	}
}

func TestAnArmedCrashThatNeverHappenedFails(t *testing.T) {
	t.Parallel()
	w := world{crashes: CrashesFact{Happened: 1, Armed: []string{"after-reply step=pay"}}}
	for line, seen := range map[string]string{"crashed": "1 crash, still armed: after-reply step=pay", "crashed 1": "1 crash, still armed: after-reply step=pay"} {
		if f := expectation(t, line).Compare(w); f == nil || f.Seen != seen {
			t.Errorf("%s: %v, want seen %s", line, f, seen)
		}
	}
}

func TestADelayMayBeLongerOnTheWallClock(t *testing.T) {
	t.Parallel()
	w := twoRuns()
	w.runs[0].Steps[0].Attempts[1].Started += 7 * time.Millisecond
	e := expectation(t, "delay 1 2 1s")
	if f := e.Compare(w); f == nil || f.Seen != "1.007s before attempt 2 of pay in run 1" {
		t.Errorf("on the virtual clock: %v", f)
	}
	w.wall = true
	if f := e.Compare(w); f != nil {
		t.Errorf("on the wall clock: %v", f)
	}
	if expectation(t, "delay 1 2 <=1s").Compare(w) == nil {
		t.Error("a delay that is longer than its limit is met on the wall clock")
	}
	w.runs[0].Steps[0].Attempts[1].Started -= 8 * time.Millisecond
	if e.Compare(w) == nil {
		t.Error("a delay that is too short is met on the wall clock")
	}
}

func TestEveryExpectationCanBeCompared(t *testing.T) {
	t.Parallel()
	for _, e := range Expectations {
		if comparers[e.Name] == nil {
			t.Errorf("nothing compares %s", e.Name)
		}
	}
	if len(comparers) != len(Expectations) {
		t.Errorf("%d comparers for %d expectations", len(comparers), len(Expectations))
	}
}

func expectation(t *testing.T, text string) *Expectation {
	t.Helper()
	l, err := ParseLine("expect " + text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return l.Expect
}
